"""The tests that ship with Arena: null agents fail them, right answers pass, wrong ones do not."""

from pathlib import Path

import pytest

from arena.catalog.audit import audit
from arena.catalog.catalog import Catalog, load_catalog
from arena.evaluation.evaluate import evaluate
from arena.evaluation.verdict import Submission

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
        "Number of hosts: 8. Only lab-spare-01 is not reachable.",
        "There are 8 in total, and lab-spare-01 is down.",
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
        "Offline: iPhone 12, iPad Air and Lantern Box HD, unit 2.",
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
        "host lab-spare-01: critical (offline)\ndevice pixel-8 (Pixel 8, Android 15) on host "
        "lab-mobile-01: healthy",
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
