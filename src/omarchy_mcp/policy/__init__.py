"""Decisions as pure functions over frozen values: no I/O, clock, environment, randomness or asyncio."""
