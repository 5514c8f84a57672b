"""omarchy-mcp: an Omarchy desktop for coding agents, with the person at the desk in charge."""

VERSION = "0.1.0"
