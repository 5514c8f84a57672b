"""The scan: what each command of the folder can do, through every command it calls.

Scan(scripts, shell_effect).worst(binary) -> frozenset[Finding] | None    over any arguments; None: no such script
Scan(scripts, shell_effect).closure(binary) -> frozenset[str]             every script that had a say in it
"""

from collections.abc import Mapping
from typing import Protocol

from omarchy_mcp.scan.capabilities import Capability, Finding
from omarchy_mcp.scan.syntax import Script, parse_script
from omarchy_mcp.scan.values import Value
from omarchy_mcp.scan.walk import Walk

MAX_NESTING = 12  # commands that call commands; the deepest real chain is 5
MAX_WALKS = 400  # of one script with different arguments; more is unclear

_Key = tuple[str, tuple[Value, ...] | None, bool]


class ShellEffect(Protocol):
    """What a script's own call into the desktop shell can do; the table of such calls is the policy's."""

    def __call__(
        self, target: str, function: str, arity: int, subject: frozenset[str] | None, *, tainted: bool
    ) -> set[Capability]:
        """``subject``: the call's first argument where that is known; ``tainted``: arguments reach the call."""


class Scan:
    """The scripts of one folder; each is parsed once, and walked once per set of arguments."""

    def __init__(self, scripts: Mapping[str, bytes], shell_effect: ShellEffect) -> None:
        self._scripts = scripts
        self.shell_effect = shell_effect
        self._parsed: dict[str, Script] = {}
        self._walked: dict[_Key, frozenset[Finding]] = {}
        self._count: dict[str, int] = {}
        self._active: list[_Key] = []
        self._calls: dict[str, set[str]] = {}

    def worst(self, binary: str) -> frozenset[Finding] | None:
        """What a command can do over any arguments."""
        return self._walk(binary, None, stdin=False)

    def closure(self, binary: str) -> frozenset[str]:
        """The command and every command it was seen to call, or might have called had it been there."""
        reached: set[str] = set()
        waiting = [binary]
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting.extend(self._calls.get(name, ()))
        return frozenset(reached)

    def has(self, name: str) -> bool:
        """Whether there is a command of this name."""
        return name in self._scripts

    def helper(self, name: str, arguments: tuple[Value, ...], *, stdin: bool) -> frozenset[Finding] | None:
        """What a command can do when another calls it with these arguments."""
        self._calls.setdefault(self._active[-1][0], set()).add(name)
        return self._walk(name, arguments, stdin=stdin)

    def _walk(self, name: str, arguments: tuple[Value, ...] | None, *, stdin: bool) -> frozenset[Finding] | None:
        text = self._scripts.get(name)
        if text is None:
            return None
        key = (name, arguments, stdin)
        known = self._walked.get(key)
        if known is not None:
            return known
        self._count[name] = self._count.get(name, 0) + 1
        if key in self._active:
            return frozenset()  # it is being walked already, with these very arguments
        if len(self._active) > MAX_NESTING or self._count[name] > MAX_WALKS:
            return frozenset({Finding(Capability.UNCLEAR, f"{name}:1")})
        if name not in self._parsed:
            self._parsed[name] = parse_script(text)
        self._active.append(key)
        found = Walk(self, name, stdin=stdin).script(self._parsed[name], arguments)
        self._active.pop()
        self._walked[key] = found
        return found
