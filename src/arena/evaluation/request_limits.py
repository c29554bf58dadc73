"""What one request may ask for: limits on counts, refused before any work is done.

They hold for standards that a caller sends (to be judged by, or for a paid task), not for the
tests of the operator, frozen tests and records: those must stay readable.
"""

from arena.errors import InvalidInput
from arena.evaluation.checks import Check
from arena.evaluation.grader import Grader, Packaged
from arena.evaluation.reading import read_standard_document
from arena.evaluation.standard import JudgePrompt, Leaf, Standard, TestCases, leaves
from arena.evaluation.validators import Validator
from arena.pools.effort import CHARACTERS, effort

MAX_VALUES = 300_000
"""In a standard with its private part; 64 characters of text count as one more value."""
MAX_CASES = 10_000
"""With the sealed ones. A verdict has a finding for each, and people read verdicts."""
MAX_PARTS = 500
"""All parts of a composite, and theirs. Each reads the whole submission."""
MAX_GRADERS = 10
"""Own graders: each may take as long as a whole submission with test cases."""
MAX_SLOW_PARTS = 50
"""Patterns and JSON Schemas: each may take seconds."""


def refuse_large(what: str, *documents: object) -> None:
    """Refuse JSON with too many values, by a count that takes milliseconds at most."""
    if effort(*documents, limit=MAX_VALUES) > MAX_VALUES:
        raise InvalidInput(
            f"{what} has more than {MAX_VALUES:,} values ({CHARACTERS} characters of text count as "
            "one more): split it"
        )


def read_request(document: object) -> Standard:
    """The standard of a caller's document, within the limits."""
    standard = read_standard_document(document)
    parts = list(leaves(standard))
    counts = (
        (len(parts), MAX_PARTS, "parts"),
        (sum(map(_cases, parts)), MAX_CASES, "cases"),
        (sum(isinstance(part, Grader | Packaged) for part in parts), MAX_GRADERS, "own graders"),
        (sum(map(_is_slow, parts)), MAX_SLOW_PARTS, "patterns and JSON Schemas"),
    )
    for count, limit, what in counts:
        if count > limit:
            raise InvalidInput(f"the standard has {count:,} {what}, at most {limit:,} are allowed")
    return standard


def judge_prompts(standard: Standard) -> list[JudgePrompt]:
    """The parts that models judge."""
    return [leaf for leaf in leaves(standard) if isinstance(leaf, JudgePrompt)]


def _cases(leaf: Leaf) -> int:
    return len(leaf.cases) + len(leaf.sealed) if isinstance(leaf, TestCases) else 0


def _is_slow(leaf: Leaf) -> bool:
    return isinstance(leaf, Validator | Check) and leaf.is_slow
