"""The demo's music player: three records of nobody's, which never make a sound."""

import json

from .state import State

TRACKS = (
    ("Slack Water", "The Moorings", "Tidemarks"),
    ("Paper Lanterns", "Low Sun", "Evenings"),
    ("Granite", "Cold Kiln", "Cold Kiln"),
)


class Media:
    """The player over one state folder."""

    def __init__(self, state: State) -> None:
        self.state = state

    def status(self) -> str:
        """Return the player's state as the shell prints it."""
        title, artist, album = TRACKS[self._track()]
        facts = {
            "hasPlayer": True,
            "hasMedia": True,
            "playing": self.state.get("media") == "playing",
            "identity": "Demo Player",
            "desktopEntry": "demo-player",
            "title": title,
            "artist": artist,
            "album": album,
            "artUrl": "",
            "canGoNext": True,
            "canGoPrevious": True,
            "canTogglePlaying": True,
        }
        return json.dumps(facts, separators=(",", ":"))

    def turn(self, playing: str, step: int) -> str:
        """Play or pause, and go some tracks on."""
        track = (self._track() + step) % len(TRACKS)
        self.state.set(media=playing, track=str(track + 1))
        return "ok"

    def _track(self) -> int:
        return (int(self.state.get("track") or 1) - 1) % len(TRACKS)
