from dataclasses import replace

from arena.lab.execution import Trace, execute
from arena.lab.lab import open_lab
from arena.lab.records import Outcome
from arena.lab.walking import Walker

LAB = open_lab()


def run(case_id: str, device_id: str, **changes) -> Trace:
    case, device = LAB.testcase(case_id), LAB.device(device_id)
    assert case is not None
    assert device is not None
    ui = LAB.userinterface(case.userinterface)
    assert ui is not None
    ui = replace(ui, **changes) if changes else ui
    walker = Walker(ui=ui, device=device)
    return execute(case, walker, name="EX-1", started_at=LAB.machines.as_of)


def test_a_test_case_whose_steps_all_work_passes() -> None:
    trace = run("TC-WEB-01", "chrome-01")

    assert trace.execution.status is Outcome.PASSED
    assert trace.execution.failed_step is None
    assert [result.status for result in trace.steps] == [Outcome.PASSED] * 3


def test_the_duration_is_the_first_screen_and_every_step() -> None:
    trace = run("TC-WEB-01", "chrome-01")

    assert trace.execution.duration_ms == 900 + sum(result.spent_ms for result in trace.steps)


def test_a_missing_element_fails_the_step_that_needs_it_and_ends_the_execution() -> None:
    trace = run("TC-WEB-07", "chrome-01")

    assert trace.execution.status is Outcome.FAILED
    assert trace.execution.failed_step == 2
    assert trace.execution.message == "element 'gift_cards_link' is missing on node 'account'"
    assert len(trace.steps) == 2


def test_the_same_test_case_passes_once_the_element_is_back() -> None:
    ui = LAB.userinterface("web_shop")
    assert ui is not None
    mended = tuple(
        replace(node, elements=(*node.elements, "gift_cards_link"))
        if node.id == "account"
        else node
        for node in ui.nodes
    )

    assert run("TC-WEB-07", "chrome-01", nodes=mended).execution.status is Outcome.PASSED


def test_a_screen_that_never_loads_in_time_is_a_timeout_after_two_attempts() -> None:
    execution = run("TC-MOB-08", "iphone-15").execution

    assert execution.status is Outcome.TIMEOUT
    assert execution.attempts == 2
    assert execution.message == "node 'subscription' did not load within 6000 ms"


def test_the_outcome_depends_on_the_device() -> None:
    assert run("TC-MOB-05", "pixel-8").execution.status is Outcome.PASSED
    assert run("TC-MOB-05", "galaxy-a14").execution.status is Outcome.TIMEOUT


def test_a_step_that_looks_for_an_element_of_another_screen_fails() -> None:
    case = LAB.testcase("TC-WEB-01")
    ui = LAB.userinterface("web_shop")
    device = LAB.device("chrome-01")
    assert case and ui and device
    only_last = replace(case, steps=case.steps[2:])

    trace = execute(
        only_last, Walker(ui=ui, device=device), name="EX-1", started_at=LAB.machines.as_of
    )

    assert trace.execution.message == "element 'search_box' is missing on node 'welcome'"
