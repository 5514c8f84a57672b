"""The scan on scripts of a few lines: what each can do, and what a test in it takes away again."""

# ruff: noqa: E501  # tables: one row, one line

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omarchy_mcp.policy import conditions, statements, walk, words
from omarchy_mcp.policy.capabilities import HARMLESS, Capability
from omarchy_mcp.policy.scan import Scan
from omarchy_mcp.policy.syntax import Node, Script
from omarchy_mcp.policy.values import Env

HELPERS = {
    "omarchy-root": "sudo ls",
    "omarchy-run": 'exec "$@"',
    "omarchy-say": 'echo "$1"',
    "omarchy-delete": 'rm -f "$1"',
    "omarchy-named": 'case "$1" in a) rm -f ~/.cache/a ;; *) rm -f "$1" ;; esac',
    "omarchy-second": 'eval "$2"',
    "omarchy-stdin": 'while read -r line; do eval "$line"; done',
    "omarchy-environment": '"$COMMAND" now',
    "omarchy-terminal": 'xdg-terminal-exec bash -c "$1"',
}


def capabilities(body: str, **others: str) -> set[Capability]:
    texts = HELPERS | {f"omarchy-{name}": text for name, text in others.items()} | {"omarchy-it": body}
    scan = Scan({name: f"#!/bin/bash\n{text}\n".encode() for name, text in texts.items()})
    found = scan.worst("omarchy-it")
    assert found is not None
    return {finding.capability for finding in found} - HARMLESS


C = Capability

DANGEROUS: list[tuple[str, Capability]] = [
    # root
    ("sudo ls", C.ROOT),
    ("pkexec ls", C.ROOT),
    ("/usr/bin/sudo ls", C.ROOT),
    ("S=sudo; $S ls", C.ROOT),
    ("S='sudo -n'; $S ls", C.ROOT),
    ('cmd=(sudo ls); "${cmd[@]}"', C.ROOT),
    ('cmd=(); cmd+=(sudo); cmd+=(ls); "${cmd[@]}"', C.ROOT),
    ("su -c ls", C.ROOT),
    ("echo x | sudo tee /etc/x", C.ROOT),
    ("x=$(sudo cat /etc/shadow)", C.ROOT),
    ("cat <(sudo ls)", C.ROOT),
    ("f() { sudo ls; }; f", C.ROOT),
    ("f() { sudo ls; }", C.ROOT),
    ("exit 0\nsudo ls", C.ROOT),
    ("omarchy-root", C.ROOT),
    ("omarchy root", C.ROOT),
    ('"$OMARCHY_PATH/bin/omarchy-root"', C.ROOT),
    ("bash -c 'sudo ls'", C.ROOT),
    ("eval 'sudo ls'", C.ROOT),
    ("timeout 5 sudo ls", C.ROOT),
    ("env A=1 sudo ls", C.ROOT),
    ("find . -exec sudo rm {} ';'", C.ROOT),
    ("ls | xargs sudo rm", C.ROOT),
    ("trap 'sudo ls' EXIT", C.ROOT),
    ("((EUID != 0)) && exit 1", C.ROOT),
    ("[[ $EUID -ne 0 ]] && exit 1", C.ROOT),
    ('if [ "$(id -u)" -ne 0 ]; then exit 1; fi', C.ROOT),
    ("if true; then :; elif false; then sudo ls; fi", C.ROOT),
    ("case $x in a) sudo ls ;; esac", C.ROOT),
    ("for i in 1 2; do sudo ls; done", C.ROOT),
    ("while false; do sudo ls; done", C.ROOT),
    ("( cd /; sudo ls )", C.ROOT),
    ("{ sudo ls; } >/dev/null", C.ROOT),
    ("! sudo ls", C.ROOT),
    ("true && false || sudo ls", C.ROOT),
    ("sudo ls &", C.ROOT),
    ("gum spin -- sudo ls", C.ROOT),
    ("systemctl restart sshd", C.ROOT),
    ("if true; then sudo ls", C.ROOT),  # cut short: what was not understood speaks of root
    ("xdg-terminal-exec sudo ls", C.TERMINAL),
    ("omarchy-terminal 'sudo ls'", C.TERMINAL),
    ("sudo tzupdate", C.ELEVATED),
    # arguments as code
    ('eval "$1"', C.EXEC),
    ('eval "echo $*"', C.EXEC),
    ('x=$1; y="a $x"; eval $y', C.EXEC),
    ('"$@"', C.EXEC),
    ('exec "$@"', C.EXEC),
    ('$1', C.EXEC),
    ('"$1" --version', C.EXEC),
    ('bash -c "$1"', C.EXEC),
    ('c="ls $1"; bash -lc "$c"', C.EXEC),
    ("bash -c 'eval \"$1\"' _ \"$1\"", C.EXEC),
    ("bash -c '$1' _ \"$2\"", C.EXEC),
    ('source "$1"', C.EXEC),
    ('. "$1"', C.EXEC),
    ('bash "$1"', C.EXEC),
    ('bash <<< "$1"', C.EXEC),
    ('echo "$1" | bash', C.EXEC),
    ('printf %s "$1" | sh -s', C.EXEC),
    ('cat <<EOF | bash\n$1\nEOF', C.EXEC),
    ('bash <<EOF\n$1\nEOF', C.EXEC),
    ('python3 -c "$1"', C.EXEC),
    ('perl -e "$1"', C.EXEC),
    ('perl -ne print "$1"', C.EXEC),
    ('sed -i "s/a/$1/" ~/.cache/x', C.EXEC),
    ('awk "$1" /etc/hosts', C.EXEC),
    ('hyprctl dispatch exec "$1"', C.EXEC),
    ('hyprctl dispatch "hl.x({ a = $1 })"', C.EXEC),
    ('setsid uwsm-app -- "$@"', C.EXEC),
    ('xdg-terminal-exec "$@"', C.EXEC),
    ('nvim "$1"', C.EXEC),
    ('chromium "$@"', C.EXEC),
    ('some-new-program "$1"', C.EXEC),
    ('wtype "$1"', C.EXEC),
    ('omarchy-run "$1"', C.EXEC),
    ('omarchy-run ls "$1" && omarchy-run "$2"', C.EXEC),
    ('echo "$1" | omarchy-stdin', C.EXEC),
    ('echo $(($1 + 1))', C.EXEC),
    ('(( $1 > 3 ))', C.EXEC),
    ('x=$1; (( x > 3 ))', C.EXEC),
    ('x=$1; (( x++ ))', C.EXEC),
    ('[[ $1 -gt 3 ]]', C.EXEC),
    ('[[ -v $1 ]]', C.EXEC),
    ('a=(1 2); echo "${a[$1]}"', C.EXEC),
    ('a[$1]=2', C.EXEC),
    ('x=abc; echo "${x:$1}"', C.UNCLEAR),
    ('let "x=$1"', C.EXEC),
    ('declare -i x="$1"', C.EXEC),
    ('declare "$1"', C.EXEC),
    ('export "$1"', C.EXEC),
    ('printf -v "$1" %s x', C.EXEC),
    ('read -r "$1" < /etc/hostname', C.EXEC),
    ('for ((i = 0; i < $1; i++)); do :; done', C.EXEC),
    ('for a in "$@"; do $a; done', C.EXEC),
    ('while (($#)); do c=$1; shift; done; $c', C.EXEC),
    ('while read -r l; do $l; done <<< "$1"', C.EXEC),
    ('mapfile -t l <<< "$1"; eval "${l[0]}"', C.EXEC),
    ('IFS=, read -ra l <<< "$1"; "${l[@]}"', C.EXEC),
    ('while getopts a: o; do eval "$OPTARG"; done', C.EXEC),
    ('f() { eval "$1"; }; f "$2"', C.EXEC),
    ('f() { local a=$1; g "$a"; }; g() { $1; }; f "$1"', C.EXEC),
    ('f() { x=$1; }; f "$1"; eval "$x"', C.EXEC),
    ('x=$(echo "$1"); $x', C.EXEC),
    ('x=$(omarchy-say "$1"); $x', C.EXEC),
    ('x=${1%.x}; $x', C.EXEC),
    ('x=${y:-$1}; $x', C.EXEC),
    ('x="${1,,}"; $x', C.EXEC),
    ('set -- a "$1"; $2', C.EXEC),
    ('echo "$1" > ~/.cache/x; source ~/.cache/x', C.EXEC),
    ('echo "$1" > ~/.cache/x; bash ~/.cache/x', C.EXEC),
    ('x=$(cat "$1"); $x', C.EXEC),
    ('find . -name x -exec "$1" {} +', C.EXEC),
    ('ls | xargs "$1"', C.EXEC),
    ('echo "$1" | xargs sh -c', C.EXEC),
    ('timeout 5 "$1"', C.EXEC),
    ('flock /tmp/x "$@"', C.EXEC),
    ('cd "$1" && ./run', C.EXEC),
    ('trap "$1" EXIT', C.EXEC),
    ('coproc "$1"', C.EXEC),
    ('[[ $1 == a || $2 =~ ^[a-z]+$ ]] && eval "$2"', C.EXEC),
    ('[[ $1 == "" || $2 = b && $2 =~ ^x$ ]] && "$2"', C.EXEC),
    ('case $1 in a*) $1 ;; esac', C.EXEC),
    ('case $1 in a) ;; *) $1 ;; esac', C.EXEC),
    ('case $1 in a) x=1 ;; esac; $1', C.EXEC),
    ('[[ $1 =~ ^[a-z]+ ]] && $1', C.EXEC),
    ('[[ $1 =~ ^.+$ ]] && $1', C.EXEC),
    ('[[ $1 =~ ^[a-z/.]+$ ]] && rm "$1" && $1', C.EXEC),
    ('[[ $1 =~ ^[0-9]+$ ]] || echo bad; eval "$1"', C.EXEC),
    ('[[ $1 =~ ^[0-9]+$ ]] && shift; $1', C.EXEC),
    ('ok() { [[ $1 =~ ^[a-z]+$ ]]; }; ok "$1"; $1', C.EXEC),
    ('ok() { [[ $1 =~ ^[a-z]+$ ]]; set -- x; }; ok "$2" && $1', C.EXEC),
    ('if [[ $1 =~ ^[0-9]+$ ]]; then x=1; else x=$1; fi; $x', C.EXEC),
    ('x=a; [[ -n $2 ]] && x=$1; $x', C.EXEC),
    ('x=$1; ( x=safe ); $x', C.EXEC),
    ('x=$1; true | x=safe; $x', C.EXEC),
    ('omarchy-shell shell call omarchy.menu runAction "$1"', C.EXEC),
    ('omarchy-shell "$1" ping', C.EXEC),
    ('omarchy-shell notifications invokeLast', C.EXEC),
    ('quickshell ipc call "$1" x', C.EXEC),
    ('tmux send-keys "$1" Enter', C.EXEC),
    ('systemd-run --user "$@"', C.EXEC),
    ('omarchy "$1"', C.EXEC),
    ("x=$(jq -r --arg p \"$1\" '.[] | $p' /etc/x); $x", C.EXEC),
    ('x=$(hyprctl clients -j | jq -r --arg p "$1" ".[] | select(.a) | \\$p"); $x', C.EXEC),
    ('x=$(jq -r . "$1"); $x', C.EXEC),
    ('x=$(printf "%s" "$1"); $x', C.EXEC),
    ('ln -s "$1" ~/.local/state/x/y.lua', C.PERSIST),
    ('ln -s ~/x "$1"', C.FILE),
    ('ln -st "$1" x', C.FILE),
    ("x=${y/a/$1}; $x", C.EXEC),
    ('x="${y/$1/b}"; $x', C.EXEC),
    ('x="${y:+$1}"; $x', C.EXEC),
    ('x="${@:2}"; $x', C.EXEC),
    ('x="${*}"; $x', C.EXEC),
    ('x=("${@:1}"); "${x[@]}"', C.EXEC),
    ('shift 2; "$@"', C.EXEC),
    ('$BASH_ARGV', C.EXEC),
    ('echo "$1" >/dev/null; $_', C.EXEC),
    ('case $2 in "$1") $2 ;; esac', C.EXEC),
    ('[[ $2 == "$1" ]] && $2', C.EXEC),
    ('[[ $2 == $1 ]] && $2', C.EXEC),
    ('[[ $1 == [a-z]* ]] && $1', C.EXEC),
    ('[[ ! $1 =~ ^[a-z]+$ ]] && $1', C.EXEC),
    ('[[ $1 =~ ^[a-z]+$ ]] || $1', C.EXEC),
    ('[[ $1 != a ]] && $1', C.EXEC),
    ('x=$1; [[ $x =~ ^[a-z]+$ ]] && x=$2 && $x', C.EXEC),
    ('until [[ $1 == a ]]; do $1; done', C.EXEC),
    ('while read -r a; do x=$a; done < <(echo "$1"); $x', C.EXEC),
    ('for x; do $x; done', C.EXEC),
    ('f() { return 0; }; f "$1" && $1', C.EXEC),
    ('f() { [[ $1 =~ ^[a-z]+$ ]] || return 0; }; f "$1" && $1', C.EXEC),
    ('notify-send hi --exec "$1"', C.EXEC),
    ("omarchy-say hi; omarchy-notify hi --exec omarchy-root", C.UNCLEAR),
    ("notify-send hi --exec sudo ls", C.TERMINAL),
    ('gsettings set "$1" "$2" "$3"', C.CONFIG),
    ("echo x >> ~/.config/some.conf", C.CONFIG),
    ("x=safe; eval 'x=$1'; $x", C.EXEC),
    ("trap '$x' EXIT; x=$1", C.EXEC),
    ('if true; then f() { eval "$1"; }; else f() { echo; }; fi; f "$1"', C.EXEC),
    ('f() { echo; }; g() { f() { eval "$1"; }; }; f "$1"', C.EXEC),
    ('echo "$1" | xargs -I{} sh -c "echo {}"', C.EXEC),
    ('find "$1" -exec sh -c "ls {}" ";"', C.EXEC),
    ('watch echo "$1"', C.EXEC),
    ('cd "$1"; [[ -d /tmp ]] && cd /tmp; ./x', C.EXEC),
    ('kill "$1"', C.SESSION),
    ("systemctl --user enable show", C.PERSIST),
    ("hostnamectl set-hostname x", C.ROOT),
    ("wl-paste --watch ls", C.UNCLEAR),
    ("rm -rf /tmp/../home", C.DELETE),
    ("awk -i inplace '1' x", C.UNCLEAR),
    ("sed --expression=s/a/b/e x", C.UNCLEAR),
    ("fd -x rm", C.UNCLEAR),
    ("makoctl invoke", C.UNCLEAR),
    ("parallel ls ::: a", C.UNCLEAR),
    ('omarchy say "$1"', C.UNCLEAR),
    ("omarchy nosuch", C.UNCLEAR),
    ("xdg-terminal-exec sudo", C.TERMINAL),
    ("echo ${x~~}", C.UNCLEAR),
    ("unset 'a[1]'", C.UNCLEAR),
    ('nice -n "$1" ls', C.EXEC),
    ("[ a b c d ]", C.UNCLEAR),
    ("omarchy-shell ping", C.UNCLEAR),
    ('omarchy-shell "$1"', C.EXEC),
    ("omarchy-shell unknown thing", C.UNCLEAR),
    ('omarchy-shell unknown thing "$1"', C.EXEC),
    ('omarchy-shell notifications dismiss "$1"', C.SESSION),
    ('omarchy-shell "$(cat x)" ping', C.UNCLEAR),
    ("unset 'a[$1]'", C.UNCLEAR),
    ('x=$1; export x', C.UNCLEAR),
    ('set "$1"; $1', C.EXEC),
    ("read -r 1x", C.UNCLEAR),
    ('n=x; [[ -n $y ]] && n=z; read -r "$n"', C.UNCLEAR),
    ('printf -v "$1" x', C.EXEC),
    ('printf -v "1x" x', C.UNCLEAR),
    ('printf -v x %s "$1"; $x', C.EXEC),
    ('test -v "$1"', C.EXEC),
    ('let x=1+y; let "$1"', C.EXEC),
    ("bash", C.UNCLEAR),
    ("bash -o pipefail ~/x.sh", C.UNCLEAR),
    ("bash --login -s", C.UNCLEAR),
    ("bash ~/x.sh", C.UNCLEAR),
    ("bash /usr/bin/omarchy-root", C.ROOT),
    ("sudo -u me ls", C.ROOT),
    ('env "$1" ls', C.EXEC),
    ('perl -x y', C.UNCLEAR),
    ("find ~/x -fprint y", C.DELETE),
    ("rm -r a", C.DELETE),
    ('echo "$1" | tar -x', C.FILE),
    ("chmod 700 ~/.ssh/x", C.PERSIST),
    ('perl -e', C.UNCLEAR),
    ('sed -e', C.UNCLEAR),
    ('docker run "$1"', C.EXEC),
    ("cat <<EOF >\"$1\"\nx\nEOF", C.FILE),
    ("cat <<EOF | tee \"$1\"\nx\nEOF", C.FILE),
    ('x=$(<"$1"); $x', C.EXEC),
    ("exit 1 && sudo ls", C.ROOT),
    ("exit 1 || sudo ls", C.ROOT),
    ("if exit 1; then sudo ls; fi", C.ROOT),
    ("if true; then exit; else exit; fi; sudo ls", C.ROOT),
    ('for i in 1 2; do x=$1; break; done; $x', C.EXEC),
    ('for i in 1 2; do x=$1; continue; done; $x', C.EXEC),
    ('x=a; case $y in a) x=$1 ;& b) $x ;; esac', C.EXEC),
    ('until false; do sudo ls; done', C.ROOT),
    ("echo ${x:1:$1}", C.EXEC),
    ('a=("$1"); "${a[0]}"', C.EXEC),
    ('a=(x); a[0]=$1; "${a[@]}"', C.EXEC),
    ('a=(x); a+=("$1"); "${a[@]}"', C.EXEC),
    ("x=$1; x+=b; $x", C.EXEC),
    ('x="a"; x+=$1; $x', C.EXEC),
    ('f() { f2 "$1"; }; f2() { f "$1"; }; f "$1"', C.UNCLEAR),
    ("eval 'if'", C.UNCLEAR),
    ("eval 'if sudo ls'", C.ROOT),
    ('bash -c "$(cat x)"', C.UNCLEAR),
    ('[[ -n $(sudo ls) ]]', C.ROOT),
    ('[[ ( $1 == a || $2 == b ) && $1 == a ]] && $2', C.EXEC),
    ('x=$(jq -n --arg a "$1" "\\$a"); $x', C.EXEC),
    ('x=$(jq -n "$1"); $x', C.EXEC),
    ('x=$(jq -n --arg a "$1" \'$ARGS\'); $x', C.EXEC),
    ("f() { break; }; for i in a; do f; done; sudo ls", C.ROOT),
    ('f() { eval "$2"; }; f "$@"', C.EXEC),
    ('f() { eval "$3"; }; f a $1', C.EXEC),
    ('f() { shift; "$2"; }; f "$@"', C.EXEC),
    ('omarchy-second "$@"', C.EXEC),
    ('omarchy-second $1', C.EXEC),
    ('set -- a "$@"; $3', C.EXEC),
    ("bash -c 'eval \"$2\"' _ \"$@\"", C.EXEC),
    ('x=("$@"); f() { $2; }; f "${x[@]}"', C.EXEC),
    ('x=$(cd "$1" && pwd); $x', C.EXEC),
    ('cd "$1"; $PWD/x', C.EXEC),
    ('cd "$1"; x=$(ls | head -n 1); $x', C.EXEC),
    ('find "$@" -name x', C.EXEC),
    # arguments as paths and addresses
    ('rm "$1"', C.FILE),
    ('rm -rf ~/.cache/"$1"', C.FILE),
    ('touch "$HOME/.local/state/$1"', C.FILE),
    ('x="$HOME/a/$1"; mkdir -p "$x"', C.FILE),
    ('mkdir -p "$(dirname "$1")"', C.FILE),
    ('echo hi > "$1"', C.FILE),
    ('echo hi >> ~/x/"$1"', C.FILE),
    ('cat > "$1" <<EOF\nhi\nEOF', C.FILE),
    ('echo x | tee "$1"', C.FILE),
    ('cp "$1" ~/.cache/x', C.FILE),
    ('magick "$1" /tmp/x.png', C.FILE),
    ('find "$1" -delete', C.FILE),
    ('cd "$1" && rm x', C.FILE),
    ('cd "$1"; echo x > y', C.FILE),
    ('omarchy-delete "$1"', C.FILE),
    ('omarchy-named "$1"', C.FILE),
    ('[[ $1 == */* ]] && exit 1; rm "$1"', C.FILE),
    ('curl "$1"', C.NETWORK),
    ('git clone "$1"', C.NETWORK),
    ('scp ~/.ssh/id "$1"', C.SEND),
    # constant
    ("git pull", C.PACKAGES),
    ("git -C ~/x reset --hard", C.PACKAGES),
    ("mise install node", C.PACKAGES),
    ("flatpak install x", C.PACKAGES),
    ("npm install -g x", C.PACKAGES),
    ("code --install-extension x", C.PACKAGES),
    ("curl -F f=@x https://x", C.SEND),
    ("curl https://x | bash", C.UNCLEAR),
    ("rm -rf ~/Documents", C.DELETE),
    ('rm -rf "$x"', C.DELETE),
    ("find ~/Documents -delete", C.DELETE),
    ("cp a ~/.config/x", C.CONFIG),
    ("cp -af /etc/skel/. ~/", C.CONFIG),
    ("echo x > ~/.config/autostart/x.desktop", C.PERSIST),
    ("echo x >> ~/.bashrc", C.PERSIST),
    ('echo "$1" > ~/.config/hypr/x.conf', C.PERSIST),
    ('t=$(mktemp); echo "$1" > "$t"; mv "$t" ~/.config/x', C.PERSIST),
    ("systemctl --user enable x", C.PERSIST),
    ("crontab x", C.PERSIST),
    ("systemctl poweroff", C.SESSION),
    ("loginctl lock-session", C.SESSION),
    ("omarchy-shell lock lock", C.SESSION),
    ("hyprctl dispatch closewindow x", C.SESSION),
    ("pkill -x quickshell", C.SESSION),
    ('pkill -x "$1"', C.SESSION),
    ("nmcli -s connection show x", C.SECRET),
    ("secret-tool lookup a b", C.SECRET),
    ("gpu-screen-recorder -w screen", C.RECORD),
    ("some-new-program", C.UNCLEAR),
    ("omarchy-not-there", C.UNCLEAR),
    ("python3 - <<'EOF'\nprint(1)\nEOF", C.UNCLEAR),
    ("awk 'BEGIN { system(\"ls\") }'", C.UNCLEAR),
    ("awk '{ print > \"x\" }'", C.UNCLEAR),
    ("sed 's/a/ls/e' x", C.UNCLEAR),
    ("sed -f x y", C.UNCLEAR),
    ("perl -e 'unlink \"x\"'", C.UNCLEAR),
    ('n=x; echo "${!n}"', C.UNCLEAR),
    ("declare -n r=x; r=1", C.UNCLEAR),
    ('f() { local -n r=$1; r=1; }; f x', C.UNCLEAR),
    ("source ~/.config/something", C.UNCLEAR),
    ("for f in ~/x/*.sh; do bash \"$f\"; done", C.UNCLEAR),
    ('"$(cat ~/x)" now', C.UNCLEAR),
    ('export A="$1"; ls', C.UNCLEAR),
    ('COMMAND="$1" omarchy-environment', C.UNCLEAR),
    ("alias ls='rm -rf ~'; ls", C.UNCLEAR),
    ("echo ${x@P}", C.UNCLEAR),
    ("eval $(cat x)", C.UNCLEAR),
    ("if then fi", C.UNCLEAR),
    ("case", C.UNCLEAR),
]  # fmt: skip


@pytest.mark.parametrize(("body", "capability"), DANGEROUS)
def test_a_danger_is_seen(body: str, capability: Capability) -> None:
    assert capability in capabilities(body)


HARMLESS_SCRIPTS = [
    'echo "$1"',
    'printf "%s\\n" "$@"',
    'grep -q -- "$1" /etc/hosts && echo yes',
    'case "$1" in on|off) omarchy-say "$1" ;; *) echo "usage"; exit 1 ;; esac',
    'case "$1" in up) x=5 ;; down) x=-5 ;; *) exit 1 ;; esac; echo $((x + 1))',
    '[[ $1 =~ ^[0-9]+$ ]] || exit 1; echo $(($1 + 1))',
    '[[ $1 =~ ^[0-9]{1,3}$ ]] || { echo bad >&2; exit 1; }; (( $1 > 3 )) && echo big',
    'if [[ ! $1 =~ ^[0-9]+$ ]]; then exit 1; fi; x=$(($1 * 2)); echo "$x"',
    'x="${1:-}"; if [[ $x != on && $x != off ]]; then exit 1; fi; touch ~/.cache/"$x"',
    're="^[a-z]+$"; [[ $1 =~ $re ]] || exit 1; touch ~/.cache/"$1"',
    'x="${1//[^a-z0-9]/}"; touch ~/.cache/"$x"',
    'case "$1" in *[!0-9]*|"") exit 1 ;; esac; echo $(($1 + 1))',
    'case "$1" in [0-9]|[0-9][0-9]) echo $(($1)) ;; esac',
    'ok() { [[ $1 =~ ^[a-z]+$ ]]; }; ok "$1" || exit 1; touch ~/.cache/"$1"',
    'ok() { [[ $1 =~ ^[a-z]+$ ]] || return 1; return 0; }; if ok "$1"; then touch ~/.cache/"$1"; fi',
    'for n in a b; do [[ $1 == "$n" ]] && touch ~/.cache/"$1"; done',
    'x=$(date +%s); echo $((x + 1))',
    'x=$(sha256sum "$1"); touch ~/.cache/"$x"',
    'echo "${#1} $#"; (( $# > 2 ))',
    'omarchy-named a',
    'omarchy-say "$1" | head -n 1',
    'cmd=(ls -l); "${cmd[@]}"',
    'f() { "$@" >/dev/null; }; f ls /etc',
    'rm -rf "$(mktemp -d)"',
    't=$(mktemp -d); trap \'rm -rf "$t"\' EXIT; ls "$t"',
    'systemctl --user restart waybar',
    'omarchy-shell osd show "{\\"message\\": \\"$1\\"}"',
    'omarchy-shell shell summon omarchy.emojis "{}"',
    'hyprctl clients -j | jq -r ".[0]"',
    'while (($#)); do case $1 in -a) a=1 ;; -m) m="$2"; shift ;; *) exit 1 ;; esac; shift; done; echo "$m"',
    'awk -v n="$1" \'$1 == n { print $2 }\' /etc/hosts',
    'sed -n "s/^Exec=//p" /usr/share/applications/x',
    'perl -e \'print "$ARGV[0]\\n"\' "$1"',
    'declare -A m=([a]=1); echo "${m[$1]}"',
    'exec {fd}> ~/.cache/lock; flock "$fd"',
    'omarchy --help',
    'x=$(hyprctl clients -j | jq -r --arg p "$1" \'.[] | select(.class | test($p; "i")) | .address\'); hyprctl dispatch "$x"',
    'x=$(printf "%d" "$1"); echo $((x + 1))',
    'ln -nsf "$1" ~/.cache/background',
    ". /etc/omarchy.conf",
    "exit || ls",
    "exit && ls",
    'f() { "${@}"; }; f ls; for i in "${@}"; do echo; done',
    "f() { local i=0; while ((i < 3)); do i=$((i + 1)); done; }; f",
    "[[ -f ~/x && -d ~/y/$z ]]",
    "echo a{}b",
    "xdg-terminal-exec ls",
    "command",
    "command -v ls",
    "command -- ls",
    "exec -a x ls",
    "eval",
    "trap - EXIT",
    "trap",
    "trap ls EXIT",
    "source",
    "source /etc/os-release",
    "return 1",
    "return",
    "f() { return; }; f",
    "set -e; set -o pipefail; set -- a b; ls $1",
    "set x; ls $1",
    "readonly z=1; readonly z; export z; declare x; unset x; a=(1); f() { local y; }; f",
    "declare -A m; m[a]=1; echo ${m[a]}; declare -A n=([a]=b)",
    "read -r; read -r a b; read -p x -r c; read -n 1; mapfile -t l < /etc/hosts; mapfile < /etc/hosts",
    "printf -v x %s a; printf; printf '%d' 1; printf -v",
    "let x=1",
    "test -f x; [ -n a -a b = c ]",
    "[[ a < b ]]",
    "[[ ! ( -f x ) && ( a == b ) ]]",
    'x=a; [[ $y ]] && x="b*"; [[ $1 == $x ]] && echo',
    "xargs",
    "ls | xargs",
    "ls | xargs -I{} cat {}",
    "find . -name x -exec cat {} +",
    "find . -exec cat x",
    "find /tmp/x -delete",
    "bash -c 'ls'",
    "bash --norc -c 'ls'",
    "sed --expression=s/a/b/ x",
    "sed -n -e p x",
    "awk -F: '{ print $1 }' /etc/passwd",
    "perl -pe 's/a/b/' x",
    "watch ls",
    "timeout 5 ls",
    "env A=b ls",
    "env",
    "nice -n 5 ls",
    "xdg-terminal-exec",
    "gum spin -- ls",
    "cat <<EOF | head -n 1\nx\nEOF",
    "cat <<'EOF' > ~/.cache/x\n$1\nEOF",
    "cat <<EOF\nx\nEOF",
    "x=$(</etc/hostname); echo $x",
    "> ~/.cache/x",
    "echo a{b,c} {1..3} $'a' $'a\\n' $\"x\"",
    "echo ${x:-a} ${x-a} ${x:+b} ${x:?no} ${x#a} ${x//a/b} ${x^^} ${#x} ${!a[@]} ${x:1:2}",
    "for i; do echo; done; for i in a; do continue; done; while true; do break; done; until true; do :; done",
    "for ((i = 0; i < 3; i++)); do break; done",
    "case $1 in a) echo ;;& b) echo ;& *) echo ;; esac",
    "select x in a b; do break; done",
    "if true; then echo; elif false; then echo; else echo; fi",
    "! true; ! false && echo",
    "f() ( echo ); f",
    "function g { echo; }; g",
    "f() { f a; }; f",
    "a=(x y); a+=(z); a[1]=q; echo ${a[0]} ${#a[@]}; x=a; x+=b; for i in \"${a[@]}\"; do echo; done",
    "cd /tmp; pushd /tmp; popd",
    "hash -r; type ls; wait; shopt -s nullglob; umask 077",
    "while getopts ab: o; do case $o in a) echo ;; *) exit ;; esac; done",
    "echo | grep -q x && exit 0 || exit 1",
    "omarchy commands --json | jq .",
    "omarchy",
    "omarchy-shell image-selector preload a b c d",
    "omarchy-shell notifications dismiss x",
    "omarchy-shell idle toggle",
    "omarchy-shell idle status",
    'x=$(jq -n --arg a "$1" --arg b c -r \'1\'); hyprctl dispatch "$x"',
    "x=$(dirname /tmp/a/b); rm -rf \"$x\"",
    "if [[ $1 == x ]]; then exit; else exit; fi",
    "if exit; then ls; elif ls; then ls; fi",
    'x="${XDG_STATE_HOME:-$HOME/.local/state}/omarchy/x"; rm -rf "$x"',
    'curl -s https://wttr.in | jq .',
    'git -C "$OMARCHY_PATH" rev-parse HEAD',
    'read -r a b <<< "$(free | tail -n 1)"; echo $((a - b))',
    '[[ -n "$(sudo -n true 2>&1)" ]] && echo',
    'if [[ $1 == x ]]; then $1; fi 2>/dev/null; echo',
]  # fmt: skip


@pytest.mark.parametrize("body", HARMLESS_SCRIPTS[:-1])
def test_what_is_shown_to_be_harmless_is_not_held_against_a_script(body: str) -> None:
    assert capabilities(body) == set()


FRAGMENTS = [
    "sudo true",
    "pkexec true",
    "omarchy-root",
    "S=sudo; $S true",
    'eval "$1"',
    'rm -f "$1"',
    '"$@"',
    'c="echo $1"; bash -c "$c"',
    'f_x() { . "$1"; }; f_x "$1"',
    "echo $(( $1 + 1 ))",
    "git pull",
    'if "$1"; then :; fi',
    "declare -n r_x=$1; r_x=1",
    'v_x=$1; echo "${!v_x}"',
    'printf -v "$1" x',
    'a_x=("$@"); "${a_x[@]}"',
    '[[ $1 -gt 1 ]]',
    'echo x > "$1"',
    "python3 - <<'X'\nprint(1)\nX",
]  # fmt: skip


@pytest.mark.parametrize("body", HARMLESS_SCRIPTS[:-1])
def test_a_danger_put_on_top_of_a_harmless_script_raises_it(body: str) -> None:
    for fragment in FRAGMENTS:
        assert capabilities(f"{fragment}\n{body}"), fragment


def test_a_script_that_is_not_bash_or_too_long_or_not_text_is_unclear() -> None:
    for text in (b"#!/usr/bin/python3\nprint(1)\n", b"", b"#!/bin/bash\n" + b"#" * 11_000_000, b"#!/bin/bash\n\xff\xfe\n",
                 b"#!/bin/bash\necho \0\n", b"#!/bin/bash\n" + b"( " * 5_000 + b"sudo ls"):  # fmt: skip
        found = Scan({"omarchy-it": text}).worst("omarchy-it")
        assert found is not None
        assert {finding.capability for finding in found} & {C.UNCLEAR, C.ROOT}


def test_a_script_of_too_many_or_too_deep_pieces_is_unclear_and_root_in_it_is_seen() -> None:
    assert C.UNCLEAR in capabilities("a;" * 120_000)
    assert C.ROOT in capabilities("a;" * 120_000 + "\nsudo ls")
    deep = "echo " + "$(echo " * 3_000 + "a" + ")" * 3_000
    assert C.UNCLEAR in capabilities(deep)
    assert C.ROOT in capabilities(deep + "\nsudo ls")


def test_a_walk_that_takes_too_long_is_unclear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "MAX_STEPS", 3)
    assert capabilities("ls; ls; ls; ls; ls") == {C.UNCLEAR}
    assert C.ROOT in capabilities("ls; ls; ls; ls; sudo ls")
    monkeypatch.setattr(walk, "MAX_STEPS", 60_000)
    monkeypatch.setattr(statements, "MAX_ROUNDS", 0)
    assert capabilities("while true; do ls; done") == {C.UNCLEAR}
    monkeypatch.setattr(walk, "MAX_DEPTH", -1)
    assert capabilities("eval ls") == {C.UNCLEAR}


def leaf(kind: str, text: str) -> Node:
    return Node(kind, "", text, 1)


def test_trees_no_grammar_makes_are_unclear_and_no_fault() -> None:
    seen = walk.Walk(Scan({}), "omarchy-it")
    env = Env([{}])
    env.arguments(None)
    odd = Node("test_command", "", "[ a b ]", 1, [leaf("[", "["), leaf("word", "a"), leaf("word", "b"), leaf("]", "]")])
    conditions.condition(seen, odd, env)
    conditions.condition(seen, Node("test_command", "", "[ ]", 1, [leaf("[", "["), leaf("]", "]")]), env)
    unheard = [leaf("${", "${"), leaf("variable_name", "x"), leaf("??", "??"), leaf("}", "}")]
    assert words.word(seen, Node("expansion", "", "${x??}", 1, unheard), env).taint
    assert {finding.capability for finding in seen.findings} == {C.UNCLEAR}
    broken = Script(root=Node("program", "", "", 1, [Node("list", "", "", 1)]), whole=True, root_word=False)
    assert {finding.capability for finding in walk.Walk(Scan({}), "omarchy-it").script(broken, None)} == {C.UNCLEAR}


def test_scripts_that_call_each_other_end() -> None:
    assert capabilities("omarchy-two a", two="omarchy-it b") == set()
    many = {f"n{i}": f"omarchy-n{i + 1}" for i in range(20)}
    assert C.UNCLEAR in capabilities("omarchy-n0", **many, n20="ls")
    assert C.UNCLEAR in capabilities('f() { f "$1"; }; f "$1"')
    assert capabilities("f() { f a; }; f b") == set()


@given(st.text(alphabet="abc$\"'(){}[]|&;<>!=~#*?\\ \n1@-", max_size=60))
def test_no_script_raises(body: str) -> None:
    capabilities(body)


WORDS = st.sampled_from(
    ["if", "then", "fi", "case $1 in", "a)", ";;", "esac", "while", "do", "done", "f() {", "}", "(", ")", "[[", "]]", "&&", "||",
     "$1", '"$@"', "x=", "x=(", "${x", "}", "echo", "eval", "<<EOF", "EOF", "\n", ";", "|", ">", "$(", "shift", "return", "$((", "))",
     "local", "read", "x", "exit", "break", "-n", "==", "=~", "^a$", "!"]
)  # fmt: skip


@given(st.lists(WORDS, max_size=25))
def test_no_jumble_of_bash_raises(parts: list[str]) -> None:
    capabilities(" ".join(parts))
