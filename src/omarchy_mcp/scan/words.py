"""What the words of a script may come to: expansions, quoting, splitting, arithmetic.

Pure module. Taint goes through every expansion but the few that let only letters and digits through.

    word(walk, node, env) -> Value            one word as one text
    words(walk, nodes, env) -> list[Value]    arguments, lists spread out
"""

import re
from typing import TYPE_CHECKING

from omarchy_mcp.scan.capabilities import Capability
from omarchy_mcp.scan.syntax import Node
from omarchy_mcp.scan.values import EMPTY, GAP, UNKNOWN, Env, Value, concat, join, join_all, text, unknown

if TYPE_CHECKING:
    from omarchy_mcp.scan.walk import Walk

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# A set of characters that can neither leave a folder nor be code: [^...] of these only
CLASS_PIECES = (  # of a bracket expression: no range that reaches beyond letters or digits
    r"-?(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|\[:(?:alnum|alpha|digit|lower|upper|xdigit):\]|[a-zA-Z0-9_])"
)
_CLEAN_SET = re.compile(rf"\[[\^!]{CLASS_PIECES}+-?\]")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_DOLLAR = re.compile(r"\$[A-Za-z0-9_@*({!#]")
_BRACES = re.compile(r"\{[^{}]*(?:,|\.\.)[^{}]*\}")  # {a,b} and {1..3} come to several words
_LISTS = re.compile(r"\$\{?@|\[@\]")
_DESCRIPTOR = re.compile(r"\{[A-Za-z_]\w*\}")
_LITERAL = frozenset(
    {"word", "number", "string_content", "heredoc_content", "variable_name", "regex", "extglob_pattern"}
)
_NUMERIC = frozenset({"$#", "$?", "$$", "$!", "#", "?", "$", "!", "-"})


def words(walk: "Walk", nodes: list[Node], env: Env) -> list[Value]:
    """Arguments as a command gets them: lists spread, one unquoted known text split at its spaces."""
    found: list[Value] = []
    for node in nodes:
        spread = _spread(node, env)
        if spread is not None:
            found.extend(spread)
            continue
        value = word(walk, node, env)
        if _LISTS.search(node.text):  # "${list[@]:1}", "--x=$@"
            found.append(Value(value.shapes, value.taint, many=True))
        elif node.kind not in ("simple_expansion", "expansion", "command_substitution"):
            found.append(value)
        elif len(value.shapes) == 1 and value.known:
            found.extend(text(part) for part in value.sole.split())
        else:
            found.append(Value(value.shapes, value.taint, many=True))
    return found


def _spread(node: Node, env: Env) -> list[Value] | None:
    """The items of "$@" or "${list[@]}" where they are known one by one."""
    inner = node
    if node.kind == "string":
        if len(node.kids) != 3:
            return None
        inner = node.kids[1]
    name = ""
    if inner.kind == "simple_expansion" and inner.text in ("$@", "$*"):
        name = "@"
    elif inner.kind == "expansion" and len(inner.kids) == 3:
        subject = inner.kids[1]
        if subject.kind == "subscript" and subject.text.endswith(("[@]", "[*]")):
            name = subject.text[:-3]
        elif subject.text in ("@", "*"):
            name = "@"
    if not name:
        return None
    value = env.get(name)
    return list(value.items) if value.items is not None else [Value(value.shapes, value.taint, many=True)]


def word(walk: "Walk", node: Node, env: Env) -> Value:
    """One word as one text."""
    kind = node.kind
    if kind in _LITERAL and not (kind in ("regex", "extglob_pattern") and _DOLLAR.search(node.text)):
        return text(_plain(node.text) if kind == "word" else node.text)
    if kind in ("simple_expansion", "expansion"):
        return _expansion(walk, node, env)
    if kind in ("string", "concatenation", "heredoc_body", "command_name", "translated_string"):
        return _joined(walk, node, env)
    if kind in ("command_substitution", "process_substitution"):
        value = walk.substitution(node, env)
        return value if kind == "command_substitution" else unknown(taint=value.taint)
    return _rarer(walk, node, env)


def _rarer(walk: "Walk", node: Node, env: Env) -> Value:
    if node.kind == "raw_string":
        return text(node.text[1:-1])
    if node.kind == "ansi_c_string":
        return text(node.text[2:-1]) if "\\" not in node.text else UNKNOWN
    if node.kind == "arithmetic_expansion":
        arithmetic(walk, node, env)
        return UNKNOWN
    if node.kind == "array":
        items = words(walk, node.named(), env)
        whole = join_all(items)
        return Value(whole.shapes, whole.taint, tuple(items))
    if node.kind == "unary_expression" and node.kids[0].text == "~":  # [[ -f ~/file ]]
        return concat([text("~"), *(word(walk, kid, env) for kid in node.kids[1:])])
    if node.kind in ("regex", "extglob_pattern"):
        return unknown(taint=True)  # a pattern with an expansion in it that the grammar leaves unread
    if node.kind != "brace_expression":
        walk.found(Capability.UNCLEAR, node)
    return UNKNOWN


def _plain(written: str) -> str:
    """A bare word without its backslashes, with the home folder spelled one way."""
    return _ESCAPED.sub(r"\1", written).replace("\n", "") if "\\" in written else written


def _joined(walk: "Walk", node: Node, env: Env) -> Value:
    pieces = node.kids if node.kind != "string" else [kid for kid in node.kids if kid.kind != '"']
    if node.kind == "concatenation" and _DESCRIPTOR.fullmatch(node.text):  # exec {name}>file
        return text(node.text)
    if node.kind == "concatenation" and _BRACES.search(node.text):
        taint = any(word(walk, piece, env).taint for piece in pieces if piece.kind.isidentifier())
        return unknown(taint=taint)
    values = [
        text("$") if piece.kind == "$" else word(walk, piece, env)
        for piece in pieces
        if piece.kind.isidentifier() or piece.kind == "$"
    ]
    return concat(values) if values else EMPTY


def _expansion(walk: "Walk", node: Node, env: Env) -> Value:
    if node.kind == "simple_expansion":
        return UNKNOWN if node.text in _NUMERIC else env.get(node.kids[-1].text)
    kids = node.kids[1:-1]
    operators = [kid.text for kid in kids if kid.part == "operator" or not kid.kind.isidentifier()]
    if operators[:1] == ["#"] and kids[0].text == "#":
        return UNKNOWN
    if operators[:1] == ["!"] and kids[0].text == "!":
        return _indirect(walk, node)
    subject = next((kid for kid in kids if kid.kind in ("variable_name", "special_variable_name", "subscript")), None)
    if subject is None or "@" in operators:
        walk.found(Capability.UNCLEAR, node)
        return UNKNOWN
    value = _subject(walk, subject, env)
    rest = kids[kids.index(subject) + 1 :]
    return _operated(walk, node, value, [subject, *rest], env) if rest else value


def _subject(walk: "Walk", subject: Node, env: Env) -> Value:
    if subject.kind != "subscript":
        return UNKNOWN if subject.text in _NUMERIC else env.get(subject.text)
    name = subject.kids[0].text
    index(walk, subject, env)
    whole = env.get(name)
    return Value(whole.shapes, whole.taint)


def _indirect(walk: "Walk", node: Node) -> Value:
    """${!name}: the keys of a list are harmless, a variable named by another can be any."""
    if node.text.endswith(("[@]}", "[*]}")):
        return UNKNOWN
    walk.found(Capability.UNCLEAR, node)
    return Value(frozenset({GAP}), taint=True)


def _operated(walk: "Walk", node: Node, value: Value, rest: list[Node], env: Env) -> Value:
    subject, rest = rest[0], rest[1:]
    operator = rest[0].text
    others = [word(walk, kid, env) for kid in rest[1:] if kid.kind.isidentifier()]
    if operator in (":-", "-", ":=", "=", ":+", "+", ":?", "?"):
        other = concat(others) if others else EMPTY
        if operator in (":+", "+"):
            return join(EMPTY, other)
        if value == UNKNOWN and not env.has(subject.text):
            return other  # nobody here set it, so it comes from the environment, and this is what it is there
        return value if operator in (":?", "?") else join(value, other)
    if operator == ":":
        for kid in rest[1:]:
            arithmetic(walk, kid, env)
        return unknown(taint=value.taint)
    if operator == "//" and len(rest) > 1 and _CLEAN_SET.fullmatch(rest[1].text):
        return unknown(taint=any(other.taint for other in others))
    if operator in ("#", "##", "%", "%%", "/", "//", "^", "^^", ",", ",,", "/#", "/%"):
        return unknown(taint=value.taint or any(other.taint for other in others))
    walk.found(Capability.UNCLEAR, node)
    return unknown(taint=True)


def index(walk: "Walk", subscript: Node, env: Env) -> None:
    """A list's index is arithmetic, which runs what it is given; a map's is text."""
    name = subscript.kids[0].text
    if name not in walk.maps:
        for kid in subscript.kids[1:]:
            if kid.text not in ("@", "*"):
                arithmetic(walk, kid, env)
    else:
        for kid in subscript.kids[1:]:
            if kid.kind in ("simple_expansion", "expansion", "string", "concatenation", "command_substitution"):
                word(walk, kid, env)


def arithmetic(walk: "Walk", node: Node, env: Env) -> None:
    """Look through an arithmetic expression: any caller's text in it is run as code by a[$(…)]."""
    if node.kind in ("word", "variable_name") and _NAME.fullmatch(node.text):
        value = env.get(node.text)
    elif node.kind in ("simple_expansion", "expansion", "string", "command_substitution", "concatenation"):
        value = word(walk, node, env)
    else:
        value = EMPTY
        for kid in node.kids:
            arithmetic(walk, kid, env)
        name = node.kids[0].text if node.kids else ""
        if _NAME.fullmatch(name):
            value = env.get(name)
    if value.taint:
        walk.found(Capability.EXEC, node)
