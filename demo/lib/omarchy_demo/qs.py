"""A stand-in for ``qs``: the part of its command line that talks to a running shell, exit codes included."""

import os
import sys

from .shell import Shell
from .state import State

NOT_RUNNING = 255


def _options(words: list[str]) -> tuple[list[str], str]:
    """Split off the options before the verb; return the rest and the configuration's path."""
    path, rest = "", list(words)
    while rest and rest[0].startswith("-") and rest[0] != "--":
        option = rest.pop(0)
        if option in {"-p", "--path", "-c", "--config", "--pid", "-i", "--id"} and rest:
            value = rest.pop(0)
            path = value if option in {"-p", "--path"} else path
    return rest, path


def _reachable(state: State, path: str) -> bool:
    strict = os.environ.get("OMARCHY_DEMO_STRICT") == "1"
    needed = ("XDG_RUNTIME_DIR", "WAYLAND_DISPLAY") if strict else ("XDG_RUNTIME_DIR",)
    if state.get("shell") == "running" and all(os.environ.get(name) for name in needed):
        return True
    print(f'ERROR: No running instances for "{path}/shell.qml"', file=sys.stderr)
    return False


def _show(shell: Shell) -> None:
    for target, functions in shell.targets().items():
        print(f"target {target}")
        for name, function in functions.items():
            print(f"  {function.declaration(name)}")


def _call(shell: Shell, words: list[str]) -> None:
    """Errors in the call itself are told on standard output, with exit status 0, as qs does."""
    target, name, *arguments = [*words, "", ""][: max(2, len(words))]
    functions = shell.targets().get(target)
    if functions is None:
        print("Target not found.")
        return
    function = functions.get(name)
    if function is None:
        print("Function not found.")
        return
    wanted = len(function.parameters)
    if len(arguments) != wanted:
        few = "few" if len(arguments) < wanted else "many"
        print(f"Too {few} arguments provided ({wanted} required but {len(arguments)} were provided.)")
        print(f"Function definition: {function.declaration(name)}")
        return
    answer = function.act(*arguments)
    if answer is not None and function.returns != "void":
        print(answer)


def main() -> int:
    """Run one command line."""
    words, path = _options(sys.argv[1:])
    state = State()
    if words[:1] == ["kill"]:
        words, path = _options(words[1:])
        if not _reachable(state, path):
            return NOT_RUNNING
        state.set(shell="stopped", panel="", dialog="")
        return 0
    if words[:1] != ["ipc"]:
        print("demo: this stand-in for qs knows 'ipc' and 'kill'", file=sys.stderr)
        return 1
    words, ipc_path = _options(words[1:])
    path = ipc_path or path
    override = state.inside("qs-answers")
    if override is not None and override.is_file():
        sys.stdout.buffer.write(override.read_bytes())
        return 0
    if not _reachable(state, path):
        return NOT_RUNNING
    shell = Shell(state)
    if words[:1] == ["show"]:
        _show(shell)
        return 0
    if words[:1] == ["call"]:
        _call(shell, words[2:] if words[1:2] == ["--"] else words[1:])
        return 0
    print("demo: this stand-in for qs knows 'ipc show' and 'ipc call'", file=sys.stderr)
    return 1
