"""The comparison of two runs as HTML, Markdown and text: nobody's text becomes markup."""

from typing import Any

import pytest

from arena.catalog.suite import SuiteDifference
from arena.cli.compare_runs import CompareFormat, document
from arena.dashboard.report.comparison import comparison_page
from arena.runs.comparison import MeasuredRun, RunComparison, compare
from arena.scoring.board import Provenance
from arena.scoring.trials import TrialCounts
from exported import a_run

HOSTILE = "<script>alert(1)</script>|`@octocat\x1b[31m\u202e"


def counts(*passed: int, trials: int = 1, prefix: str = "t") -> list[TrialCounts]:
    return [
        TrialCounts(test_id=f"{prefix}{number:02}", passed=one, trials=trials)
        for number, one in enumerate(passed)
    ]


def compared(before: list[TrialCounts], now: list[TrialCounts], **changes: Any) -> RunComparison:
    environment = {"sandbox": "docker"}
    first = a_run(environment=environment, suite="s", suite_version="1" * 64)
    values = {"environment": environment, "suite": "s", "suite_version": "1" * 64, **changes}
    difference = values.pop("suite_difference", None)
    return compare(
        MeasuredRun(run=first, counts=before),
        MeasuredRun(run=a_run(**values), counts=now),
        suite_difference=difference,
    )


def test_the_second_run_is_the_later_one():
    found = compared(counts(*[1] * 8), counts(*[0] * 7, 1))
    assert found.difference == -0.875
    assert found.interval is not None
    assert found.interval.low < -87 < found.interval.high < 0
    assert (found.first_pass_rate, found.second_pass_rate) == (1.0, 0.125)
    assert [one.test_id for one in found.worse] == [f"t0{n}" for n in range(7)]
    text = document(found, CompareFormat.TEXT)
    assert "8 tests in common: 100.0 % → 12.5 %, -87.5 percentage points (-" in text
    assert "p = 0.016, significant\nWorse (7)\n  t00  1/1 → 0/1\n" in text
    back = compared(counts(*[0] * 7, 1), counts(*[1] * 8))
    assert back.difference == 0.875
    assert "Better (7)" in document(back, CompareFormat.TEXT)


def test_equal_runs_differ_by_nothing():
    text = document(compared(counts(1, 0), counts(1, 0)), CompareFormat.TEXT)
    assert "50.0 % → 50.0 %, +0.0 percentage points" in text
    assert "not significant" in text
    assert "Worse" not in text


@pytest.mark.parametrize("kind", list(CompareFormat))
def test_runs_without_a_common_test_are_no_error(kind: CompareFormat):
    found = compared(counts(1), counts(1, prefix="other"))
    text = document(found, kind)
    if kind is CompareFormat.JSON:
        assert '"common_tests": 0' in text
    else:
        assert "the two runs have no test in common" in text
        assert "not compared, only in the first run: " in text


def test_what_else_differs_is_listed():
    difference = SuiteDifference(added=["n"], removed=[], edited=["a", "b"], same=3)
    found = compared(
        counts(1), counts(1), suite_version="2" * 64, suite_difference=difference, is_full=False
    )
    text = document(found, CompareFormat.TEXT)
    assert (
        "the suite changed from 111111111111 to 222222222222: 1 added (n), 2 edited (a, b)" in text
    )
    assert f"partial: run {found.second.id} does not have every test" in text
    reported = compared(counts(1), counts(1), provenance=Provenance.REPORTED)
    assert f"run {reported.second.id}, s 111111111111, reported, a claim: " in document(
        reported, CompareFormat.TEXT
    )
    assert "Suite `s` 111111111111, reported, a claim: " in document(
        reported, CompareFormat.MARKDOWN
    )
    other = compared(counts(1), counts(1), suite="z", environment=None)
    text = document(other, CompareFormat.TEXT)
    assert "different suites: s → z" in text
    assert f"the environment is not known: run {other.second.id}" in text


@pytest.mark.parametrize("kind", [CompareFormat.TEXT, CompareFormat.MARKDOWN, CompareFormat.HTML])
def test_no_text_of_others_becomes_markup(kind: CompareFormat):
    tests = [TrialCounts(test_id=f"{HOSTILE}{n}", passed=n % 2, trials=1) for n in range(2)]
    fewer = [TrialCounts(test_id=one.test_id, passed=0, trials=1) for one in tests]
    found = compared(
        tests,
        [*fewer, TrialCounts(test_id=HOSTILE, passed=1, trials=1)],
        agent_id=HOSTILE,
        environment={"sandbox": HOSTILE},
    )
    text = document(found, kind)
    assert "\x1b" not in text
    assert "\u202e" not in text
    if kind is CompareFormat.HTML:
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert(1)" in text
    if kind is CompareFormat.MARKDOWN:
        for line in text.splitlines():
            outside = "".join(line.split("``")[::2])
            assert "octocat" not in outside, line


def test_the_page_names_every_test_that_changed_and_loads_nothing():
    page = comparison_page(compared(counts(*[1] * 30), counts(*[0] * 30)))
    assert all(f"t{number:02}" in page for number in range(30))
    assert "default-src &#x27;none&#x27;" in page
    assert "Full data" not in page
    assert "src=" not in page
