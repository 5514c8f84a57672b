"""Runs one of our programs from this folder, which is never installed into the environment.

With `python -I` nothing but the environment's packages and this folder can be imported.
"""

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
module = sys.argv.pop(1)
sys.exit(importlib.import_module(f"{module}.__main__").main(sys.argv[1:]))
