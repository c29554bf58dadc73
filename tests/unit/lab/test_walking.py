from dataclasses import replace

import pytest

from arena.lab.lab import open_lab
from arena.lab.records import Execution, Outcome
from arena.lab.walking import ACTION_MS, Arrival, StepResult, Walker, execute

LAB = open_lab()
BY_ID = {record.id: record for record in LAB.records()}


def walker(ui: str, device: str, **settings) -> Walker:
    return Walker(ui=BY_ID[ui], device=BY_ID[device], **settings)


def test_a_walk_takes_the_loads_of_its_screens_and_the_actions_between() -> None:
    journey = walker("web_shop", "chrome-01").navigate("home")

    assert journey.reached
    assert journey.spent_ms == 1200 + ACTION_MS


def test_a_slow_device_makes_a_walk_slower() -> None:
    fast = walker("android_app", "pixel-8").navigate("home")
    slow = walker("android_app", "galaxy-a14").navigate("home")

    assert slow.spent_ms > fast.spent_ms


def test_a_screen_that_is_slow_only_when_cold_is_reached_by_a_retry() -> None:
    journey = walker("web_shop", "chrome-01", position="checkout").navigate("payment")

    assert journey.reached
    assert journey.attempts == 2
    assert journey.spent_ms == ACTION_MS + 8000 + 3100  # what was allowed, then the warm load


def test_a_screen_that_is_always_too_slow_is_given_up_after_one_retry() -> None:
    walk = walker("web_backoffice", "chrome-01")

    journey = walk.navigate("reports")

    assert not journey.reached
    assert journey.obstacle is not None
    assert journey.obstacle.arrival is Arrival.TIMEOUT
    assert len(journey.obstacle.loads_ms) == 2
    assert walk.position == "home"


def test_a_missing_element_is_avoided_if_there_is_another_path() -> None:
    journey = walker("web_shop", "chrome-01").navigate("orders")

    assert journey.reached
    assert [(m.edge.target, m.arrival) for m in journey.moves] == [
        ("home", Arrival.ARRIVED),
        ("orders", Arrival.MISSING),
        ("login", Arrival.ARRIVED),
        ("account", Arrival.ARRIVED),
        ("orders", Arrival.ARRIVED),
    ]


def test_a_missing_element_without_another_way_ends_the_walk() -> None:
    walk = walker("web_shop", "chrome-01")

    journey = walk.navigate("gift_cards")

    assert not journey.reached
    assert journey.obstacle is not None
    assert journey.obstacle.edge.element == "gift_cards_link"
    assert walk.position == "account"


def test_a_dead_end_is_not_left() -> None:
    journey = walker("web_shop", "chrome-01", position="home").navigate("welcome")

    assert not journey.reached
    assert journey.moves == ()
    assert journey.obstacle is None


def test_the_callers_limit_replaces_the_limit_of_the_edges() -> None:
    assert not walker("web_shop", "chrome-01", limit_ms=50).navigate("home").reached
    assert walker("web_backoffice", "chrome-01", limit_ms=40_000).navigate("reports").reached


def test_a_second_visit_is_warm() -> None:
    walk = walker("web_shop", "chrome-01")
    first = walk.navigate("plans")
    walk.navigate("home")
    second = walk.navigate("plans")

    assert first.moves[-1].loads_ms == (1500,)
    assert second.moves[-1].loads_ms == (500,)


@pytest.mark.parametrize("ui", [pytest.param(ui, id=ui.id) for ui in LAB.userinterfaces])
def test_every_walk_ends_where_it_says(ui) -> None:
    for device in LAB.devices_for(ui):
        for node in ui.nodes:
            walk = Walker(ui=ui, device=device)
            journey = walk.navigate(node.id)
            assert journey.reached == (walk.position == node.id)
            assert journey.reached or journey.obstacle is not None


def run(case_id: str, device_id: str, **changes) -> tuple[Execution, list[StepResult]]:
    ui = replace(LAB.interface_of(BY_ID[case_id]), **changes)
    walker = Walker(ui=ui, device=BY_ID[device_id])
    return execute(BY_ID[case_id], walker, name="EX-1", started_at=LAB.machines.as_of)


def test_a_test_case_whose_steps_all_work_passes() -> None:
    execution, steps = run("TC-WEB-01", "chrome-01")

    assert execution.status is Outcome.PASSED
    assert execution.failed_step is None
    assert [result.status for result in steps] == [Outcome.PASSED] * 3


def test_the_duration_is_the_first_screen_and_every_step() -> None:
    execution, steps = run("TC-WEB-01", "chrome-01")

    assert execution.duration_ms == 900 + sum(result.spent_ms for result in steps)


def test_a_missing_element_fails_the_step_that_needs_it_and_ends_the_execution() -> None:
    execution, steps = run("TC-WEB-07", "chrome-01")

    assert execution.status is Outcome.FAILED
    assert execution.failed_step == 2
    assert execution.message == "element 'gift_cards_link' is missing on node 'account'"
    assert len(steps) == 2


def test_the_same_test_case_passes_once_the_element_is_back() -> None:
    ui = BY_ID["web_shop"]
    fixed = tuple(
        replace(node, elements=(*node.elements, "gift_cards_link"))
        if node.id == "account"
        else node
        for node in ui.nodes
    )

    assert run("TC-WEB-07", "chrome-01", nodes=fixed)[0].status is Outcome.PASSED


def test_a_screen_that_never_loads_in_time_is_a_timeout_after_two_attempts() -> None:
    execution, _ = run("TC-MOB-08", "iphone-15")

    assert execution.status is Outcome.TIMEOUT
    assert execution.attempts == 2
    assert execution.message == "node 'subscription' did not load within 6000 ms"


def test_the_outcome_depends_on_the_device() -> None:
    assert run("TC-MOB-05", "pixel-8")[0].status is Outcome.PASSED
    assert run("TC-MOB-05", "galaxy-a14")[0].status is Outcome.TIMEOUT


def test_a_step_that_looks_for_an_element_of_another_screen_fails() -> None:
    only_last = replace(BY_ID["TC-WEB-01"], steps=BY_ID["TC-WEB-01"].steps[2:])

    execution, _ = execute(
        only_last, walker("web_shop", "chrome-01"), name="EX-1", started_at=LAB.machines.as_of
    )

    assert execution.message == "element 'search_box' is missing on node 'welcome'"
