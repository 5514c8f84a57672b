"""Programs written in other languages: sed, awk and Perl as far as they are plain text work, the rest unread.

Pure module.

    interpreter(walk, node, name, arguments) -> None     notes what a program in another language can do
    reads(walk, arguments) -> bool                       whether one of these is a file the caller's text is in
"""

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from omarchy_mcp.scan import builtins
from omarchy_mcp.scan.capabilities import Capability
from omarchy_mcp.scan.program_table import INTERPRETERS
from omarchy_mcp.scan.syntax import Node
from omarchy_mcp.scan.values import Value

if TYPE_CHECKING:
    from omarchy_mcp.scan.walk import Walk


def reads(walk: "Walk", arguments: list[Value]) -> bool:
    """Whether any of these is a file the caller's text was written to."""
    return any(not argument.shapes.isdisjoint(walk.tainted_files) for argument in arguments)


def interpreter(walk: "Walk", node: Node, name: str, arguments: list[Value]) -> None:
    """Another language: nobody here reads it, but awk and sed programs written out are plain enough."""
    tainted = any(argument.taint for argument in arguments) or reads(walk, arguments)
    plain = INTERPRETERS[name]
    codes = _codes(name, arguments)
    files = name == "perl" and any(
        re.fullmatch(r"-(?![MI])[0-9a-zA-Z]*[npi].*", s) for a in arguments for s in a.shapes
    )
    if plain is None or not codes or (files and tainted):
        walk.found(Capability.EXEC if tainted or walk.stdin else Capability.UNCLEAR, node)
        return
    for code in codes:
        if code.taint:
            walk.found(Capability.EXEC, node)
        for shape in code.shapes:
            if plain.search(_bare(shape) if "awk" in name else shape):
                walk.found(Capability.UNCLEAR, node)
    if name in ("sed", "gsed") and any(s.startswith(("-i", "--in-place")) for a in arguments for s in a.shapes):
        for target in [argument for argument in arguments if argument not in codes]:
            if not any(shape.startswith("-") for shape in target.shapes):
                builtins.write(walk, node, target, tainted=any(code.taint for code in codes))


def _bare(code: str) -> str:
    """An awk program without its texts and what stands in round brackets, where > compares."""
    bare = re.sub(r'"(?:\\.|[^"\\])*"', '""', code)
    bare = re.sub(r"(?<=[(,~!])\s*/(?:\\.|[^/\\\n])*/", " ", bare)
    before = ""
    while before != bare:
        before, bare = bare, re.sub(r"(?<!system)\((?!\))[^()]*\)", "()", bare)
    return bare


def _codes(name: str, arguments: list[Value]) -> list[Value]:
    """The program texts among the arguments of sed or awk; none when they come from a file."""
    shapes = [argument.sole for argument in arguments]
    if any(re.match(r"-[nErsz]*f$|--file", shape) for shape in shapes):
        return []
    if "awk" in name and any(re.match(r"-[ielE]|--(?:include|load|exec|source)", shape) for shape in shapes):
        return []
    explicit = [arguments[at + 1] for at, (shape, _) in enumerate(pairwise(shapes)) if shape in ("-e", "--expression")]
    explicit += [
        argument for argument, shape in zip(arguments, shapes, strict=True) if shape.startswith("--expression=")
    ]
    if explicit:
        return explicit
    skip = False
    for shape, argument in zip(shapes, arguments, strict=True):
        if skip:
            skip = False
        elif name == "perl":
            if re.fullmatch(r"-[0-9a-zA-Z]*[eE]", shape):
                return arguments[shapes.index(shape) + 1 : shapes.index(shape) + 2]
        elif shape.startswith("-") and not argument.taint and len(shape) > 1:
            skip = shape in ("-v", "-F", "-l") and "awk" in name
        else:
            return [argument]
    return []
