import json
from dataclasses import replace

import pytest

from arena.catalog import Test
from factories import a_test


def test_a_test_survives_being_written_down() -> None:
    test = a_test(agents=("a", "b"), tags=("x",), budget_tokens=7, case_sensitive=False)
    assert Test.from_json(json.loads(json.dumps(test.as_json()))) == test


def test_the_digest_changes_with_anything_the_test_says() -> None:
    test = a_test()
    assert replace(test).digest == test.digest
    changes: list[dict[str, object]] = [
        {"id": "other"},
        {"prompt": "other"},
        {"expected": {"contains": ["no"]}},
        {"points": 2.0},
        {"agents": ()},
        {"whole_word": True},
        {"case_sensitive": False},
    ]
    digests = {replace(test, **change).digest for change in changes}  # type: ignore[arg-type]
    assert len(digests | {test.digest}) == len(changes) + 1


@pytest.mark.parametrize(
    ("agents", "active", "answers"),
    [
        (None, True, True),
        (("me",), True, True),
        (("you",), True, False),
        ((), True, False),
        (None, False, False),
    ],
)
def test_a_test_is_for_an_agent(
    agents: tuple[str, ...] | None, active: bool, answers: bool
) -> None:
    assert a_test(agents=agents, active=active).is_for("me") is answers


def test_the_token_budget_grows_with_the_points() -> None:
    assert a_test(points=1.5).token_budget == 3000
    assert a_test(points=1.5, budget_tokens=10).token_budget == 10
