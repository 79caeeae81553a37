"""Run by `python3 -m unittest`, against the coop that COOP_BIN names."""
