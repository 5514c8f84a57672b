"""Shell completions made from the verbs and options, checked in below docs/completion.

PYTHONPATH=src python -m omarchy_mcp.cli.completion docs/completion
"""

import sys
from collections.abc import Iterable
from pathlib import Path

from omarchy_mcp.cli.options import BY_NAME, OPTIONS, PROGRAM, SHORT_ONLY, VERBS, Option

MADE = "Made from the program's own tables (omarchy_mcp.cli.completion); do not edit."


def forms(option: Option) -> list[str]:
    """How an option can be typed."""
    return ([f"-{option.short}"] if option.short else []) + ([] if option.long in SHORT_ONLY else [f"--{option.long}"])


def for_verb(name: str) -> list[Option]:
    """The options a verb takes."""
    others = {long for verb in VERBS if verb.name != name for long in verb.options}
    return [option for option in OPTIONS if option.long not in others - set(BY_NAME[name].options)]


def typed(options: Iterable[Option]) -> str:
    """All forms of some options, in one line."""
    return " ".join(form for option in options for form in forms(option))


def bash() -> str:
    """Completion for bash."""
    lines = [f"# bash completion for {PROGRAM}. {MADE}", f"_{PROGRAM.replace('-', '_')}() {{"]
    lines += [
        "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb= i",
        f'  local verbs="{" ".join(BY_NAME)}" options',
        "  COMPREPLY=()",
        '  [[ $before == "=" ]] && before=${COMP_WORDS[COMP_CWORD-2]}',
        '  [[ $word == "=" ]] && word= before=${COMP_WORDS[COMP_CWORD-1]}',
        "  case $before in",
    ]
    for option in OPTIONS:
        if option.value:
            words = f'COMPREPLY=($(compgen -W "{" ".join(option.choices)}" -- "$word")); '
            lines.append(f"    {'|'.join(forms(option))}) {words if option.choices else ''}return ;;")
    lines += [
        "  esac",
        "  for ((i = 1; i < COMP_CWORD; i++)); do",
        '    [[ " $verbs " == *" ${COMP_WORDS[i]} "* ]] && verb=${COMP_WORDS[i]} && break',
        "  done",
        "  case $verb in",
    ]
    lines += [f'    {verb.name}) options="{typed(for_verb(verb.name))}" ;;' for verb in VERBS]
    lines += [f'    *) options="{typed(OPTIONS)}" ;;', "  esac", "  if [[ $word == -* ]]; then"]
    lines += [
        '    COMPREPLY=($(compgen -W "$options" -- "$word"))',
        "  elif [[ -z $verb || $verb == help ]]; then",
        '    COMPREPLY=($(compgen -W "$verbs" -- "$word"))',
    ]
    for verb in VERBS:
        if verb.choices:
            offered = " ".join(verb.choices)
            lines.append(f"  elif [[ $before == {verb.name} ]]; then")
            lines.append(f'    COMPREPLY=($(compgen -W "{offered}" -- "$word"))')
    lines += [
        "  fi",
        "}",
        f"complete -F _{PROGRAM.replace('-', '_')} {PROGRAM}",
    ]
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """A text in single quotes, as all three shells read it."""
    return "'" + text.replace("'", "'\\''") + "'"


def zsh_option(option: Option) -> str:
    """One option as _arguments takes it; its forms exclude each other."""
    names = forms(option)
    does = option.does.replace("[", "(").replace("]", ")").replace(":", "\\:")
    action = ""
    if option.value:
        action = f":{option.value}:({' '.join(option.choices)})" if option.choices else f":{option.value}: "
    spelled = [f"{name}{'=' if option.value and name.startswith('--') else ''}" for name in names]
    if len(spelled) == 1:
        return quoted(f"{spelled[0]}[{does}]{action}")
    return f"{quoted(f'({chr(32).join(names)})')}{{{','.join(spelled)}}}{quoted(f'[{does}]{action}')}"


def zsh() -> str:
    """Completion for zsh."""
    lines = [f"#compdef {PROGRAM}", f"# {MADE}", "local -a verbs=("]
    lines += [f"  {quoted(f'{verb.name}:{verb.does}')}" for verb in VERBS]
    lines += [")", "_arguments -S \\"]
    lines += [f"  {zsh_option(option)} \\" for option in OPTIONS]
    lines += ["  '1:verb:{_describe verb verbs}' \\", "  '2:verb:{_describe verb verbs}'"]
    return "\n".join(lines) + "\n"


def fish() -> str:
    """Completion for fish."""
    lines = [f"# fish completion for {PROGRAM}. {MADE}", f"complete -c {PROGRAM} -f"]
    no_verb = f"not __fish_seen_subcommand_from {' '.join(verb.name for verb in VERBS if verb.name != 'help')}"
    lines += [f"complete -c {PROGRAM} -n {quoted(no_verb)} -a {verb.name} -d {quoted(verb.does)}" for verb in VERBS]
    for verb in VERBS:
        if verb.choices:
            seen = f"-n '__fish_seen_subcommand_from {verb.name}'"
            lines.append(f"complete -c {PROGRAM} {seen} -a '{' '.join(verb.choices)}'")
    for option in OPTIONS:
        words = [f"complete -c {PROGRAM}"]
        only = [verb.name for verb in VERBS if option.long in verb.options]
        if only:
            words.append(f"-n '__fish_seen_subcommand_from {' '.join(only)}'")
        if option.short:
            words.append(f"-s {option.short}")
        if option.long not in SHORT_ONLY:
            words.append(f"-l {option.long}")
        if option.value:
            words.append("-x" + (f" -a '{' '.join(option.choices)}'" if option.choices else ""))
        lines.append(" ".join([*words, f"-d {quoted(option.does)}"]))
    return "\n".join(lines) + "\n"


FILES = {f"{PROGRAM}.bash": bash, f"_{PROGRAM}": zsh, f"{PROGRAM}.fish": fish}
"""The files, by the name each shell looks for."""


def main(argv: list[str]) -> int:
    """Write the files into a folder."""
    folder = Path(argv[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in FILES.items():
        (folder / name).write_text(make(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
