"""Weak tests of a suite."""

from dataclasses import replace
from uuid import UUID

import pytest

from arena.errors import InvalidInput
from arena.scoring.item_quality import Weakness, suite_quality
from arena.scoring.matrix import TestRecord


def record(agent: int, passed: int, rest_passed: int, *, trials: int = 2) -> TestRecord:
    return TestRecord(
        agent_id=f"agent-{agent}",
        agent_version="1.0.0",
        run_id=UUID(int=agent),
        result_id=UUID(int=agent),
        digest="d",
        trials=trials,
        passed=passed,
        rest_trials=20,
        rest_passed=rest_passed,
    )


def with_passes(*passes: int) -> list[TestRecord]:
    """Agents from weak to strong, with their passes of two trials."""
    return [record(place, passed, 5 * (place + 1)) for place, passed in enumerate(passes)]


def test_each_weakness_is_found_and_a_good_test_is_not() -> None:
    found = suite_quality(
        {
            "good": with_passes(0, 1, 2),
            "everybody": with_passes(2, 2, 2),
            "nobody": with_passes(0, 0, 0),
            "reversed": with_passes(2, 1, 0),
            "unrelated": with_passes(1, 2, 1),
        }
    )
    assert [(one.test_id, one.weakness) for one in found.weak] == [
        ("everybody", Weakness.SATURATED),
        ("nobody", Weakness.DEAD),
        ("reversed", Weakness.NON_DISCRIMINATING),
        ("unrelated", Weakness.NON_DISCRIMINATING),
    ]
    assert [one.is_reversed for one in found.weak] == [False, False, True, False]
    assert [one.discrimination for one in found.weak] == [None, None, -1.0, 0.0]
    assert [(one.agents, one.trials, one.passed) for one in found.weak[:3]] == [
        (3, 6, 6),
        (3, 6, 0),
        (3, 6, 3),
    ]
    assert (found.tests, found.agents, found.too_few_agents) == (5, 3, [])


def test_a_single_failed_trial_is_not_saturated() -> None:
    (found,) = suite_quality({"t": [record(0, 2, 5), record(1, 2, 10), record(2, 1, 15)]}).weak
    assert found.weakness is Weakness.NON_DISCRIMINATING
    assert suite_quality({"t": with_passes(2, 1)}).weak == []


def test_two_agents_tell_about_extremes_only() -> None:
    found = suite_quality(
        {"all": with_passes(2, 2), "none": with_passes(0, 0), "r": with_passes(2, 0)}
    )
    assert [one.test_id for one in found.weak] == ["all", "none"]
    assert found.too_few_agents == []


def test_with_one_agent_nothing_is_said() -> None:
    found = suite_quality({"one": with_passes(2), "never": []})
    assert found.weak == []
    assert found.too_few_agents == ["never", "one"]
    assert suite_quality({}).tests == 0


def test_results_of_an_edited_test_are_refused() -> None:
    old = record(0, 1, 5)
    with pytest.raises(InvalidInput, match="edited"):
        suite_quality({"t": [old, replace(old, digest="new")]})
