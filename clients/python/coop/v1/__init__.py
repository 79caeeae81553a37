"""coop.v1 as Python: made from the contract by clients/generate."""
