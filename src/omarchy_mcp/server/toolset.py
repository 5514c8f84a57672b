"""The tools that are on offer: all that are declared, less those the person has disabled.

A disabled tool is not there at all: it is not listed, and a call of it is a call of an unknown tool.
"""

from collections.abc import Callable, Mapping
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer

Parameters = Mapping[str, bool]
"""A tool's parameters by name, each with whether it must be given."""


class Toolset:
    """Adds and removes tools on a server while it serves."""

    def __init__(self, server: MCPServer, register: Callable[[MCPServer], None]) -> None:
        """`register` adds every declared tool, in the order in which they are listed."""
        self._server = server
        self._register = register
        self.parameters: Mapping[str, Parameters] = {}
        """The tools that are offered, with the parameters of each."""

    async def offer(self, disabled: frozenset[str]) -> bool:
        """Offer all tools but these; returns whether that changed the list.

        All are registered anew, so that the order stays the same.  Nothing here waits: no call sees half of it.
        """
        before = set(self.parameters)
        for name in before:
            self._server.remove_tool(name)
        self._register(self._server)
        for tool in await self._server.list_tools():
            if tool.name in disabled:
                self._server.remove_tool(tool.name)
        listed = await self._server.list_tools()
        self.parameters = {tool.name: parameters_of(tool.input_schema) for tool in listed}
        return set(self.parameters) != before


def parameters_of(schema: Mapping[str, Any]) -> Parameters:
    """The parameters a tool's schema names."""
    required = schema.get("required", ())
    return {name: name in required for name in schema.get("properties", {})}


async def slim(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """A middleware: list the tools without the titles that schemas are generated with, and what answers are called.

    Each title is a parameter's name once more, and every client pays for them in every conversation.
    """
    result = await call_next(ctx)
    if ctx.method != "tools/list" or not isinstance(result, dict):
        return result
    schemas = ("inputSchema", "outputSchema")
    tools = [
        {key: untitled(value) if key in schemas else value for key, value in tool.items()}
        for tool in result.get("tools", [])
    ]
    return {**result, "tools": tools}


def untitled(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of an object without what is said of the object; `properties` is there even if empty."""
    properties = {
        name: {key: value for key, value in each.items() if key != "title"}
        for name, each in schema.get("properties", {}).items()
    }
    kept = {key: value for key, value in schema.items() if key not in ("title", "description")}
    return {**kept, "properties": properties}
