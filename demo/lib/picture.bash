# shellcheck shell=bash

# Draws the desktop in a terminal, from the same facts as drawing.bash: a grid of characters with two colours each.
# shellcheck disable=SC2154 # $fact[…], $colour[…] and $windows come from state.bash

columns=76
lines=22
cells=()
inks=()
grounds=()

# fill ROW COLUMN HEIGHT WIDTH CHARACTER INK GROUND
fill() {
  local row column at
  for ((row = $1; row < $1 + $3; row++)); do
    for ((column = $2; column < $2 + $4; column++)); do
      at=$((row * columns + column))
      cells[at]=$5 inks[at]=$6 grounds[at]=$7
    done
  done
}

# write ROW COLUMN WIDTH INK TEXT: leaves the ground as it is.
write() {
  local at=$(($1 * columns + $2)) text=${5:0:$3} index
  for ((index = 0; index < ${#text}; index++)); do
    cells[at + index]=${text:index:1} inks[at + index]=$4
  done
}

picture_wallpaper() {
  local mark row column name=${fact[background]##*/}
  case ${name%.*} in dunes) mark='~' ;; waves) mark='≈' ;; peaks) mark='^' ;; stars) mark='·' ;; *) mark='+' ;; esac
  fill 0 0 "$lines" "$columns" ' ' ink panel
  for ((row = 2; row < lines; row++)); do
    for ((column = row * 7 % 9; column < columns; column += 9)); do write "$row" "$column" 1 muted "$mark"; done
  done
}

# picture_window ROW COLUMN HEIGHT WIDTH CLASS TITLE FOCUSED
picture_window() {
  local row=$1 column=$2 height=$3 width=$4 edge=muted inner=$(($4 - 4)) name at=0 rule
  [[ $7 == yes ]] && edge=accent
  fill "$row" "$column" "$height" "$width" ' ' "$edge" ground
  printf -v rule '%*s' "$((width - 2))" ''
  write "$row" "$column" "$width" "$edge" "╭${rule// /─}╮"
  write "$((row + height - 1))" "$column" "$width" "$edge" "╰${rule// /─}╯"
  for ((at = row + 1; at < row + height - 1; at++)); do
    write "$at" "$column" 1 "$edge" "│"
    write "$at" "$((column + width - 1))" 1 "$edge" "│"
  done
  write "$row" "$((column + 2))" "$inner" ink " $6 "
  case $5 in
  terminal)
    write "$((row + 2))" "$((column + 2))" "$inner" green "you@demo ❯ omarchy theme current"
    write "$((row + 3))" "$((column + 2))" "$inner" ink "${fact[title]}"
    ((height < 8)) && return
    write "$((row + 5))" "$((column + 2))" "$inner" muted "font: ${fact[font]}"
    at=0
    for name in red yellow green blue accent muted; do
      write "$((row + 7))" "$((column + 2 + at))" 4 "$name" "████"
      ((at += 5))
    done
    ;;
  editor)
    write "$((row + 2))" "$((column + 2))" "$inner" yellow "# Things an agent may do"
    write "$((row + 3))" "$((column + 2))" "$inner" ink "- turn the volume down"
    write "$((row + 4))" "$((column + 2))" "$inner" ink "- find a calmer theme"
    ((height < 8)) || write "$((row + 5))" "$((column + 2))" "$inner" red "- ask before it installs anything"
    ;;
  *) write "$((row + height / 2))" "$((column + width / 2 - 1))" "$inner" accent "◆◆" ;;
  esac
}

picture_windows() {
  local count=${#windows[@]} index kind name focused row column height width
  for ((index = 0; index < count && index < 3; index++)); do
    IFS=$'\t' read -r _ kind name _ <<<"${windows[index]}"
    ((index == count - 1 || index == 2)) && focused=yes || focused=no
    row=2 column=1 height=$((lines - 6)) width=$((columns - 2))
    ((count > 1)) && width=36
    ((index > 0)) && column=39
    ((count > 2 && index > 0)) && height=8
    ((count > 2 && index == 2)) && row=10
    picture_window "$row" "$column" "$height" "$width" "$kind" "$name" "$focused"
  done
}

picture_bar() {
  [[ ${fact[bar]} == on ]] || return
  local row=0 right level=${fact[volume]} meter
  [[ ${fact[bar-position]} == bottom ]] && row=$((lines - 1))
  fill "$row" 0 1 "$columns" ' ' ink ground
  write "$row" 1 10 accent "$(printf '%*s' "$((fact[workspace] - 1))" '' | sed 's/ /· /g')● "
  write "$row" 12 20 muted "${fact[title]}"
  write "$row" 35 6 ink "$(printf '%(%H:%M)T' -1)"
  printf -v meter '%*s' "$((level / 20))" ''
  meter=${meter// /▮}▯▯▯▯▯
  [[ ${fact[muted]} == on ]] && meter="muted"
  right="${meter:0:5} ${fact[volume]}%  ☀ ${fact[brightness]}%  ⚡ ${fact[battery]}%"
  [[ ${fact[dnd]} == on ]] && right="quiet  $right"
  [[ ${fact[idle]} == awake ]] && right="awake  $right"
  write "$row" "$((columns - ${#right} - 1))" "${#right}" ink "$right"
}

picture_overlays() {
  local message=${fact[osd]}${fact[dialog]}
  if [[ -n ${fact[headline]} ]]; then
    fill 2 42 3 32 ' ' ink panel
    write 2 43 30 accent "${fact[headline]}"
    write 3 43 30 ink "${fact[description]}"
  fi
  if [[ -n $message ]]; then
    fill 19 22 1 32 ' ' ink panel
    write 19 23 30 yellow "$message"
  fi
  case ${fact[session]} in
  on) ;;
  locked)
    fill 0 0 "$lines" "$columns" ' ' ink ground
    write 10 35 10 ink "Locked"
    ;;
  *)
    fill 0 0 "$lines" "$columns" ' ' muted dark
    write 9 31 30 muted "${fact[session]}"
    write 11 20 40 muted "omarchy demo reset turns it on again"
    ;;
  esac
}

# shade NAME: sets $rgb to "r;g;b" as the night light and the brightness leave it.
declare -A shaded
shade() {
  rgb=${shaded[$1]:-}
  [[ -n $rgb ]] && return
  local hex=${colour[$1]} red green blue light=${fact[brightness]}
  red=$((16#${hex:1:2})) green=$((16#${hex:3:2})) blue=$((16#${hex:5:2}))
  [[ ${fact[nightlight]} == on ]] && blue=$((blue * 6 / 10)) green=$((green * 9 / 10))
  light=$((40 + light * 6 / 10))
  rgb="$((red * light / 100));$((green * light / 100));$((blue * light / 100))"
  shaded[$1]=$rgb
}

# picture COLOURED
picture() {
  local at row column out="" last="" now
  load
  colour[dark]="#000000"
  title "${fact[theme]}"
  fact[title]=$text
  picture_wallpaper
  picture_windows
  picture_bar
  picture_overlays
  for ((row = 0; row < lines; row++)); do
    for ((column = 0; column < columns; column++)); do
      at=$((row * columns + column))
      now=${inks[at]}/${grounds[at]}
      if [[ $1 == yes && $now != "$last" ]]; then
        last=$now
        shade "${inks[at]}" && out+=$'\e[38;2;'"${rgb}m"
        shade "${grounds[at]}" && out+=$'\e[48;2;'"${rgb}m"
      fi
      out+=${cells[at]}
    done
    [[ $1 == yes ]] && out+=$'\e[0m' last=""
    out+=$'\n'
  done
  printf '%s' "$out"
}
