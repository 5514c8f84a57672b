"""Records in the journal, for whoever reads it to have something behind him.

As a program (`python -m bench.records COUNT`, in the server's unit) it writes them.
"""

import sys

from system.journal import SERVER
from system.product import SERVICE, Product
from system.world import REPO

WRITER = """[Service]
Type=oneshot
ExecStart=
ExecStart={python} -X pycache_prefix={cache} -m bench.records {count}
Environment=PYTHONPATH={tests}:{src}
WatchdogSec=0
TimeoutStartSec=300
Restart=no
"""
SECONDS = 300


def there(product: Product) -> int:
    """How many records of calls this user's services have in the journal."""
    matches = (f"_SYSTEMD_USER_UNIT={SERVER}", "_TRANSPORT=journal", "OMARCHY_MCP_EVENT=call")
    done = product.world.run("journalctl", "--quiet", "--output=cat", *matches, check=False, seconds=SECONDS)
    return done.stdout.count("\n")


def fill(product: Product, wanted: int) -> int:
    """See that so many records are in the journal; returns how many are, which a journal that keeps less bounds."""
    missing = wanted - there(product)
    if missing > 0:
        python, cache = f"{product.venv}/bin/python", product.world.scratch / "pycache"
        unit = WRITER.format(python=python, cache=cache, count=missing, tests=REPO / "tests", src=REPO / "src")
        with product.changed(SERVICE, unit):
            product.world.systemctl("start", SERVICE, seconds=SECONDS)
            before = -1
            while (now := there(product)) > before:  # until journald has taken in what it was sent
                before = now
        product.wake()
    return there(product)


def write(count: int) -> None:
    """Write records of calls like the server's."""
    from systemd import journal  # noqa: PLC0415 - in the unit alone

    from omarchy_mcp.session.records import Event, entry  # noqa: PLC0415

    same = {"client": "bench", "tool": "omarchy_run", "route": "omarchy theme set", "outcome": "ok"}
    for number in range(count):
        journal.sendv(*entry(Event.CALL, f"bench: omarchy_run -> ok, record {number}", {**same, "seq": number}))


if __name__ == "__main__":
    write(int(sys.argv[1]))
