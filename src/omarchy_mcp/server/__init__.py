"""The agents' door: HTTP, access, tools, the gate, running and recording; decides nothing itself."""
