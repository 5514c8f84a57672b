"""What a simple command does in a walk: Bash's own commands, functions, other commands of the folder, programs.

Pure module.

    command(walk, node, env) -> Flow          one simple command
    dispatch(walk, node, values, env) -> Flow the same for words that are already values
    declare(walk, node, env) -> Flow          local, declare, export, readonly, typeset, unset
    write(walk, node, target, tainted=…)      something is written to a path
"""

import re
from typing import TYPE_CHECKING

from omarchy_mcp.scan import own_commands, programs
from omarchy_mcp.scan.capabilities import Capability, Finding
from omarchy_mcp.scan.program_table import CODE, EXTENSIONS, LASTING, PERSISTENT, SILENT, TEMPORARY
from omarchy_mcp.scan.settled import SettledError
from omarchy_mcp.scan.syntax import Node
from omarchy_mcp.scan.values import EMPTY, GAP, Env, Value, merge, text
from omarchy_mcp.scan.words import word, words

if TYPE_CHECKING:
    from omarchy_mcp.scan.statements import Flow
    from omarchy_mcp.scan.walk import Walk

_DEVICES = re.compile(r"/dev/(?:null|std(?:err|out|in)|tty|fd/.*)|&?[0-9-]*")


def command(walk: "Walk", node: Node, env: Env) -> "Flow":
    """One simple command with its assignments and its own redirects."""
    if node.sorted is None:
        node.sorted = _sorted(node)
    prefix, redirects, name_nodes = node.sorted
    given = env.copy() if prefix and name_nodes else env
    taints = [walk.assign(kid, given).taint for kid in prefix]
    tainted_prefix = any(taints)
    outer = walk.stdin
    for redirect in redirects:
        walk.input_of(redirect, env)
    values = words(walk, name_nodes, env)
    walk.printed.append(False)
    if tainted_prefix and values and not all(shape in SILENT for shape in values[0].shapes):
        walk.found(Capability.UNCLEAR, node)
    arguments = name_nodes[1:] if len(values) == len(name_nodes) else None
    flow: Flow = dispatch(walk, node, values, env, arguments) if values else (env, env)
    printed = walk.printed.pop()
    walk.stdin = outer
    captured = [walk.output_to(redirect, env, printed) for redirect in redirects]
    walk.printed[-1] |= printed and not any(captured)
    return flow


def _sorted(node: Node) -> tuple[list[Node], list[Node], list[Node]]:
    """A command's assignments, redirects and words."""
    prefix = [kid for kid in node.kids if kid.kind == "variable_assignment"]
    redirects = [kid for kid in node.kids if kid.kind in ("herestring_redirect", "file_redirect")]
    written = [kid for kid in node.kids if kid not in prefix and kid not in redirects and kid.kind.isidentifier()]
    return prefix, redirects, [kid.kids[0] if kid.kind == "command_name" and kid.kids else kid for kid in written]


def dispatch(walk: "Walk", node: Node, values: list[Value], env: Env, written: list[Node] | None = None) -> "Flow":
    """Run these words as a command, every program they may name."""
    if not values:
        return env, env.copy()
    first, rest = values[0], values[1:]
    if first.taint:
        walk.found(Capability.EXEC, node)
    if len(first.shapes) == 1 and first.sole and " " not in first.sole:
        return _one(walk, node, first.sole, rest, env, written)
    holds: Env | None = None
    fails: Env | None = None
    for shape in sorted(first.shapes):
        parts = shape.split()
        if not parts:
            flow = dispatch(walk, node, rest, env.copy()) if rest else (env.copy(), env.copy())
        elif len(parts) > 1 and GAP not in parts[0]:
            flow = dispatch(walk, node, [*map(text, parts), *rest], env.copy())
        else:
            flow = _one(walk, node, shape, rest, env.copy(), written)
        holds, fails = merge(holds, flow[0]), merge(fails, flow[1])
    return holds, fails.copy() if fails is holds and fails is not None else fails


def _one(walk: "Walk", node: Node, shape: str, arguments: list[Value], env: Env, written: list[Node] | None) -> "Flow":
    name = shape.rpartition("/")[2]
    tainted = any(argument.taint for argument in arguments)
    if GAP in name or not name:
        walk.found(Capability.UNCLEAR, node)
        walk.printed[-1] |= tainted or walk.stdin
        if tainted:
            walk.found(Capability.EXEC, node)
        return env, env
    if walk.tainted_folder and "/" in shape and not shape.startswith(("/", "~", GAP)):
        walk.found(Capability.EXEC, node)
    if name in walk.functions and name == shape:
        return walk.call(name, arguments, env, written)
    builtin = own_commands.OWN.get(name)
    if builtin is not None:
        if name not in SILENT:
            numbers = name == "printf" and programs.numeric(arguments)
            walk.printed[-1] |= (tainted and not numbers) or (name == "pwd" and walk.tainted_folder)
        return builtin(walk, node, arguments, env)
    if name not in SILENT:
        walk.printed[-1] |= programs.prints_taint(walk, name, arguments)
    if name == "omarchy":
        _dispatcher(walk, node, arguments)
    elif name.startswith("omarchy-"):
        _helper(walk, node, name, arguments)
    else:
        programs.judge(walk, node, name, arguments, env)
    return env, env


def _helper(walk: "Walk", node: Node, name: str, arguments: list[Value]) -> None:
    if name == "omarchy-shell":
        for capability in shell_effects(walk, arguments):
            walk.found(capability, node)
        return
    if name in EXTENSIONS and arguments and arguments[0].known:
        walk.found(Capability.CHANGES, node)
        return
    programs.clicked(walk, node, name, arguments)
    found = walk.scope.helper(name, tuple(arguments), stdin=walk.stdin)
    if found is None:
        walk.found(Capability.UNCLEAR, node)
        return
    for finding in sorted(found, key=lambda one: one.where):
        if finding.capability is Capability.ROOT and not walk.in_terminal:
            walk.findings.add(finding)
            raise SettledError
        if walk.in_terminal and finding.capability is Capability.ROOT:
            walk.findings.add(Finding(Capability.TERMINAL, finding.where))
        else:
            walk.findings.add(finding)


def _dispatcher(walk: "Walk", node: Node, arguments: list[Value]) -> None:
    """omarchy WORDS: the command whose name is made of the most of them."""
    shapes = [argument.sole for argument in arguments]
    if not shapes or shapes[0] == "commands" or any("--help" in shape or shape == "-h" for shape in shapes[:4]):
        return
    if any(argument.taint for argument in arguments[:1]):
        walk.found(Capability.EXEC, node)
    for count in range(len(arguments), 0, -1):
        name = "-".join(["omarchy", *shapes[:count]])
        if all(argument.known for argument in arguments[:count]) and walk.scope.has(name):
            if any(argument.taint for argument in arguments[count : count + 1]):
                walk.found(Capability.UNCLEAR, node)  # the next word may be part of a longer name
            _helper(walk, node, name, arguments[count:])
            return
    walk.found(Capability.UNCLEAR, node)


def shell_effects(walk: "Walk", arguments: list[Value]) -> frozenset[Capability]:
    """What a call into the shell with these words can do."""
    said = [argument for argument in arguments if argument.shapes != frozenset({"-q"})]
    if len(said) < 2:
        return frozenset({Capability.EXEC if any(argument.taint for argument in said) else Capability.UNCLEAR})
    if not (said[0].known and said[1].known):
        taint = said[0].taint or said[1].taint
        return frozenset({Capability.EXEC if taint else Capability.UNCLEAR})
    found: set[Capability] = set()
    for target in said[0].shapes:
        for function in said[1].shapes:
            subject = said[2] if len(said) > 2 else EMPTY
            tainted = any(argument.taint for argument in said[2:])
            known = subject.shapes if subject.known else None
            found |= walk.scope.shell_effect(target, function, len(said) - 2, known, tainted=tainted)
    return frozenset(found)


def write(walk: "Walk", node: Node, target: Value, *, tainted: bool) -> None:
    """Something is written to this path; ``tainted``: the caller chose what."""
    if target.taint:
        walk.found(Capability.FILE, node)
    for shape in target.shapes:
        if _DEVICES.fullmatch(shape):
            continue
        if not TEMPORARY.match(shape):
            walk.found(Capability.WRITES, node)
        if walk.tainted_folder and not shape.startswith(("/", "~")):
            walk.found(Capability.FILE, node)
        if PERSISTENT.search(shape):
            walk.found(Capability.PERSIST, node)
        if tainted:
            walk.tainted_files.add(shape)
            if LASTING.match(shape) or CODE.search(shape):
                walk.found(Capability.PERSIST, node)


def declare(walk: "Walk", node: Node, env: Env) -> "Flow":
    """local, declare, typeset, export, readonly, unset: what they bind, and what binding by a caller's name is."""
    kind = node.kids[0].text
    flags = "".join(kid.text for kid in node.kids[1:] if re.fullmatch(r"[-+][A-Za-z]+", kid.text))
    local = kind in ("local", "declare", "typeset") and len(env.scopes) > 1 and "g" not in flags
    if "n" in flags and kind not in ("export", "unset", "unsetenv"):
        walk.found(Capability.UNCLEAR, node)  # another name for a variable
    for kid in node.kids[1:]:
        if kid.kind == "variable_assignment":
            if "A" in flags:
                walk.maps.add(kid.kids[0].text)
            value = walk.assign(kid, env, local=local)
            if value.taint and ("i" in flags or kind == "export"):
                walk.found(Capability.EXEC if "i" in flags else Capability.UNCLEAR, kid)
        elif not kid.text.startswith("-"):
            _named(walk, kid, env, kind, is_map="A" in flags, local=local)
    return env, env


def _named(walk: "Walk", kid: Node, env: Env, kind: str, *, is_map: bool, local: bool) -> None:
    """A name that is declared, exported or taken away without a value."""
    if kid.kind not in ("variable_name", "word"):
        walk.found(Capability.EXEC if word(walk, kid, env).taint else Capability.UNCLEAR, kid)
    elif kind == "export":
        if env.get(kid.text).taint:
            walk.found(Capability.UNCLEAR, kid)
    elif kind != "readonly":
        env.set(kid.text, EMPTY, local=local)
        if is_map:
            walk.maps.add(kid.text)


def printed_shape(walk: "Walk", kids: list[Node], env: Env) -> Value | None:
    """The known text of $(printf …), $(mktemp …) and the like; None when it is not one of these."""
    if len(kids) != 1 or kids[0].kind != "command":
        return None
    named = kids[0].named()
    name = named[0].text if named else ""
    if name == "mktemp":
        return Value(frozenset({"/tmp/tmp." + GAP}))  # noqa: S108  # a shape, never opened
    if name in ("echo", "printf", "dirname", "readlink", "realpath") and len(named) >= 2:
        last = word(walk, named[-1], env.copy())
        if name == "dirname":
            return Value(frozenset(shape.rpartition("/")[0] or GAP for shape in last.shapes))
        if len(named) == 2 and name != "printf":
            return last
    return None
