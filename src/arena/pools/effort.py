"""A cheap estimate of how much work a JSON value is, before anything is done with it."""

from typing import cast

CHARACTERS = 64
"""As much work as one value: text is copied and compared faster than objects."""

BYTES_PER_VALUE = 8
"""In JSON, about."""


def effort(*values: object, limit: int) -> int:
    """The number of values and keys within, plus their text; counting stops beyond `limit`."""
    pending: list[object] = list(values)
    total = 0
    while pending:
        if total + len(pending) > limit:
            return limit + 1
        value = pending.pop()
        total += 1
        # The exact types that JSON gives: `isinstance` would take most of the time.
        kind = type(value)
        if kind is str:
            total += len(cast(str, value)) // CHARACTERS
        elif kind is list or kind is tuple:
            pending.extend(cast(list[object], value))
        elif kind is dict:
            members = cast(dict[object, object], value)
            pending.extend(members.keys())
            pending.extend(members.values())
        elif kind is int:
            # About as many digits as characters; to write or read them takes longer.
            total += cast(int, value).bit_length() // (4 * CHARACTERS)
    return total
