"""Argument rules that hold for every route, and the grammar in which a record declares its arguments.

Pure module. Whatever passes here is one line of printable text per argument, fits the declared ``args``, and
cannot be read as an option the record does not list. What a route does with it is judged elsewhere.

    fault(args) -> Fault | None                      rules for any call, IPC calls too
    fault_in(args, grammar_text) -> Fault | None     the above, and the declared grammar
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from omarchy_mcp.policy.grammar import Grammar, Kind, Word, parse_grammar

MAX_ARGUMENTS = 64
MAX_ARGUMENT = 65_536  # bytes; the kernel takes 131,071
MAX_TOTAL = 262_144  # bytes of one call

# C0, C1, line and paragraph separators, direction overrides, what UTF-8 cannot spell
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_PARENT = re.compile(r"(?<!\.)\.\.(?!\.)")  # ".." anywhere; an ellipsis of three names no folder
_NUMBER = re.compile(r"[0-9]{1,5}(?:[.x][0-9]{1,5})?%?", re.ASCII)
_SIGNED = re.compile(r"[+-]?[0-9]{1,5}%?[+-]?", re.ASCII)
_FITTING = {
    Kind.NUMBER: _NUMBER,  # bash arithmetic runs what stands in a[...], and Lua is spliced with numbers
    Kind.SIGNED: _SIGNED,
    Kind.NAME: re.compile(r"[^/~].*"),
    Kind.FREE: re.compile(r".*", re.DOTALL),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why arguments are not let through: the rule's name, and a sentence that needs no subject."""

    rule: str
    text: str


def fault(args: Sequence[str]) -> Fault | None:
    """The first rule these arguments break, whatever they are for."""
    if len(args) > MAX_ARGUMENTS:
        return Fault(rule="argument-count", text=f"at most {MAX_ARGUMENTS} arguments are taken")
    total = 0
    for position, arg in enumerate(args, 1):
        if _CONTROL.search(arg):
            text = f"argument {position} holds a control character, a line break or a direction override"
            return Fault(rule="argument-control-character", text=text)
        size = len(arg.encode())
        total += size
        if size > MAX_ARGUMENT or total > MAX_TOTAL:
            text = f"argument {position} is too long (at most {MAX_ARGUMENT} bytes each, {MAX_TOTAL} in all)"
            return Fault(rule="argument-length", text=text)
        if _PARENT.search(arg):
            return Fault(rule="argument-parent-folder", text=f"argument {position} holds '..'")
    return None


def fault_in(args: Sequence[str], grammar_text: str) -> Fault | None:
    """The first rule these arguments break, given the arguments their record declares."""
    found = fault(args)
    if found is not None:
        return found
    grammar = _grammar(grammar_text)
    positionals: list[str] = []
    rest = list(args)
    while rest:
        arg = rest.pop(0)
        if arg == "--" and grammar.double_dash:
            continue
        if arg[:1] in ("-", "+") and not (grammar.signed and _SIGNED.fullmatch(arg)):
            wrong = _option(arg, rest, grammar)
            if wrong is not None:
                return wrong
        else:
            positionals.append(arg)
    if not grammar.accepts(positionals, _fits):
        wanted = f"its arguments are: {grammar_text}" if grammar_text else "it takes no arguments"
        return Fault(rule="argument-grammar", text=f"the arguments do not fit; {wanted}")
    return None


def _option(arg: str, rest: list[str], grammar: Grammar) -> Fault | None:
    """Check one option token, taking its value from the arguments that follow when it has one."""
    name, equals, value = arg.partition("=")
    known = grammar.options.get(name)
    if known is None or (equals and not known.joined):
        return Fault(rule="argument-option", text=f"it declares no option '{arg[:60]}'")
    if not known.values:
        return None
    if not known.joined and rest and rest[0][:1] not in ("-", "+"):
        equals, value = "=", rest.pop(0)
    if not equals:
        return None if known.optional else Fault(rule="argument-option", text=f"option '{name}' needs a value")
    if not any(_fits(word, value) for word in known.values):
        return Fault(rule="argument-value", text=f"option '{name}' does not take that value")
    return None


def _fits(word: Word, text: str) -> bool:
    """Whether one argument may stand where the grammar has this word."""
    if word.kind is Kind.LITERAL:
        return text == word.text
    return _FITTING[word.kind].fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _grammar(text: str) -> Grammar:
    return parse_grammar(text)
