"""omarchy-mcpctl: the control service and the record, at a terminal."""
