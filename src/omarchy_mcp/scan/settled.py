"""How a walk through a script ends before the script does. Pure module."""


class SettledError(Exception):
    """It needs root; nothing more it does can change what becomes of it."""


class TooLongError(Exception):
    """Following this script takes too long; it is unclear."""
