"""The validators: pure functions from a standard and a text to findings."""

import json
import math
import unicodedata
from collections import deque
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any

import regex

from arena.evaluation.json_schema import first_misfit
from arena.evaluation.pattern import TooSlow, search
from arena.evaluation.standard import Exact, JsonSchema, Keywords, Number, Pattern, Simple
from arena.evaluation.text import excerpt, find_keyword, fold
from arena.evaluation.verdict import Finding
from arena.sandbox.markdown import fenced_blocks
from arena.text import storable


def check(standard: Simple, text: str) -> tuple[Finding, ...]:
    """What one plain standard finds in a text."""
    return CHECKS[type(standard)](standard, text)


def check_exact(standard: Exact, text: str) -> tuple[Finding, ...]:
    """One finding: the text is the expected one, or what it was instead."""
    wanted, got = standard.value.strip(), text.strip()
    if not standard.case_sensitive:
        wanted, got = fold(wanted), fold(got)
    passed = wanted == got
    reason = "the answer is the expected text"
    if not passed:
        reason = f"expected {quoted(standard.value)}, the answer is {quoted(text)}"
    found = excerpt(got) if passed else None
    return (_finding(f"exact {quoted(standard.value)}", passed, reason, found),)


def check_keywords(standard: Keywords, text: str) -> tuple[Finding, ...]:
    """A finding per keyword; for `any` one finding in all."""
    folded = fold(text, case_sensitive=standard.case_sensitive)
    places = {word: _keyword_place(standard, folded, word) for word in standard.keywords}
    if standard.needed == "any":
        return (_any_keyword(standard, places, text),)
    findings: list[Finding] = []
    for word, place in places.items():
        if standard.needed == "all":
            passed = place is not None
            reason = f"has {quoted(word)}" if passed else f"{quoted(word)} is missing"
            criterion = f"contains {quoted(word)}"
        else:
            passed = place is None
            reason = f"has no {quoted(word)}" if passed else f"{quoted(word)} must not be there"
            criterion = f"does not contain {quoted(word)}"
        findings.append(_finding(criterion, passed, reason, place))
    return tuple(findings)


def _keyword_place(standard: Keywords, folded: str, word: str) -> str | None:
    """The text around the keyword, or None where it is not there."""
    wanted = fold(word, case_sensitive=standard.case_sensitive)
    place = find_keyword(folded, wanted, whole_word=standard.whole_word)
    return None if place is None else excerpt(folded, place, len(wanted))


def _any_keyword(standard: Keywords, places: dict[str, str | None], text: str) -> Finding:
    found = next(((word, place) for word, place in places.items() if place is not None), None)
    words = ", ".join(quoted(word) for word in standard.keywords)
    criterion = f"contains any of {words}"
    if found:
        return _finding(criterion, True, f"has {quoted(found[0])}", found[1])
    return _finding(criterion, False, f"none of {words} is there", None)


def check_pattern(standard: Pattern, text: str) -> tuple[Finding, ...]:
    """One finding: the pattern was found, or not, or not within its time."""
    normal = unicodedata.normalize("NFKC", text)
    criterion = f"matches /{standard.pattern}/"
    try:
        found = search(standard.pattern, normal, case_sensitive=standard.case_sensitive)
    except TooSlow as slow:
        return (_finding(criterion, False, str(slow), None),)
    if found is None:
        return (_finding(criterion, False, f"nothing matches /{standard.pattern}/", None),)
    place = excerpt(normal, found.start(), found.end() - found.start())
    return (_finding(criterion, True, f"matches /{standard.pattern}/", place),)


def check_json_schema(standard: JsonSchema, text: str) -> tuple[Finding, ...]:
    """One finding: the answer is JSON that fits, or why not."""
    criterion = "fits the JSON Schema"
    try:
        value: object = json.loads(_unfenced(text), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as wrong:
        return (_finding(criterion, False, f"the answer is not JSON: {wrong}", None),)
    misfit = first_misfit(standard.schema, value)
    return (_finding(criterion, misfit is None, misfit or "fits the schema", excerpt(text)),)


def _refuse_constant(name: str) -> None:
    """JSON knows no NaN and no Infinity, although Python's reader does."""
    raise ValueError(f"{name} is not a JSON value")


def _unfenced(text: str) -> str:
    """The inside of the text's only Markdown fence, or of its only one with JSON; or the text."""
    blocks = fenced_blocks(text)
    named = [block for block in blocks if block.tag.lower() == "json"]
    only = named if len(named) == 1 else blocks
    return only[0].body if len(only) == 1 else text


NUMBER = regex.compile(
    r"(?<![\w.,])[-+−]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?(?!\w)"
)
"""A number as people write it: a sign, thousands in commas, decimals, an exponent."""


NOT_DIGITS = regex.compile(r"(\p{No}+)")
"""Raised and lowered figures: to most readers 10² is not 102."""
EXACT = Context(prec=1000)
"""More digits than any float has."""


def check_number(standard: Number, text: str) -> tuple[Finding, ...]:
    """One finding: the last number of the answer is the expected one, or what it was."""
    give = f" ± {standard.tolerance:g}" if standard.tolerance else ""
    wanted = f"{_shown(standard.value)}{give}"
    criterion = f"is the number {wanted}"
    # A deque of one: a long answer may hold half a million numbers.
    last = deque(NUMBER.finditer(_plain_digits(text)), maxlen=1)
    if not last:
        return (_finding(criterion, False, "there is no number in the answer", None),)
    written = last[0].group()
    passed = _is_near(written.replace(",", "").replace("−", "-"), standard)
    reason = f"the last number of the answer is {written}"
    if not passed:
        reason += f", expected {wanted}"
    return (_finding(criterion, passed, reason, written),)


def _shown(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.12g}"


def _plain_digits(text: str) -> str:
    """The text with full-width digits and signs as everybody writes them."""
    parts = NOT_DIGITS.split(text)
    return "".join(
        part if place % 2 else unicodedata.normalize("NFKC", part)
        for place, part in enumerate(parts)
    )


def _is_near(written: str, standard: Number) -> bool:
    """Whether the number is within the tolerance, in decimals: 0.3 is 0.2 ± 0.1."""
    if not math.isfinite(float(written)):
        return False
    difference = EXACT.subtract(Decimal(written), _decimal(standard.value))
    return EXACT.compare(difference.copy_abs(), _decimal(standard.tolerance)) <= 0


def _decimal(value: float) -> Decimal:
    return Decimal(repr(value))


def quoted(text: str) -> str:
    """A text in quotes, short enough for a message."""
    return f'"{excerpt(text)}"'


def _finding(criterion: str, passed: bool, reason: str, evidence: str | None) -> Finding:
    # The answer's own JSON can name a key with half of a surrogate pair, and a reason repeats it.
    return Finding(criterion=criterion, passed=passed, reason=storable(reason), evidence=evidence)


CHECKS: dict[type, Callable[[Any, str], tuple[Finding, ...]]] = {
    Exact: check_exact,
    Keywords: check_keywords,
    Pattern: check_pattern,
    JsonSchema: check_json_schema,
    Number: check_number,
}
