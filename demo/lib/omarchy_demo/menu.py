"""The demo's menu: entries that run something, and dialogs whose answer is written where the asker said."""

import json

from .state import State

# An entry without an action opens a further menu; one with an action runs it when it is summoned.
ENTRIES: dict[str, tuple[str, ...]] = {
    "root": (),
    "style": (),
    "style.theme": ("omarchy-theme-bg-next",),
    "install": (),
    "install.browser": ("omarchy-install-browser", "firefox"),
    "remove": (),
    "remove.preinstalls": ("omarchy-remove-preinstalls",),
    "setup": (),
    "setup.security.sshd": ("omarchy-setup-security-sshd",),
    "update": (),
    "update.all": ("omarchy-update", "-y"),
    "system": (),
    "system.lock": ("omarchy-system-lock",),
    "system.suspend": ("omarchy-system-lock",),
    "system.logout": ("omarchy-system-logout",),
    "system.reboot": ("omarchy-system-reboot",),
    "system.shutdown": ("omarchy-system-shutdown",),
}


class Menu:
    """The menu over one state folder; the open dialog is kept in ``dialog.json``."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._dialog = state.folder / "dialog.json"

    def summon(self, payload: str) -> str:
        """Open a menu or a dialog, or run the entry that was named."""
        try:
            wish = json.loads(payload or "{}")
        except ValueError:
            wish = {}
        if not isinstance(wish, dict):
            return "unknown"
        if wish.get("mode") in ("input", "menu", "select"):
            return self.ask(*(str(wish.get(key, "")) for key in ("prompt", "selectionFile", "doneFile")))
        entry = str(wish.get("menu") or "root")
        if entry not in ENTRIES:
            return "unknown"
        if ENTRIES[entry]:
            self.state.run(*ENTRIES[entry])
        else:
            self.state.set(panel=f"menu: {entry}")
        return "ok"

    def ask(self, prompt: str, selection: str, finished: str) -> str:
        """Show a dialog; its answer goes into the files the asker named."""
        self._dialog.write_text(json.dumps({"selection": selection, "finished": finished}), encoding="utf-8")
        self.state.set(dialog=prompt or "?")
        return "ok"

    def answer(self, text: str) -> str:
        """Write the answer where the open dialog's asker wants it, whoever that was."""
        try:
            files = json.loads(self._dialog.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return "error"
        selection = self.state.inside(str(files.get("selection", "")))
        if selection is not None:
            selection.parent.mkdir(parents=True, exist_ok=True)
            selection.write_text(text + "\n", encoding="utf-8")
        return self.finish(str(files.get("finished", "")))

    def finish(self, finished: str) -> str:
        """Close the dialog and leave an empty file as the sign of it."""
        self._dialog.unlink(missing_ok=True)
        sign = self.state.inside(finished)
        if sign is not None:
            sign.parent.mkdir(parents=True, exist_ok=True)
            sign.write_text("", encoding="utf-8")
        self.state.set(dialog="")
        return "ok"

    def close(self) -> None:
        """Close whatever is open."""
        self._dialog.unlink(missing_ok=True)
        self.state.set(dialog="", panel="")
