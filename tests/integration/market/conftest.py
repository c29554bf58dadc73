from market_desk import desk

__all__ = ["desk"]
