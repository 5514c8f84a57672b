"""A Bash script as a tree of plain nodes, from the tree-sitter grammar.

Pure module: text in, nodes out. A text the grammar cannot read whole says so.

    parse_bash(text) -> Script
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

MAX_SCRIPT = 512 * 1024  # bytes; the longest real one is 60 KB
MAX_NODES = 200_000

_FIELDS = frozenset(
    [
        "command",
        "redirected_statement",
        "file_redirect",
        "case_statement",
        "case_item",
        "for_statement",
        "binary_expression",
        "variable_assignment",
        "subscript",
        "while_statement",
        "if_statement",
        "function_definition",
    ]
)
_CONTENT = frozenset({"string_content", "raw_string", "heredoc_content", "heredoc_body", "ansi_c_string", "regex"})
_SHEBANG = re.compile(rb"#!\s*(?:\S*/)?(?:env\s+(?:-S\s+)?)?(?:bash|sh)(?:\s|$)")
_ROOT_WORD = re.compile(r"(?m)^(?!\s*#).*\b(?:sudo|pkexec|doas|run0)\b")


@dataclass(slots=True, eq=False)
class Node:
    """One node: its kind, its part in its parent, its text and its children in order."""

    kind: str
    part: str
    text: str
    line: int
    kids: list["Node"] = field(default_factory=list)
    sorted: tuple[list["Node"], list["Node"], list["Node"]] | None = None  # of a command, once it was looked at

    def named(self) -> list["Node"]:
        """The children that are more than punctuation."""
        return [kid for kid in self.kids if kid.kind.isidentifier() and kid.kind not in _KEYWORDS]

    def parts(self, part: str) -> list["Node"]:
        """The children that play this part."""
        return [kid for kid in self.kids if kid.part == part]


_KEYWORDS = frozenset(
    [
        "if",
        "then",
        "else",
        "elif",
        "fi",
        "case",
        "esac",
        "for",
        "while",
        "until",
        "do",
        "done",
        "in",
        "select",
        "function",
        "local",
        "declare",
        "typeset",
        "export",
        "readonly",
        "unset",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A script's tree, whether all of it was understood, and whether it speaks of root where it was not."""

    root: Node
    whole: bool
    root_word: bool
    functions: Mapping[str, tuple[Node, ...]] = field(default_factory=dict)


EMPTY_SCRIPT = Script(root=Node("program", "", "", 1), whole=False, root_word=False)


def parse_script(text: bytes) -> Script:
    """A file of the command folder; one that is not Bash, not UTF-8 or too long is not whole."""
    if len(text) > MAX_SCRIPT or not _SHEBANG.match(text):
        return EMPTY_SCRIPT
    try:
        return parse_bash(text.decode())
    except UnicodeDecodeError:
        return EMPTY_SCRIPT


def mentions_root(text: str) -> bool:
    """Whether a text that could not be followed speaks of becoming root outside its comments."""
    return _ROOT_WORD.search(text) is not None


def parse_bash(text: str) -> Script:
    """Code in Bash, with or without a first line that says so."""
    data = text.encode()
    tree = _parser().parse(data)
    whole = not tree.root_node.has_error and tree.root_node.descendant_count <= MAX_NODES and "\0" not in text
    root_word = not whole and mentions_root(text)
    if not whole and tree.root_node.descendant_count > MAX_NODES:
        return Script(root=EMPTY_SCRIPT.root, whole=False, root_word=root_word)
    functions: dict[str, tuple[Node, ...]] = {}
    try:
        root = _node(tree.root_node, "", text if text.isascii() else data, functions)
        return Script(root=root, whole=whole, root_word=root_word, functions=functions)
    except RecursionError:
        return Script(root=EMPTY_SCRIPT.root, whole=False, root_word=mentions_root(text))


@lru_cache(maxsize=1)
def _parser() -> Any:
    import tree_sitter  # noqa: PLC0415  # a second to load, and only a scan needs it
    import tree_sitter_bash  # noqa: PLC0415

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def _node(raw: Any, part: str, data: str | bytes, functions: dict[str, tuple[Node, ...]]) -> Node:
    kind = raw.type
    piece = data[raw.start_byte : raw.end_byte]
    text = piece if isinstance(piece, str) else piece.decode(errors="replace")
    if kind not in _CONTENT:
        text = text.strip(" \t")  # the grammar counts the space before "$x" in a string to the dollar
    node = Node(kind, part, text, raw.start_point[0] + 1)
    kids = raw.children
    wants = kind in _FIELDS
    for position, kid in enumerate(kids):
        role = (raw.field_name_for_child(position) or "") if wants else ""
        if not kid.is_named:
            node.kids.append(_mark(kid.type, role))
        elif kid.type != "comment":
            node.kids.append(_node(kid, role, data, functions))
    if kind == "function_definition" and node.parts("name") and node.parts("body"):
        name = node.parts("name")[0].text
        functions[name] = (*functions.get(name, ()), node.parts("body")[0])
    return node


@lru_cache(maxsize=1024)
def _mark(kind: str, part: str) -> Node:
    """A keyword or a piece of punctuation; all of one kind are one node."""
    return Node(kind, part, kind, 0)
