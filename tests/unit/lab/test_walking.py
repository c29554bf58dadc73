import pytest

from arena.lab.lab import open_lab
from arena.lab.walking import ACTION_MS, Arrival, Walker

LAB = open_lab()


def walker(ui: str, device: str, **settings) -> Walker:
    interface, machine = LAB.userinterface(ui), LAB.device(device)
    assert interface is not None
    assert machine is not None
    return Walker(ui=interface, device=machine, **settings)


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


def test_a_missing_element_is_gone_round_where_there_is_another_way() -> None:
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
