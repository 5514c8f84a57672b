"""What decides stays small enough to be read whole."""

import ast
import io
import tokenize
from pathlib import Path

ROOM = Path(__file__).parents[2] / "src" / "omarchy_mcp" / "policy"
MOST = 1500
_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER
}  # fmt: skip


def code_lines(source: str) -> int:
    """Lines that are neither blank nor only comment or docstring."""
    told = set[int]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            told |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - told)


def test_lines_of_code_are_counted() -> None:
    source = '"""What\nit is."""\n\nx = (  # why\n    1,\n)\n\n\ndef f():\n    """Says."""\n    # so\n    return x\n'
    assert code_lines(source) == 5


def test_the_policy_is_small_without_its_tables() -> None:
    sizes = {
        path.name: code_lines(path.read_text(encoding="utf-8"))
        for path in ROOM.glob("*.py")
        if not path.name.endswith("_table.py")
    }
    assert sum(sizes.values()) < MOST, sizes
