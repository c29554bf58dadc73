"""Reviews in the database: this room's one door to the tables.

Those who open reviews and take their verdicts do so inside transactions of their own:
`open_reviews`, `close_review` and `cancel_reviews` take the connection. Whoever locks more than one
thing locks the subject (a run, a task) first and the review after it.
"""

from arena.reviews.records.answers import add_answers
from arena.reviews.records.reviews import (
    answered_reviews,
    cancel_reviews,
    close_overdue,
    close_review,
    count_reviews,
    get_details,
    get_review,
    list_reviews,
    note_trouble,
    open_reviews,
)

__all__ = [
    "add_answers",
    "answered_reviews",
    "cancel_reviews",
    "close_overdue",
    "close_review",
    "count_reviews",
    "get_details",
    "get_review",
    "list_reviews",
    "note_trouble",
    "open_reviews",
]
