"""Walks through a script the way Bash would, with every way at once, and notes what it can do.

Pure module. It follows what the caller wrote (taint), what is known (shapes) and what tests have shown; branches
are followed both ways and joined. What it does not understand it notes as unclear.

    Walk(scope, name).script(script, arguments) -> frozenset[Finding]
"""

from typing import Protocol

from omarchy_mcp.scan import builtins, statements
from omarchy_mcp.scan.capabilities import Capability, Finding
from omarchy_mcp.scan.conditions import subject_of
from omarchy_mcp.scan.program_table import STEERING
from omarchy_mcp.scan.settled import SettledError, TooLongError
from omarchy_mcp.scan.statements import Flow
from omarchy_mcp.scan.syntax import Node, Script, mentions_root, parse_bash
from omarchy_mcp.scan.values import GAP, Env, Value, concat, join_all, merge, unknown
from omarchy_mcp.scan.words import index, word

MAX_STEPS = 60_000  # statements of one script followed; the longest real one takes 9,000
MAX_DEPTH = 30  # functions and code in code


class Scope(Protocol):
    """What lies around one script."""

    def has(self, name: str) -> bool:
        """Whether there is a command of this name."""

    def helper(self, name: str, arguments: tuple[Value, ...], *, stdin: bool) -> frozenset[Finding] | None:
        """What another command of the folder can do with these arguments; None when there is no such command."""

    def shell_effect(
        self, target: str, function: str, arity: int, subject: frozenset[str] | None, *, tainted: bool
    ) -> set[Capability]:
        """What a script's own call into the desktop shell can do; ``subject``: its first argument where known."""


class Walk:
    """The walk through one script with one set of arguments."""

    def __init__(self, scope: Scope, name: str, *, stdin: bool = False) -> None:
        self.scope = scope
        self.name = name
        self.findings: set[Finding] = set()
        self.functions: dict[str, tuple[Node, ...]] = {}
        self.traps: list[tuple[Value, Node]] = []
        self.uncalled: set[str] = set()
        self.active: list[str] = []
        self.returns: list[list[tuple[Env, bool | None]]] = []
        self.jumps: list[list[Env]] = []
        self.printed: list[bool] = [False]
        self.stdin = stdin
        self.tainted_files: set[str] = set()
        self.tainted_folder = False
        self.maps: set[str] = set()
        self.in_terminal = False
        self.steps = 0

    def script(self, script: Script, arguments: tuple[Value, ...] | None) -> frozenset[Finding]:
        """Everything found; ``None`` for arguments means any the caller likes."""
        env = Env([{}])
        env.arguments(None if arguments is None else list(arguments))
        self._define(script)
        self.uncalled = set(self.functions)
        try:
            if not script.whole:
                self.found(Capability.UNCLEAR, script.root)
            if script.root_word:
                self.found(Capability.ROOT, script.root)
            flow = self.sequence(script.root.kids, env)
            last = merge(*flow) or env
            for code, node in self.traps:
                self.code(code, last.copy(), node)
            for name in sorted(self.uncalled):  # reached in a way not seen: then by anything with anything
                self.call(name, [unknown(taint=True)], last.copy())
        except (TooLongError, RecursionError, LookupError, ValueError, TypeError, AttributeError):  # an odd tree
            self.found(Capability.UNCLEAR, script.root)
            if mentions_root(script.root.text):
                self.findings.add(Finding(Capability.ROOT, f"{self.name}:1"))
        except SettledError:
            pass
        return frozenset(self.findings)

    def _define(self, script: Script) -> None:
        for name, bodies in script.functions.items():
            self.functions[name] = (*self.functions.get(name, ()), *bodies)

    def found(self, capability: Capability, node: Node) -> None:
        """Note a capability; in a terminal that a person sees, root is theirs to grant."""
        if self.in_terminal and capability is Capability.ROOT:
            capability = Capability.TERMINAL
        self.findings.add(Finding(capability, f"{self.name}:{node.line}"))
        if capability is Capability.ROOT:
            raise SettledError

    # --- statements

    def sequence(self, nodes: list[Node], env: Env) -> Flow:
        """Statements one after the other; one that is never reached is looked through all the same."""
        flow: Flow = (env, env)
        reached = True
        for node in nodes:
            if not node.kind.isidentifier() or node.kind in ("do", "done", "then", "fi"):
                continue
            current = merge(*flow)
            if current is None:
                reached = False
                current = env.copy()
            env = current
            flow = self.statement(node, env)
        return flow if reached else (None, None)

    def statement(self, node: Node, env: Env) -> Flow:
        """One statement: what holds where it succeeds, and where it fails."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise TooLongError
        handler = statements.HANDLERS.get(node.kind)
        if handler is not None:
            return handler(self, node, env)
        if node.kind != "function_definition":
            self.found(Capability.UNCLEAR, node)
        return env, env

    # --- input, output, names, calls, code in code

    def input_of(self, redirect: Node, env: Env) -> None:
        """Take a redirect's text as standard input."""
        if redirect.kind == "herestring_redirect":
            self.stdin = any(word(self, kid, env).taint for kid in redirect.named())
        elif redirect.kind == "heredoc_redirect":
            bodies = [word(self, kid, env) for kid in redirect.kids if kid.kind == "heredoc_body"]
            self.stdin = any(body.taint for body in bodies)
            for kid in redirect.kids:
                if kid.kind in statements.HANDLERS:
                    self.statement(kid, env.copy())
                elif kid.kind == "file_redirect":
                    self.output_to(kid, env, printed=self.stdin)
        elif redirect.kind == "file_redirect" and any(kid.text == "<" for kid in redirect.kids):
            source = concat([word(self, kid, env) for kid in redirect.parts("destination")])
            self.stdin = source.taint or not source.shapes.isdisjoint(self.tainted_files)

    def output_to(self, redirect: Node, env: Env, printed: bool) -> bool:  # noqa: FBT001
        """Write what was printed where the redirect says; whether it goes to a file at all."""
        marks = {kid.text for kid in redirect.kids}
        if redirect.kind != "file_redirect" or not marks & {">", ">>", ">|", "&>", "&>>"}:
            return False
        descriptors = [kid.text for kid in redirect.kids if kid.kind == "file_descriptor"]
        target = concat([word(self, kid, env) for kid in redirect.parts("destination")])
        builtins.write(self, redirect, target, tainted=printed)
        if ">>" in marks and any(shape.startswith(("~/.config", "~/.local/share")) for shape in target.shapes):
            self.found(Capability.CONFIG, redirect)
        return descriptors in ([], ["1"])

    def assign(self, node: Node, env: Env, *, local: bool = False) -> Value:
        """name=value, name+=value, name[index]=value."""
        target, operator, values = node.kids[0], node.kids[1].text, node.kids[2:]
        value = concat([word(self, kid, env) for kid in values]) if len(values) != 1 else word(self, values[0], env)
        name = target.text
        if target.kind == "subscript":
            index(self, target, env)
            name = target.kids[0].text
            value = join_all([env.get(name), value])
        elif operator == "+=":
            old = env.get(name)
            items = (*old.items, *value.items) if old.items is not None and value.items is not None else None
            value = join_all([*items]) if items is not None else concat([old, value])
            value = Value(value.shapes, value.taint, items)
        env.set(name, value, local=local)
        if value.taint and STEERING.fullmatch(name):
            self.found(Capability.EXEC, node)
        return value

    def call(self, name: str, arguments: list[Value], env: Env, written: list[Node] | None = None) -> Flow:
        """Run a function; what its tests showed of its arguments is shown of the variables it was given."""
        self.uncalled.discard(name)
        if self.active.count(name) > 1 or len(self.active) > MAX_DEPTH:
            if any(argument.taint for argument in arguments) or len(self.active) > MAX_DEPTH:
                self.found(Capability.UNCLEAR, self.functions[name][0])
            return env, env.copy()
        self.active.append(name)
        self.returns.append([])
        inner = env.copy()
        inner.enter()
        inner.arguments(arguments)
        depth = len(inner.scopes)
        holds, fails = None, None
        for body in self.functions[name]:
            succeeded, failed = self.statement(body, inner.copy())
            holds, fails = merge(holds, succeeded), merge(fails, failed)
        fails = fails.copy() if fails is not None else None
        for returned, truth in self.returns.pop():
            back = returned.cut(depth)
            holds = merge(holds, back.copy()) if truth is not False else holds
            fails = merge(fails, back.copy()) if truth is not True else fails
        self.active.pop()
        return _leave(holds, written), _leave(fails, written)

    def substitution(self, node: Node, env: Env) -> Value:
        """What a command prints, as a value."""
        kids = [kid for kid in node.kids if kid.kind.isidentifier()]
        self.printed.append(False)
        shape = builtins.printed_shape(self, kids, env)
        folder = self.tainted_folder
        inner = env.copy()
        for kid in kids:
            if kid.kind == "file_redirect":  # $(<file)
                self.stdin = False
                self.input_of(kid, inner)
                self.printed[-1] |= self.stdin
                self.stdin = False
        self.sequence([kid for kid in kids if kid.kind != "file_redirect"], inner)
        self.tainted_folder = folder
        taint = self.printed.pop()
        return Value(shape.shapes, taint) if shape is not None else unknown(taint=taint)

    def code(self, value: Value, env: Env, node: Node, arguments: list[Value] | None = None) -> Env:
        """Code in a text: followed where it is known; a caller's is theirs, an unknown one unclear."""
        after: Env | None = None
        if value.taint:
            self.found(Capability.EXEC, node)
        for shape in sorted(value.shapes):
            if GAP in shape and not value.taint:
                self.found(Capability.UNCLEAR, node)
            script = parse_bash(shape.replace(GAP, "unknown"))
            if not script.whole:
                self.found(Capability.UNCLEAR, node)
            if script.root_word:
                self.found(Capability.ROOT, node)
            if len(self.active) > MAX_DEPTH:
                raise TooLongError
            self._define(script)
            inner = env.copy()
            if arguments is not None:
                inner.enter()
                inner.arguments(arguments)
            self.active.append("code in a text")
            _relocate(script.root, node.line)
            after = merge(after, merge(*self.sequence(script.root.kids, inner)))
            self.active.pop()
        return env if after is None else after.cut(len(env.scopes))


def _leave(env: Env | None, written: list[Node] | None) -> Env | None:
    if env is None:
        return None
    scope = env.scopes[-1]
    env = env.cut(len(env.scopes) - 1)
    for position, node in enumerate(written or [], 1):
        shown, name = scope.get(f"shown {position}"), subject_of(node)
        if shown is not None and not shown.taint and name and node.kind != "expansion":
            env.refine(name, shown)
    return env


def _relocate(node: Node, line: int) -> None:
    node.line = line
    for kid in node.kids:
        _relocate(kid, line)
