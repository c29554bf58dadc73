"""The plain validators, which check the text of an answer.

To add one, write its class and add it to `VALIDATORS`. Its fields are the keys of its body in a
YAML or JSON file.
"""

import json
import math
from abc import abstractmethod
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Annotated, ClassVar, cast

import regex
from pydantic import Field, StrictBool

from arena.documents.validation import type_name
from arena.errors import InvalidInput
from arena.evaluation.fields import Body, Json, Number, Text, Tolerance, checked
from arena.evaluation.json_schema import first_misfit, schema_fault
from arena.evaluation.pattern import TooSlow, pattern_fault, search
from arena.evaluation.text import excerpt, find_keyword, fold, nfkc
from arena.evaluation.verdict import Finding
from arena.sandbox.markdown import fenced_blocks
from arena.text import storable

UNICODE_EFFORT = 5
"""Normalising takes longer than comparing; for ASCII nothing is to be done."""

Findings = tuple[Finding, ...]
Words = Annotated[tuple[Text, ...], Field(min_length=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Validator(Body):
    """Checks only the text of an answer, and gives 100 or 0."""

    is_slow: ClassVar[bool] = False
    """Whether a check of a short text may take seconds, so that the event loop must not do it."""

    @abstractmethod
    def check(self, text: str) -> Findings:
        """The findings in the text; the answer passes if all of them do."""

    def effort(self, text: str) -> int:
        """About how many characters a check looks at."""
        return len(text) if text.isascii() else UNICODE_EFFORT * len(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact(Validator):
    """The answer is this text, ignoring white space around it."""

    value: Text
    case_sensitive: StrictBool = True

    def check(self, text: str) -> Findings:
        """One finding: whether the text is the expected one."""
        expected, got = self.value.strip(), text.strip()
        if not self.case_sensitive:
            expected, got = fold(expected), fold(got)
        criterion = f"exact {quoted(self.value)}"
        if expected == got:
            return (_finding(criterion, True, "the answer is the expected text", excerpt(got)),)
        reason = f"expected {quoted(self.value)}, the answer is {quoted(text)}"
        return (_finding(criterion, False, reason),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keywords(Validator):
    """Shared by the validators that search for words."""

    contains: Words
    case_sensitive: StrictBool = False
    whole_word: StrictBool = False

    def effort(self, text: str) -> int:
        """The text once for each word; a search for a whole word may compare all of it anywhere."""
        times = sum(map(len, self.contains)) if self.whole_word else len(self.contains)
        # Python's own search looks at many characters at once.
        return Validator.effort(self, text) + len(text) * times // 16

    def found(self, text: str) -> dict[str, str | None]:
        """An excerpt around each keyword; None if it does not occur."""
        folded = fold(text, case_sensitive=self.case_sensitive)
        places: dict[str, str | None] = {}
        for word in self.contains:
            expected = fold(word, case_sensitive=self.case_sensitive)
            start = find_keyword(folded, expected, whole_word=self.whole_word)
            places[word] = None if start is None else excerpt(folded, start, len(expected))
        return places


@dataclass(frozen=True, slots=True, kw_only=True)
class Contains(Keywords):
    """The answer has all of these words."""

    def check(self, text: str) -> Findings:
        """A finding for each keyword."""
        findings: list[Finding] = []
        for word, place in self.found(text).items():
            name = quoted(word)
            reason = f"{name} is missing" if place is None else f"has {name}"
            findings.append(_finding(f"contains {name}", place is not None, reason, place))
        return tuple(findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainsAny(Keywords):
    """The answer has at least one of these words."""

    def check(self, text: str) -> Findings:
        """One finding: the first keyword that occurs, or that none does."""
        words = ", ".join(quoted(word) for word in self.contains)
        criterion = f"contains any of {words}"
        for word, place in self.found(text).items():
            if place is not None:
                return (_finding(criterion, True, f"has {quoted(word)}", place),)
        return (_finding(criterion, False, f"none of {words} is there"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotContains(Keywords):
    """The answer has none of these words."""

    def check(self, text: str) -> Findings:
        """A finding for each keyword."""
        findings: list[Finding] = []
        for word, place in self.found(text).items():
            name = quoted(word)
            reason = f"has no {name}" if place is None else f"{name} must not be there"
            findings.append(_finding(f"does not contain {name}", place is None, reason, place))
        return tuple(findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern(Validator):
    """The answer matches a regular expression."""

    is_slow: ClassVar[bool] = True

    pattern: Annotated[Text, checked(pattern_fault)]
    case_sensitive: StrictBool = False

    def check(self, text: str) -> Findings:
        """One finding: the pattern matches, does not match, or took too long."""
        normal = nfkc(text)
        criterion = f"matches /{self.pattern}/"
        try:
            found = search(self.pattern, normal, case_sensitive=self.case_sensitive)
        except TooSlow as error:
            return (_finding(criterion, False, str(error)),)
        if found is None:
            return (_finding(criterion, False, f"nothing matches /{self.pattern}/"),)
        place = excerpt(normal, found.start(), found.end() - found.start())
        return (_finding(criterion, True, criterion, place),)


def schema_problem(schema: object) -> str | None:
    """Why a value is not a JSON Schema, or None."""
    if not isinstance(schema, dict | bool):
        return f"must be a mapping, is {type_name(schema)}"
    fault = schema_fault(cast(Mapping[str, object] | bool, schema))
    return f"is not a JSON Schema: {fault}" if fault else None


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonSchema(Validator):
    """The answer is JSON that fits a schema."""

    is_slow: ClassVar[bool] = True

    schema: Annotated[Json, checked(schema_problem)]

    def check(self, text: str) -> Findings:
        """One finding: the answer is JSON that fits, or why not."""
        criterion = "fits the JSON Schema"
        try:
            value: object = json.loads(_unfenced(text), parse_constant=_refuse_constant)
        except InvalidInput as error:
            return (_finding(criterion, False, error.message),)
        except (ValueError, RecursionError) as error:
            return (_finding(criterion, False, f"the answer is not JSON: {error}"),)
        misfit = first_misfit(self.schema, value)
        return (_finding(criterion, misfit is None, misfit or "fits the schema", excerpt(text)),)


def _refuse_constant(name: str) -> None:
    """JSON has no NaN or Infinity, but Python's parser accepts them."""
    raise ValueError(f"{name} is not a JSON value")


def _unfenced(text: str) -> str:
    """The body of the only Markdown fence, or of the only JSON one; else the text."""
    blocks = fenced_blocks(text)
    tagged = [block for block in blocks if block.tag.lower() == "json"]
    only = tagged if len(tagged) == 1 else blocks
    return only[0].body if len(only) == 1 else text


NUMBER = regex.compile(
    r"(?<![\w.,])[-+−]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?(?!\w)"
)
"""A number as people write it: a sign, thousands in commas, decimals, an exponent."""
NOT_DIGITS = regex.compile(r"(\p{No}+)")
"""Superscript and subscript digits, which NFKC would turn into plain ones: 10² into 102."""
EXACT = Context(prec=1000)
"""More digits than any float has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastNumber(Validator):
    """The last number in the answer is this one, within the tolerance."""

    value: Number
    tolerance: Tolerance = 0.0

    def check(self, text: str) -> Findings:
        """One finding: whether the last number of the answer is the expected one."""
        value = str(self.value) if isinstance(self.value, int) else f"{self.value:.12g}"
        expected = f"{value} ± {self.tolerance:g}" if self.tolerance else value
        criterion = f"is the number {expected}"
        # A deque of one, not a list: a long answer may hold half a million numbers.
        last = deque(NUMBER.finditer(_plain_digits(text)), maxlen=1)
        if not last:
            return (_finding(criterion, False, "there is no number in the answer"),)
        written = last[0].group()
        passed = self._is_near(written.replace(",", "").replace("−", "-"))
        reason = f"the last number of the answer is {written}"
        if not passed:
            reason += f", expected {expected}"
        return (_finding(criterion, passed, reason, written),)

    def _is_near(self, written: str) -> bool:
        """Whether it is within the tolerance, in decimal arithmetic: 0.3 is 0.2 ± 0.1."""
        # First, because the decimal arithmetic raises Overflow for such an exponent.
        if not math.isfinite(float(written)):
            return False
        difference = EXACT.subtract(Decimal(written), Decimal(repr(self.value)))
        return EXACT.compare(difference.copy_abs(), Decimal(repr(self.tolerance))) <= 0


def _plain_digits(text: str) -> str:
    """The text with full-width digits and signs as plain ones."""
    parts = NOT_DIGITS.split(text)
    return "".join(part if place % 2 else nfkc(part) for place, part in enumerate(parts))


def quoted(text: str) -> str:
    """An excerpt in quotes, for a message."""
    return f'"{excerpt(text)}"'


def _finding(criterion: str, passed: bool, reason: str, evidence: str | None = None) -> Finding:
    # The answer's JSON can have a key with half of a surrogate pair, and a reason repeats it.
    return Finding(criterion=criterion, passed=passed, reason=storable(reason), evidence=evidence)


VALIDATORS: dict[str, type[Validator]] = {
    "exact": Exact,
    "contains": Contains,
    "contains_any": ContainsAny,
    "not_contains": NotContains,
    "regex": Pattern,
    "json_schema": JsonSchema,
    "number": LastNumber,
}
