"""The tests that ship with Arena: null agents fail them, right answers pass, wrong ones do not."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from arena.catalog import Catalog, audit, load_catalog
from arena.evaluation import Submission, evaluate

WEB, MOBILE, STB = "qa-web-manager", "qa-mobile-manager", "qa-stb-manager"
ASSISTANT, MONITORING = "ai-assistant", "monitoring-manager"

TABLE = [
    ("bench_nav_001", "List User Interfaces", "navigation", 30, 1.0, "WMSA"),
    ("bench_nav_002", "Navigate to Node", "navigation", 60, 1.5, "WMS"),
    ("bench_nav_003", "Get Navigation Tree", "navigation", 45, 1.0, "WMS"),
    ("bench_det_001", "Device Status Check", "detection", 30, 1.0, "GA"),
    ("bench_det_002", "Health Check", "detection", 45, 1.0, "G"),
    ("bench_det_003", "Host Discovery", "detection", 30, 1.0, "GAWMS"),
    ("bench_exec_001", "List Test Cases", "execution", 30, 1.0, "WMSA"),
    ("bench_exec_002", "Load Test Case", "execution", 30, 1.0, "WMS"),
    ("bench_exec_003", "Execute Test Case", "execution", 120, 2.0, "WMS"),
    ("bench_exec_004", "Get Test Results", "execution", 30, 1.0, "WMSA"),
    ("bench_ana_001", "Coverage Summary", "analysis", 30, 1.0, "WMSA"),
    ("bench_ana_002", "List Requirements", "analysis", 30, 1.0, "A"),
    ("bench_ana_003", "Uncovered Requirements", "analysis", 45, 1.5, "A"),
    ("bench_ana_004", "Test Gap Analysis", "analysis", 60, 2.0, "A"),
    ("bench_rec_001", "Handle Invalid Input", "recovery", 30, 1.0, "WMS"),
    ("bench_rec_002", "Timeout Recovery", "recovery", 60, 1.5, "AWMS"),
    ("bench_rec_003", "Missing Resource", "recovery", 30, 1.0, "WMSA"),
]
LETTERS = {"W": WEB, "M": MOBILE, "S": STB, "A": ASSISTANT, "G": MONITORING}

GOOD: dict[str, list[str]] = {
    "bench_nav_001": [
        "Here is the list of userinterfaces: web_shop, web_backoffice.",
        "I know two. Userinterface list:\n- android_app\n- ios_app",
    ],
    "bench_nav_002": [
        "I opened web_shop on the node welcome, clicked accept_cookies, and am now on home.",
        "Started at 'splash', tapped start_button, arrived at 'home'.",
        "The box began on Boot screen (boot). After pressing OK it shows the Home screen (home).",
    ],
    "bench_nav_003": [
        "web_shop: 16 nodes, 31 edges.",
        "There are 17 transitions between the 9 screens of the iOS app.",
        "The kids interface is small: it has 7 screens and 11 direct ways between them.",
    ],
    "bench_det_001": [
        "Two devices are offline: iphone-12 and box-hd-02.",
        "2 of 14 cannot be reached, namely the iPhone 12 (last seen yesterday evening) and the "
        "Lantern Box HD, unit 2.",
    ],
    "bench_det_002": [
        "No. result-store answers with a latency of 620 ms (limit 400), video-capture has 3.1 % "
        "errors (limit 2), and report-builder has sent no heartbeat since 06:12.",
        "Three are in trouble: the Result store is too slow, Video capture has a high error rate, "
        "and the Report builder has been silent for almost two hours. The other five are fine.",
    ],
    "bench_det_003": [
        "The lab has 8 hosts. lab-spare-01 is offline, all others are online.",
        "Eight machines. The spare bench was last seen three days ago.",
    ],
    "bench_exec_001": [
        "TC-WEB-01, TC-WEB-02, TC-WEB-03, TC-WEB-04, TC-WEB-05, TC-WEB-06, TC-WEB-07, TC-WEB-08",
        "\n".join(f"* tc-mob-0{n}" for n in range(1, 10)),
        "Nine: " + ", ".join(f"TC-STB-0{n}" for n in range(9, 0, -1)) + ".",
    ],
    "bench_exec_002": [
        'TC-WEB-07 is called "Buy a gift card" and covers REQ-WEB-08.',
        "Title: Play a title on iOS. Requirement: REQ-MOB-03.",
        "It covers REQ-STB-11; its title is Test the network connection.",
    ],
    "bench_exec_003": [
        "TC-WEB-07 failed at step 2: the element gift_cards_link is missing on the account page.",
        "It did not pass. The player has no cast icon, so the run stopped there.",
        "FAILED: update_row is not on the settings screen.",
    ],
    "bench_exec_004": [
        "The latest execution, EX-1035, ended with a timeout: the node reports did not load.",
        "EX-1040 timed out after two attempts on iphone-15.",
        "It passed at the second attempt (EX-1029 on box-4k-01).",
    ],
    "bench_ana_001": [
        "8 of 12 requirements are covered (67 %).",
        "There are 10 requirements; 7 of them have a test case.",
        "Of the 11 requirements of the set-top boxes, test cases exist for 9.",
        "In the whole lab 24 out of 33 requirements are covered, that is 72.7 %.",
    ],
    "bench_ana_002": [
        "REQ-STB-01, REQ-STB-02, REQ-STB-03, REQ-STB-04, REQ-STB-07 and REQ-STB-09.",
        "There are six of them:\n- REQ-STB-09\n- REQ-STB-07\n- REQ-STB-04\n- REQ-STB-03\n"
        "- REQ-STB-02\n- REQ-STB-01",
    ],
    "bench_ana_003": [
        "Nine: REQ-WEB-07, REQ-WEB-09, REQ-WEB-10, REQ-WEB-12, REQ-MOB-06, REQ-MOB-09, "
        "REQ-MOB-10, REQ-STB-07, REQ-STB-10.",
        "Web: REQ-WEB-12, REQ-WEB-10, REQ-WEB-09, REQ-WEB-07. Mobile: REQ-MOB-10, REQ-MOB-09 and "
        "REQ-MOB-06. Set-top boxes: REQ-STB-10 and REQ-STB-07.",
    ],
    "bench_ana_004": [
        "No test case: REQ-WEB-09, REQ-WEB-12, REQ-MOB-06, REQ-MOB-10, REQ-STB-07. "
        "Never executed: TC-MOB-09, TC-STB-07.",
        "TC-STB-07 and TC-MOB-09 were never run. Nothing tests keyboard use (REQ-WEB-09), the "
        "audit log (REQ-WEB-12), rotation (REQ-MOB-06), crash recovery (REQ-MOB-10) or the PIN "
        "(REQ-STB-07), all of high priority.",
    ],
    "bench_rec_001": [
        "There is no screen called hologram_lounge. I could take you to the cart.",
        "'hologram_lounge' doesn't exist in android_app; how about home or downloads?",
        "I do not know that node. The guide, for example, I do know.",
    ],
    "bench_rec_002": [
        "It timed out: home did not load within 100 ms. I am still on welcome.",
        "The home screen takes longer than that, so I gave up; the app is on the splash screen.",
        "Time-out after 100 ms. Position: boot",
    ],
    "bench_rec_003": [
        "TC-PAY-77 was not found. I could show you TC-WEB-04 instead.",
        "There's no test case with that id; the nearest is TC-STB-07.",
        "I don't have TC-PAY-77. Try TC-MOB-01.",
    ],
}
WRONG: dict[str, list[str]] = {
    "bench_nav_001": [
        "There are two user interfaces, web_shop and web_backoffice.",
        "A userinterface is what a person sees and touches.",
    ],
    "bench_nav_002": [
        "I navigated to the home page.",
        "From settings I went to home.",
        "I could not leave the node boot, so home was not reached.",
    ],
    "bench_nav_003": [
        "web_shop has 16 nodes and 30 edges.",
        "The navigation tree has many nodes, and each is connected by edges.",
        "It has 116 nodes and 31 edges.",
    ],
    "bench_det_001": [
        "All 14 devices are online.",
        "Two devices are offline: iphone-12 and galaxy-tab-s9.",
        "Device status: iphone-12 is busy and box-hd-02 is ready; 2 in all.",
    ],
    "bench_det_002": [
        "The health check found no problem: all services are in good order.",
        "result-store, video-capture, report-builder, device-hub and test-runner are all healthy.",
        "result-store is slow and video-capture has errors; all else is well.",
    ],
    "bench_det_003": [
        "The lab has 8 hosts and all of them are online.",
        "There are 7 hosts. lab-spare-01 is offline.",
        "Eight hosts; lab-core-01 is offline.",
    ],
    "bench_exec_001": [
        "TC-WEB-01, TC-WEB-02, TC-WEB-03, TC-WEB-04, TC-WEB-05, TC-WEB-06, TC-WEB-08",
        "Here is the list of test cases: login, search, checkout.",
    ],
    "bench_exec_002": [
        "TC-WEB-07 is called Buy a gift card and covers REQ-WEB-07.",
        "I loaded TC-MOB-07. Its title is Play a downloaded title, for REQ-MOB-04.",
    ],
    "bench_exec_003": [
        "TC-WEB-07 passed in 5.4 seconds.",
        "TC-MOB-06 failed because the device was offline.",
    ],
    "bench_exec_004": [
        "EX-1020 is the latest execution; it timed out.",
        "EX-1035 passed without trouble.",
        "The latest execution of TC-STB-06 timed out (EX-1015).",
    ],
    "bench_ana_001": [
        "The coverage is good: 12 of 12 requirements have a test case.",
        "10 of 12 requirements are covered by 7 test cases.",
        "The coverage summary: most requirements are covered.",
    ],
    "bench_ana_002": [
        ", ".join(f"REQ-STB-{n:02}" for n in range(1, 12)),
        "REQ-STB-01, REQ-STB-02, REQ-STB-03 and REQ-STB-04.",
    ],
    "bench_ana_003": [
        "REQ-WEB-07, REQ-WEB-09, REQ-WEB-10 and REQ-WEB-12 are uncovered.",
        ", ".join(
            f"REQ-{platform}-{n:02}"
            for platform, count in (("WEB", 12), ("MOB", 10), ("STB", 11))
            for n in range(1, count + 1)
        ),
    ],
    "bench_ana_004": [
        "There is a gap in the coverage of payment; write more tests for it.",
        "REQ-WEB-09, REQ-WEB-12, REQ-MOB-06, REQ-MOB-10 and REQ-STB-07 have no test case. Every "
        "test case was executed at least once.",
    ],
    "bench_rec_001": [
        "You are now in the hologram lounge.",
        "An error occurred while opening hologram_lounge.",
        "hologram_lounge was not found.",
    ],
    "bench_rec_002": [
        "I went to the home screen and arrived in 90 ms.",
        "It timed out. I am on the home screen now.",
    ],
    "bench_rec_003": [
        "TC-PAY-77: 1. open the cart, 2. pay, 3. verify the order number.",
        "Error: not found.",
        "TC-PAY-77 is much like TC-WEB-04: first go to the cart, then pay.",
    ],
}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


def lab(name: str) -> Any:
    return json.loads((files("arena.agents.lab") / "data" / f"{name}.json").read_text())


def test_the_files_have_no_problem(catalog: Catalog) -> None:
    assert catalog.problems == ()
    assert {Path(source.file).stem: source.tests for source in catalog.sources} == {
        "analysis": 4,
        "detection": 3,
        "execution": 4,
        "navigation": 3,
        "recovery": 3,
    }


def test_ids_names_points_and_agents_are_those_of_the_table(catalog: Catalog) -> None:
    written = {
        (test.id, test.name, test.category, test.timeout_seconds, test.points, test.agents)
        for test in catalog.tests
    }
    assert written == {
        (*row[:5], tuple(LETTERS[letter] for letter in str(row[5]))) for row in TABLE
    }


def test_seventeen_tests_make_twenty_and_a_half_points(catalog: Catalog) -> None:
    assert len(catalog.tests) == 17
    assert sum(test.points for test in catalog.tests) == 20.5


@pytest.mark.parametrize(
    ("agent", "tests", "points"),
    [
        (WEB, 12, 14.0),
        (MOBILE, 12, 14.0),
        (STB, 12, 14.0),
        (ASSISTANT, 11, 13.0),
        (MONITORING, 3, 3.0),
    ],
)
def test_each_agent_has_its_share(catalog: Catalog, agent: str, tests: int, points: float) -> None:
    applicable = catalog.for_agent(agent)
    assert (len(applicable), sum(test.points for test in applicable)) == (tests, points)


def test_the_first_test_stands_as_it_was_given(catalog: Catalog) -> None:
    test = catalog.test("bench_nav_001")
    assert test.prompt == "List all available user interfaces in the system"
    assert test.expected == {"contains": ["userinterface", "list"]}
    assert test.validation == "contains"
    assert test.description is None


async def test_no_null_agent_passes_any_of_them(catalog: Catalog) -> None:
    assert [str(finding) for finding in await audit(catalog.tests)] == []


@pytest.mark.parametrize(
    ("test_id", "answer"), [(name, text) for name, texts in GOOD.items() for text in texts]
)
async def test_a_right_answer_in_natural_words_passes(
    catalog: Catalog, test_id: str, answer: str
) -> None:
    verdict = await evaluate(catalog.test(test_id).standard, Submission(output=answer))
    assert verdict.passed, verdict.reasoning


@pytest.mark.parametrize(
    ("test_id", "answer"), [(name, text) for name, texts in WRONG.items() for text in texts]
)
async def test_a_wrong_answer_that_sounds_right_fails(
    catalog: Catalog, test_id: str, answer: str
) -> None:
    verdict = await evaluate(catalog.test(test_id).standard, Submission(output=answer))
    assert not verdict.passed, verdict.reasoning


def test_every_test_has_right_and_wrong_answers_to_prove_it() -> None:
    ids = {str(row[0]) for row in TABLE}
    assert set(GOOD) == set(WRONG) == ids
    assert all(len(answers) >= 2 for answers in (*GOOD.values(), *WRONG.values()))


# From here on: what the tests expect is what the lab's data say.


def parts(catalog: Catalog, test_id: str) -> list[Any]:
    expected = catalog.test(test_id).expected
    return expected.get("any_of") or expected["all_of"]  # type: ignore[return-value]


def test_the_tree_sizes_are_those_of_the_lab(catalog: Catalog) -> None:
    sizes = [[str(len(ui["nodes"])), str(len(ui["edges"]))] for ui in lab("userinterfaces")]
    expected = [part["expected"]["contains"] for part in parts(catalog, "bench_nav_003")]
    assert sorted(expected) == sorted(sizes)


def test_the_entry_nodes_are_those_of_the_lab(catalog: Catalog) -> None:
    entries = {ui["entry"] for ui in lab("userinterfaces")}
    for test_id in ("bench_nav_002", "bench_rec_002"):
        assert entries <= set(parts(catalog, test_id)[1]["expected"]["contains"])
    assert all("home" in {node["id"] for node in ui["nodes"]} for ui in lab("userinterfaces"))


def test_no_start_screen_of_the_lab_loads_within_100_milliseconds() -> None:
    quickest = min(device["load_factor"] for device in lab("machines")["devices"])
    for ui in lab("userinterfaces"):
        (home,) = (node for node in ui["nodes"] if node["id"] == "home")
        assert min(home["cold_load_ms"], home["warm_load_ms"]) * quickest > 100


def test_the_test_cases_are_those_of_the_lab(catalog: Catalog) -> None:
    listed = parts(catalog, "bench_exec_001")
    expected = [case_id for part in listed for case_id in part["expected"]["contains"]]
    assert sorted(expected) == sorted(case["id"] for case in lab("testcases"))


def test_the_machines_in_trouble_are_those_of_the_lab() -> None:
    machines = lab("machines")
    day = machines["as_of"][:10]
    gone = {device["id"] for device in machines["devices"] if device["last_seen"][:10] < day}
    assert gone == {"iphone-12", "box-hd-02"}
    quiet = {host["id"] for host in machines["hosts"] if host["last_seen"][:10] < day}
    assert quiet == {"lab-spare-01"}
    assert len(machines["hosts"]) == 8
    services = {service["id"]: service for service in machines["services"]}
    ailing = {
        name
        for name, service in services.items()
        if service["latency_ms"] > service["latency_limit_ms"]
        or service["error_percent"] > service["error_limit_percent"]
        or service["last_heartbeat"] < f"{day}T07:58"
    }
    assert ailing == {"result-store", "video-capture", "report-builder"}


def test_the_coverage_is_that_of_the_lab(catalog: Catalog) -> None:
    requirements = lab("requirements")
    covered = {name for case in lab("testcases") for name in case["requirements"]}
    uncovered = [item["id"] for item in requirements if item["id"] not in covered]
    assert sorted(parts(catalog, "bench_ana_003")[0]["expected"]["contains"]) == sorted(uncovered)
    assert covered >= set(parts(catalog, "bench_ana_003")[1]["expected"]["contains"])

    urgent = [item["id"] for item in requirements if item["priority"] == "high"]
    assert sorted(parts(catalog, "bench_ana_004")[0]["expected"]["contains"]) == sorted(
        set(urgent) & set(uncovered)
    )
    stb_urgent = sorted(name for name in urgent if name.startswith("REQ-STB"))
    assert sorted(parts(catalog, "bench_ana_002")[0]["expected"]["contains"]) == stb_urgent

    executed = {run["testcase"] for run in lab("executions")}
    never = sorted({case["id"] for case in lab("testcases")} - executed)
    assert sorted(parts(catalog, "bench_ana_004")[1]["expected"]["contains"]) == never


@pytest.mark.parametrize(
    ("platform", "figures"),
    [("web", (8, 12)), ("mobile", (7, 10)), ("stb", (9, 11)), (None, (24, 33))],
)
def test_the_coverage_figures_are_those_of_the_lab(
    catalog: Catalog, platform: str | None, figures: tuple[int, int]
) -> None:
    covered = {name for case in lab("testcases") for name in case["requirements"]}
    mine = [item["id"] for item in lab("requirements") if platform in (None, item["platform"])]
    assert (len(covered & set(mine)), len(mine)) == figures
    patterns = [part["expected"]["pattern"] for part in parts(catalog, "bench_ana_001")]
    assert any(all(rf"\b{figure}\b" in pattern for figure in figures) for pattern in patterns)


@pytest.mark.parametrize(
    ("case", "run", "status"),
    [
        ("TC-WEB-08", "EX-1035", "timeout"),
        ("TC-MOB-08", "EX-1040", "timeout"),
        ("TC-STB-06", "EX-1029", "passed"),
    ],
)
def test_the_latest_executions_are_those_of_the_lab(case: str, run: str, status: str) -> None:
    runs = [item for item in lab("executions") if item["testcase"] == case]
    latest = max(runs, key=lambda item: item["started_at"])
    assert (latest["id"], latest["status"]) == (run, status)


@pytest.mark.parametrize(
    ("case", "title", "requirement"),
    [
        ("TC-WEB-07", "gift card", "REQ-WEB-08"),
        ("TC-MOB-07", "title on iOS", "REQ-MOB-03"),
        ("TC-STB-07", "network connection", "REQ-STB-11"),
    ],
)
def test_the_loaded_test_cases_are_those_of_the_lab(
    case: str, title: str, requirement: str
) -> None:
    (found,) = (item for item in lab("testcases") if item["id"] == case)
    assert title in found["title"]
    assert found["requirements"] == [requirement]


@pytest.mark.parametrize(
    ("ui", "source", "target", "element"),
    [
        ("web_shop", "account", "gift_cards", "gift_cards_link"),
        ("android_app", "player", "cast", "cast_icon"),
        ("stb_main", "settings", "software_update", "update_row"),
    ],
)
def test_the_blocked_ways_are_blocked_in_the_lab(
    ui: str, source: str, target: str, element: str
) -> None:
    (tree,) = (item for item in lab("userinterfaces") if item["id"] == ui)
    ways = [edge for edge in tree["edges"] if edge["target"] == target]
    assert [(edge["source"], edge["element"]) for edge in ways] == [(source, element)]
    (node,) = (item for item in tree["nodes"] if item["id"] == source)
    assert element not in node["elements"]


def test_the_screens_and_test_cases_that_must_not_exist_do_not() -> None:
    nodes = {node["id"] for ui in lab("userinterfaces") for node in ui["nodes"]}
    assert "hologram_lounge" not in nodes
    assert "TC-PAY-77" not in {case["id"] for case in lab("testcases")}
