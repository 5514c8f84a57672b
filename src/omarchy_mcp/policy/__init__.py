"""Decisions as pure functions over frozen values: no I/O, clock, environment, randomness or asyncio.

What a call goes through, in the order of the modules that own it:

- ``registry`` names exactly one command for a route.
- ``tiers`` rates each command by what the scan (the room ``omarchy_mcp.scan``) finds that its script can do.
- ``arguments`` and ``grammar`` hold every argument to what the command declares; ``routes`` and ``listings`` lower a
  guarded route for arguments that are known to be harmless.
- ``ipc`` rates calls into the shell; ``selfguard`` refuses what names or reaches this server.
- ``config`` reads what the person configured; ``verdict`` puts it all together.

Each module's first lines list its functions.
"""
