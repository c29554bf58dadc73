"""Whether a program that failed had too little memory, by its last words."""

import re

TAIL = 8000
# What the run-times of the built-in languages say at their end.
SIGNS = re.compile(
    r"^MemoryError\b|heap limit|[Oo]ut of memory|Array buffer allocation failed|bad_alloc"
    r"|OutOfMemoryError|NoMemoryError|[Cc]annot allocate memory|^\S*lua\S*: not enough memory"
    r"|memory allocation of \d+ bytes failed|^(?:PHP )?Fatal error: +Allowed memory size",
    re.MULTILINE,
)


def complains_of_memory(stderr: str) -> bool:
    """Whether the end of `stderr` is what a run-time says when memory is refused to it."""
    return SIGNS.search(stderr[-TAIL:]) is not None
