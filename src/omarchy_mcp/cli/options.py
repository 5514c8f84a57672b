"""The command line: its verbs and options, parsed into one frozen request.

Pure.  Verbs and options are tables, from which the help text and the shell completions are made as well.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn

PROGRAM = "omarchy-mcpctl"
MOST = 1_000
"""Records that can be asked for: the control service gives no more."""

DEFAULT_COUNT = 10

SCOPES = ("call", "args", "route")
LIVES = ("once", "10min", "session", "always")
"""How far an approval goes, and for how long: of each the least first, which is the default."""

ACTIONS = ("add", "list", "rotate", "revoke")
PROGRAMS = ("claude", "codex", "gemini", "opencode")
"""Clients whose configuration is known."""

NAMING = frozenset({"client", "client-config"})
"""Verbs whose further words and options `naming` understands."""

ANSWERING = frozenset({"approve", "deny", "revoke", "acknowledge"})
"""Verbs whose further words `answers` understands."""


class Json(StrEnum):
    """How data is written."""

    SHORT = "short"
    PRETTY = "pretty"
    OFF = "off"
    AUTO = "auto"
    """What -j means: pretty on a terminal, short elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """One verb, for the parser, the help text and the completions."""

    name: str
    does: str
    options: tuple[str, ...] = ()
    """Long options that are for this verb and not for all."""
    words: str = ""
    """What may follow it."""
    choices: tuple[str, ...] = ()
    """What the first of these words may be, if there is a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option, for the parser, the help text and the completions."""

    long: str
    does: str
    short: str = ""
    value: str = ""
    choices: tuple[str, ...] = ()


VERBS = (
    Verb(name="status", does="Show how the server is (the default)"),
    Verb(name="start", does="Hold the port, now and after every login"),
    Verb(name="stop", does="Close the port and end the server, until start"),
    Verb(name="restart", does="End and start the server again; no connection is refused"),
    Verb(name="reload", does="Have the server read its configuration again"),
    Verb(name="freeze", does="Pause agents: freeze what they started, refuse new calls"),
    Verb(name="thaw", does="Let agents go on"),
    Verb(name="jobs", does="Show the commands agents have started that still run"),
    Verb(name="stop-job", does="End every process of a job", words="JOB"),
    Verb(name="recent", does="Show the newest records of what agents did", options=("lines", "follow")),
    Verb(name="watch", does="Write one JSON object per change, until interrupted", options=("no-start",)),
    Verb(name="tiers", does="Show what each command may do: safe, guarded or blocked", options=("hidden",)),
    Verb(
        name="preview",
        does="Show what would become of a call; run nothing",
        options=("ipc",),
        words="-- CALL",
    ),
    Verb(name="questions", does="Show what waits for your answer, every argument of it"),
    Verb(name="approve", does="Let the call of a question run", options=("scope", "life"), words="[NUMBER]"),
    Verb(name="deny", does="Refuse the call of a question", options=("all",), words="[NUMBER]"),
    Verb(name="grants", does="Show what was allowed for longer than one call"),
    Verb(name="revoke", does="Take a grant back", options=("all",), words="[ID]"),
    Verb(name="review", does="Show commands that are new or can do more, and are held"),
    Verb(name="acknowledge", does="Have your rules count for what review shows", words="[DIGEST]"),
    Verb(
        name="client",
        does="Show who may come in, or change that",
        options=("token-file", "show"),
        words="[ACTION] [NAME]",
        choices=ACTIONS,
    ),
    Verb(
        name="client-config",
        does="Show how a client is set up for this server",
        options=("client", "name", "token-file"),
    ),
    Verb(name="help", does="Show the manual, or what a verb does", words="[VERB]"),
)

OPTIONS = (
    Option(long="lines", short="n", value="N", does=f"Show N records (0 to {MOST}, default {DEFAULT_COUNT})"),
    Option(long="follow", short="f", does="Go on showing new records until interrupted"),
    Option(long="no-start", does="Do not start the control service if it does not run"),
    Option(long="hidden", does="Also commands that are not meant for people"),
    Option(long="ipc", does="The call is TARGET FUNCTION [ARG...], of the shell"),
    Option(long="scope", value="SCOPE", does="Allow this call, its args or its route", choices=SCOPES),
    Option(long="life", value="LIFE", does="Allow once, 10min, session or always", choices=LIVES),
    Option(long="all", does="All that there are"),
    Option(long="client", value="PROGRAM", does="The client to be set up", choices=PROGRAMS),
    Option(long="name", value="NAME", does="The name of its token (default: default)"),
    Option(long="token-file", value="FILE", does="The token is in this file"),
    Option(long="show", does="Write the token wherever it goes"),
    Option(
        long="json",
        value="MODE",
        does="Write JSON: short (a bare --json), pretty or off",
        choices=(Json.SHORT, Json.PRETTY, Json.OFF),
    ),
    Option(long="json-auto", short="j", does="Write JSON: pretty on a terminal, short elsewhere"),
    Option(long="quiet", short="q", does="Write no remarks, only data and errors"),
    Option(long="verbose", short="v", does="Name the D-Bus error as well"),
    Option(long="no-pager", does="Do not pipe output into a pager"),
    Option(long="no-legend", does="Do not write column headings and hints"),
    Option(long="help", short="h", does="Show this help"),
    Option(long="version", does="Show the version"),
)
SHORT_ONLY = frozenset({"json-auto"})
"""Options without a long form."""

BY_NAME = {verb.name: verb for verb in VERBS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for."""

    verb: str = "status"
    topic: str = ""
    count: int = DEFAULT_COUNT
    follow: bool = False
    start: bool = True
    json: Json = Json.OFF
    quiet: bool = False
    verbose: bool = False
    pager: bool = True
    legend: bool = True
    hidden: bool = False
    ipc: bool = False
    operands: tuple[str, ...] = ()
    """What follows `--`, or the verb: a call."""
    question: int = 0
    """Its number; 0 when none was given."""
    grant: str = ""
    digest: str = ""
    """Of what is acknowledged; "" for what is shown."""
    every: bool = False
    scope: str = SCOPES[0]
    life: str = LIVES[0]
    action: str = ""
    client: str = ""
    """The name of a client's token."""
    program: str = ""
    token_file: str = ""
    show: bool = False


class UsageError(Exception):
    """The command line cannot be understood; the message says why."""


class Parser(argparse.ArgumentParser):
    """argparse, but an error is one line and nobody is shown the whole help for it."""

    def error(self, message: str) -> NoReturn:
        """Raise what argparse found.

        Raises:
            UsageError: always.
        """
        raise UsageError(message)


def parser() -> Parser:
    """The parser for the tables above."""
    made = Parser(
        prog=PROGRAM,
        # both given, so that argparse need not load what finds out how wide a help text may be
        usage=f"{PROGRAM} [OPTIONS...] VERB",
        formatter_class=lambda prog: argparse.HelpFormatter(prog, width=80),
        add_help=False,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    for option in OPTIONS:
        names = [f"-{option.short}"] if option.short else []
        if option.long not in SHORT_ONLY:
            names.append(f"--{option.long}")
        if option.value:
            made.add_argument(*names, dest=option.long, metavar=option.value)
        else:
            made.add_argument(*names, dest=option.long, action="store_true")
    made.add_argument("words", nargs="*")
    return made


def parse(argv: Sequence[str]) -> Request:
    """Understand a command line; --help and --version become verbs of that name.

    Raises:
        UsageError: it cannot be understood.
    """
    options, operands = split(argv)
    given = vars(parser().parse_intermixed_args(options))
    words = given.pop("words", [])
    for early in ("help", "version"):
        if given.get(early):
            return Request(verb=f"--{early}")
    verb = known(words[0]) if words else BY_NAME["status"]
    operands = [*words[1:], *operands]
    check(verb, operands, given)
    request = Request(
        verb=verb.name,
        topic=known(operands[0]).name if operands and verb.name == "help" else "",
        operands=tuple(operands) if verb.name in ("preview", "stop-job") else (),
        hidden="hidden" in given,
        ipc="ipc" in given,
        count=number(given["lines"]) if "lines" in given else DEFAULT_COUNT,
        follow="follow" in given,
        start="no-start" not in given,
        json=json_mode(given),
        quiet="quiet" in given,
        verbose="verbose" in given,
        pager="no-pager" not in given,
        legend="no-legend" not in given,
    )
    if verb.name in ANSWERING:
        from omarchy_mcp.cli import answers  # noqa: PLC0415 - it needs what is defined here

        return answers.completed(request, operands, given)
    if verb.name in NAMING:
        from omarchy_mcp.cli import naming  # noqa: PLC0415 - likewise

        return naming.completed(request, operands, given)
    return request


def split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Part a command line at `--`; a bare --json gets its mode, so that it never swallows a verb."""
    words = list(argv)
    at = words.index("--") if "--" in words else len(words)
    options, operands = words[:at], words[at + 1 :]
    modes = {str(Json.SHORT), str(Json.PRETTY), str(Json.OFF)}
    for number, word in enumerate(options):
        if word == "--json" and (number + 1 == len(options) or options[number + 1] not in modes):
            options[number] = f"--json={Json.SHORT}"
    return options, operands


def known(word: str) -> Verb:
    """The verb of that name.

    Raises:
        UsageError: there is none.
    """
    if word in BY_NAME:
        return BY_NAME[word]
    from difflib import get_close_matches  # noqa: PLC0415 - only for an error

    close = get_close_matches(word, BY_NAME, n=1)
    raise UsageError(f"unknown verb {word[:40]!r}" + (f", did you mean {close[0]!r}?" if close else ""))


def check(verb: Verb, rest: Sequence[str], given: dict[str, object]) -> None:
    """See that a verb got what it takes.

    Raises:
        UsageError: it got something else.
    """
    if verb.name == "preview":
        if not rest:
            raise UsageError("'preview' takes a call: -- ROUTE [ARG...], or with --ipc -- TARGET FUNCTION [ARG...]")
    elif verb.name == "stop-job" and not rest:
        raise UsageError("'stop-job' takes the id of a job, as 'jobs' shows it")
    elif len(rest) > len(verb.words.split()):
        raise UsageError(f"{verb.name!r} takes no further word: {rest[-1][:40]!r}")
    for other in VERBS:
        for name in other.options:
            if name in given and name not in verb.options:
                raise UsageError(f"option --{name} is for {other.name!r}, not for {verb.name!r}")


def number(text: str) -> int:
    """How many records.

    Raises:
        UsageError: it is no number, or too large.
    """
    if not (text.isascii() and text.isdigit() and int(text[:5]) <= MOST and len(text) <= len(str(MOST))):
        raise UsageError(f"-n takes a number from 0 to {MOST}, not {text[:40]!r}")
    return int(text)


def json_mode(given: dict[str, object]) -> Json:
    """How data is to be written.

    Raises:
        UsageError: no such mode.
    """
    if "json" in given:
        mode = str(given["json"])
        if mode not in (Json.SHORT, Json.PRETTY, Json.OFF):
            raise UsageError(f"--json takes short, pretty or off, not {mode[:40]!r}")
        return Json(mode)
    return Json.AUTO if "json-auto" in given else Json.OFF


def help_text() -> str:
    """What --help shows."""
    lines = [
        f"{PROGRAM} [OPTIONS...] VERB",
        "",
        "See and control the MCP server that lets agents operate this desktop.",
        "",
        "Verbs:",
    ]
    lines += [f"  {f'{verb.name} {verb.words}'.strip():<20} {verb.does}" for verb in VERBS]
    lines += ["", "Options:"]
    lines += [f"  {spelling(option):<16} {option.does}{only(option)}" for option in OPTIONS]
    lines += ["", f"'{PROGRAM} help' shows the manual with exit statuses and files."]
    return "\n".join(lines) + "\n"


def verb_help(verb: Verb) -> str:
    """What `help VERB` shows."""
    lines = [f"{PROGRAM} [OPTIONS...] {verb.name} {verb.words}".rstrip(), "", f"{verb.does}."]
    own = [option for option in OPTIONS if option.long in verb.options]
    if own:
        lines += ["", "Options:"] + [f"  {spelling(option):<16} {option.does}" for option in own]
    return "\n".join(lines) + "\n"


def spelling(option: Option) -> str:
    """An option as it is typed."""
    long = f"--{option.long}" + (f"={option.value}" if option.value else "")
    if option.long in SHORT_ONLY:
        return f"-{option.short}"
    return f"-{option.short} {long}" if option.short else f"   {long}"


def only(option: Option) -> str:
    """For which verb an option is, when it is not for all."""
    verbs = [verb.name for verb in VERBS if option.long in verb.options]
    return f" ({', '.join(verbs)})" if verbs else ""
