import json
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from arena.evaluation import pattern
from arena.evaluation.reading import read_standard
from arena.evaluation.text import fold
from arena.evaluation.validators import (
    Contains,
    ContainsAny,
    Exact,
    JsonSchema,
    Keywords,
    LastNumber,
    NotContains,
    Pattern,
    Validator,
)

TEXT = st.text(st.characters(codec="utf-8"), max_size=60)
KEYWORDS = st.lists(TEXT.filter(fold), min_size=1, max_size=4)


def passes(standard: Validator, text: str) -> bool:
    return all(finding.passed for finding in standard.check(text))


def keywords(needed: str, *words: str, **options: bool) -> Keywords:
    kind = {"all": Contains, "any": ContainsAny, "none": NotContains}[needed]
    return kind(contains=words, **options)


# exact


@pytest.mark.parametrize(
    ("answer", "passed"),
    [("Yes", True), ("  Yes\n", True), ("yes", False), ("Yes.", False), ("", False)],
)
def test_exact_is_the_text_apart_from_the_space_around_it(answer: str, passed: bool) -> None:
    assert passes(Exact(value="Yes"), answer) is passed


def test_exact_can_ignore_case() -> None:
    assert passes(Exact(value="Straße", case_sensitive=False), "STRASSE")


@given(TEXT.filter(str.strip))
def test_every_text_is_exactly_itself(text: str) -> None:
    assert passes(Exact(value=text), text)
    assert passes(Exact(value=text, case_sensitive=False), text.casefold())


def test_a_failed_exact_shows_what_was_there() -> None:
    (finding,) = Exact(value="42").check("41")
    assert finding.reason == 'expected "42", the answer is "41"'


# keywords


def test_contains_names_every_keyword_with_its_evidence() -> None:
    found, missing = keywords("all", "Device", "Status").check("The DEVICE is well")
    assert (found.passed, found.evidence) == (True, "the device is well")
    assert (missing.passed, missing.reason) == (False, '"Status" is missing')


def test_contains_any_is_one_finding() -> None:
    (finding,) = keywords("any", "a", "b").check("only B")
    assert (finding.passed, finding.reason) == (True, 'has "b"')
    (finding,) = keywords("any", "a", "b").check("ccc")
    assert finding.reason == 'none of "a", "b" is there'


def test_not_contains_points_at_what_must_not_be_there() -> None:
    (finding,) = keywords("none", "secret").check("a Secret word")
    assert not finding.passed
    assert finding.evidence == "a secret word"


def test_keywords_can_match_case_and_whole_words() -> None:
    assert not passes(keywords("all", "OK", case_sensitive=True), "ok")
    assert not passes(keywords("all", "ok", whole_word=True), "token")
    assert passes(keywords("all", "ok", whole_word=True), "it is OK.")


@given(KEYWORDS, TEXT, TEXT, st.booleans(), st.booleans())
def test_contains_stays_true_when_text_is_added(
    words: list[str], before: str, after: str, case_sensitive: bool, whole_word: bool
) -> None:
    standard = keywords("all", *words, case_sensitive=case_sensitive, whole_word=whole_word)
    answer = " ".join(words)
    assume(passes(standard, answer))
    assert passes(standard, f"{answer} {after}")
    assert passes(standard, f"{before} {answer}")


@given(KEYWORDS, st.booleans())
def test_an_answer_made_of_the_keywords_contains_them(words: list[str], sensitive: bool) -> None:
    standard = keywords("all", *words, case_sensitive=sensitive)
    assert passes(standard, " ".join(words))


@given(KEYWORDS, TEXT, st.booleans(), st.booleans())
def test_not_contains_is_the_negation_of_contains_any(
    words: list[str], text: str, case_sensitive: bool, whole_word: bool
) -> None:
    for answer in (text, text + words[0]):
        options = {"case_sensitive": case_sensitive, "whole_word": whole_word}
        some = keywords("any", *words, **options)
        none = keywords("none", *words, **options)
        assert passes(some, answer) is not passes(none, answer)


@given(KEYWORDS, TEXT)
def test_contains_all_implies_contains_any(words: list[str], text: str) -> None:
    if passes(keywords("all", *words), text):
        assert passes(keywords("any", *words), text)


# regex


def test_a_pattern_shows_what_it_found() -> None:
    (finding,) = Pattern(pattern=r"\d+ ms").check("took 12 MS in all")
    assert finding.passed
    assert finding.evidence == "took 12 MS in all"
    assert not passes(Pattern(pattern="MS", case_sensitive=True), "ms")


def test_a_pattern_reads_full_width_signs_as_plain_ones() -> None:
    assert passes(Pattern(pattern=r"^ok 1$"), "ｏｋ １")


def test_a_pattern_that_takes_too_long_fails_with_that_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pattern, "PATTERN_SECONDS", 0.3)
    start = time.monotonic()
    (finding,) = Pattern(pattern="(a|aa)+$").check("a" * 5000 + "!")
    assert not finding.passed
    assert "took longer than" in finding.reason
    assert time.monotonic() - start < 30


# json_schema


@pytest.mark.parametrize(
    "answer",
    [
        '{"n": 1}',
        '  {"n": 1}\n',
        '```json\n{"n": 1}\n```',
        'Here it is:\n```\n{"n": 1}\n```\nAnything else?',
        '```json\r\n{"n": 1}\r\n```',
        '1. It is:\n   ```json\n   {"n": 1}\n   ```',
        '```json\n{"n": 1}',
        'Run:\n```sh\nls\n```\nIt says:\n```JSON\n{"n": 1}\n```',
    ],
)
def test_json_may_stand_in_a_fence(answer: str) -> None:
    assert passes(JsonSchema(schema={"required": ["n"]}), answer)


@pytest.mark.parametrize(
    "answer",
    ["", "n is 1", "NaN", "[Infinity]", "[" * 100_000, "1" * 5000, "```\n1\n```\n```\n2\n```"],
)
def test_what_is_not_json_fails_and_says_so(answer: str) -> None:
    (finding,) = JsonSchema(schema=True).check(answer)
    assert not finding.passed
    assert "not JSON" in finding.reason


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_any_json_fits_the_schema_that_allows_all(value: object) -> None:
    assert passes(JsonSchema(schema=True), json.dumps(value))
    assert not passes(JsonSchema(schema=False), json.dumps(value))


# number


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("42", 42),
        ("The answer is 42.", 42),
        ("6 times 7 is 42", 42),  # the last one counts
        ("$1,234.50", 1234.5),
        ("-7", -7),
        ("minus sign: −7", -7),
        ("+3", 3),
        ("about 67 %", 67),
        ("1.5e3 things", 1500),
        (".5", 0.5),
        ("0.30", 0.3),
        ("４２", 42),
        ("between 3-5", 5),
        ("1000000", 1_000_000),
    ],
)
def test_the_last_number_of_the_answer_is_read(answer: str, number: float) -> None:
    assert passes(LastNumber(value=number), answer)


@pytest.mark.parametrize("answer", ["", "none", "v2", "2nd", "1.2.3", "abc123", "1e999"])
def test_an_answer_without_the_number_fails(answer: str) -> None:
    assert not passes(LastNumber(value=2), answer)


@given(st.floats(-1e9, 1e9), st.floats(0, 1e6), st.floats(-1, 1))
def test_a_number_within_the_tolerance_passes(value: float, tolerance: float, share: float) -> None:
    answer = f"It is {value + tolerance * share:f}"
    standard = LastNumber(value=value, tolerance=tolerance + 1e-6)  # :f rounds to six decimals
    assert passes(standard, answer)


@given(st.floats(-1e9, 1e9), st.floats(0, 1e6), st.floats(0.01, 1e6))
def test_a_number_beyond_the_tolerance_fails(value: float, tolerance: float, far: float) -> None:
    beyond = tolerance + far + 1e-6 * (abs(value) + 1)
    for answer in (value + beyond, value - beyond):
        assert not passes(LastNumber(value=value, tolerance=tolerance), f"{answer:f}")


def test_a_tolerance_is_meant_in_decimals() -> None:
    assert passes(LastNumber(value=0.2, tolerance=0.1), "0.3")  # 0.3 - 0.2 > 0.1 in binary


@pytest.mark.parametrize(
    ("value", "tolerance", "answer"),
    [
        (2_000_000_000, 1, "2000000003"),
        (50_000_000_000, 0.01, "50000000050"),
        (9007199254740993, 0, "9007199254740992"),  # the same as a float
        (0.1, 0, "0.1000000000000000055511151231257827"),  # the same as a float
        (102, 0, "10²"),
        (141, 0, "14¹"),
    ],
)
def test_a_number_that_only_looks_equal_fails(value, tolerance, answer) -> None:
    assert not passes(LastNumber(value=value, tolerance=tolerance), answer)


def test_a_number_of_a_standard_stays_as_it_was_written() -> None:
    standard = read_standard("number", {"value": 9007199254740993})
    assert passes(standard, "9007199254740993")
    assert not passes(standard, "9007199254740992")


@pytest.mark.parametrize("answer", ["1e-999999999", "0." + "0" * 100_000 + "1", "1e999999999"])
def test_a_huge_number_is_read_quickly(answer: str) -> None:
    assert not passes(LastNumber(value=1), answer)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_itself(value: float) -> None:
    assert passes(LastNumber(value=value), repr(value))


def test_a_failed_number_says_which_one_it_read() -> None:
    (finding,) = LastNumber(value=3, tolerance=0.5).check("2, or 4")
    assert finding.reason == "the last number of the answer is 4, expected 3 ± 0.5"


@pytest.mark.parametrize(
    "text", ["1 " * 300_000, "1," * 300_000, "1" * 600_000 + "x", "-" * 600_000]
)
def test_a_long_answer_is_searched_for_numbers_quickly(text: str) -> None:
    start = time.monotonic()
    LastNumber(value=1).check(text)
    assert time.monotonic() - start < 30


# all of them


@given(TEXT)
@pytest.mark.parametrize(
    ("validation", "expected"),
    [
        ("exact", {"value": "a"}),
        ("contains", {"contains": ["a", "b"]}),
        ("contains_any", {"contains": ["a", "b"]}),
        ("not_contains", {"contains": ["a", "b"]}),
        ("regex", {"pattern": "a.c"}),
        ("json_schema", {"schema": {"type": "string"}}),
        ("number", {"value": 1}),
    ],
)
def test_every_validator_has_a_reason_for_every_answer(
    validation: str, expected: dict[str, object], text: str
) -> None:
    standard = read_standard(validation, expected)
    assert isinstance(standard, Validator)
    findings = standard.check(text)
    assert findings
    assert all(finding.reason and finding.criterion for finding in findings)
