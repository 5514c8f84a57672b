"""The person's configuration as a program that starts now would read it."""

from omarchy_mcp.policy.config import MAX_BYTES, RESTRICTIVE, Config, parse_config
from omarchy_mcp.session import environment
from omarchy_mcp.session.files import read_small


def current() -> Config:
    """The configuration; the most restrictive one where the file is there and cannot be read."""
    try:
        text = read_small(environment.config_file(), MAX_BYTES)
    except FileNotFoundError:
        return Config()
    except OSError:
        return RESTRICTIVE
    parsed = parse_config(text)
    return parsed.config if parsed.parsed else RESTRICTIVE
