"""What the control service is called on the session bus (contract: widgets, scripts and people know these names)."""

NAME = "io.github.bruce_forte.OmarchyMcp1"
"""The bus name, and the interface."""

PATH = "/io/github/bruce_forte/OmarchyMcp1"

ERROR = f"{NAME}.Error"
"""What the names of its own errors begin with."""
