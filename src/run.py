"""Runs one of our programs from this folder, which is never installed into the environment.

With `python -I` nothing but the environment's packages and this folder can be imported.
"""

import gc
import importlib
import sys
from pathlib import Path

# Hundreds of modules make objects that all stay; looking through them while they are imported costs a tenth of
# the start.  The server freezes what is there once it is up; for the others it does not matter.
gc.disable()
sys.path.insert(0, str(Path(__file__).parent))
module = sys.argv.pop(1)
main = importlib.import_module(f"{module}.__main__").main
if module != "omarchy_mcp.server":
    gc.enable()
sys.exit(main(sys.argv[1:]))
