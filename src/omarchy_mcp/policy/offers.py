"""A question that is also put to the client that called, as a form of its own, and what the one answer to it is worth.

Pure module. The client's answer may always decline; it lets something run only where the person has said that this
client may answer. A client is known by its token; what it calls itself counts only where it came with the token of
the set-up, which clients share, and there whoever holds that can give any name.

    may_answer(listed, client, declared) -> bool              whether the person has said so
    counted(action, allowed=…) -> Answer | None               what an answer comes to; None: the desk decides
    misfit(offer, digest, client, declared, now_s) -> str | None  why it answers something else, or too late
"""

import hmac
from collections.abc import Collection
from dataclasses import dataclass

from omarchy_mcp.policy.legible import shown
from omarchy_mcp.policy.questions import Answer

SHARED = "default"  # the client of the set-up's token


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What an answer of a client is bound to. ``client`` is its token's name, ``declared`` what it calls itself."""

    digest: str
    client: str
    declared: str
    until_s: float


def may_answer(listed: Collection[str], client: str, declared: str) -> bool:
    """Whether the person named this client: by its token, or with the shared one by what it calls itself."""
    return client in listed or (client == SHARED and declared in listed)


def counted(action: str, *, allowed: bool) -> Answer | None:
    """What the action of a form comes to; taking the form away says nothing."""
    if action == "decline":
        return Answer.DECLINED
    return Answer.ACCEPTED if action == "accept" and allowed else None


def misfit(offer: Offer, digest: str, client: str, declared: str, now_s: float) -> str | None:
    """Why an answer is not one to this offer, or None."""
    if (client, declared) != (offer.client, offer.declared):
        return f"it was put to '{shown(offer.declared)}', and '{shown(declared)}' answers"
    if not hmac.compare_digest(digest.encode("utf-8", "replace"), offer.digest.encode("utf-8", "replace")):
        return "the call is no longer the one that was shown"
    return "its time is over" if now_s > offer.until_s else None
