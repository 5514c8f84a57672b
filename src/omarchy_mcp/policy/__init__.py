"""Decisions as pure functions over frozen values: no I/O, clock, environment, randomness or asyncio.

What a call goes through, in the order of the modules that own it:

- ``registry`` names exactly one command for a route; ``search`` finds commands for a person's words.
- ``tiers`` rates each command by what its script can do: ``scan`` walks the scripts (``syntax`` parses them,
  ``walk``, ``statements``, ``conditions``, ``words``, ``values``, ``builtins`` and ``own_commands`` follow Bash,
  ``programs`` and ``program_table`` know the programs it calls) and finds ``capabilities``; ``cache`` keeps ratings.
- ``arguments`` and ``grammar`` hold every argument to what the command declares; ``routes`` and ``listings`` lower a
  guarded route for arguments that are known to be harmless.
- ``ipc`` rates calls into the shell; ``selfguard`` refuses what names or reaches this server.
- ``config`` reads what the person configured; ``verdict`` puts it all together.

Each module's first lines list its functions.
"""
