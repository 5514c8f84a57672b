"""The acting tools: what is done every day, with parameters of its own.

None of them starts anything: each says which command or function of the shell it stands for (acts), and that goes
the way of every call.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from mcp.server.mcpserver import Context, MCPServer
from mcp.types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import Field

from omarchy_mcp.server import acts
from omarchy_mcp.server.acting import DEFAULT_WAIT_MS, SHELL_WAIT_MS, Acting, wrong
from omarchy_mcp.server.acts import Act, Function
from omarchy_mcp.server.answers import ActAnswer
from omarchy_mcp.server.recording import CURRENT

LAUNCH_WAIT_MS = 1_000
"""A program that opens a window is not waited for longer: what fails at once is still said."""

SETS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
OPENS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)

NAMES = (
    "omarchy_notify",
    "omarchy_osd",
    "omarchy_theme",
    "omarchy_background",
    "omarchy_audio",
    "omarchy_brightness",
    "omarchy_media",
    "omarchy_toggle",
    "omarchy_launch",
)

Answer = Annotated[CallToolResult, ActAnswer] | InputRequiredResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Curated:
    """The acting tools over one gate."""

    acting: Acting

    def register(self, server: MCPServer) -> None:
        """Offer the tools, in the order of their names above."""
        server.add_tool(
            self.notify, name="omarchy_notify", title="Show a notification", annotations=SETS,
            description="Show the person at the desk a notification.",
        )  # fmt: skip
        server.add_tool(
            self.osd, name="omarchy_osd", title="Flash an on-screen message", annotations=SETS,
            description="Flash a short message or a level over the screen for a moment.",
        )  # fmt: skip
        server.add_tool(
            self.theme, name="omarchy_theme", title="Theme", annotations=SETS,
            description="Say which theme is set, list the themes, or set one by name.",
        )  # fmt: skip
        server.add_tool(
            self.background, name="omarchy_background", title="Background", annotations=SETS,
            description="Say which background is shown, change to the theme's next one, or set an image.",
        )  # fmt: skip
        server.add_tool(
            self.audio, name="omarchy_audio", title="Sound", annotations=SETS,
            description="Change the volume, mute the sound or the microphone (and back), or switch the output.",
        )  # fmt: skip
        server.add_tool(
            self.brightness, name="omarchy_brightness", title="Brightness", annotations=SETS,
            description="Say or set the brightness of the display, or light the keyboard.",
        )  # fmt: skip
        server.add_tool(
            self.media, name="omarchy_media", title="Media player", annotations=SETS,
            description="Say what plays, or steer it.",
        )  # fmt: skip
        server.add_tool(
            self.toggle, name="omarchy_toggle", title="Toggle a feature", annotations=SETS,
            description="Turn a feature of the desktop on or off, or say how it is. Not every feature knows every "
            "state: the answer says which it knows.",
        )  # fmt: skip
        server.add_tool(
            self.launch, name="omarchy_launch", title="Open a program", annotations=OPENS,
            description="Open the browser, a web app, the editor, a terminal or the file manager, and do not wait.",
        )  # fmt: skip

    async def notify(
        self,
        ctx: Context,
        headline: Annotated[str, Field(min_length=1, description="One line.")],
        description: Annotated[str, Field(description="More text below it.")] = "",
        urgency: Literal["low", "normal", "critical"] = "normal",
        glyph: Annotated[str, Field(description="A character shown beside it.")] = "",
    ) -> Answer:
        """Show a notification."""
        return await self._do(ctx, acts.notify(headline, description, urgency, glyph))

    async def osd(
        self,
        ctx: Context,
        message: str = "",
        icon: Annotated[str, Field(description="An icon's name, such as brightness.")] = "",
        progress: Annotated[int, Field(ge=-1, le=100, description="A level in percent; -1: none.")] = -1,
        duration_ms: Annotated[int, Field(ge=0, le=60_000, description="0: the usual time.")] = 0,
    ) -> Answer:
        """Flash a message."""
        return await self._do(ctx, acts.osd(message, icon, progress, duration_ms))

    async def theme(
        self,
        ctx: Context,
        action: Literal["current", "list", "set"] = "current",
        name: Annotated[str, Field(description="The theme to set.")] = "",
    ) -> Answer:
        """See to the theme."""
        return await self._do(ctx, acts.theme(action, name))

    async def background(
        self,
        ctx: Context,
        action: Literal["current", "next", "set"] = "current",
        path: Annotated[str, Field(description="The image to set, an absolute path.")] = "",
    ) -> Answer:
        """See to the background."""
        return await self._do(ctx, acts.background(action, path))

    async def audio(
        self,
        ctx: Context,
        action: Literal["volume", "mute", "mic_mute", "switch_output"] = "volume",
        level: Annotated[str, Field(description="For volume: raise, lower, or a step such as +10 or -10.")] = "raise",
    ) -> Answer:
        """See to the sound."""
        return await self._do(ctx, acts.audio(action, level))

    async def brightness(
        self,
        ctx: Context,
        target: Literal["display", "keyboard"] = "display",
        value: Annotated[
            str,
            Field(
                description="Display: 50%, +10%, -10%, on or off; empty says how bright it is. "
                "Keyboard: up, down, cycle, off or restore."
            ),
        ] = "",
    ) -> Answer:
        """See to the brightness."""
        return await self._do(ctx, acts.brightness(target, value))

    async def media(
        self,
        ctx: Context,
        action: Literal[
            "status", "playPause", "play", "pause", "next", "previous", "sourceNext", "sourcePrevious"
        ] = "status",
    ) -> Answer:
        """See to what plays."""
        return await self._do(ctx, acts.media(action))

    async def toggle(
        self,
        ctx: Context,
        feature: Literal["bar", "do_not_disturb", "idle", "nightlight", "screensaver", "touchpad", "touchscreen"],
        state: Literal["toggle", "on", "off", "status"] = "toggle",
    ) -> Answer:
        """Turn something on or off."""
        return await self._do(ctx, acts.toggle(feature, state))

    async def launch(
        self,
        ctx: Context,
        what: Literal["browser", "webapp", "editor", "terminal", "files"],
        target: Annotated[
            str, Field(description="Browser, web app: an http(s) address. Editor: a file's absolute path.")
        ] = "",
    ) -> Answer:
        """Open a program."""
        return await self._do(ctx, acts.launch(what, target), LAUNCH_WAIT_MS)

    async def _do(self, ctx: Context, act: Act, wait_ms: int = DEFAULT_WAIT_MS) -> CallToolResult | InputRequiredResult:
        """Take an act through the gate."""
        call = CURRENT.get()
        if isinstance(act, str):
            return wrong(call, act)
        if isinstance(act, Function):
            return await self.acting.shell(call, act.target, act.function, act.args, SHELL_WAIT_MS, ctx)
        return await self.acting.route(call, act.route, act.args, wait_ms, ctx)
