#!/bin/bash
# What try-fresh does inside a fresh root, as its first process: clone, then the README's commands as written.
# $case: root, ci, user-login or user-bare; $skip_test: 1 for `make run` alone.
set -euo pipefail

case=${case:?} skip_test=${skip_test:?}
user=newcomer

phase() { # title command...
  local begun=$SECONDS status=0
  echo "--- $1"
  "${@:2}" || status=$?
  echo "=== $1: $((SECONDS - begun)) s, status $status"
  return "$status"
}
left_behind() { # nothing of a run may be left: no process, no unit, no folder but set-up's own
  local found
  found=$(find /tmp /run -maxdepth 1 -name 'session-*' -o -maxdepth 1 -name 'omarchy*'; pgrep -af 'omarchy-mcpd|run\.py' || true)
  if [[ -n $found ]]; then echo "left behind: $found"; return 1; fi
}
second_run_is_quick() {
  local begun=$SECONDS
  "$@"
  ((SECONDS - begun <= 60)) || { echo "the second run took $((SECONDS - begun)) s"; return 1; }
}

as_root() {
  git clone --quiet --branch main /omarchy-mcp.bundle /root/omarchy-mcp
  cd /root/omarchy-mcp
  phase "make run ONCE=1" make run ONCE=1
  left_behind
  phase "make run ONCE=1 again" second_run_is_quick make run ONCE=1
  ((skip_test)) || phase "make test" make test ${ARGS:+"ARGS=$ARGS"}
  left_behind
  [[ -z $(git status --porcelain --ignored) ]] || { git status --short --ignored; echo "the folder was written to"; return 1; }
}

as_ci() {
  git clone --quiet --branch main /omarchy-mcp.bundle /root/omarchy-mcp
  cd /root/omarchy-mcp
  phase ".ci/run" bash .ci/run
}

in_login=() # how a terminal of the login would start a program: in a unit of the user's manager
as_user() { # command: in the user's clone
  local variables=(PATH="$PATH" HOME="/home/$user" USER="$user" LANG=C.UTF-8 CI=true
    SSL_CERT_FILE="$SSL_CERT_FILE" PIP_CERT="$PIP_CERT")
  setpriv --reuid="$user" --regid="$user" --init-groups \
    "${in_login[@]}" env -i "${variables[@]}" ${in_login[0]:+"${login_variables[@]}"} \
    bash -c 'cd ~/omarchy-mcp && exec "$@"' as-user "$@"
}

user_cases() {
  local said command
  useradd --create-home --shell /bin/bash "$user"
  setpriv --reuid="$user" --regid="$user" --init-groups env HOME="/home/$user" \
    git clone --quiet --branch main /omarchy-mcp.bundle "/home/$user/omarchy-mcp"
  # without the system packages: one line that names them and the command, which root then runs as written
  if said=$(as_user make test 2>&1); then echo "make test needed no packages: $said"; return 1; fi
  echo "$said"
  [[ $(grep -c 'missing: .*; install with: ' <<<"$said") == 1 ]] || { echo "not one clear line"; return 1; }
  command=$(sed -n 's/.*; install with: sudo //p' <<<"$said")
  apt-get update --quiet=2
  phase "$command" bash -c "DEBIAN_FRONTEND=noninteractive exec $command" >/tmp/install.log
  tail -n 1 /tmp/install.log
  usermod --append --groups systemd-journal "$user" # the first user of an installed machine can read the journal
  # a machine that systemd started has these, and a journal
  git clone --quiet --branch main /omarchy-mcp.bundle /root/omarchy-mcp
  local home=/home/$user
  python3 -B /root/omarchy-mcp/demo/private_session.py up --dir /run/login --user "$user" --setenv "HOME=$home" \
    --setenv "XDG_CONFIG_HOME=$home/.config" --setenv "XDG_DATA_HOME=$home/.local/share" \
    --setenv "XDG_STATE_HOME=$home/.local/state" --setenv "XDG_CACHE_HOME=$home/.cache" >/tmp/login.env
  if [[ $case == user-login ]]; then
    local login_variables
    mapfile -t login_variables < <(sed -n "s/^export \(XDG_RUNTIME_DIR\|DBUS_SESSION_BUS_ADDRESS\)=/\1=/p" /tmp/login.env)
    in_login=(env "${login_variables[@]}" systemd-run --user --quiet --pipe --wait --collect)
  else
    mkdir /sys/fs/cgroup/handed.slice
    chown "$user" /sys/fs/cgroup/handed.slice /sys/fs/cgroup/handed.slice/cgroup.{procs,threads,subtree_control}
    echo $$ >/sys/fs/cgroup/handed.slice/cgroup.procs
  fi
  phase "make run ONCE=1" as_user make run ONCE=1
  phase "make run ONCE=1 again" second_run_is_quick as_user make run ONCE=1
  ((skip_test)) || phase "make test" as_user make test ${ARGS:+"ARGS=$ARGS"}
  python3 -B /root/omarchy-mcp/demo/private_session.py down --dir /run/login
  rm -f /tmp/login.env /tmp/install.log
  left_behind
}

echo "$(sed -n 's/^PRETTY_NAME=//p' /etc/os-release), $case"
case $case in
  root) as_root ;;
  ci) as_ci ;;
  user-*) user_cases ;;
esac
echo "=== all done: $SECONDS s"
