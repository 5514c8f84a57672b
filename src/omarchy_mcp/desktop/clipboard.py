"""The clipboard: which of the types on offer is read, and which are never. Pure module."""

import re
from collections.abc import Sequence

MIME = re.compile(r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,63}/[A-Za-z0-9][A-Za-z0-9!#$&^_.+;= -]{0,63}", re.ASCII)
SECRET = ("x-kde-passwordmanagerhint",)
"""What a password manager puts beside what it copies."""
TEXTS = ("text/plain;charset=utf-8", "text/plain", "UTF8_STRING", "STRING", "TEXT")
PICTURES = ("image/png", "image/jpeg")
TEXTUAL = ("application/json", "application/xml", "application/javascript", "application/x-yaml")


class NotTextError(Exception):
    """Nothing on offer can be handed on; the message says what is on offer."""


def offered(text: str) -> list[str]:
    """The types a listing names, one a line."""
    return [line.strip() for line in text.splitlines() if line.strip()][:200]


def secret(types: Sequence[str]) -> bool:
    """Whether it comes from a password manager."""
    return any(hint in each.lower() for each in types for hint in SECRET)


def chosen(types: Sequence[str], wanted: str) -> str:
    """The type to read.

    Raises:
        NotTextError: there is none.
    """
    shown = ", ".join(each for each in types if MIME.fullmatch(each))[:300] or "nothing that has a usual name"
    if wanted:
        if wanted in types and (wanted in TEXTS or MIME.fullmatch(wanted)) and readable(wanted):
            return wanted
        raise NotTextError(f"it is not on offer as that type, or that type is not one that can be read; it is: {shown}")
    for each in (*TEXTS, *types):
        if each in types and (each in TEXTS or (MIME.fullmatch(each) and readable(each) and each not in PICTURES)):
            return each
    raise NotTextError(f"it is not text; ask with `mime` for one of: {shown}")


def readable(mime: str) -> bool:
    """Whether what has this type can be handed on."""
    return mime in TEXTS or mime.startswith("text/") or mime in PICTURES or mime in TEXTUAL
