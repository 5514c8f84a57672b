"""Omarchy and the compositor: the registry as it is installed, the shell, what is on the screen."""
