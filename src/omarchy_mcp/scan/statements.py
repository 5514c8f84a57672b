"""Bash's statements in a walk: sequences, branches, loops and what holds after each.

Pure module. Every handler answers with a flow: what holds where the statement succeeds, and where it fails.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from omarchy_mcp.scan import builtins
from omarchy_mcp.scan.capabilities import Capability
from omarchy_mcp.scan.conditions import condition, pattern_shows, root_check, subject_of
from omarchy_mcp.scan.settled import TooLongError
from omarchy_mcp.scan.syntax import Node
from omarchy_mcp.scan.values import UNKNOWN, Env, Value, join_all, merge, widen
from omarchy_mcp.scan.words import arithmetic, word, words

if TYPE_CHECKING:
    from omarchy_mcp.scan.walk import Walk

Flow: TypeAlias = tuple[Env | None, Env | None]
Round: TypeAlias = Callable[[Env], Flow]  # one round of a loop: what holds after its body, and where it ends

MAX_ROUNDS = 8  # of a loop; from the second on, what still changes counts as unknown


def _list(walk: "Walk", node: Node, env: Env) -> Flow:
    left, operator, right = node.kids[0], node.kids[1].text, node.kids[2]
    holds, fails = walk.statement(left, env)
    if holds is fails and holds is not None:
        fails = holds.copy()
    if operator == "&&":
        if holds is None:
            walk.statement(right, (fails or env).copy())
            return None, fails
        second, neither = walk.statement(right, holds)
        return second, merge(fails, neither)
    if fails is None:
        walk.statement(right, (holds or env).copy())
        return holds, None
    second, neither = walk.statement(right, fails)
    return merge(holds, second), neither


def _negated(walk: "Walk", node: Node, env: Env) -> Flow:
    holds, fails = walk.statement(node.kids[-1], env)
    return fails, holds


def _compound(walk: "Walk", node: Node, env: Env) -> Flow:
    if node.kids[0].text == "((":
        root_check(walk, node)
        for kid in node.kids[1:-1]:
            arithmetic(walk, kid, env)
        return env, env
    return walk.sequence(node.kids[1:-1], env)


def _subshell(walk: "Walk", node: Node, env: Env) -> Flow:
    folder = walk.tainted_folder
    walk.sequence(node.kids[1:-1], env.copy())
    walk.tainted_folder = folder
    return env, env


def _pipeline(walk: "Walk", node: Node, env: Env) -> Flow:
    outer = walk.stdin
    stages = [kid for kid in node.kids if kid.kind.isidentifier()]
    for stage in stages[:-1]:
        walk.printed.append(False)
        walk.statement(stage, env.copy())
        walk.stdin = walk.printed.pop()
    walk.statement(stages[-1], env.copy())
    walk.stdin = outer
    return env, env


def _redirected(walk: "Walk", node: Node, env: Env) -> Flow:
    outer = walk.stdin
    bodies = node.parts("body")
    redirects = [kid for kid in node.kids if kid.part != "body"]
    walk.printed.append(False)
    for redirect in redirects:
        walk.input_of(redirect, env)
    if walk.stdin and bodies and bodies[0].text.startswith("exec"):  # it stays for all that follows
        walk.found(Capability.UNCLEAR, node)
    flow: Flow = walk.statement(bodies[0], env) if bodies else (env, env)
    printed = walk.printed.pop()
    walk.stdin = outer
    here = merge(*flow) or env
    captured = False
    for redirect in redirects:
        captured |= walk.output_to(redirect, here, printed)
    if not captured:
        walk.printed[-1] |= printed
    return flow


def _if(walk: "Walk", node: Node, env: Env) -> Flow:
    ends: list[Env | None] = []
    rest: Env | None = env
    for clause in _clauses(node):
        if rest is None:
            rest = env.copy()
        if clause.conditions:
            holds, fails = walk.sequence(clause.conditions, rest)
            fails = fails.copy() if fails is holds and fails is not None else fails
            end = merge(*walk.sequence(clause.body, (env if holds is None else holds).copy()))
            ends.append(None if holds is None else end)
            rest = fails
        else:
            ends.append(merge(*walk.sequence(clause.body, rest)))
            rest = None
    ends.append(rest)
    joined: Env | None = None
    for end in ends:
        joined = merge(joined, end)
    return joined, joined


def _while(walk: "Walk", node: Node, env: Env) -> Flow:
    tests = [kid for kid in node.parts("condition") if kid.kind.isidentifier()]
    until = node.kids[0].text == "until"

    def once(start: Env) -> Flow:
        holds, fails = walk.sequence(tests, start)
        inside, outside = (fails, holds) if until else (holds, fails)
        outside = outside.copy() if outside is not None else start.copy()
        return _body(walk, node, inside or start.copy()), outside

    return _loop(walk, env, once)


def _for(walk: "Walk", node: Node, env: Env) -> Flow:
    name = node.parts("variable")[0].text
    over = node.parts("value")
    values = words(walk, over, env) if over else [env.get("@")]
    each = join_all(values)

    def once(start: Env) -> Flow:
        outside = start.copy()
        start.set(name, Value(each.shapes, each.taint))
        return _body(walk, node, start), outside

    return _loop(walk, env, once)


def _counted(walk: "Walk", node: Node, env: Env) -> Flow:
    for part in ("initializer", "condition", "update"):
        for kid in node.kids:
            if kid.part == part or (not kid.part and kid.kind.isidentifier() and kid.kind != "do_group"):
                arithmetic(walk, kid, env)
    return _loop(walk, env, lambda start: (_body(walk, node, start), start.copy()))


def _body(walk: "Walk", node: Node, env: Env) -> Env | None:
    groups = [kid for kid in node.kids if kid.kind in ("do_group", "compound_statement") and kid.part == "body"]
    flow: Flow = (env, env)
    for group in groups or [kid for kid in node.kids if kid.kind == "do_group"]:
        flow = walk.sequence(group.kids, env)
    return merge(*flow)


def _loop(walk: "Walk", env: Env, once: Round) -> Flow:
    """Go round until nothing new is learnt; then everything seen on the way may hold."""
    for round_number in range(MAX_ROUNDS):
        before = env.copy()
        walk.jumps.append([])
        inside, outside = once(env.copy())
        after = merge(merge(before.copy(), inside), outside)
        for jump in walk.jumps.pop():
            after = merge(after, jump.cut(len(env.scopes)))
        assert after is not None  # noqa: S101  # before is one of them
        env = widen(before, after) if round_number else after
        if env.scopes == before.scopes:
            return after, after.copy()
    raise TooLongError


def _case(walk: "Walk", node: Node, env: Env) -> Flow:
    subject = node.parts("value")[0]
    word(walk, subject, env)
    name = subject_of(subject)
    rest, joined, falling = env, None, None
    caught = False
    for item in [kid for kid in node.kids if kid.kind == "case_item"]:
        patterns = item.parts("value")
        shown = [pattern_shows(word(walk, kid, rest), quoted=kid.kind in ("string", "raw_string")) for kid in patterns]
        inside = rest.copy()
        if name and shown and all(one.matched is not None for one in shown):
            inside.refine(name, join_all([one.matched for one in shown if one.matched is not None]))
        if name and any(one.rest_clean for one in shown):
            rest = rest.copy()
            rest.refine(name, UNKNOWN)
        caught |= any(one.catches_all for one in shown)
        start = merge(inside, falling) or inside
        end = merge(*walk.sequence([kid for kid in item.kids if kid not in patterns], start))
        falling = end if any(kid.text in (";&", ";;&") for kid in item.kids) else None
        joined = merge(joined, end)
    joined = joined if caught else merge(joined, rest)
    return joined, joined


def _assignment(walk: "Walk", node: Node, env: Env) -> Flow:
    for kid in node.kids if node.kind == "variable_assignments" else [node]:
        walk.assign(kid, env)
    return env, env


class _Clause:
    """One arm of an if: its tests (none for else) and what it does."""

    __slots__ = ("body", "conditions")

    def __init__(self) -> None:
        self.conditions: list[Node] = []
        self.body: list[Node] = []


def _clauses(node: Node) -> list[_Clause]:
    clauses = [_Clause()]
    seen_then = False
    for kid in node.kids[1:]:
        if kid.kind == "then":
            seen_then = True
        elif kid.kind in ("elif_clause", "else_clause"):
            inner = _clauses(kid)[0]
            if kid.kind == "else_clause":
                inner.body, inner.conditions = inner.conditions + inner.body, []
            clauses.append(inner)
        elif kid.kind.isidentifier() and kid.kind != "fi":
            (clauses[0].body if seen_then else clauses[0].conditions).append(kid)
    return clauses


HANDLERS: dict[str, Callable[["Walk", Node, Env], Flow]] = {
    "program": lambda walk, node, env: walk.sequence(node.kids, env),
    "list": _list,
    "negated_command": _negated,
    "compound_statement": _compound,
    "subshell": _subshell,
    "pipeline": _pipeline,
    "redirected_statement": _redirected,
    "test_command": condition,
    "if_statement": _if,
    "while_statement": _while,
    "for_statement": _for,
    "c_style_for_statement": _counted,
    "case_statement": _case,
    "variable_assignment": _assignment,
    "variable_assignments": _assignment,
    "declaration_command": builtins.declare,
    "unset_command": builtins.declare,
    "command": builtins.command,
}
