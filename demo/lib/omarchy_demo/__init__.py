"""The demo's programs that are easier to read in Python than in Bash. Imports nothing of the product."""
