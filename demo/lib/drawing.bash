# shellcheck shell=bash

# Draws the desktop as desktop.svg from the facts in $fact[…], $colour[…] and $windows.
# shellcheck disable=SC2154 # those come from state.bash

wallpaper() {
  local picture=${fact[background]} file name
  [[ $picture == */* ]] && file=$picture || file=$root/backgrounds/$picture.svg
  if [[ $file == "$root"/backgrounds/*.svg && -f $file ]]; then
    picture=$(<"$file")
    for name in ground panel ink muted accent; do
      picture=${picture//"var(--$name,"#??????")"/${colour[$name]}}
    done
    printf '%s\n' "$picture"
  else
    escape "$file"
    printf '<rect width="1280" height="720" fill="%s"/>\n' "${colour[panel]}"
    printf '<image href="file://%s" width="1280" height="720" preserveAspectRatio="xMidYMid slice"/>\n' "$text"
  fi
}

# window X Y WIDTH HEIGHT CLASS TITLE FOCUSED
window() {
  local x=$1 y=$2 w=$3 h=$4 kind=$5 edge=${colour[muted]} name swatch at=0
  [[ $7 == yes ]] && edge=${colour[accent]}
  escape "$6"
  cat <<SVG
<g transform="translate($x $y)"><rect width="$w" height="$h" rx="8" fill="${colour[ground]}" fill-opacity=".9" stroke="$edge" stroke-width="3"/>
<text x="20" y="32" fill="${colour[muted]}" font-size="17">$text</text>
SVG
  escape "${fact[font]}" && name=$text
  case $kind in
  terminal)
    cat <<SVG
<text x="20" y="78" font-size="20" font-family="$name, monospace"><tspan fill="${colour[green]}">you@demo</tspan><tspan fill="${colour[ink]}"> ~ </tspan><tspan fill="${colour[accent]}">❯</tspan><tspan fill="${colour[ink]}"> omarchy theme current</tspan></text>
<text x="20" y="110" font-size="20" font-family="$name, monospace" fill="${colour[ink]}">${fact[title]}</text>
<text x="20" y="142" font-size="16" font-family="$name, monospace" fill="${colour[muted]}">font: $name</text>
SVG
    for swatch in red yellow green blue accent muted; do
      echo "<rect x=\"$((20 + at * 44))\" y=\"168\" width=\"36\" height=\"36\" rx=\"6\" fill=\"${colour[$swatch]}\"/>"
      ((at += 1))
    done
    ;;
  editor)
    cat <<SVG
<text x="20" y="78" font-size="18" font-family="$name, monospace"><tspan fill="${colour[yellow]}"># Things an agent may do</tspan><tspan x="20" dy="32" fill="${colour[ink]}">- turn the volume down</tspan><tspan x="20" dy="32" fill="${colour[ink]}">- find a calmer theme</tspan><tspan x="20" dy="32" fill="${colour[red]}">- ask before it installs anything</tspan></text>
SVG
    ;;
  *)
    echo "<circle cx=\"$((w / 2))\" cy=\"$((h / 2))\" r=\"44\" fill=\"${colour[accent]}\" opacity=\".7\"/>"
    ;;
  esac
  echo "</g>"
}

draw_windows() {
  local count=${#windows[@]} index address kind name focused x y w h
  for ((index = 0; index < count && index < 3; index++)); do
    IFS=$'\t' read -r address kind name _ <<<"${windows[index]}"
    [[ -n $address ]] || continue
    ((index == count - 1 || index == 2)) && focused=yes || focused=no
    x=56 y=76 w=1168 h=488
    ((count > 1)) && w=574
    ((index > 0)) && x=650
    ((count > 2 && index > 0)) && h=234
    ((count > 2 && index == 2)) && y=330
    window "$x" "$y" "$w" "$h" "$kind" "$name" "$focused"
  done
}

draw_bar() {
  [[ ${fact[bar]} == on ]] || return
  local y=0 space dots="" icons level charge=${fact[battery]}
  [[ ${fact[bar-position]} == bottom ]] && y=680
  for space in 1 2 3 4 5; do
    level=.35
    [[ $space == "${fact[workspace]}" ]] && level=1
    dots+="<circle cx=\"$((16 + space * 22))\" cy=\"20\" r=\"6\" fill=\"${colour[accent]}\" opacity=\"$level\"/>"
  done
  level=${fact[volume]}
  level=$((level * 60 / 100)) charge=$((charge * 26 / 100))
  [[ ${fact[muted]} == on ]] && icons="muted" || icons="${fact[volume]}%"
  cat <<SVG
<g transform="translate(0 $y)" font-size="17" fill="${colour[ink]}"><rect width="1280" height="40" fill="${colour[ground]}" fill-opacity=".92"/>$dots
<text x="640" y="26" text-anchor="middle">$(printf '%(%H:%M)T' -1)</text><text x="180" y="26" fill="${colour[muted]}">${fact[title]}</text>
<path d="M902 15h6l8-6v22l-8-6h-6Z"/><rect x="922" y="17" width="60" height="6" rx="3" fill="${colour[muted]}"/><rect x="922" y="17" width="$level" height="6" rx="3" fill="${colour[accent]}"/><text x="990" y="26" font-size="14">$icons</text>
<circle cx="1056" cy="20" r="6" fill="${colour[yellow]}"/><text x="1068" y="26" font-size="14">${fact[brightness]}%</text>
<rect x="1126" y="13" width="30" height="14" rx="3" fill="none" stroke="${colour[ink]}"/><rect x="1128" y="15" width="$charge" height="10" fill="${colour[green]}"/>
SVG
  [[ ${fact[dnd]} == on ]] && echo "<text x=\"1170\" y=\"26\" font-size=\"14\" fill=\"${colour[red]}\">quiet</text>"
  [[ ${fact[idle]} == awake ]] && echo "<text x=\"1222\" y=\"26\" font-size=\"14\" fill=\"${colour[yellow]}\">awake</text>"
  echo "</g>"
}

draw_overlays() {
  local head
  if [[ -n ${fact[headline]} ]]; then
    escape "${fact[headline]}" && head=$text
    escape "${fact[description]}"
    cat <<SVG
<g transform="translate(872 56)"><rect width="384" height="92" rx="10" fill="${colour[panel]}" stroke="${colour[accent]}" stroke-width="2"/><text x="22" y="38" font-size="20" fill="${colour[ink]}">$head</text><text x="22" y="68" font-size="16" fill="${colour[muted]}">${text:0:160}</text></g>
SVG
  fi
  if [[ -n ${fact[osd]}${fact[dialog]} ]]; then
    escape "${fact[osd]}${fact[dialog]}"
    echo "<g transform=\"translate(440 610)\"><rect width=\"400\" height=\"56\" rx=\"28\" fill=\"${colour[panel]}\" stroke=\"${colour[muted]}\"/><text x=\"200\" y=\"36\" text-anchor=\"middle\" font-size=\"20\" fill=\"${colour[ink]}\">$text</text></g>"
  fi
  [[ ${fact[nightlight]} == on ]] && echo '<rect width="1280" height="720" fill="#ff8a20" opacity=".2"/>'
  local shade=${fact[brightness]}
  shade=$(((100 - shade) * 6))
  ((shade > 0)) && printf '<rect width="1280" height="720" fill="#000" opacity=".%03d"/>\n' "$shade"
  case ${fact[session]} in
  on) ;;
  locked)
    echo "<rect width=\"1280\" height=\"720\" fill=\"${colour[ground]}\"/><text x=\"640\" y=\"370\" text-anchor=\"middle\" font-size=\"44\" fill=\"${colour[ink]}\">Locked</text>"
    ;;
  *)
    escape "${fact[session]}"
    echo "<rect width=\"1280\" height=\"720\" fill=\"#000\"/><text x=\"640\" y=\"350\" text-anchor=\"middle\" font-size=\"32\" fill=\"#888\">$text</text><text x=\"640\" y=\"400\" text-anchor=\"middle\" font-size=\"20\" fill=\"#555\">omarchy demo reset turns it on again</text>"
    ;;
  esac
}

draw() {
  load
  title "${fact[theme]}"
  escape "$text" && fact[title]=$text
  {
    echo '<svg xmlns="http://www.w3.org/2000/svg" width="1280" height="720" viewBox="0 0 1280 720" font-family="sans-serif">'
    wallpaper
    [[ ${fact[bar-position]} == bottom ]] && echo '<g transform="translate(0 -40)">' || echo '<g>'
    draw_windows
    echo '</g>'
    draw_bar
    draw_overlays
    echo '</svg>'
  } >"$state/.desktop.$$" && mv -f -- "$state/.desktop.$$" "$state/desktop.svg"
}
