"""Man page, completions, the description of the record and its catalog say what the program does."""

import ast
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from omarchy_mcp.cli import completion, manual
from omarchy_mcp.cli.exits import Exit, StatusExit
from omarchy_mcp.cli.options import BY_NAME, OPTIONS, PROGRAM, SHORT_ONLY, Verb
from omarchy_mcp.session.records import IDENTIFIER, MESSAGE_IDS, PREFIX, Outcome, arguments, entry

REPO = Path(__file__).resolve().parents[2]
DOCS = REPO / "docs"
PAGE = manual.PAGE.read_text(encoding="utf-8")
AUDIT = (DOCS / "audit.md").read_text(encoding="utf-8")
CATALOG = DOCS / "omarchy-mcp.catalog"
SECTIONS = [
    *("NAME", "SYNOPSIS", "DESCRIPTION", "VERBS", "OPTIONS", "EXIT STATUS"),
    *("ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"),
]


def section(name: str) -> str:
    return PAGE.split(f"\n## {name}\n", 1)[1].split("\n## ", 1)[0]


def test_the_manual_has_its_sections_in_the_usual_order() -> None:
    assert re.findall(r"(?m)^## (.*)$", PAGE) == SECTIONS


@pytest.mark.parametrize("verb", BY_NAME.values(), ids=lambda verb: verb.name)
def test_every_verb_is_in_the_manual(verb: Verb) -> None:
    assert re.search(rf"(?m)^\*\*{verb.name}\*\*", section("VERBS"))


def test_the_manual_names_no_verb_and_no_option_that_is_not_there() -> None:
    assert set(re.findall(r"(?m)^\*\*([a-z-]+)\*\*", section("VERBS"))) == set(BY_NAME)
    terms = "\n".join(re.findall(r"(?m)^\*\*-.*$", section("OPTIONS")))
    assert set(re.findall(r"--?[a-z][a-z-]*", terms)) == {
        form for option in OPTIONS for form in completion.forms(option)
    }


def test_every_exit_status_is_in_the_manual() -> None:
    for_status, for_others = section("EXIT STATUS").split("For every other verb")
    assert {int(code) for code in re.findall(r"\*\*(\d+)\*\*", for_status)} == set(map(int, StatusExit))
    assert {int(code) for code in re.findall(r"\*\*(\d+)\*\*", for_others)} == {*map(int, Exit), 130}


def test_every_variable_the_program_reads_is_in_the_manual() -> None:
    read: set[str] = set()
    for folder in ("cli", "session"):
        for source in (REPO / "src" / "omarchy_mcp" / folder).glob("*.py"):
            read |= set(
                re.findall(r'"((?:XDG|DBUS|SYSTEMD|OMARCHY_MCP|NO_COLOR|PAGER|TERM)[A-Z_]*)"', source.read_text())
            )
    read |= set(re.findall(r"\$\{?([A-Z_]{4,})", (REPO / "bin" / PROGRAM).read_text(encoding="utf-8")))
    ours = read - {"BASH_SOURCE", "HOME", "OMARCHY_MCP_", "SYSTEMD_"} - of_the_services()
    assert {name for name in ours if name not in section("ENVIRONMENT")} == set()


def of_the_services() -> set[str]:
    """Variables that session/ reads or names for the two services, not for this program."""
    return {"OMARCHY_MCP_JOB", "OMARCHY_MCP_CALL_ID", "OMARCHY_MCP_UNIT", "SYSTEMD_EXEC_PID"}


def test_the_manual_as_roff_is_without_a_fault() -> None:
    text = manual.roff(PAGE)
    assert ".SH EXIT STATUS" in text
    assert "**" not in text
    if not shutil.which("groff"):
        pytest.skip("groff is missing: install the package groff to have the manual checked as roff")
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z"], input=text, capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_text_in_the_manual_cannot_become_a_request() -> None:
    text = manual.roff("# X(1)\n\n## NAME\n\n.so /etc/passwd\n\n    'sh evil\n    .pi sh\n")
    assert not any(line.startswith((".so", "'", ".pi")) for line in text.splitlines())


def test_the_manual_as_plain_text_has_no_marks_and_fits() -> None:
    text = manual.plain(PAGE)
    assert "**" not in text
    assert "`" not in text
    prose = [line for line in text.splitlines() if not line.startswith(" " * 11)]
    assert all(len(line) <= 80 for line in prose)


@pytest.mark.parametrize("name", completion.FILES)
def test_completions_are_up_to_date(name: str) -> None:
    told = "run: PYTHONPATH=src python -m omarchy_mcp.cli.completion docs/completion"
    assert (DOCS / "completion" / name).read_text(encoding="utf-8") == completion.FILES[name](), told


@pytest.mark.parametrize("name", completion.FILES)
def test_every_verb_and_option_can_be_completed(name: str) -> None:
    text = completion.FILES[name]()
    assert all(verb in text for verb in BY_NAME)
    for option in OPTIONS:
        assert option.long in SHORT_ONLY or option.long in text
        assert not option.short or re.search(rf"-(s )?{option.short}\b", text)


def complete(*words: str) -> set[str]:
    """What bash offers for the last word."""
    script = DOCS / "completion" / f"{PROGRAM}.bash"
    listed = " ".join(f"'{word}'" for word in (PROGRAM, *words))
    line = f"COMP_WORDS=({listed}); COMP_CWORD={len(words)}; _omarchy_mcpctl"
    code = f"source '{script}'; {line}; echo \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-uc", code], capture_output=True, encoding="utf-8", check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("st",), {"status", "start", "stop", "stop-job"}),
        (("recent", "--fo"), {"--follow"}),
        (("start", "--fo"), set()),
        (("help", "re"), {"restart", "reload", "recent", "revoke", "review"}),
        (("--json", "=", "s"), {"short"}),
        (("--json", "="), {"short", "pretty", "off"}),
        (("recent", "-n", ""), set()),
        (("start", ""), set()),
        (("approve", ""), set()),
        (("approve", "3", "--s"), {"--scope"}),
        (("approve", "3", "--scope", "=", ""), {"call", "args", "route"}),
        (("approve", "3", "--life", "=", "s"), {"session"}),
        (("deny", "--a"), {"--all"}),
        (("grants", "--a"), set()),
        (("client", "r"), {"rotate", "revoke"}),
        (("client-config", "--client", "=", "c"), {"claude", "codex"}),
    ],
)
def test_bash_offers_what_fits(words: tuple[str, ...], offered: set[str]) -> None:
    assert complete(*words) == offered


def written_fields() -> set[str]:
    """The fields of all records: every keyword of every write() with an Event, and what each entry gets."""
    names = {"event", "seq", "instance", *arguments([])}
    for source in (REPO / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "write"
                and node.args
                and ast.unparse(node.args[0]).startswith("Event.")
            ):
                names |= {keyword.arg for keyword in node.keywords if keyword.arg}
    return {PREFIX + name.upper() for name in names}


def table(heading: str) -> dict[str, str]:
    """The rows of a table in docs/audit.md below a heading: first cell to the whole row."""
    part = AUDIT.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return {found[1]: found[0] for found in re.finditer(r"(?m)^\| `(\w+)` \|.*$", part)}


def test_every_field_of_a_record_is_described_and_no_other() -> None:
    described = {name for name in table("Fields") if name.startswith(PREFIX)}
    assert described == written_fields()


def test_what_every_entry_carries_is_described() -> None:
    event = next(iter(MESSAGE_IDS))
    names = {line.partition("=")[0] for line in entry(event, "text", {})}
    assert names <= set(table("Fields"))
    assert f"`{IDENTIFIER}`" in table("Fields")["SYSLOG_IDENTIFIER"]


def test_every_outcome_is_described() -> None:
    row = table("Fields")[f"{PREFIX}OUTCOME"]
    assert [outcome for outcome in Outcome if f"`{outcome}`" not in row] == []


def test_every_kind_of_record_is_described_with_its_message_id() -> None:
    rows = table("Kinds of record")
    assert set(rows) - {f"{PREFIX}EVENT"} == set(MESSAGE_IDS)
    assert all(f"`{message_id}`" in rows[event] for event, message_id in MESSAGE_IDS.items())


def test_message_ids_are_128_bits_and_each_is_its_own() -> None:
    assert all(re.fullmatch("[0-9a-f]{32}", message_id) for message_id in MESSAGE_IDS.values())
    assert len(set(MESSAGE_IDS.values())) == len(MESSAGE_IDS)


def test_the_catalog_has_one_entry_per_message_id_and_names_only_fields_that_are_written() -> None:
    text = CATALOG.read_text(encoding="utf-8")
    assert sorted(re.findall(r"(?m)^-- (\S+)$", text)) == sorted(MESSAGE_IDS.values())
    assert set(re.findall(r"\bOMARCHY_MCP_\w+", text)) <= written_fields()


def test_journalctl_takes_the_catalog(tmp_path: Path) -> None:
    if not shutil.which("journalctl"):
        pytest.skip("journalctl is missing: it comes with systemd")
    folder = tmp_path / "usr/lib/systemd/catalog"
    folder.mkdir(parents=True)
    shutil.copy(CATALOG, folder)

    def journalctl(*words: str) -> str:
        done = subprocess.run(
            ["journalctl", f"--root={tmp_path}", *words], capture_output=True, encoding="utf-8", check=True
        )
        assert done.stderr == ""
        return done.stdout

    journalctl("--update-catalog")
    listed = journalctl("--list-catalog")
    assert {line.split()[0] for line in listed.splitlines()} == set(MESSAGE_IDS.values())
    for message_id in MESSAGE_IDS.values():
        head = journalctl("--dump-catalog", message_id).splitlines()[:3]
        assert [line.partition(":")[0] for line in head[1:]] == ["Subject", "Defined-By"]
