# shellcheck shell=bash

# The facts of the drawn desktop: one small file a fact, below one folder. Read by demo-desktop, which sets $root.
# shellcheck disable=SC2154,SC2034 # $root comes from there, the facts are used there

state=${OMARCHY_DEMO_STATE:-${XDG_STATE_HOME:-${HOME:-/tmp}/.local/state}/omarchy-demo}
value_limit=400

declare -A defaults=(
  [theme]=harbour [background]=dunes [font]="Demo Mono" [volume]=55 [muted]=off [microphone]=on
  [brightness]=80 [bar]=on [bar-position]=top [nightlight]=off [idle]=allow [dnd]=off [session]=on
  [battery]=82 [power-profile]=balanced [media]=paused [track]=1 [osd]="" [headline]="" [description]=""
  [workspace]=1 [channel]=stable [dns]=DHCP [shell]=running [dialog]="" [typed]="" [panel]=""
)

fail() {
  echo "demo: $*" >&2
  exit 1
}

seed() {
  [[ -f $state/theme && -f $state/windows && -f $state/desktop.svg ]] && return
  mkdir -p "$state"/{toggles,themes,hooks,applications,autostart,plugins,config,local-bin,pictures,sent} ||
    fail "cannot make the state folder '$state'"
  local key
  for key in "${!defaults[@]}"; do
    [[ -f $state/$key ]] || printf '%s\n' "${defaults[$key]}" >"$state/$key"
  done
  printf '%s\n' '<meta charset="utf-8"><meta http-equiv="refresh" content="1"><title>Omarchy demo</title>' \
    '<body style="margin:0;background:#000"><img src="desktop.svg" style="width:100vw">' >"$state/desktop.html"
  [[ -f $state/packages ]] || printf '%s\n' base demo-terminal demo-editor >"$state/packages"
  [[ -f $state/windows ]] ||
    printf '%s\t%s\t%s\t1\n' 0x5d01 terminal "~ — terminal" 0x5d02 editor "notes.md — editor" >"$state/windows"
  draw
}

known() {
  [[ -n ${defaults[$1]+known} ]] || fail "no such fact '$1'"
}

# get KEY: sets $value.
get() {
  value=""
  IFS= read -r value <"$state/$1" 2>/dev/null || true
}

# clean TEXT: sets $text to one line of printable text.
clean() {
  text=${1//[[:cntrl:]]/ }
  text=${text:0:value_limit}
}

# put KEY TEXT: replaces the file in one step, so that no reader sees half of it.
put() {
  clean "$2"
  printf '%s\n' "$text" >"$state/.$1.$$" && mv -f -- "$state/.$1.$$" "$state/$1"
}

log() {
  clean "$*"
  printf '%s\n' "$text" >>"$state/log"
}

# load_colours: sets $colour[…] from the current theme; anything that is not a colour is ignored.
declare -A colour
load_colours() {
  local theme line file
  colour=([ground]=#14202b [panel]=#1f3040 [ink]=#d9e5ec [muted]=#5f7c8f [accent]=#58b4c9
    [red]=#e0705f [green]=#7fbf8a [yellow]=#e3b95e [blue]=#5c95d6)
  get theme && theme=$value
  [[ $theme == */* || $theme == .* ]] && return
  for file in "$state/themes/$theme/colors.toml" "$root/themes/$theme/colors.toml"; do
    [[ -f $file ]] || continue
    while IFS= read -r line; do
      [[ $line =~ ^([a-z]+)\ =\ \"(#[0-9a-fA-F]{6})\"$ ]] && colour[${BASH_REMATCH[1]}]=${BASH_REMATCH[2]}
    done <"$file"
    return
  done
}

# escape TEXT: sets $text, fit for XML.
escape() {
  clean "$1"
  text=${text//'&'/'&amp;'}
  text=${text//'<'/'&lt;'}
  text=${text//'>'/'&gt;'}
  text=${text//'"'/'&quot;'}
}

# title NAME: sets $text to "Tokyo Night" for "tokyo-night".
title() {
  local word out=""
  for word in ${1//-/ }; do out+="${out:+ }${word^}"; done
  text=$out
}

# load: every fact into $fact[…], every number checked.
declare -A fact
load() {
  local key
  for key in "${!defaults[@]}"; do
    get "$key"
    fact[$key]=$value
  done
  for key in volume brightness battery workspace track; do
    [[ ${fact[$key]} =~ ^[0-9]{1,3}$ ]] || fact[$key]=${defaults[$key]}
    fact[$key]=$((10#${fact[$key]}))
  done
  mapfile -t windows <"$state/windows"
  load_colours
}
