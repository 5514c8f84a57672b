"""The plugins of the demo's shell: which there are, which are on, and what loading one means."""

from .state import State

FIRST_PARTY = {
    "omarchy.bar": "bar",
    "omarchy.clock": "bar-widget",
    "omarchy.menu": "menu",
    "omarchy.emojis": "overlay",
    "omarchy.clipboard": "overlay",
    "omarchy.image-picker": "overlay",
    "omarchy.monitor": "panel",
    "omarchy.weather": "panel",
    "omarchy.network": "panel",
    "omarchy.audio": "panel",
    "omarchy.bluetooth": "panel",
    "omarchy.power": "panel",
}


class Plugins:
    """The plugins over one state folder: a folder each in ``plugins/``, the choice in ``plugins-enabled``."""

    def __init__(self, state: State) -> None:
        self.state = state

    def listing(self) -> list[dict[str, object]]:
        """Return every plugin as the shell lists it."""
        enabled = self._enabled()
        rows = [(name, kind, f"-{name}" not in enabled, True) for name, kind in FIRST_PARTY.items()]
        rows += [(name, "bar-widget", name in enabled, False) for name in self.third_party()]
        return [
            {
                "id": name,
                "name": name.rpartition(".")[2].title(),
                "kinds": [kind],
                "enabled": on,
                "active": kind == "bar" and on,
                "firstParty": first_party,
            }
            for name, kind, on, first_party in rows
        ]

    def known(self, name: str) -> bool:
        """Tell whether there is such a plugin."""
        return name in FIRST_PARTY or name in self.third_party()

    def third_party(self) -> list[str]:
        """Return the names of the plugins that did not come with the shell."""
        return sorted(path.name for path in (self.state.folder / "plugins").iterdir() if path.is_dir())

    def enable(self, name: str, enabled: str) -> str:
        """Turn a plugin on (and so run its code) or off."""
        if not self.known(name):
            return "unknown"
        third_party = name not in FIRST_PARTY
        mark = name if third_party else f"-{name}"  # what came with the shell is on unless it says otherwise
        names = self._enabled() - {mark}
        if (enabled == "true") == third_party:
            names.add(mark)
        choice = self.state.folder / "plugins-enabled"
        choice.write_text("".join(f"{one}\n" for one in sorted(names)), encoding="utf-8")
        self.state.log(f"plugin {name} enabled: {enabled}")
        if third_party and enabled == "true":
            self._load(name)
        return "ok"

    def rescan(self) -> None:
        """Load what is on disk and enabled."""
        for name in self.third_party():
            if name in self._enabled():
                self._load(name)

    def widgets(self) -> list[list[str]]:
        """Return the bar's configuration: rows of widget, key, value."""
        return [line.split("\t") for line in self.state.get("config/bar-widgets").splitlines()]

    def reload(self) -> str:
        """Obey what is on disk: a widget's ``exec`` is a command line."""
        for row in self.widgets():
            if len(row) == 3 and row[1] == "exec":
                self.state.run("bash", "-c", row[2])
        return "ok"

    def _enabled(self) -> set[str]:
        return set(self.state.get("plugins-enabled").split())

    def _load(self, name: str) -> None:
        code = self.state.inside(f"plugins/{name}/load.sh")
        if code is not None and code.is_file():
            self.state.run("bash", str(code))
