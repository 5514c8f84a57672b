"""`make bench`: run the benchmark from anywhere; the work is in report.py."""

import runpy
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]

if __name__ == "__main__":
    # in place of this folder, where this file would be taken for the package of the same name
    sys.path[0:1] = [str(TESTS), str(TESTS.parent / "src")]
    runpy.run_module("bench.report", run_name="__main__")
