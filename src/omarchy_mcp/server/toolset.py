"""The tools that are on offer: all that are declared, less those the person has disabled.

A disabled tool is not there at all: it is not listed, and a call of it is a call of an unknown tool.
"""

from collections.abc import Callable, Mapping

from mcp.server.mcpserver import MCPServer


class Toolset:
    """Adds and removes tools on a server while it serves."""

    def __init__(self, server: MCPServer, register: Callable[[MCPServer], None]) -> None:
        """`register` adds every declared tool, in the order in which they are listed."""
        self._server = server
        self._register = register
        self.parameters: Mapping[str, frozenset[str]] = {}
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
        self.parameters = {tool.name: frozenset(tool.input_schema.get("properties", {})) for tool in listed}
        return set(self.parameters) != before
