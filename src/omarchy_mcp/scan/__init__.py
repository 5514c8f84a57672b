"""What the scripts of a command folder can do, found in their text: no I/O, clock, environment or asyncio.

Texts in, findings out; nothing is run, opened or looked up, and nothing here knows tiers, routes or people. The
policy decides what a finding means. In the order in which a script goes through the modules:

- ``syntax`` parses it with a Bash grammar; ``walk`` goes through it the way Bash would, every branch at once, with
  ``statements``, ``conditions``, ``words`` and ``values`` for what Bash does and ``settled`` for how a walk ends;
- ``builtins`` and ``own_commands`` know Bash's own commands, ``programs``, ``program_table`` and ``languages`` the
  programs and interpreters it calls;
- ``folder`` follows the commands of one folder into each other, and ``capabilities`` are what is found.

Each module's first lines list its functions.
"""
