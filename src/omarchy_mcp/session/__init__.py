"""What the login session offers: bus, units, journal, environment, private files; one adapter a file."""
