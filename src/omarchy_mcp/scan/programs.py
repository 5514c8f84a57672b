"""What a program outside the command folder can do with these words, from the table of programs.

Pure module. A program the table does not have is unclear, so the command that uses it is guarded.

    judge(walk, node, name, arguments, env) -> None      notes what it can do
"""

import re
from typing import TYPE_CHECKING

from omarchy_mcp.scan import builtins, languages
from omarchy_mcp.scan.capabilities import Capability
from omarchy_mcp.scan.languages import reads
from omarchy_mcp.scan.program_table import (
    FREE_OF_PASSWORD,
    INTERPRETERS,
    PATHS,
    ROOT_PROGRAMS,
    SHELLS,
    TABLE,
    TEMPORARY,
    TERMINALS,
    VALUED,
    WRAPPERS,
)
from omarchy_mcp.scan.syntax import Node
from omarchy_mcp.scan.values import GAP, Env, Value, concat, renderings, text, unknown

if TYPE_CHECKING:
    from omarchy_mcp.scan.walk import Walk


def lines(arguments: list[Value]) -> list[list[str]]:
    """The argument lists these values may amount to."""
    return renderings(arguments)


def prints_taint(walk: "Walk", name: str, arguments: list[Value]) -> bool:
    """Whether what a program prints may hold the caller's text."""
    if walk.stdin or walk.tainted_folder or reads(walk, arguments):
        return True
    tainted = [argument for argument in arguments if argument.taint]
    return bool(tainted) and not (name == "jq" and _only_selects(arguments))


def _only_selects(arguments: list[Value]) -> bool:
    """Whether a jq program compares what the caller said with what it reads, and prints none of it."""
    given: list[str] = []
    program = ""
    position = 0
    while position < len(arguments):
        shape = arguments[position].sole
        if shape == "--arg" and position + 2 < len(arguments):
            given.extend(arguments[position + 1].shapes if arguments[position + 2].taint else ())
            position += 2
        elif arguments[position].taint:
            return False
        elif not shape.startswith("-"):
            program = program or shape
        position += 1
    before = ""
    while before != program:
        before, program = (
            program,
            re.sub(r"\b(?:select|test|index|startswith|endswith)?\((?:(?!\$)[^()])*\)", "", program),
        )
        program = re.sub(r"\b(?:select|test|index|startswith|endswith)\([^()]*\)", "", program)
    return not any(re.search(rf"\${re.escape(name)}\b", program) for name in given) and "$ARGS" not in program


def numeric(arguments: list[Value]) -> bool:
    """Whether printf writes numbers alone where it writes its arguments."""
    formats = arguments[0].shapes if arguments and arguments[0].known else {"%s"}
    return all(re.fullmatch(r"(?:[^%]|%%|%[-+ 0#]*[0-9]*(?:\.[0-9]+)?[dixXofgeu])*", shape) for shape in formats)


def judge(walk: "Walk", node: Node, name: str, arguments: list[Value], env: Env) -> None:
    """Note what this program can do with these words."""
    if name == "gum" and arguments and arguments[0].shapes == frozenset({"spin"}):
        after = [at for at, argument in enumerate(arguments) if argument.shapes == frozenset({"--"})]
        builtins.dispatch(walk, node, arguments[after[0] + 1 :] if after else [Value(frozenset({GAP}))], env.copy())
    elif name in ROOT_PROGRAMS:
        _root(walk, node, name, arguments, env)
    elif name in SHELLS:
        _shell(walk, node, arguments, env)
    elif name in INTERPRETERS:
        languages.interpreter(walk, node, name, arguments)
    elif name in TERMINALS or (name in WRAPPERS and name != "xargs"):
        _wrapper(walk, node, name, arguments, env)
    elif name in ("find", "xargs"):
        _many(walk, node, name, arguments, env)
    elif name in PATHS:
        _paths(walk, node, name, arguments)
    elif name == "hyprctl" and [argument.sole for argument in arguments[:2]] in (
        ["dispatch", "exec"],
        ["dispatch", "execr"],
    ):
        _launched(walk, node, arguments[2:], env)
    else:
        _tabled(walk, node, name, arguments)


def _launched(walk: "Walk", node: Node, arguments: list[Value], env: Env) -> None:
    """hyprctl dispatch exec: the compositor hands the words to a shell."""
    walk.found(Capability.WINDOW, node)
    words = arguments[1:] if arguments and arguments[0].sole == "--" else arguments
    rules = re.compile(r"\s*\[[^\]]*\]")  # [float;size 800 600] before the command
    pieces = [Value(frozenset(rules.sub("", shape) for shape in word.shapes), word.taint) for word in words]
    walk.code(concat([part for piece in pieces for part in (piece, text(" "))]), env, node)


def _tabled(walk: "Walk", node: Node, name: str, arguments: list[Value]) -> None:
    program = TABLE.get(name)
    clicked(walk, node, name, arguments)
    tainted = any(argument.taint for argument in arguments)
    if program is None:
        walk.found(Capability.UNCLEAR, node)
        if tainted:
            walk.found(Capability.EXEC, node)
        return
    if tainted and program.tainted is not None:
        walk.found(program.tainted, node)
    for line in lines(arguments):
        said = " ".join(line)
        for pattern, capability in program.rules:
            if pattern.search(said):
                if capability is not None:
                    walk.found(capability, node)
                break
        else:
            if program.otherwise is not None:
                walk.found(program.otherwise, node)


def clicked(walk: "Walk", node: Node, name: str, arguments: list[Value]) -> None:
    """A notification's own command: a person's click runs it, so it counts as shown to them."""
    places = [at for at, argument in enumerate(arguments) if "--exec" in argument.shapes]
    if places and "notif" in name:
        outer, walk.in_terminal = walk.in_terminal, True
        builtins.dispatch(walk, node, arguments[places[0] + 1 :], Env([{"@": unknown(taint=True)}]))
        walk.in_terminal = outer


def _root(walk: "Walk", node: Node, name: str, arguments: list[Value], env: Env) -> None:
    for line in lines(arguments):
        said = " ".join(line)
        free = FREE_OF_PASSWORD.match(said) if name == "sudo" else None
        if free is not None:
            walk.found(Capability.CHANGES if free.group(1) else Capability.ELEVATED, node)
            return
        if not (name == "sudo" and said in ("-n true", "-k", "-K", "-nv", "-n -v", "--version", "-l", "-n -l")):
            walk.found(Capability.ROOT, node)
    rest = _command_of(name, arguments)
    if rest:
        builtins.dispatch(walk, node, rest, env.copy())


def _shell(walk: "Walk", node: Node, arguments: list[Value], env: Env) -> None:
    """bash -c CODE, bash FILE, bash <stdin."""
    position = 0
    while position < len(arguments):
        shape = arguments[position].sole
        if arguments[position].taint or not shape.startswith("-") or shape == "-":
            break
        position += 1
        if "c" in shape.lstrip("-") and not shape.startswith("--") and position < len(arguments):
            walk.code(arguments[position], env, node, arguments[position + 2 :])
            return
        if shape in ("-o", "--rcfile", "--init-file"):
            position += 1
    if position >= len(arguments) or arguments[position].shapes <= {"-", "-s"}:
        walk.found(Capability.EXEC if walk.stdin or arguments[position:] else Capability.UNCLEAR, node)
        return
    script = arguments[position]
    if script.taint or reads(walk, [script]):
        walk.found(Capability.EXEC, node)
    for shape in script.shapes:
        name = shape.rpartition("/")[2]
        if name.startswith("omarchy-") and GAP not in name:
            builtins.dispatch(walk, node, [text(name), *arguments[position + 1 :]], env.copy())
        else:
            walk.found(Capability.UNCLEAR, node)


def _command_of(name: str, arguments: list[Value]) -> list[Value]:
    """The command a wrapper runs: what follows its own options and their values."""
    valued = VALUED.get(name, frozenset())
    position = 0
    while position < len(arguments):
        argument = arguments[position]
        shape = argument.sole
        if shape == "--" and not argument.taint:
            return arguments[position + 1 :]
        setting = name == "env" and all("=" in one for one in argument.shapes)
        if argument.taint or not (shape.startswith(("-", "+")) or setting):
            break
        position += 2 if shape in valued else 1
    return arguments[position + WRAPPERS.get(name, 0) :]


def _wrapper(walk: "Walk", node: Node, name: str, arguments: list[Value], env: Env) -> None:
    """A program that runs the rest of its words."""
    if name == "env" and any(argument.taint for argument in arguments):
        walk.found(Capability.EXEC, node)
    command = _command_of(name, arguments)
    skipped = arguments[: len(arguments) - len(command)]
    if any(argument.taint for argument in skipped) and name != "timeout":
        walk.found(Capability.EXEC, node)
    outer = walk.in_terminal
    if name in TERMINALS:
        walk.found(Capability.WINDOW, node)
        walk.in_terminal = True
    if name == "watch":  # it hands its words to a shell
        walk.code(concat([piece for word in command for piece in (word, text(" "))]), env, node)
    elif command:
        builtins.dispatch(walk, node, command, env.copy())
    walk.in_terminal = outer


def _many(walk: "Walk", node: Node, name: str, arguments: list[Value], env: Env) -> None:
    """find -exec and xargs: a command over names that are found or read."""
    shapes = [argument.sole for argument in arguments]
    if name != "find":
        command = _command_of(name, arguments)
        if any(re.match(r"-[iI]|--replace", shape) for shape in shapes):
            command = [_filled(argument, taint=walk.stdin) for argument in command]
        names = Value(unknown(taint=walk.stdin).shapes, walk.stdin, many=True)
        builtins.dispatch(walk, node, [*(command or [text("echo")]), names], env.copy())
        return
    tainted = any(argument.taint for argument in arguments)
    here = bool(arguments) and all(TEMPORARY.match(shape) for shape in arguments[0].shapes)
    if any(argument.many and argument.taint for argument in arguments):
        walk.found(Capability.EXEC, node)  # words that may be -exec
    for position, shape in enumerate(shapes):
        if shape in ("-delete", "-fprint", "-fprintf", "-fls", "-fprint0"):
            harmless = here and not tainted and shape == "-delete"
            walk.found(Capability.FILE if tainted else Capability.WRITES if harmless else Capability.DELETE, node)
        if shape in ("-exec", "-execdir", "-ok", "-okdir"):
            command = arguments[position + 1 :]
            ends = [at for at, argument in enumerate(command) if argument.shapes <= {";", "+"}]
            each = [_filled(argument, taint=tainted) for argument in command[: ends[0] if ends else None]]
            builtins.dispatch(walk, node, each, env.copy())


def _filled(argument: Value, *, taint: bool) -> Value:
    """A word in which {} stands for a name that is found or read."""
    if not any("{}" in shape for shape in argument.shapes):
        return argument
    return Value(frozenset(shape.replace("{}", GAP) for shape in argument.shapes), taint or argument.taint)


def _paths(walk: "Walk", node: Node, name: str, arguments: list[Value]) -> None:
    """A program that writes or deletes what its words name."""
    operands = [argument for argument in arguments if not any(shape.startswith("-") for shape in argument.shapes)]
    flags = "".join(shape for argument in arguments for shape in argument.shapes if shape.startswith("-"))
    kind = PATHS[name]
    targets = operands[-1:] if kind == "to" else operands[1:] if kind == "rest" else operands
    sources = operands[:-1] if kind == "to" else []
    linked = name == "ln" and not re.search(r"-[a-zA-Z]*t|--target", flags) and any(one.taint for one in sources)
    if any(argument.taint for argument in (targets if linked else arguments)):
        walk.found(Capability.FILE, node)
    carried = linked or (walk.stdin if name == "tee" else reads(walk, sources))
    for target in targets:
        builtins.write(walk, node, Value(target.shapes), tainted=carried)
    if name in ("cp", "install", "rsync") and any(
        shape.startswith(("~/.config", "~/.local/share") if operand in targets else "/etc/skel")
        for operand in operands
        for shape in operand.shapes
    ):
        walk.found(Capability.CONFIG, node)
    temporary = all(TEMPORARY.match(shape) for target in targets for shape in target.shapes)
    several = any("*" in shape or target.many for target in targets for shape in target.shapes)
    if name == "rm" and (several or re.search(r"-[a-zA-Z]*[rR]|--recursive", flags)) and not temporary:
        walk.found(Capability.DELETE, node)
    if name == "tar" and walk.stdin:
        walk.found(Capability.FILE, node)
