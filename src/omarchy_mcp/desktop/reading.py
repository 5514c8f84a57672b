"""Text recognition: which languages there are, and what is asked of the program. Pure module."""

import re
from collections.abc import Sequence

USUAL = "eng"
LANGUAGES = re.compile(r"[A-Za-z0-9_]{2,24}(?:\+[A-Za-z0-9_]{2,24}){0,7}", re.ASCII)
OPTIONS = ("--oem", "1", "--psm", "6", "--dpi", "300", "-c", "preserve_interword_spaces=1")
LIST = ("--list-langs",)


def installed(text: str) -> list[str]:
    """The languages a listing names: a heading, then one a line."""
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if re.fullmatch(r"[A-Za-z0-9_/-]{2,40}", line) and line != "osd"]


def missing(wanted: str, there: Sequence[str]) -> str:
    """Why these languages cannot be read, "" when they can."""
    if not LANGUAGES.fullmatch(wanted):
        return "cannot read that language: `lang` is names joined by '+', such as eng or eng+deu"
    lacking = [each for each in wanted.split("+") if each not in there]
    if not lacking:
        return ""
    listed = ", ".join(there) if there else "none"
    return (
        f"text recognition for {lacking[0]} is not installed (package tesseract-data-{lacking[0]}); installed: {listed}"
    )


def argv(language: str) -> tuple[str, ...]:
    """What the program is given: the picture comes on standard input."""
    return ("stdin", "stdout", *OPTIONS, "-l", language)
