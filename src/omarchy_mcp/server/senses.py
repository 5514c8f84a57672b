"""What agents perceive of the desktop, and whether they may: the decision beside policy's, in the same words.

Pure module. Looking changes nothing, so it is allowed unless the person says otherwise: a sense's name in
``policy.deny`` refuses it, in ``policy.ask_before`` it is put to them first, like a guarded call.

    decide_sense(sense, args, *, config, granted="") -> Verdict
"""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from omarchy_mcp.policy.config import Config
from omarchy_mcp.policy.rating import Tier
from omarchy_mcp.policy.verdict import Verdict


class Sense(StrEnum):
    """One thing agents perceive, or the clipboard, which they also write; the value is its name in the rules."""

    SCREEN = "screen"
    WINDOWS = "windows"
    STATUS = "status"
    CLIPBOARD_READ = "clipboard read"
    CLIPBOARD_WRITE = "clipboard write"


REASONS = {
    Sense.SCREEN: "it shows what is on the screen",
    Sense.WINDOWS: "it shows which windows are open",
    Sense.STATUS: "it only reads how the machine is",
    Sense.CLIPBOARD_READ: "it shows what was copied",
    Sense.CLIPBOARD_WRITE: "it replaces what was copied",
}


def names_of(sense: Sense) -> frozenset[str]:
    """The names the rules may give a sense: its own, and `clipboard` for both of the clipboard's."""
    return frozenset({str(sense), str(sense).split()[0]})


def decide_sense(sense: Sense, args: Sequence[str], *, config: Config, granted: str = "") -> Verdict:
    """Decide one look; ``granted`` names a grant that covers exactly it. Never raises."""
    reason = REASONS[sense]
    allowed = Verdict(
        route=str(sense), binary="", args=tuple(args), tier=Tier.SAFE, allowed=True, askable=False, would_ask=False,
        reason=reason, rule="perception", origin="table",
    )  # fmt: skip
    refused = replace(allowed, allowed=False, tier=Tier.GUARDED, origin="config")
    denied = sorted(names_of(sense) & config.deny)
    if denied:
        why = f"cannot use '{sense}': the person at the desk denies it"
        return replace(refused, reason=why, rule=f"deny:{denied[0]}")
    if config.restrictive:
        why = f"cannot use '{sense}': the configuration could not be read, so it is not known whether agents may"
        return replace(refused, reason=why, rule="restrictive")
    asked = sorted(names_of(sense) & config.ask_before)
    if not asked:
        return allowed
    rule = f"ask_before:{asked[0]}"
    if granted:
        return replace(refused, allowed=True, reason="a grant covers it", rule=f"grant:{granted}", origin="grant")
    why = f"cannot use '{sense}': {reason}, so the person at the desk decides"
    return replace(refused, askable=True, would_ask=True, reason=why, rule=rule)
