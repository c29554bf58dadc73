"""Versions of agents: what a semantic version looks like and which one is newer."""

import re

MAX_LENGTH = 20
"""The length of the version column wherever an agent is written down."""

_NUMBER = r"(?:0|[1-9]\d*)"
_LABEL = rf"(?:{_NUMBER}|\d*[A-Za-z-][0-9A-Za-z-]*)"
PATTERN = (
    rf"^(?P<numbers>{_NUMBER}\.{_NUMBER}\.{_NUMBER})"
    rf"(?:-(?P<pre_release>{_LABEL}(?:\.{_LABEL})*))?"
    r"(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$"
)
_VERSION = re.compile(PATTERN, re.ASCII)

Precedence = tuple[tuple[int, ...], bool, tuple[tuple[int, int, str], ...]]


def is_version(text: str) -> bool:
    """Whether `text` is a semantic version that fits the column."""
    return len(text) <= MAX_LENGTH and _VERSION.fullmatch(text) is not None


def precedence(version: str) -> Precedence:
    """A key that sorts versions from old to new; build metadata does not count."""
    match = _VERSION.fullmatch(version)
    if match is None:
        raise ValueError(f"{version!r} is not a semantic version such as 1.0.0")
    numbers = tuple(int(part) for part in match["numbers"].split("."))
    labels = match["pre_release"].split(".") if match["pre_release"] else []
    # 1.0.0-rc.1 comes before 1.0.0; in a pre-release, numbers come before words.
    ranks = tuple((0, int(label), "") if label.isdigit() else (1, 0, label) for label in labels)
    return numbers, not labels, ranks
