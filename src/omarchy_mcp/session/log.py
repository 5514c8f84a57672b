"""Our own diagnostics: lines on standard error, which the journal takes with their level."""

import logging
import sys

LEVELS = {logging.DEBUG: 7, logging.INFO: 6, logging.WARNING: 4, logging.ERROR: 3, logging.CRITICAL: 2}


class Leveled(logging.Formatter):
    """Prefixes every line with its syslog level, as SyslogLevelPrefix= reads it."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record; each line of a traceback gets the level too."""
        prefix = f"<{LEVELS.get(record.levelno, 6)}>"
        return "\n".join(prefix + line for line in super().format(record).splitlines())


def install(level: int = logging.INFO) -> None:
    """Send all logging to standard error; libraries speak from warning on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Leveled("%(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("omarchy_mcp").setLevel(level)
    logging.captureWarnings(capture=True)


def set_level(name: str) -> None:
    """Say no less than debug, info, warn or error from now on."""
    logging.getLogger("omarchy_mcp").setLevel(name.upper())
