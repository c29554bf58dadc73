"""Who may be under way at the same time on one machine; the others wait before their clock runs."""

import asyncio
import os

AT_ONCE_PER_CORE = 4
"""Most submissions are over in a moment; with fewer under way the cores wait for each other."""


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0))


def turns() -> asyncio.Semaphore:
    """For the submissions of one provider."""
    return asyncio.Semaphore(AT_ONCE_PER_CORE * cores())
