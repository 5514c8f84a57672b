"""What a test shows of the variables it tests: where it held, a caller's text may be one of a few, or only digits.

Pure module.

    condition(walk, node, env) -> Flow        what holds where the test holds, and where it does not
    pattern_shows(pattern) -> Shown           the same for one pattern of a case
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omarchy_mcp.scan.capabilities import Capability
from omarchy_mcp.scan.syntax import Node
from omarchy_mcp.scan.values import EMPTY, GAP, UNKNOWN, Env, Value, merge, text
from omarchy_mcp.scan.words import CLASS_PIECES, arithmetic, word

if TYPE_CHECKING:
    from omarchy_mcp.scan.statements import Flow
    from omarchy_mcp.scan.walk import Walk

_ARITHMETIC = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_COMPARING = frozenset({"=", "==", "!=", "=~", "<", ">"})
_CLASS = rf"\[{CLASS_PIECES}*[:+%#@,=]*-?\]"
_ATOM = rf"(?:{_CLASS}|[a-zA-Z0-9_:+%#@,=-]|\\[.+-])"
_COUNT = r"(?:[+*?]|\{[0-9]+(?:,[0-9]*)?\})?"
_PIECES = rf"(?:{_ATOM}{_COUNT})+"
_GROUP = rf"\((?:{_PIECES}|\|)+\){_COUNT}"
# An expression that lets only letters, digits and harmless marks through, from the first character to the last
_CLEAN = re.compile(rf"\^(?:{_PIECES}|{_GROUP})+\$")
_CLEAN_GLOB = re.compile(rf"(?:{_CLASS}|[a-zA-Z0-9_.:+%#@,=-])+")
_REJECTS = re.compile(rf"\*\[[!^]{CLASS_PIECES}+-?\]\*")
_GLOB = re.compile(r"[*?\[\]]|[+@!]\(")
_NOT_ROOT = re.compile(r"(?:\bEUID\b|\bUID\b|\bid -u\b).*(?:!=|-ne|>|-gt)\s*\"?0\b", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Shown:
    """What a pattern shows: the value where it matches, whether what fails it is clean, whether all matches."""

    matched: Value | None = None
    rest_clean: bool = False
    catches_all: bool = False


def pattern_shows(pattern: Value, *, quoted: bool) -> Shown:
    """What matching one pattern of a case tells."""
    if not pattern.known:
        return Shown()
    if quoted or not any(_GLOB.search(shape) for shape in pattern.shapes):
        return Shown(matched=pattern)
    (shape, *more) = sorted(pattern.shapes)
    if more:
        return Shown()
    if shape == "*":
        return Shown(catches_all=True)
    if _REJECTS.fullmatch(shape):
        return Shown(rest_clean=True)
    return Shown(matched=UNKNOWN) if _CLEAN_GLOB.fullmatch(shape) else Shown()


def subject_of(node: Node) -> str:
    """The variable that is all of this word; empty when it is more or less than one."""
    if node.kind == "string" and len(node.kids) == 3:
        node = node.kids[1]
    if node.kind == "simple_expansion":
        name = node.kids[-1].text
    elif node.kind == "expansion" and len(node.kids) >= 3:
        plain = len(node.kids) == 3 or node.kids[2].text in (":-", "-", ",,", "^^")
        name = node.kids[1].text if plain and node.kids[1].kind == "variable_name" else ""
    else:
        name = ""
    return name if re.fullmatch(r"\w+", name) else ""


def condition(walk: "Walk", node: Node, env: Env) -> "Flow":
    """What holds where the test holds, and where it does not; the two never share an Env that is written to.

    The grammar's own tree of a test binds = and =~ too loosely, so the test is read again from its pieces.
    """
    root_check(walk, node)
    return _whole(walk, _pieces(node), env, node)


def _whole(walk: "Walk", pieces: list[Node], env: Env, node: Node) -> "Flow":
    flow, used = _either(walk, pieces, 0, env)
    if used < len(pieces):
        walk.found(Capability.UNCLEAR, node)
    return flow


def root_check(walk: "Walk", node: Node) -> None:
    """A script that asks whether it is root, and does not go on when it is not."""
    if _NOT_ROOT.search(node.text):
        walk.found(Capability.ROOT, node)


def _pieces(node: Node) -> list[Node]:
    """The operators and operands of a test, in the order they are written."""
    if node.kind == "binary_expression" and len(node.kids) > 3:  # a pattern of several parts
        parts = node.kids[2:]
        pattern = Node("concatenation", "", "".join(part.text for part in parts), node.line, parts)
        return [*_pieces(node.kids[0]), node.kids[1], pattern]
    if node.kind in ("test_command", "binary_expression") or (
        node.kind == "unary_expression" and node.kids[0].text != "~"
    ):
        return [piece for kid in node.kids if kid.kind not in ("[[", "]]", "[", "]") for piece in _pieces(kid)]
    return [node]


def _either(walk: "Walk", pieces: list[Node], at: int, env: Env) -> "tuple[Flow, int]":
    (holds, fails), at = _both(walk, pieces, at, env)
    while at < len(pieces) and pieces[at].text in ("||", "-o"):
        (second, neither), at = _both(walk, pieces, at + 1, fails or env.copy())
        holds, fails = merge(holds, second), neither
    return (holds, fails), at


def _both(walk: "Walk", pieces: list[Node], at: int, env: Env) -> "tuple[Flow, int]":
    (holds, fails), at = _primary(walk, pieces, at, env)
    while at < len(pieces) and pieces[at].text in ("&&", "-a"):
        (both, second), at = _primary(walk, pieces, at + 1, holds or env.copy())
        holds, fails = both, merge(fails, second)
    return (holds, fails), at


def _primary(walk: "Walk", pieces: list[Node], at: int, env: Env) -> "tuple[Flow, int]":
    if at >= len(pieces):
        return (env, env.copy()), at
    first = pieces[at]
    if first.text == "!":
        (holds, fails), at = _primary(walk, pieces, at + 1, env)
        return (fails, holds), at
    if first.kind == "parenthesized_expression":
        inner = [piece for kid in first.kids[1:-1] for piece in _pieces(kid)]
        return _whole(walk, inner, env, first), at + 1
    if first.kind == "test_operator" and at + 1 < len(pieces):
        return _unary(walk, first.text, pieces[at + 1], env), at + 2
    if at + 2 < len(pieces) and (pieces[at + 1].kind == "test_operator" or pieces[at + 1].text in _COMPARING):
        return _binary(walk, first, pieces[at + 1].text, pieces[at + 2], env), at + 3
    word(walk, first, env)
    return (env, env.copy()), at + 1


def _unary(walk: "Walk", operator: str, operand: Node, env: Env) -> "Flow":
    value = word(walk, operand, env)
    if operator in ("-v", "-R") and value.taint:
        walk.found(Capability.EXEC, operand)
    holds, fails = env, env.copy()
    name = subject_of(operand)
    if name and operator == "-z":
        holds.refine(name, EMPTY)
    if name and operator == "-n":
        fails.refine(name, EMPTY)
    return holds, fails


def _binary(walk: "Walk", left: Node, operator: str, right: Node, env: Env) -> "Flow":
    if operator in _ARITHMETIC:
        arithmetic(walk, left, env)
        arithmetic(walk, right, env)
        return env, env.copy()
    word(walk, left, env)
    shown = _shows(walk, operator, right, env)
    holds, fails = env, env.copy()
    name = subject_of(left)
    if name and shown is not None:
        (fails if operator == "!=" else holds).refine(name, shown)
    return holds, fails


def _shows(walk: "Walk", operator: str, right: Node, env: Env) -> Value | None:
    """What a variable is where it compared equal, or None when that says nothing."""
    if operator == "=~":
        expression = text(right.text) if right.kind == "regex" else word(walk, right, env)
        clean = expression.known and all(_CLEAN.fullmatch(shape) for shape in expression.shapes)
        return UNKNOWN if clean else None
    if operator in ("==", "=", "!="):
        quoted = right.kind in ("string", "raw_string")
        pattern = word(walk, right, env)
        if not quoted and GAP in "".join(pattern.shapes):
            return None
        return pattern_shows(pattern, quoted=quoted).matched
    word(walk, right, env)
    return None
