"""What raises or keeps a tier besides the scan: groups, routes, and pins with a reason each. Data only."""

# Groups and routes the source documents guard.
GUARDED_GROUPS = frozenset(
    {
        "install", "remove", "reinstall", "migrate", "setup", "pkg", "upgrade", "update", "dev", "drive",
        "hibernation", "snapshot", "provision", "apply", "channel", "plugin",
    }
)  # fmt: skip
GUARDED_ROUTES = frozenset(
    {
        "system shutdown", "system reboot", "system logout", "theme remove", "hyprland window close all",
        "toggle hybrid gpu", "windows vm", "restart shell",
    }
)  # fmt: skip
# Groups whose commands change what can be seen and undone; a group in neither set is unknown, so guarded.
SAFE_GROUPS = frozenset(
    {
        "audio", "bar", "battery", "bluetooth", "branding", "brightness", "capture", "chromium",
        "clipboard", "cmd", "debug", "default", "disk", "display", "dns", "done", "file", "font", "games",
        "hw", "hyprland", "installed", "launch", "menu", "monitor", "network", "notification", "osd",
        "plymouth", "power", "powerprofiles", "reminder", "restart", "screensaver", "show", "system",
        "theme", "tmux", "toggle", "transcode", "version", "voxtype", "weather", "wifi", "windows",
    }
)  # fmt: skip


# Routes whose danger is not in their text; the scan cannot see it, so each says why.
PINS: dict[str, str] = {
    "notification send": "what it puts on the screen can pass for a question of this server",
    "notification dismiss": "it can take a question of this server off the screen",
    "screensaver": "without a terminal it starts itself over and over",
    "cmd screensaver": "without a terminal it starts itself over and over",  # what older versions call it
}
