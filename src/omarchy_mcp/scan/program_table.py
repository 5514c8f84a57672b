"""The programs scripts call, and what each can do: a table. A program that is not in it is unclear.

Pure module, data only. A rule is a pattern over the joined arguments (NUL where a part is unknown) and the
capability it shows, None for none; the first that matches counts, else ``otherwise``. ``tainted``: what the
caller's text among the arguments comes to.
"""

# ruff: noqa: E501  # a table: one row, one line

import re
from dataclasses import dataclass

from omarchy_mcp.scan.capabilities import Capability as C  # noqa: N817  # a table

Rule = tuple[re.Pattern[str], C | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What one program can do."""

    rules: tuple[Rule, ...] = ()
    otherwise: C | None = None
    tainted: C | None = None


TABLE: dict[str, Program] = {}


def _put(names: str, *rules: tuple[str, C | None], otherwise: C | None = None, tainted: C | None = None) -> None:
    compiled = tuple((re.compile(pattern), capability) for pattern, capability in rules)
    for name in names.split():
        TABLE[name] = Program(rules=compiled, otherwise=otherwise, tainted=tainted)


# --- read: look at things and print them
_put(
    "cat head tail grep egrep fgrep ag uniq cut tr wc tac rev paste column comm diff cmp seq expr bc basename dirname "
    "realpath readlink stat ls sleep id whoami hostname uname pwd which getent tty nproc free df du lsblk lscpu lspci "
    "lsusb lsmod lsof findmnt blkid ps pgrep pidof uptime who w dmesg file md5sum sha1sum sha224sum sha256sum "
    "sha384sum sha512sum b2sum cksum base64 base32 xxd od hexdump strings nl fold fmt numfmt shuf fc-list fc-match "
    "upower sensors acpi inxi fastfetch neofetch ffprobe identify expac checkupdates vercmp pactree tput locale "
    "getconf arch groups date printenv tree jo iconv cal factor mediainfo nvidia-smi glxinfo vulkaninfo vainfo "
    "wayland-info edid-decode systemd-detect-virt systemd-escape systemd-path fprintd-list lsb_release modinfo "
    "mountpoint namei zcat xdg-user-dir nslookup host dig ping tracepath mtr traceroute whois xmllint bat eza exa "
    "pacman-conf hyprpicker slurp cliphist tldr info apropos whatis less more join tsort pr expand unexpand lsattr getfacl "
    "getcap"
)
_put("wl-paste", (r"(?:^| )(?:-w|--watch)", C.UNCLEAR))
_put("fd fdfind", (r"(?:^| )(?:-[a-zA-Z]*[xX]|--exec)", C.UNCLEAR), tainted=C.EXEC)
_put("rg", (r"--pre", C.UNCLEAR))
_put("hostnamectl", (r"^(?:status|hostname|--\S+|)(?: |$)", None), otherwise=C.ROOT)
_put("sort", (r"(?:^| )(?:-o|--output)", C.FILE))
_put("jq", (r"(?:^| )(?:-f|--from-file|-L)", C.UNCLEAR))
_put("yq", (r"(?:^| )(?:-i|--inplace|--in-place)", C.WRITES))
_put("top htop btop", (r"-b", None), otherwise=C.WINDOW)
_put("journalctl", (r"--(?:vacuum|rotate|flush|sync|relinquish|setup)", C.DELETE))
_put("tesseract", (r"(?:^| )(?:stdout|-)(?: |$)", None), otherwise=C.WRITES, tainted=C.FILE)
_put("ip iw", (r"(?:^| )(?:add|del|delete|set|flush|replace|change|connect|disconnect)(?: |$)", C.CHANGES))
_put("mktemp", tainted=C.FILE)
_put("swapon sysctl", (r"--show|-s(?: |$)|-n |-a(?: |$)", None), otherwise=C.ROOT)

# --- change: something that is seen and can be changed back
_put(
    "pactl wpctl pamixer amixer playerctl brightnessctl light ddcutil qmk_hid wl-copy notify-send "
    "swayosd-client xdg-settings xdg-mime update-desktop-database update-mime-database gtk-update-icon-cache fc-cache "
    "powerprofilesctl rfkill wait flock stty clear reset tte setterm asusctl "
    "supergfxctl v4l2-ctl xdg-user-dirs-update dbus-update-activation-environment swww hyprpaper wlr-randr pw-cli "
    "pw-metadata pw-dump wlsunset gammastep cal xset setxkbmap kanshictl swaybg waybar hypridle hyprsunset mako "
    "swayosd-server wlogout sunsetr hyprshade sync logger asdcontrol",
    otherwise=C.CHANGES,
)
_put("kill", otherwise=C.CHANGES, tainted=C.SESSION)
_put(
    "makoctl dunstctl swaync-client",
    (r"\b(?:invoke|menu|action|context)\b", C.UNCLEAR),
    otherwise=C.CHANGES,
    tainted=C.SESSION,
)
_put(
    "gio",
    (r"^(?:trash|remove|move|rename|save|mkdir|copy|set)\b", C.DELETE),
    (r"^(?:info|list|cat|tree)\b", None),
    otherwise=C.WINDOW,
    tainted=C.EXEC,
)
_put("grim", otherwise=C.WRITES, tainted=C.FILE)
_put(
    "gsettings",
    (r"^set (?:\S* )?\S*\0\S* (?=\S)", C.CONFIG),
    (r"^(?:get|list-\S+|describe|range|writable|monitor)(?: |$)", None),
    otherwise=C.CHANGES,
)
_put(
    "dconf", (r"^(?:read|list|dump)(?: |$)", None), (r"^(?:write|reset)", C.CHANGES), otherwise=C.CONFIG, tainted=C.EXEC
)
_put(
    "pkill killall",
    (r"\b(?:quickshell|qs|omarchy-shell|hyprland|Hyprland|uwsm|dbus\S*|systemd|sway|-u|-U)\b", C.SESSION),
    otherwise=C.CHANGES,
    tainted=C.SESSION,
)
_put(
    "hyprctl",
    (r"(?:^| )(?:dispatch|eval|--batch) \0", C.UNCLEAR),
    (r"closewindow|window\.(?:close|kill)|killactive|killwindow|forcekill|dsp\.exit|dispatch exit|(?:^| )kill(?: |$)", C.SESSION),
    (r"\bexecr?\b|\bexec_cmd\b|os\.|io\.|require|dofile|loadstring|\bload\b", C.UNCLEAR),
    (r"^(?:-\S+ |--instance \S+ |--batch )*(?:dispatch|eval|keyword|reload|notify|output|setcursor|switchxkblayout|setprop|seterror|dismissnotify|hyprpaper|hyprsunset)\b", C.CHANGES),
    (r"^(?:-\S+ |--instance \S+ )*(?:monitors|clients|active\w+|workspaces|devices|version|getoption|instances|binds|layers|layouts|cursorpos|globalshortcuts|systeminfo|splash|configerrors|rollinglog|decorations|getprop|descriptions|animations|workspacerules)\b|^-\S+$|--help", None),
    otherwise=C.UNCLEAR,
    tainted=C.EXEC,
)  # fmt: skip
_put(
    "tmux",
    (r"send-keys|send -|paste-buffer|run-shell|if-shell|pipe-pane|respawn|new-window \S*[^-\s]|kill-ser", C.UNCLEAR),
    (r"kill-(?:session|window|pane)", C.SESSION),
    otherwise=C.CHANGES,
    tainted=C.EXEC,
)
_put("bluetoothctl", (r"\b(?:pair|trust|connect|remove|untrust|agent|discoverable|pairable)\b", C.PERSIST),
     (r"\b(?:show|devices|info|list|paired-devices)\b", None), otherwise=C.CHANGES, tainted=C.NETWORK)  # fmt: skip
_put(
    "nmcli",
    (r"(?:^| )(?:-s|--show-secrets)(?: |$)|\bpsk\b|show-password|wifi-sec|password", C.SECRET),
    (r"\b(?:add|modify|delete|edit|import|clone|connect|hotspot)\b", C.CONFIG),
    (r"\b(?:up|down|on|off|disconnect|reload|reapply|rescan)\b", C.CHANGES),
    tainted=C.NETWORK,
)
_put("iwctl resolvectl", (r"\b(?:list|show|status|query)\b", None), otherwise=C.CHANGES, tainted=C.NETWORK)
_put(
    "busctl",
    (r"\b(?:list|tree|introspect|get-property|status|monitor|wait)\b", None),
    otherwise=C.UNCLEAR,
    tainted=C.EXEC,
)
_put("gdbus dbus-send", (r"\b(?:introspect|wait|monitor)\b|\.(?:Get\w*|NameHasOwner|List\w*)\b", None),
     otherwise=C.UNCLEAR, tainted=C.EXEC)  # fmt: skip
_put("dbus-monitor socat inotifywait udevadm acpi_listen playerctld", tainted=C.EXEC)
_put("nc ncat netcat telnet ftp", otherwise=C.SEND, tainted=C.SEND)

# --- the session: power, locks, units
_put(
    "systemctl",
    (r"^(?:-\S+ )*(?:is-\S+|show|status|list-\S+|cat|get-default|help|show-environment)(?: |$)", None),
    (r"(?:^| )(?:reboot|poweroff|halt|suspend\S*|hibernate|hybrid-sleep|kexec|soft-reboot|exit|sleep|rescue|emergency|default|isolate)(?: |$)", C.SESSION),
    (r"--user(?: .*)?(?:^| )(?:enable|disable|mask|unmask|reenable|link|edit|preset|add-wants|add-requires|set-property|revert)(?: |$)", C.PERSIST),
    (r"--user(?: .*)?(?:^| )(?:import-environment|set-environment|unset-environment)(?: |$)", C.CHANGES),
    (r"--user(?: .*)?(?:^| )(?:start|stop|restart|try-restart|reload\S*|daemon-reload|reset-failed|kill|cancel|clean|freeze|thaw)(?: |$)", C.CHANGES),
    (r"--user", C.UNCLEAR),
    otherwise=C.ROOT,
    tainted=C.EXEC,
)  # fmt: skip
_put("loginctl", (r"lock-session|terminate|kill|activate|attach|flush|unlock|(?:^| )(?:reboot|poweroff|suspend)", C.SESSION),
     (r"enable-linger|disable-linger", C.PERSIST), tainted=C.SESSION)  # fmt: skip
_put("reboot poweroff shutdown halt hyprlock swaylock gtklock waylock physlock i3lock xlock vlock", otherwise=C.SESSION)
_put("uwsm", (r"\bstop\b", C.SESSION), (r"\bcheck\b", None), otherwise=C.UNCLEAR, tainted=C.EXEC)
_put("quickshell qs", (r"^(?:-\S+ )*log(?: |$)", None), (r"\bipc\b.*\b(?:show|list)\b", None), (r"\bkill\b", C.SESSION), (r"\blist\b", None),
     otherwise=C.SESSION, tainted=C.EXEC)  # fmt: skip
_put(
    "timedatectl localectl",
    (r"^(?:status|show|list-\S+|show-timesync|timesync-status)?$", None),
    otherwise=C.ROOT,
    tainted=C.ROOT,
)
_put("passwd chsh chfn chage usermod useradd userdel groupadd gpasswd visudo mount umount modprobe rmmod insmod depmod "
     "mkinitcpio limine limine-update limine-mkinitcpio limine-snapper-sync grub-mkconfig grub-install bootctl snapper "
     "efibootmgr cryptsetup mkfs mkswap swapoff parted fdisk sgdisk wipefs resolvconf ufw iptables nft firewall-cmd "
     "plymouth-set-default-theme chroot arch-chroot fwupdmgr fwupdtool tzupdate pam-auth-update update-grub "
     "dracut sbctl nvme hdparm smartctl setcap chattr losetup btrfs systemd-cryptenroll fprintd-enroll", otherwise=C.ROOT)  # fmt: skip
_put("crontab at batch", (r"^-l$", None), otherwise=C.PERSIST, tainted=C.EXEC)

# --- software
_put("pacman", (r"^-[QTV]|^-F[^y]*$|^-S(?:[sigl]+)(?: |$)|^--(?:query|version|help)", None), otherwise=C.ROOT)
_put("flatpak", (r"^(?:list|info|search|remotes|remote-ls|history|ps)(?: |$)", None), (r"^run ", C.UNCLEAR),
     otherwise=C.PACKAGES, tainted=C.PACKAGES)  # fmt: skip
_put("mise", (r"^(?:ls|list|where|which|current|env|bin-paths|doctor|version|outdated|settings get|--version|config ls|registry|latest|ls-remote)(?: |$)", None),
     otherwise=C.PACKAGES, tainted=C.PACKAGES)  # fmt: skip
_put("npm pnpm yarn bun pip pip3 pipx uv cargo gem bundle go rustup opam composer dotnet conda nix nix-env brew snap apt apt-get "
     "dpkg dnf makepkg luarocks ghcup sdk asdf nvm rbenv pyenv stack cabal mix juliaup winetricks "
     "protonup dkms", otherwise=C.PACKAGES, tainted=C.PACKAGES)  # fmt: skip
_put(
    "git",
    (r"^(?:-C \S+ |--\S+ |-c \S+ )*(?:rev-parse|describe|status|log|show|diff|ls-files|ls-tree|ls-remote|for-each-ref|rev-list|symbolic-ref|merge-base|blame|shortlog|cat-file|remote get-url|remote -v|config --get|branch --show-current|branch -[av]|tag -l|tag --list|name-rev|check-ref-format|version|--version|cherry|fetch)(?: |$)", None),
    otherwise=C.PACKAGES,
    tainted=C.NETWORK,
)  # fmt: skip
_put("docker docker-compose podman lxc virsh", (r"^(?:ps|images|info|version|inspect|logs|stats|port|container ls|container inspect)(?: |$)", None),
     otherwise=C.UNCLEAR, tainted=C.EXEC)  # fmt: skip

# --- the network, out and in
_put(
    "curl",
    (r"(?:^| )(?:-F|--form\S*|-d|--data\S*|-T|--upload-file|--json|-u|--user|-X (?:POST|PUT|PATCH|DELETE)|-K|--config)(?: |$|=|@)", C.SEND),
    (r"(?:^| )-[a-zA-Z]*[FTdK](?: |$)", C.SEND),
    (r"(?:^| )(?:-[a-zA-Z]*[oO]|--output|--remote-name)(?: |$)", C.WRITES),
    tainted=C.NETWORK,
)  # fmt: skip
_put("wget aria2c", (r"--post|--body|--method", C.SEND), otherwise=C.WRITES, tainted=C.NETWORK)
_put("yt-dlp youtube-dl", otherwise=C.WRITES, tainted=C.NETWORK)
_put("scp sftp rclone ssh mosh localsend localsend_app localsend-go croc magic-wormhole wormhole "
     "mail sendmail msmtp gh glab aws gcloud", otherwise=C.SEND, tainted=C.SEND)  # fmt: skip
_put(
    "dropbox-cli",
    (r"^(?:status|running|filestatus|ls|version|help)(?: |$)", None),
    otherwise=C.NETWORK,
    tainted=C.NETWORK,
)
_put("tailscale", (r"^(?:status|ip|version|netcheck|ping)(?: |$)", None), otherwise=C.NETWORK, tainted=C.NETWORK)
_put(
    "secret-tool pass gpg gopass op bw rbw keepassxc-cli ssh-add security chezmoi age sops openssl",
    otherwise=C.SECRET,
    tainted=C.SECRET,
)
_put("ssh-keygen", (r"^-l", None), otherwise=C.SECRET, tainted=C.SECRET)
_put(
    "gpu-screen-recorder wf-recorder wl-screenrec obs arecord parecord pw-record",
    otherwise=C.RECORD,
    tainted=C.RECORD,
)
_put("wtype ydotool dotool xdotool", otherwise=C.UNCLEAR, tainted=C.EXEC)

# --- windows: what the caller writes would be options or files of these
_put(
    "nautilus imv mpv vlc loupe evince zathura xdg-open gtk-launch gtk4-launch dex chromium google-chrome google-chrome-stable "
    "firefox brave zen-browser walker fuzzel wofi rofi tofi bemenu dmenu satty swappy swayimg feh zenity yad kdialog spotify "
    "signal-desktop 1password obsidian typora libreoffice kdenlive pavucontrol wiremix impala bluetui lazygit lazydocker "
    "nwg-look blueberry blueman-manager nm-connection-editor kitten steam lutris heroic retroarch gimp inkscape pinta "
    "fprintd-verify hyprland-dialog elephant umu-run wine fcitx5 ibus-daemon xwaylandvideobridge wayfreeze hyprshot",
    otherwise=C.WINDOW,
    tainted=C.EXEC,
)
_put("nvim vim vi nano emacs hx helix micro ed code cursor zed codium subl zeditor gedit", (r"--install-extension", C.PACKAGES),
     (r"--list-extensions|--version", None), otherwise=C.UNCLEAR, tainted=C.EXEC)  # fmt: skip
_put("gum", (r"^(?:style|log|format|join|--version)", None), otherwise=C.WAITS)
_put(
    "voxtype", (r"^(?:setup|model|install|download|config|meeting)\b", C.PACKAGES), otherwise=C.CHANGES, tainted=C.EXEC
)
_put("fzf", (r"--(?:bind|preview|execute)", C.UNCLEAR), otherwise=C.WAITS)
_put("dialog whiptail", otherwise=C.WAITS)

# --- programs whose words are paths: "all" of them are written, the last ("to"), or all but the first ("rest")
PATHS: dict[str, str] = {
    name: kind
    for kind, names in {
        "all": "rm rmdir touch mkdir tee truncate unlink shred mkfifo dd patch setfacl gzip gunzip "
        "xz unxz zstd bzip2 mogrify trash trash-put rename",
        "rest": "chmod chown chgrp",
        "to": "cp mv ln install rsync magick convert composite montage ffmpeg ffmpegthumbnailer tar unzip zip 7z bsdtar "
        "rsvg-convert gs img2pdf qrencode chafa split csplit vips vipsthumbnail avifenc cwebp potrace "
        "desktop-file-install asciinema sqlite3",
    }.items()
    for name in names.split()
}

# --- programs that run the rest of their words; the number of plain words before the command
WRAPPERS: dict[str, int] = {
    "nohup": 0, "setsid": 0, "timeout": 1, "nice": 0, "ionice": 0, "env": 0, "stdbuf": 0, "flock": 1,
    "systemd-inhibit": 0, "systemd-run": 0, "systemd-cat": 0, "uwsm-app": 0, "xargs": 0,
    "dbus-run-session": 0, "unbuffer": 0, "taskset": 1, "chrt": 1, "watch": 0, "time": 0, "faketime": 1,
    "choom": 0, "prlimit": 0, "mangohud": 0, "gamemoderun": 0, "prime-run": 0, "fakeroot": 0, "strace": 0,
    "busybox": 0, "setpriv": 0, "catchsegv": 0, "rlwrap": 0, "xvfb-run": 0,
}  # fmt: skip
TERMINALS = frozenset(
    [
        "xdg-terminal-exec",
        "alacritty",
        "foot",
        "footclient",
        "kitty",
        "ghostty",
        "wezterm",
        "xterm",
        "gnome-terminal",
        "konsole",
    ]
)
# Options of wrappers that take the next word as their value; a wrong guess leaves an unknown program, so guarded
VALUED: dict[str, frozenset[str]] = {
    name: frozenset(options.split())
    for name, options in {
        "timeout": "-k --kill-after -s --signal", "nice": "-n", "ionice": "-c -n -p", "env": "-u -C",
        "flock": "-w -E", "systemd-run": "-p -u -E --unit --property --description --setenv --slice --on-active",
        "systemd-inhibit": "--what --who --why --mode", "xargs": "-I -n -P -d -L -a -E -s", "uwsm-app": "-s -t -a -u -d",
        "xdg-terminal-exec": "", "alacritty": "--class --title --config-file -o --option -T",
        "foot": "-a -T -o -c -W -w", "kitty": "--class -o -c --title -T", "ghostty": "", "wezterm": "", "watch": "-n",
        "sudo": "-u -g -h -p -C -T -R -D", "su": "-s -g", "doas": "-u -C", "run0": "-u --user --property",
        "stdbuf": "-i -o -e", "setpriv": "--pdeathsig --reuid --regid --groups", "taskset": "-p", "chrt": "-p",
    }.items()
}  # fmt: skip

SHELLS = frozenset(["bash", "sh", "zsh", "dash", "ksh", "fish"])
ROOT_PROGRAMS = frozenset(
    [
        "sudo",
        "pkexec",
        "doas",
        "run0",
        "su",
        "yay",
        "paru",
        "pikaur",
        "trizen",
        "aura",
        "gosu",
        "runuser",
        "sudoedit",
        "please",
    ]
)
# What the desktop lets wheel do without a password
# (asdcontrol only sets the brightness of one kind of display)
FREE_OF_PASSWORD = re.compile(r"(?:-n )?(?:/usr/bin/)?(?:(asdcontrol)|tzupdate|timedatectl set-timezone)(?: |$)")
# Other languages; for sed and awk, what in a program written out is more than text work
_AWK = re.compile(r"\bsystem\s*\(|\|\s*getline|\bprint[^\n;}]*[>|]|@(?:include|load)")
_SED = re.compile(
    r"(?:^|[;{}\n!]|[0-9$]|/)\s*[ewW](?:\s|$)"
    r"|s([^\w\s\\])(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1[gpiIm0-9]*[ewE]"
)
_PERL = re.compile(
    r"system|exec|qx|`|open|unlink|eval|require|\bdo\b|\buse\b|fork|socket|kill|rename|link|rmdir|mkdir|ch(?:mod|own|dir)"
    r"|<[A-Za-z$>]|/[a-z]*e[a-z]*\s*(?:;|$)|syscall|\$\{?\^|BEGIN|%ENV|\(\?\?*\{|print\s*\{"
)
INTERPRETERS: dict[str, re.Pattern[str] | None] = {
    "awk": _AWK, "gawk": _AWK, "mawk": _AWK, "nawk": _AWK, "sed": _SED, "gsed": _SED,
    "perl": _PERL,
    **dict.fromkeys(
        ["python", "python3", "python2", "ruby", "node", "deno", "lua", "luajit", "lua5.4", "php", "tclsh", "guile", "osascript", "gjs", "qjs", "R", "julia", "elixir", "erl", "swipl", "expect"]
    ),
}  # fmt: skip

# Variables that say where programs and settings are found, or what is run for others
STEERING = re.compile(
    r"PATH|HOME|SHELL|ENV|BASH_ENV|PROMPT_COMMAND|EDITOR|VISUAL|PAGER|BROWSER|TERMINAL|TMUX|HYPRLAND_INSTANCE_SIGNATURE"
    r"|(?:LD|XDG|OMARCHY|GIT|PYTHON|PERL|NODE|RUBY|LUA|DBUS|QT|GTK)_?[A-Z_]*"
)
# Names whose output says nothing a caller wrote, or that print nothing
SILENT = frozenset(
    [
        "wc",
        "stat",
        "date",
        "sha1sum",
        "sha256sum",
        "sha512sum",
        "md5sum",
        "b2sum",
        "cksum",
        "pgrep",
        "pidof",
        "id",
        "test",
        "[",
        ":",
        "true",
        "false",
        "cd",
        "pushd",
        "popd",
        "set",
        "shift",
        "read",
        "mapfile",
        "readarray",
        "sleep",
        "rm",
        "mkdir",
        "touch",
        "cp",
        "mv",
        "ln",
        "chmod",
        "kill",
        "pkill",
        "wait",
        "trap",
        "return",
        "exit",
    ]
)
# Files of assignments alone, and what only root can write
SOURCEABLE = re.compile(r"/etc/[\w./-]+|~/\.config/user-dirs\.dirs")
# Folders that are made again when they are missed
TEMPORARY = re.compile(r"(?!.*\.\.)(?:/tmp/|/run/|/var/tmp/|~/\.cache/|~/\.local/state/omarchy/)[^\0]")
# Paths whose content runs later
PERSISTENT = re.compile(
    r"autostart|\.desktop$|\.(?:bashrc|bash_profile|bash_login|profile|zshrc|zprofile|xprofile|pam_environment)$|/hooks/"
    r"|systemd/user|ative-?[mM]essaging|environment\.d|\.ssh/|\.local/bin|/cron|\.git/"
)
# Files that are read as code or as settings, wherever they lie
CODE = re.compile(r"\.(?:lua|sh|bash|zsh|fish|py|pl|js|qml|conf|desktop|service|timer|socket|path)$")
# Paths that outlive the session, or that nobody knows
LASTING = re.compile(r"~/\.(?!cache/|local/state/)|~/[^.]|\0")
# Commands of the folder that are judged here: what a person put there themselves runs, by a name the script fixes
EXTENSIONS = frozenset({"omarchy-hook"})
