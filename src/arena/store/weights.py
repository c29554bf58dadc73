"""The weights of a new database. A separate file without imports: scoring reads it too."""

DEFAULT_PARTS = {
    "benchmark": 400_000_000,
    "user_rating": 300_000_000,
    "success_rate": 200_000_000,
    "cost_efficiency": 100_000_000,
}
"""In billionths, as in the table, in the order of its columns."""
