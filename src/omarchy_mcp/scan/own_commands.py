"""Bash's own commands in a walk: what they bind, what they leave, and the code some of them run.

Pure module, one handler a command.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from omarchy_mcp.scan import builtins, programs
from omarchy_mcp.scan.capabilities import Capability
from omarchy_mcp.scan.program_table import SOURCEABLE
from omarchy_mcp.scan.syntax import Node
from omarchy_mcp.scan.values import Env, Value, merge, text, unknown
from omarchy_mcp.scan.words import arithmetic

if TYPE_CHECKING:
    from omarchy_mcp.scan.statements import Flow
    from omarchy_mcp.scan.walk import Walk

_READ_VALUED = "dnNptui"  # options of read that take the next word
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[.*)?")


def _exit(walk: "Walk", node: Node, arguments: list[Value], env: Env) -> "Flow":
    del walk, node, arguments, env
    return None, None


def _return(walk: "Walk", node: Node, arguments: list[Value], env: Env) -> "Flow":
    del node
    truth: bool | None = None
    if arguments and arguments[0].known:
        truth = arguments[0].shapes == frozenset({"0"})
    if walk.returns:
        walk.returns[-1].append((env.copy(), truth))
    return None, None


def _jump(walk: "Walk", node: Node, arguments: list[Value], env: Env) -> "Flow":
    del node, arguments
    for loop in walk.jumps:  # break 2 leaves more than one
        loop.append(env.copy())
    return None, None


def _shift(walk: "Walk", node: Node, arguments: list[Value], env: Env) -> "Flow":
    del walk, node
    count = arguments[0].sole if arguments else "1"
    env.shift(int(count) if count.isdigit() and len(count) < 3 else 1)
    return env, env


def _set(walk: "Walk", node: Node, arguments: list[Value], env: Env) -> "Flow":
    del walk, node
    given = arguments
    while given and given[0].known and all(re.fullmatch(r"[-+][A-Za-z]+|pipefail", s) for s in given[0].shapes):
        given = given[1:]
    if given and given[0].shapes == frozenset({"--"}):
        env.arguments(given[1:])
    elif given:
        env.arguments(given)
    return env, env


def _read(walk: "Walk", node: Node, arguments: list[Value], env: Env) -> "Flow":
    return _bind(walk, node, arguments, env, _READ_VALUED)


def _mapfile(walk: "Walk", node: Node, arguments: list[Value], env: Env) -> "Flow":
    return _bind(walk, node, arguments, env, "dnOsucC")


def _bind(walk: "Walk", node: Node, arguments: list[Value], env: Env, valued: str) -> "Flow":
    """Bind the names a reading command is given to what stands on its input."""
    said = walk.stdin
    skip = False
    for argument in arguments:
        shape = argument.sole
        if argument.taint:
            walk.found(Capability.EXEC, node)
        elif len(argument.shapes) > 1:
            walk.found(Capability.UNCLEAR, node)
        elif skip:
            skip = False
        elif shape.startswith("-"):
            skip = shape[-1] in valued and shape != "-"
            if valued == _READ_VALUED and ("p" in shape or "n" in shape):
                walk.found(Capability.WAITS, node)
        elif _NAME.fullmatch(shape):
            env.set(shape, unknown(taint=said))
        else:
            walk.found(Capability.UNCLEAR, node)
    env.set("REPLY", unknown(taint=said))
    env.set("MAPFILE", unknown(taint=said))
    return env, env


def _getopts(walk: "Walk", node: Node, arguments: list[Value], env: Env) -> "Flow":
    del walk, node
    taint = env.get("@").taint or any(argument.taint for argument in arguments)
    for name in [*(shape for argument in arguments[1:2] for shape in argument.shapes), "OPTARG"]:
        env.set(name, unknown(taint=taint))
    return env, env


def _printf(walk: "Walk", node: Node, arguments: list[Value], env: Env) -> "Flow":
    if arguments and arguments[0].shapes == frozenset({"-v"}) and len(arguments) > 1:
        if arguments[1].taint:
            walk.found(Capability.EXEC, node)
        for name in arguments[1].shapes:
            if not _NAME.fullmatch(name):
                walk.found(Capability.UNCLEAR, node)
            env.set(name.partition("[")[0], unknown(taint=any(argument.taint for argument in arguments[2:])))
    return env, env


def _folder(walk: "Walk", node: Node, arguments: list[Value], env: Env) -> "Flow":
    del node
    if any(argument.taint for argument in arguments):
        walk.tainted_folder = True
        env.set("PWD", unknown(taint=True))
        env.set("OLDPWD", unknown(taint=True))
    return env, env


def _eval(walk: "Walk", node: Node, arguments: list[Value], env: Env) -> "Flow":
    if all(argument.known for argument in arguments):
        after: Env | None = None
        for line in programs.lines(arguments):
            after = merge(after, walk.code(text(" ".join(line)), env, node))
        return after, after
    walk.found(Capability.EXEC if any(argument.taint for argument in arguments) else Capability.UNCLEAR, node)
    return env, env


def _source(walk: "Walk", node: Node, arguments: list[Value], env: Env) -> "Flow":
    for argument in arguments[:1]:
        if argument.taint or not argument.shapes.isdisjoint(walk.tainted_files):
            walk.found(Capability.EXEC, node)
        elif not all(SOURCEABLE.fullmatch(shape) for shape in argument.shapes):
            walk.found(Capability.UNCLEAR, node)
    return env, env


def _trap(walk: "Walk", node: Node, arguments: list[Value], env: Env) -> "Flow":
    if len(arguments) > 1 and arguments[0].shapes != frozenset({"-"}):
        walk.traps.append((arguments[0], node))
        walk.code(arguments[0], env, node)
    return env, env


def _prefix(walk: "Walk", node: Node, arguments: list[Value], env: Env) -> "Flow":
    """exec, command, builtin, time, !: the rest is the command."""
    shapes = [argument.sole for argument in arguments]
    if shapes[:1] in (["-v"], ["-V"]):
        return env, env
    count = 0
    while count < len(shapes) and re.fullmatch(r"-[apcl]+|--", shapes[count]):
        count += 2 if shapes[count].endswith("a") else 1
    return builtins.dispatch(walk, node, arguments[count:], env)


def _exec(walk: "Walk", node: Node, arguments: list[Value], env: Env) -> "Flow":
    arguments = [a for a in arguments if not all(re.fullmatch(r"\{\w+\}", shape) for shape in a.shapes)]
    if not arguments:
        return env, env
    _prefix(walk, node, arguments, env)
    return None, None


def _let(walk: "Walk", node: Node, arguments: list[Value], env: Env) -> "Flow":
    if any(argument.taint for argument in arguments):
        walk.found(Capability.EXEC, node)
    for kid in node.named()[1:]:
        arithmetic(walk, kid, env)
    return env, env


def _test(walk: "Walk", node: Node, arguments: list[Value], env: Env) -> "Flow":
    shapes = [argument.shapes for argument in arguments]
    if any(argument.taint for argument in arguments) and any("-v" in shape for shape in shapes):
        walk.found(Capability.EXEC, node)
    return env, env


def _unclear(walk: "Walk", node: Node, arguments: list[Value], env: Env) -> "Flow":
    del arguments
    walk.found(Capability.UNCLEAR, node)
    return env, env


def _nothing(walk: "Walk", node: Node, arguments: list[Value], env: Env) -> "Flow":
    del walk, node, arguments
    return env, env


OWN: dict[str, Callable[["Walk", Node, list[Value], Env], "Flow"]] = {
    "exit": _exit, "return": _return, "break": _jump, "continue": _jump, "shift": _shift, "set": _set,
    "read": _read, "mapfile": _mapfile, "readarray": _mapfile, "getopts": _getopts, "printf": _printf,
    "cd": _folder, "pushd": _folder, "popd": _folder, "eval": _eval, "source": _source, ".": _source,
    "trap": _trap, "exec": _exec, "command": _prefix, "builtin": _prefix, "time": _prefix, "let": _let,
    "test": _test, "[": _test, "alias": _unclear, "enable": _unclear, "coproc": _prefix, "bind": _unclear,
    "complete": _unclear, ":": _nothing, "true": _nothing, "false": _nothing, "echo": _nothing,
    "wait": _nothing, "shopt": _nothing, "umask": _nothing, "ulimit": _nothing, "hash": _nothing,
    "type": _nothing, "pwd": _nothing, "times": _nothing, "jobs": _nothing, "disown": _nothing,
    "compgen": _nothing, "caller": _nothing, "bg": _nothing, "fg": _nothing, "unalias": _nothing,
}  # fmt: skip
