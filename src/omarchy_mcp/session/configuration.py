"""The person's configuration as a program that starts now would read it."""

from typing import TYPE_CHECKING

from omarchy_mcp.session import environment
from omarchy_mcp.session.files import read_small

if TYPE_CHECKING:
    from omarchy_mcp.policy.config import Config


def current() -> "Config":
    """The configuration; the most restrictive one where the file is there and cannot be read."""
    # not at the start: a control service that is only asked for its status needs no TOML
    from omarchy_mcp.policy.config import MAX_BYTES, RESTRICTIVE, Config, parse_config  # noqa: PLC0415

    try:
        text = read_small(environment.config_file(), MAX_BYTES)
    except FileNotFoundError:
        return Config()
    except OSError:
        return RESTRICTIVE
    parsed = parse_config(text)
    return parsed.config if parsed.parsed else RESTRICTIVE
