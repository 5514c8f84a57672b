"""Status and records for a person: lines made from plain mappings.

Pure.  Everything shown came over the bus or out of the journal, so every piece passes `printable`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from omarchy_mcp.cli.text import Colour, count, duration, fit, pad, paint, printable, stamp, width

STATES: Mapping[str, tuple[Colour, str]] = {
    "serving": (Colour.GREEN, "●"),
    "starting": (Colour.YELLOW, "●"),
    "frozen": (Colour.CYAN, "●"),
    "failed": (Colour.RED, "×"),  # noqa: RUF001 - systemctl's own mark
    "stopped": (Colour.GREY, "○"),
    "unknown": (Colour.YELLOW, "○"),
}

OUTCOMES: Mapping[str, Colour] = {
    "failed": Colour.RED,
    "error": Colour.RED,
    "timed_out": Colour.RED,
    "refused": Colour.YELLOW,
    "not_installed": Colour.YELLOW,
    "cancelled": Colour.YELLOW,
    "running": Colour.CYAN,
}

COLUMNS = ("TIME", "OUTCOME", "TOOL", "ROUTE", "TARGET", "DURATION", "CLIENT")
FIXED = frozenset({"TIME", "OUTCOME", "DURATION"})
"""Columns that are never cut."""

MOST_NAMES = 6
"""Names in one line of the status."""

NARROWEST = 8
WIDEST = 60

Values = Mapping[str, object]


def number(values: Values, key: str) -> int:
    """A count out of a mapping; 0 when it is not there or no number."""
    value = values.get(key, 0)
    return value if isinstance(value, int) else 0


def problems(status: Values) -> list[str]:
    """What is wrong, in the order in which it should be cured."""
    found = [str(status[key]) for key in ("problem", "token_problem") if status.get(key)]
    if status.get("config_problem") or status.get("config_ok") is False:
        found.append(f"configuration: {status.get('config_problem') or 'not used'}")
    if status.get("consent_problem"):
        found.append(f"grants: {status['consent_problem']}")
    if status.get("review_problem"):
        found.append(f"review: {status['review_problem']}")
    if status.get("audit") in ("unreadable", "losing"):
        found.append(f"audit {status['audit']}: {status.get('audit_why', '')}")
    running, installed = status.get("server_version"), status.get("version")
    if running and running != installed:
        found.append(f"the server still runs version {running}; 'omarchy-mcpctl restart' starts {installed}")
    return found


def status_lines(status: Values, config: str, *, config_there: bool, colours: bool) -> list[str]:
    """The status: state, problems, then the rest, label by label."""
    state = printable(status.get("state", "unknown"), 20)
    colour, mark = STATES.get(state, STATES["unknown"])
    version = printable(status.get("version", ""), 40)
    lines = [f"{paint(f'{mark} {state}', colour, Colour.BOLD, on=colours)}  omarchy-mcp {version}".rstrip()]
    lines += [paint(f"  Problem: {printable(text, 1_000)}", Colour.RED, on=colours) for text in problems(status)]
    rows = (
        ("Port", port(status)),
        ("Server", server(status)),
        ("Tools", tools(status)),
        ("Calls", calls(status)),
        ("Jobs", count(number(status, "jobs"), "command") + " running" if number(status, "jobs") else ""),
        ("Pending", count(number(status, "pending"), "question") if number(status, "pending") else ""),
        ("Answers", may_answer(status)),
        ("Review", review(status)),
        ("Audit", "" if status.get("audit") == "unknown" else status.get("audit", "")),
        ("Config", configuration(status, config, there=config_there)),
        ("Token", status.get("token_file", "")),
        ("Omarchy", status.get("omarchy_path", "")),
    )
    return lines + [f"{label:>9}: {printable(value, 1_000)}" for label, value in rows if value]


def review(status: Values) -> str:
    """How many commands are held until they are looked at."""
    held = number(status, "review")
    return f"{count(held, 'command')} held; 'omarchy-mcpctl review' shows what is new" if held else ""


def port(status: Values) -> str:
    """The address, whether it is held, and whether it will be after the next login."""
    held = "held" if status.get("listening") else "closed"
    later = "and after every login" if status.get("enabled") else "not after the next login"
    at = number(status, "port")
    if not at:
        return f"{held}; {later}"
    return f"127.0.0.1:{at}, {held}, {later}"


def server(status: Values) -> str:
    """Whether the process runs and for how long."""
    if not status.get("running"):
        return "asleep; the next connection starts it" if status.get("listening") else "not running"
    text = f"running for {duration(number(status, 'uptime_usec'))}, process {number(status, 'pid')}"
    restarts = number(status, "restarts")
    return f"{text}, restarted {count(restarts, 'time')} after a failure" if restarts else text


def tools(status: Values) -> str:
    """How many tools agents see, and how many there are."""
    shown, declared = number(status, "tools"), number(status, "tools_declared")
    if not shown and not declared:
        return ""
    return f"{shown} of {declared}" if declared > shown else str(shown)


def calls(status: Values) -> str:
    """How many calls there were since the server started."""
    if not status.get("running"):
        return ""
    text = f"{number(status, 'calls')}, {number(status, 'failures')} not ok"
    if status.get("last_tool"):
        text += f", the last {printable(status['last_tool'], 60)}"
    return f"{text}; {count(number(status, 'clients'), 'client')}"


def may_answer(status: Values) -> str:
    """Which clients may approve their own calls in a form of theirs."""
    names = status.get("may_answer")
    named = [printable(name, 60) for name in names[:MOST_NAMES]] if isinstance(names, list) else []
    if not named:
        return ""
    more = f" and {len(names) - MOST_NAMES} more" if isinstance(names, list) and len(names) > MOST_NAMES else ""
    return f"{', '.join(named)}{more} may approve what they ask for"


def configuration(status: Values, path: str, *, there: bool) -> str:
    """The configuration file and whether it is used."""
    if not there:
        return f"{path} (not there: defaults)"
    if not status.get("config_ok", True):
        return f"{path} (rejected)"
    unwatched = status.get("config_watch")
    return f"{path} (looked at every 2 s: {unwatched})" if unwatched else path


def unit_lines(units: Mapping[str, str], *, colours: bool) -> list[str]:
    """What the service manager says when the control service says nothing."""
    colour, mark = STATES["unknown"]
    head = paint(f"{mark} unknown", colour, Colour.BOLD, on=colours)
    return [f"{head}  the control service says nothing; the service manager says:"] + [
        f"  {printable(name)}: {printable(word)}" for name, word in units.items()
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The widths of the columns of records, and what is done with what does not fit."""

    widths: tuple[int, ...]
    cut: bool
    colours: bool

    def head(self) -> str:
        """The line of headings."""
        line = "  ".join(map(pad, COLUMNS, self.widths)).rstrip()
        return paint(line, Colour.LINE, on=self.colours)

    def line(self, record: Values) -> str:
        """One record: a row for a call, its message for everything else."""
        if record.get("event") != "call":
            return self.remark(record)
        shown = cells(record)
        if self.cut:
            shown = [
                text if name in FIXED else fit(text, most)
                for name, text, most in zip(COLUMNS, shown, self.widths, strict=True)
            ]
        filled = list(map(pad, shown, self.widths))
        colour = OUTCOMES.get(shown[1])
        if colour is not None:
            filled[1] = paint(filled[1], colour, on=self.colours)
        return "  ".join(filled).rstrip()

    def remark(self, record: Values) -> str:
        """A record that is no call."""
        event = printable(record.get("event", "?"), 40)
        text = f"{moment(record)}  -- {event}: {printable(record.get('message', ''), 1_000)}"
        if self.cut:
            text = fit(text, sum(self.widths) + 2 * (len(COLUMNS) - 1))
        bad = event == "dropped" or record.get("outcome") in ("failed", "refused")
        return paint(text, Colour.RED if bad else Colour.GREY, on=self.colours)


def moment(record: Values) -> str:
    """When a record was written."""
    return stamp(number(record, "usec"))


def cells(record: Values) -> list[str]:
    """The cells of a call's row; what a call does not have is "-"."""
    took = record.get("duration_usec")
    texts = (record.get(key, "") for key in ("outcome", "tool", "route", "target", "client"))
    outcome, tool, route, target, client = (printable(text, 200) or "-" for text in texts)
    return [
        moment(record), outcome, tool, route, target, duration(took) if isinstance(took, int) else "-", client
    ]  # fmt: skip


def table(records: Sequence[Values], columns: int, *, colours: bool) -> Table:
    """A table wide enough for these records and, on a terminal (columns > 0), no wider than that."""
    widths = [width(name) for name in COLUMNS]
    widths[0] = max(widths[0], width(stamp(0)))
    for record in records:
        if record.get("event") == "call":
            widths = [max(most, min(width(text), WIDEST)) for most, text in zip(widths, cells(record), strict=True)]
    room = columns - 2 * (len(COLUMNS) - 1)
    while columns and sum(widths) > room:
        widest = max((at for at, name in enumerate(COLUMNS) if name not in FIXED), key=lambda at: widths[at])
        if widths[widest] <= NARROWEST:
            break
        widths[widest] -= 1
    return Table(widths=tuple(widths), cut=columns > 0, colours=colours)
