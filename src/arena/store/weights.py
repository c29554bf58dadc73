"""The weights that a new database starts with; light, as they are also read to compute scores."""

DEFAULT_PARTS = {
    "benchmark": 400_000_000,
    "user_rating": 300_000_000,
    "success_rate": 200_000_000,
    "cost_efficiency": 100_000_000,
}
"""In billionths, as the table keeps them, in the order of its columns."""
