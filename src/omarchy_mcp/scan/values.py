"""Values a script may hold, as far as the scan can know them: their possible texts, and whether a caller wrote them.

Pure module. A shape is a text in which NUL stands for a part nobody knows before the script runs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

GAP = "\0"
MAX_SHAPES = 8
MAX_SHAPE = 4_096


@dataclass(frozen=True, slots=True)
class Value:
    """Possible texts; ``taint``: the caller's text may be part of it.

    ``items``: it is a list, known one by one; ``many``: it stands for any number of words.
    """

    shapes: frozenset[str]
    taint: bool = False
    items: "tuple[Value, ...] | None" = None
    many: bool = False

    @property
    def sole(self) -> str:
        """The one possible text, or a gap where there are several."""
        return next(iter(self.shapes)) if len(self.shapes) == 1 else GAP

    @property
    def known(self) -> bool:
        """Whether every possible text is known whole."""
        return not self.taint and all(GAP not in shape for shape in self.shapes)


UNKNOWN = Value(frozenset({GAP}))
TAINTED = Value(frozenset({GAP}), taint=True)
EMPTY = Value(frozenset({""}))


def text(*possible: str) -> Value:
    """A value that is one of these texts."""
    return Value(frozenset(possible))


def unknown(*, taint: bool) -> Value:
    """A value of which only the taint is known."""
    return TAINTED if taint else UNKNOWN


def join(one: Value, two: Value) -> Value:
    """A value that is either of two."""
    if one == two:
        return one
    shapes = one.shapes | two.shapes
    items = one.items if one.items == two.items else None
    return Value(shapes if len(shapes) <= MAX_SHAPES else UNKNOWN.shapes, one.taint or two.taint, items)


def join_all(values: Iterable[Value]) -> Value:
    """A value that is any of these; empty when there are none."""
    joined: Value | None = None
    for value in values:
        joined = value if joined is None else join(joined, value)
    return EMPTY if joined is None else Value(joined.shapes, joined.taint)


def concat(parts: list[Value]) -> Value:
    """These values written one after the other."""
    if len(parts) == 1:
        return Value(parts[0].shapes, parts[0].taint)
    shapes = {""}
    for part in parts:
        shapes = {(left + right)[:MAX_SHAPE] for left in shapes for right in part.shapes}
        if len(shapes) > MAX_SHAPES:
            shapes = {GAP}
    return Value(frozenset(shapes), any(part.taint for part in parts))


def renderings(values: list[Value]) -> list[list[str]]:
    """The argument lists these values may amount to; few, or one in which the unclear ones are gaps."""
    count = 1
    for value in values:
        count *= len(value.shapes)
    if count > MAX_SHAPES:
        return [[GAP if len(value.shapes) > 1 else next(iter(value.shapes)) for value in values]]
    lists: list[list[str]] = [[]]
    for value in values:
        lists = [[*known, shape] for known in lists for shape in sorted(value.shapes)]
    return lists


# Places a script finds through its environment.
PLACES: Mapping[str, str] = {
    "HOME": "~",
    "OMARCHY_PATH": "/usr/share/omarchy",
    "XDG_CONFIG_HOME": "~/.config",
    "XDG_DATA_HOME": "~/.local/share",
    "XDG_STATE_HOME": "~/.local/state",
    "XDG_CACHE_HOME": "~/.cache",
    "XDG_RUNTIME_DIR": "/run/user/0",
    "TMPDIR": "/tmp",  # noqa: S108  # a shape, never opened
}


class Env:
    """Variables in their scopes, innermost last; a function's arguments live in its scope as "1", "2", … and "@".

    A copy shares its scopes until one of the two writes; ``shared`` says which are not its own.
    """

    __slots__ = ("scopes", "shared")

    def __init__(self, scopes: list[dict[str, Value]]) -> None:
        self.scopes = scopes
        self.shared = [False] * len(scopes)

    def copy(self) -> "Env":
        """The same variables, from here on apart."""
        twin = Env(list(self.scopes))
        self.shared = [True] * len(self.scopes)
        twin.shared = [True] * len(self.scopes)
        return twin

    def enter(self) -> None:
        """Open a scope."""
        self.scopes.append({})
        self.shared.append(False)

    def cut(self, depth: int) -> "Env":
        """The outer scopes alone."""
        twin = self.copy()
        twin.scopes, twin.shared = twin.scopes[:depth], twin.shared[:depth]
        return twin

    def get(self, name: str) -> Value:
        """A variable's value; one nobody set comes from the environment, which the caller does not write."""
        if name in ("@", "*") or name.isdigit():
            scope = self.scopes[-1]
            return UNKNOWN if name == "0" else scope.get("@" if name == "*" else name, scope["@"])
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        if name.startswith("BASH_ARG") or name == "_":  # the caller's words by another name
            return TAINTED
        return text(PLACES[name]) if name in PLACES else UNKNOWN

    def has(self, name: str) -> bool:
        """Whether the script itself gave this variable a value."""
        return name.isdigit() or any(name in scope for scope in self.scopes)

    def set(self, name: str, value: Value, *, local: bool = False) -> None:
        """Set a variable where it lives, or in the innermost scope."""
        position = len(self.scopes) - 1
        if not local:
            while position and name not in self.scopes[position]:
                position -= 1
        self._own(position)[name] = value

    def _own(self, position: int) -> dict[str, Value]:
        if self.shared[position]:
            self.scopes[position] = dict(self.scopes[position])
            self.shared[position] = False
        return self.scopes[position]

    def refine(self, name: str, value: Value) -> None:
        """Note what a condition showed of a variable; a positional keeps it until it is shifted away."""
        if name.isdigit():
            scope = self._own(len(self.scopes) - 1)
            scope[name] = scope[f"shown {name}"] = value
        else:
            self.set(name, value)

    def arguments(self, values: list[Value] | None) -> None:
        """Set the positionals of the innermost scope; None: any number of the caller's texts."""
        scope = self._own(len(self.scopes) - 1)
        for name in [name for name in scope if name.isdigit() or name.startswith("shown ")]:
            del scope[name]
        if values is None:
            scope["@"] = TAINTED
            return
        whole = join_all(values)
        counted = not any(value.many for value in values)
        scope["@"] = Value(whole.shapes, whole.taint, tuple(values) if counted else None)
        for position in range(1, max(len(values), 9) + 1):
            if position <= len(values) and values[position - 1].many:
                break  # from here on any position may hold any of them
            scope[str(position)] = values[position - 1] if position <= len(values) else EMPTY

    def shift(self, count: int) -> None:
        """Drop the first positionals; of an unknown number an unknown number is left."""
        whole = self.scopes[-1]["@"]
        self.arguments(None if whole.items is None else list(whole.items[count:]))
        if whole.items is None:
            self.scopes[-1]["@"] = whole


def merge(one: Env | None, two: Env | None) -> Env | None:
    """What holds where two ways through a script meet; None is a way that does not come back."""
    if one is None or two is None or one is two:
        return one or two
    merged = one.copy()
    for position, (left, right) in enumerate(zip(one.scopes, two.scopes, strict=True)):
        if left is not right:
            merged.scopes[position] = _merged(left, right)
            merged.shared[position] = False
    return merged


def widen(before: Env, after: Env) -> Env:
    """What a loop leaves of variables that change each time round: only whether the caller may have a hand in them."""
    wide = after.copy()
    for position, (old, new) in enumerate(zip(before.scopes, after.scopes, strict=True)):
        if old is not new:
            wide.scopes[position] = {
                name: value if old.get(name) == value else unknown(taint=value.taint)
                for name, value in new.items()
                if not (name.startswith("shown ") and old.get(name) != value)
            }
            wide.shared[position] = False
    return wide


def _merged(left: dict[str, Value], right: dict[str, Value]) -> dict[str, Value]:
    scope = dict(left)
    for name, value in right.items():
        other = left.get(name)
        if other is value:
            continue
        if other is not None:
            scope[name] = join(other, value)
        elif not name.startswith("shown "):
            scope[name] = join(left.get("@", UNKNOWN) if name.isdigit() else UNKNOWN, value)
    for name in left.keys() - right.keys():
        if name.startswith("shown "):
            del scope[name]
        else:
            scope[name] = join(left[name], right.get("@", UNKNOWN) if name.isdigit() else UNKNOWN)
    return scope
