"""Prices."""


def total(prices):
    """The sum of all prices."""
    return sum(prices)


def reduced(price, discount_percent):
    """The price after a discount."""
    return price - discount_percent
