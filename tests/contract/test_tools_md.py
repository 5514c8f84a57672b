"""TOOLS.md says what a server declares."""

import asyncio

from tools import tools_md


def test_the_list_of_tools_resources_and_tiers_is_current() -> None:
    made = asyncio.run(tools_md.document())
    assert tools_md.DOCUMENT.read_text(encoding="utf-8") == made, "run: make tools-md"


def test_what_is_told_of_an_argument_is_what_its_schema_says() -> None:
    assert tools_md.kind({"type": "array", "items": {"type": "string"}}) == "array of string"
    assert tools_md.kind({"type": "integer", "minimum": 1, "maximum": 9}) == "integer 1 to 9"
    assert tools_md.kind({"type": "string", "enum": ["a", "b"]}) == "string: `a`, `b`"
    values: list[object] = [False, "", 5, []]
    assert [tools_md.default({"default": each}) for each in values] == ["false", '""', "5", "[]"]
    assert tools_md.cell("a\n b|c") == "a b\\|c"
