"""The person's door: the D-Bus object that drives the units and reads the record."""
