"""Names of files in a workspace: which are allowed, which a pattern matches, which are the same."""

import unicodedata
from collections.abc import Iterable, Sequence

from arena.text import is_unicode

MAX_PATH_BYTES = 1024
MAX_PART_BYTES = 255
MAX_SHOWN = 120
WILDCARDS = "*?"


def shown(path: str) -> str:
    """A name for a message: on one line, every special character escaped, not too long."""
    text = repr(path)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…'"


def path_problem(path: str) -> str | None:
    """Why `path` cannot be the path of a file in a workspace; None if it can."""
    if path.startswith("/"):
        return "is absolute"
    if not is_unicode(path):
        return "is not UTF-8"
    # Not printable: line breaks, other control characters, marks that change the direction.
    if not path.isprintable():
        return "has a line break, a control character or an invisible character"
    if len(path.encode()) > MAX_PATH_BYTES:
        return f"is longer than {MAX_PATH_BYTES} bytes"
    parts = path.split("/")
    if ".." in parts:
        return "leads out of the folder ('..')"
    if "" in parts or "." in parts:
        return "has an empty part or '.'"
    if any(len(part.encode()) > MAX_PART_BYTES for part in parts):
        return f"has a part longer than {MAX_PART_BYTES} bytes"
    return None


def is_literal(pattern: str) -> bool:
    """Whether a pattern names one file."""
    return not any(sign in pattern for sign in WILDCARDS)


def matches_any(path: str, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns matches the whole path."""
    return any(matches(path, pattern) for pattern in patterns)


def matches(path: str, pattern: str) -> bool:
    """Whether a pattern matches: `*` and `?` within a part, `**` any number of parts.

    Everything else stands for itself. The time is bounded by the product of the lengths.
    """
    parts, wanted = path.split("/"), pattern.split("/")
    if wanted[-1] == "":
        wanted[-1] = "**"  # `src/` means everything in it
    # Whether the first n parts are matched by the pattern so far, for every n.
    reached = [True] + [False] * len(parts)
    for want in wanted:
        if want == "**":
            first = reached.index(True) if True in reached else len(reached)
            reached = [place >= first for place in range(len(reached))]
        else:
            reached = [False] + [
                reached[place] and _part_matches(part, want) for place, part in enumerate(parts)
            ]
    return reached[-1]


def _part_matches(text: str, pattern: str) -> bool:
    """Whether `pattern` matches one part of a path; returns to the last star only."""
    at = place = 0
    star, resume = -1, 0
    while at < len(text):
        if place < len(pattern) and pattern[place] == "*":
            star, resume = place, at
            place += 1
        elif place < len(pattern) and pattern[place] in ("?", text[at]):
            at, place = at + 1, place + 1
        elif star >= 0:
            resume += 1
            at, place = resume, star + 1
        else:
            return False
    return all(sign == "*" for sign in pattern[place:])


def same_name(path: str) -> str:
    """A key that is equal for paths that some file systems or people take for the same."""
    return unicodedata.normalize("NFKC", path).casefold()


def parents(path: str) -> Sequence[str]:
    """Every folder that holds `path`, the outermost first."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]
