"""The grammar of a record's ``args`` text: what it declares, as a value that can be asked whether words fit.

Pure module. The text was written for people; where it is ambiguous the wider reading holds, because the tier
already stands for the worst case over any arguments.

    parse_grammar(text) -> Grammar           never fails: what cannot be read takes any words and no option
    Grammar.accepts(words, fits) -> bool     positionals only; options are looked up in Grammar.options
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

MAX_DEPTH = 8  # brackets in brackets; the deepest real one is 3

_TOKEN = re.compile(r"\.\.\.|[\[\]<>|]|[^\s\[\]<>|]+")
_SIGNED = re.compile(r"[+-]N%?|N%[+-]?", re.ASCII)
_OPTION = re.compile(r"--?[A-Za-z][A-Za-z0-9-]*=?", re.ASCII)
_LITERAL = re.compile(r"[A-Z]?[a-z0-9][a-z0-9_-]*", re.ASCII)
_RANGE = re.compile(r"[0-9]+-[0-9]+", re.ASCII)
_NUMBERS = frozenset(
    "n minutes seconds count columns rows percent ms width height x y size scale lines".split()  # noqa: SIM905
)
_NAMES = frozenset("name id flag type placement package packages theme".split())  # noqa: SIM905
_PLACES = frozenset(
    "path file dir folder image url uri args options command text message section".split()  # noqa: SIM905
)


class Kind(StrEnum):
    """What may stand in a word's place."""

    LITERAL = "literal"
    NUMBER = "number"
    SIGNED = "signed"
    NAME = "name"
    FREE = "free"


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One argument's place."""

    kind: Kind
    text: str


Fits = Callable[[Word, str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A declared option and what its value may be; ``joined``: written ``--name=value``."""

    values: tuple[Word, ...] = ()
    joined: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A piece of the grammar: a word, or a choice of sequences; perhaps absent, perhaps several times."""

    word: Word | None = None
    branches: tuple[tuple["Node", ...], ...] = ()
    optional: bool = False
    repeats: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """What one record declares."""

    root: Node
    options: Mapping[str, Option] = field(default_factory=dict)
    signed: bool = False
    double_dash: bool = False

    def accepts(self, words: Sequence[str], fits: Fits) -> bool:
        """Whether these positionals are a whole reading of the grammar."""
        return len(words) in _ends(self.root, words, frozenset({0}), fits)


_ANYTHING = Node(word=Word(kind=Kind.FREE, text="..."), optional=True, repeats=True)


def parse_grammar(text: str) -> Grammar:
    """Read an ``args`` text; no text raises."""
    tokens = _TOKEN.findall(text.replace("...", " ... "))
    options: dict[str, Option] = {}
    try:
        group, _ = _group(tokens, 0, bracket="", depth=0)
    except _TooDeepError:
        return Grammar(root=_ANYTHING)
    root = _node(group, options)
    signed = any(_SIGNED.fullmatch(token) for token in tokens)
    return Grammar(root=root, options=options, signed=signed, double_dash="--" in tokens)


def _ends(node: Node, words: Sequence[str], starts: frozenset[int], fits: Fits) -> frozenset[int]:
    """Where a reading of this piece can end, for each place where it may start."""
    found = starts if node.optional else frozenset[int]()
    fresh = starts
    while fresh:
        once: set[int] = set()
        if node.word is not None:
            once = {at + 1 for at in fresh if at < len(words) and fits(node.word, words[at])}
        for branch in node.branches:
            ends = fresh
            for piece in branch:
                ends = _ends(piece, words, ends, fits)
            once |= ends
        fresh = frozenset(once - found) if node.repeats else frozenset()
        found |= once
    return found


class _TooDeepError(Exception):
    """Nobody writes brackets that deep."""


@dataclass(slots=True)
class _Group:
    """A bracket as written: branches of words and inner brackets."""

    bracket: str
    branches: list[list["_Group | str"]]
    repeats: bool = False


def _group(tokens: list[str], at: int, *, bracket: str, depth: int) -> tuple[_Group, int]:
    """The bracket that opened just before ``at``, and where the text goes on; a missing end is no fault."""
    if depth > MAX_DEPTH:
        raise _TooDeepError
    group = _Group(bracket=bracket, branches=[[]])
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token in ("[", "<"):
            inner, at = _group(tokens, at, bracket=token, depth=depth + 1)
            group.branches[-1].append(inner)
        elif token in ("]", ">"):
            if depth:
                break
        elif token == "|":
            group.branches.append([])
        elif token == "...":
            _repeat(group.branches[-1])
        else:
            group.branches[-1].append(token)
    return group, at


def _repeat(branch: list["_Group | str"]) -> None:
    """Let the piece before an ellipsis stand several times; an ellipsis alone is any words."""
    last = branch.pop() if branch else "..."
    if isinstance(last, str):
        last = _Group(bracket="", branches=[[last]])
    last.repeats = True
    branch.append(last)


def _node(group: _Group, options: dict[str, Option]) -> Node:
    several = len(group.branches) > 1
    branches: list[tuple[Node, ...]] = []
    left = _take_options(group, options)
    for branch in left:
        pieces: list[Node] = []
        for place, piece in enumerate(branch):
            if isinstance(piece, _Group):
                pieces.append(_node(piece, options))
            else:
                pieces.append(Node(word=_word(piece, literal=several and place == 0)))
        branches.append(tuple(pieces))
    if not branches:  # nothing but options stood here
        return Node(branches=((),))
    return Node(branches=tuple(branches), optional=group.bracket == "[", repeats=group.repeats)


def _take_options(group: _Group, options: dict[str, Option]) -> list[list[_Group | str]]:
    """Put the options of a bracket aside, each with its values; what is left are positionals."""
    left: list[list[_Group | str]] = []
    waiting: list[str] = []  # -i|--icon <icon>: the value after the last spelling belongs to all
    for branch in group.branches:
        rest: list[_Group | str] = []
        pieces = list(branch)
        while pieces:
            piece = pieces.pop(0)
            if piece == "--" or not isinstance(piece, str) or not _is_option(piece):
                rest.extend([] if piece == "--" else [piece])
                continue
            waiting.append(piece)
            value = pieces.pop(0) if pieces and _is_value(pieces[0], piece, group) else None
            option = _option(piece, value, literal=len(group.branches) > 1)
            for name in waiting if value is not None else [piece]:
                options[name.rstrip("=")] = option
        if waiting and len(rest) == 1 and isinstance(rest[0], str) and group.bracket == "[":
            _widen(options, waiting[-1].rstrip("="), rest.pop())  # [--channel stable|rc|edge]
        if rest or not waiting:
            left.append(rest)
    return left


def _is_option(token: str) -> bool:
    return _OPTION.fullmatch(token) is not None and not _SIGNED.fullmatch(token)


def _is_value(piece: "_Group | str", option: str, group: _Group) -> bool:
    if isinstance(piece, str):
        return group.bracket == "[" and not _is_option(piece) and piece != "--"
    return piece.bracket == "<" or (group.bracket == "[" and not option.endswith("=") and not _holds_option(piece))


def _holds_option(group: _Group) -> bool:
    return any(isinstance(piece, str) and piece.startswith("-") for branch in group.branches for piece in branch)


def _option(name: str, value: "_Group | str | None", *, literal: bool) -> Option:
    joined = name.endswith("=")
    if value is None:
        return Option(values=(Word(kind=Kind.FREE, text=""),), joined=True) if joined else Option()
    if isinstance(value, str):
        return Option(values=(_word(value, literal=literal),), joined=joined)
    several = len(value.branches) > 1
    firsts = [branch[0] for branch in value.branches if branch and isinstance(branch[0], str)]
    words = tuple(_word(first, literal=several) for first in firsts)
    return Option(values=words or (Word(kind=Kind.FREE, text=""),), joined=joined, optional=value.bracket == "[")


def _widen(options: dict[str, Option], name: str, piece: "_Group | str") -> None:
    known = options[name]
    more = _word(str(piece), literal=True)
    options[name] = Option(values=(*known.values, more), joined=known.joined, optional=known.optional)


def _word(token: str, *, literal: bool) -> Word:
    """What a bare word stands for; ``literal``: it is one of several alternatives, so it may mean itself."""
    if _SIGNED.fullmatch(token):
        return Word(kind=Kind.SIGNED, text=token)
    parts = re.split(r"[^a-z0-9]+", token.casefold())
    if _RANGE.fullmatch(token) or token.casefold() in _NUMBERS or parts[-1] in _NUMBERS:
        return Word(kind=Kind.NUMBER, text=token)
    if literal and _LITERAL.fullmatch(token) and not (parts[-1] in _NAMES | _PLACES and len(parts) > 1):
        return Word(kind=Kind.LITERAL, text=token)
    if not _PLACES.intersection(parts) and parts[-1] in _NAMES:
        return Word(kind=Kind.NAME, text=token)
    return Word(kind=Kind.FREE, text=token)
