"""What the agents answer, against what the lab's records say."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.lab.agent import LabAgent
from arena.lab.desk import ROLES
from arena.lab.health import status_of
from arena.lab.lab import open_lab

LAB = open_lab()
SPECIALISTS = ["qa-web-manager", "qa-mobile-manager", "qa-stb-manager"]


def agent(name: str) -> LabAgent:
    return LabAgent(ROLES[name], LAB)


def ask(name: str, prompt: str) -> str:
    return agent(name).answer(prompt).text


@pytest.mark.parametrize("name", SPECIALISTS)
def test_a_specialist_lists_its_own_interfaces_only(name: str) -> None:
    text = ask(name, "Which user interfaces do you know?")

    listed = {ui.id for ui in LAB.userinterfaces if f"- {ui.id}:" in text}
    assert listed == {ui.id for ui in LAB.userinterfaces if ui.platform in ROLES[name].platforms}


def test_the_assistant_lists_all_interfaces() -> None:
    text = ask("ai-assistant", "Which user interfaces do you know?")

    assert all(ui.id in text for ui in LAB.userinterfaces)


@pytest.mark.parametrize("name", SPECIALISTS)
def test_a_specialist_walks_to_the_start_screen_of_its_interface(name: str) -> None:
    text = ask(name, "Bring the app to its start screen")

    assert text.startswith("Navigated from node ")
    assert " to node home of userinterface" in text


def test_a_tree_is_described_with_every_node_and_edge() -> None:
    text = ask("qa-stb-manager", "Describe the tree of stb_kids")
    ui = next(ui for ui in LAB.userinterfaces if ui.id == "stb_kids")

    assert text.count("- node ") == len(ui.nodes)
    assert text.count("- edge ") == len(ui.edges)


def test_the_status_of_every_device_is_the_one_that_follows_from_its_figures() -> None:
    text = ask("monitoring-manager", "What is the condition of all devices?")

    for device in LAB.machines.devices:
        line = next(row for row in text.splitlines() if f"device {device.id} " in row)
        assert f"status {status_of(LAB, device)}" in line


def test_a_health_check_of_one_service_speaks_of_that_service_alone() -> None:
    text = ask("monitoring-manager", "Is the result store healthy?")

    assert "service result-store: warning (latency 620 ms, limit 400 ms)" in text
    assert "device-hub" not in text


@pytest.mark.parametrize("name", ROLES)
def test_everybody_can_name_the_hosts(name: str) -> None:
    text = ask(name, "Which machines make up the lab?")

    assert all(host.address in text for host in LAB.machines.hosts)


def test_a_test_case_is_loaded_by_its_title() -> None:
    text = ask("qa-web-manager", "Open the scenario 'Pay with a saved card'")

    assert "Loaded testcase TC-WEB-04" in text
    assert "navigate payment" in text


def test_an_execution_is_remembered_and_listed_with_those_of_the_lab() -> None:
    worker = agent("qa-web-manager")
    before = worker.answer("Show the results of TC-WEB-01").text

    worker.answer("Execute TC-WEB-01 on firefox-01")
    after = worker.answer("Show the results of TC-WEB-01").text

    assert "EX-1045" not in before
    assert "EX-1045: TC-WEB-01 on firefox-01" in after
    assert "results of 3 executions" in after


def test_all_test_cases_of_an_interface_can_be_executed_at_once() -> None:
    worker = agent("qa-mobile-manager")

    text = worker.answer("Run the whole regression of android_app").text

    assert "Testcases executed: 6 (5 passed, 1 failed)." in text
    assert len(worker.desk.executions) == 6


def test_a_device_that_is_offline_is_not_used() -> None:
    worker = agent("qa-mobile-manager")

    text = worker.answer("Run TC-MOB-07 on iphone-12").text

    assert "iphone-12 is offline" in text
    assert "iphone-15, ipad-air" in text
    assert worker.desk.executions == []


def test_a_device_of_the_wrong_kind_is_not_used() -> None:
    text = ask("qa-mobile-manager", "Run TC-MOB-07 on pixel-8")

    assert "pixel-8 cannot show userinterface ios_app" in text


@pytest.mark.parametrize(
    ("prompt", "kind", "name", "near"),
    [
        ("Load test case TC-WEB-88", "testcase", "TC-WEB-88", "TC-WEB-08"),
        ("Navigate to the node 'chekout'", "node", "chekout", "checkout"),
        ("Describe the tree of web_shopp", "userinterface", "web_shopp", "web_shop"),
        ("Is chrome-07 online?", "device", "chrome-07", "chrome-01"),
        ("Run TC-WEB-01 on device chrome-07", "device", "chrome-07", "chrome-01"),
        ("Tell me about requirement REQ-WEB-98", "requirement", "REQ-WEB-98", "REQ-WEB-08"),
    ],
)
def test_an_unknown_name_is_called_unknown_and_a_near_one_offered(
    prompt: str, kind: str, name: str, near: str
) -> None:
    text = ask("qa-web-manager", prompt)

    assert f"{kind} '{name}' was not found" in text
    assert near in text.split("Known")[0]


def test_a_screen_that_hangs_is_reported_with_what_was_tried() -> None:
    text = ask("qa-web-manager", "Open the reports page of the back office")

    assert "timeout" in text
    assert "retry" in text
    assert "stays at node home" in text


def test_a_screen_that_recovers_on_the_retry_is_reached() -> None:
    text = ask("qa-web-manager", "Go to the payment page")

    assert text.startswith("Navigated from node welcome to node payment")
    assert "timeout after 8000 ms, retry: loaded in 3100 ms" in text


def test_results_can_be_cut_down_to_those_that_failed() -> None:
    text = ask("qa-web-manager", "Which executions failed?")

    assert "status failed" in text
    assert "status passed" not in text


@pytest.mark.parametrize("prompt", ["Go to the cart", "Execute TC-WEB-04", "Run all tests"])
def test_the_assistant_does_not_act_on_devices(prompt: str) -> None:
    worker = agent("ai-assistant")

    text = worker.answer(prompt).text

    assert "do not act on devices" in text
    assert worker.desk.executions == []


def test_work_for_another_platform_is_sent_to_its_specialist() -> None:
    assert "qa-mobile-manager (Scout)" in ask("qa-web-manager", "Execute TC-MOB-01")
    assert "qa-stb-manager (Watcher)" in ask("qa-web-manager", "List tests for the television")


def test_the_monitor_does_not_do_the_work_of_the_testers() -> None:
    assert "is not my work" in ask("monitoring-manager", "List the test cases")


def test_uncovered_requirements_are_those_that_no_test_case_names() -> None:
    text = ask("ai-assistant", "Which requirements have no test?")
    covered = {name for case in LAB.testcases for name in case.requirements}

    for requirement in LAB.requirements:
        assert (requirement.id in text) == (requirement.id not in covered)


def test_a_coverage_summary_adds_up() -> None:
    text = ask("qa-web-manager", "How much is covered?")

    assert "8 of 12 (67 %) requirements" in text
    assert "6 verified, 2 failing, 0 never executed, 4 uncovered" in text


def test_an_answer_does_not_depend_on_earlier_prompts() -> None:
    prompts = ["Go to the payment page", "How much is covered?", "Load TC-WEB-07", "Go home"]
    worker = agent("qa-web-manager")

    together = [worker.answer(prompt).text for prompt in prompts]

    assert together == [ask("qa-web-manager", prompt) for prompt in prompts]


def test_a_start_is_distinguished_from_a_goal() -> None:
    text = ask("qa-web-manager", "Go from the cart to the checkout page")

    assert text.startswith("Navigated from node cart to node checkout")


def test_usage_counts_the_words_that_were_read_and_written() -> None:
    small = agent("qa-web-manager").answer("hello")
    large = agent("qa-web-manager").answer("Describe the navigation tree")

    assert small.words_read == 1
    assert large.words_read > 100
    assert large.words_written > small.words_written > 0


@pytest.mark.parametrize("name", ROLES)
@settings(max_examples=60)
@given(prompt=st.text())
def test_any_text_gets_an_answer(name: str, prompt: str) -> None:
    assert ask_quickly(name, prompt).strip()


LAB_WORDS = """
list load execute run navigate to from here all not the of 'x' 200 ms within test case node edge
device host service health status coverage gap requirement home payment guide TC-XX-1 REQ-WEB-01
EX-1001 EX-1 without uncovered
"""
PIECES = [
    *LAB_WORDS.split(),
    *(ui.id for ui in LAB.userinterfaces),
    *(case.id for case in LAB.testcases[::5]),
    *(device.id for device in LAB.machines.devices[::3]),
]


@pytest.mark.parametrize("name", ROLES)
@settings(max_examples=200)
@given(words=st.lists(st.sampled_from(PIECES), max_size=12))
def test_any_heap_of_the_labs_own_words_gets_an_answer(name: str, words: list[str]) -> None:
    assert ask_quickly(name, " ".join(words)).strip()


STANDING = {name: LabAgent(role, LAB) for name, role in ROLES.items()}


def ask_quickly(name: str, prompt: str) -> str:
    """Asks an agent that is already there, as a persistent process would be."""
    return STANDING[name].answer(prompt).text
