# bash completion for omarchy-mcpctl. Made from the program's own tables (omarchy_mcp.cli.completion); do not edit.
_omarchy_mcpctl() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb= i
  local verbs="status start stop restart reload freeze thaw jobs stop-job recent watch tiers preview questions approve deny grants revoke review acknowledge client client-config help" options
  COMPREPLY=()
  [[ $before == "=" ]] && before=${COMP_WORDS[COMP_CWORD-2]}
  [[ $word == "=" ]] && word= before=${COMP_WORDS[COMP_CWORD-1]}
  case $before in
    -n|--lines) return ;;
    --scope) COMPREPLY=($(compgen -W "call args route" -- "$word")); return ;;
    --life) COMPREPLY=($(compgen -W "once 10min session always" -- "$word")); return ;;
    --client) COMPREPLY=($(compgen -W "claude codex gemini opencode" -- "$word")); return ;;
    --name) return ;;
    --token-file) return ;;
    --json) COMPREPLY=($(compgen -W "short pretty off" -- "$word")); return ;;
  esac
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ " $verbs " == *" ${COMP_WORDS[i]} "* ]] && verb=${COMP_WORDS[i]} && break
  done
  case $verb in
    status) options="--json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    start) options="--json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    stop) options="--json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    restart) options="--json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    reload) options="--json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    freeze) options="--json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    thaw) options="--json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    jobs) options="--json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    stop-job) options="--json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    recent) options="-n --lines -f --follow --json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    watch) options="--no-start --json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    tiers) options="--hidden --json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    preview) options="--ipc --json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    questions) options="--json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    approve) options="--scope --life --json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    deny) options="--all --json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    grants) options="--json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    revoke) options="--all --json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    review) options="--json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    acknowledge) options="--json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    client) options="--token-file --show --json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    client-config) options="--client --name --token-file --json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    help) options="--json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
    *) options="-n --lines -f --follow --no-start --hidden --ipc --scope --life --all --client --name --token-file --show --json -j -q --quiet -v --verbose --no-pager --no-legend -h --help --version" ;;
  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ -z $verb || $verb == help ]]; then
    COMPREPLY=($(compgen -W "$verbs" -- "$word"))
  elif [[ $before == client ]]; then
    COMPREPLY=($(compgen -W "add list rotate revoke" -- "$word"))
  fi
}
complete -F _omarchy_mcpctl omarchy-mcpctl
