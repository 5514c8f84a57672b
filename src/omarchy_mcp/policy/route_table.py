"""The rules of single routes: which arguments of a guarded route are harmless, and why. Data only.

A rule lapses when the record declares other ``args`` than the text it was written for.
"""

# ruff: noqa: E501  # a table: one row, one line

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """``pattern`` is over all arguments, each after a line break; its groups are named for what must be there."""

    args: str
    pattern: re.Pattern[str]
    reason: str
    program: str = ""


URL = r"\nhttps?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:[/?#][A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]*)?"
WORD = r"\n(?!-)[^\n]+"

_NOTIFY = (
    "[-a] [--app-name <app-name>] [-g <glyph>] [-u <low|normal|critical>] [--image <path-or-uri>] <headline> "
    "[description] [notify-send options]"
)
_MODES = "[smart|region|windows|fullscreen] [slurp|copy|save] [--editor=<name>]"
_PLUGIN = "<list|rescan|enable|disable|add|update|remove|clone|edit|validate> [...]"

# route: declared arguments, pattern, why these arguments are safe, a program that has to be there
_ROWS: tuple[tuple[str, str, str, str, str], ...] = (
    ("theme set", "<theme-name>", r"\n(?P<theme>\w[\w .-]*)", "a name, not a path; only '../' made it any folder", ""),
    ("font set", "<font-name>", r"\n(?P<font>\w[\w .+-]*)", "letters and digits; only other characters mean something to sed", ""),
    ("toggle", "<flag-name> [toggle|on|off]", r"\n[a-z0-9][a-z0-9-]*(?:\n(?:toggle|on|off))?", "a flag, not a path", ""),
    ("hyprland window pop", "[width height x y]", r"(?:\n[0-9]{1,5}){0,4}", "numbers; only text reaches the Lua", ""),
    ("launch browser", "[url]", rf"(?:{URL})?", "one address; only options run programs", ""),
    ("launch webapp", "<url>", URL, "one address; only options run programs", ""),
    ("launch terminal", "[command...]", "", "without arguments it only opens a terminal", ""),
    ("launch editor", "[--inline] <path>", r"\n/[^\n]*", "one file; only options and +commands run code", ""),
    ("launch config editor", "<path>", r"\n(?P<file>/[^\n]*)", "a file that is there, as for the editor", ""),
    ("launch 1password", "", "", "when it is installed nothing is installed", "1password"),
    ("launch signal", "", "", "when it is installed nothing is installed", "signal-desktop"),
    ("launch spotify", "", "", "when it is installed nothing is installed", "spotify"),
    ("capture screenshot", _MODES, r"(?:\n(?:smart|region|windows|fullscreen))?(?:\n(?:slurp|copy|save))?",
     "modes only; --editor= names a program", ""),
    ("menu", "[toggle|summon|close|refresh|ping] [route]", r"\n(?:close|refresh|ping)", "these run no entry", ""),
    ("migrate", "[--pending]", r"\n--pending", "it only lists", ""),
    ("plugin", _PLUGIN, r"\nlist", "it only lists", ""),
    ("notification send", _NOTIFY,
     rf"(?:\n-g{WORD}|\n-u\n(?:low|normal)|\n--image\n/[^\n]+)*{WORD}(?:{WORD})?", "text, a glyph and a picture", ""),
)  # fmt: skip

RULES: dict[str, Rule] = {
    route: Rule(args=args, pattern=re.compile(pattern), reason=reason, program=program)
    for route, args, pattern, reason, program in _ROWS
}
