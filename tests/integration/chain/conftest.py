from anvil_node import anvil, chain, counter

__all__ = ["anvil", "chain", "counter"]
