"""Reading a prompt: its words, the names in it, and what it asks for."""

import pytest

from arena.lab.lab import open_lab
from arena.lab.prompt import Intent, Names, Request, kind_of, words_of
from arena.lab.records import Platform

LAB = open_lab()
NAMES = Names(LAB)

PHRASINGS: dict[Intent | None, list[str]] = {
    Intent.LIST_USERINTERFACES: [
        "List all available user interfaces in the system",
        "Name every UI that belongs to your area.",
        "I would like an inventory of the interfaces we look after.",
        "What products with a user interface are registered here?",
        "Could you enumerate the GUIs?",
        "What user interfaces does the laboratory know?",
        "Show me your interfaces, one per line.",
    ],
    Intent.NAVIGATE: [
        "Navigate to the home node",
        "Take me to the start screen of the web shop",
        "Move to the flux_capacitor node",
        "Get the app back to its landing page",
        "Bring the product back to the place where everything starts, the main page.",
        "Please walk to the settings.",
        "Switch over to the login page of the shop",
        "Get me to the programme guide",
        "Can you reach the downloads screen on pixel-8?",
        "Starting at the splash screen, move on to the profile",
        "Head to the search page",
        "Open settings in the app",
        "Walk the interface to the title details and stop there.",
        "Let's visit the home screen.",
    ],
    Intent.DESCRIBE_TREE: [
        "Show me the navigation tree",
        "Explain how the screens of stb_main hang together.",
        "Draw the map of the kids interface: every screen and every transition",
        "What does the menu structure of ios_app look like?",
        "Give me the graph of nodes.",
        "List nodes and edges, please.",
        "I want to understand the navigation of web_shop; describe its tree.",
        "How is one screen linked with the next in the shop? Show the whole tree.",
        "Which transitions does android_app have?",
    ],
    Intent.DEVICE_STATUS: [
        "Are all phones online?",
        "Which of our phones are charged and ready to use?",
        "Tell me what the hardware is doing right now",
        "Is iphone-12 still there?",
        "How are the set-top boxes?",
        "Give an account of the state of all equipment",
        "Report which devices are offline.",
        "Do we have a browser that is free?",
        "Battery levels, please",
        "Give me the present condition of safari-01.",
    ],
    Intent.HEALTH_CHECK: [
        "Run a health check",
        "Is everything in the lab working as it should, or are there incidents?",
        "Which services are in trouble?",
        "How is the video-capture service?",
        "Any alarms at the moment?",
        "Do a check-up of all services and say which are not healthy.",
        "Does any host need attention?",
        "Give me a health report",
        "Are there warnings?",
    ],
    Intent.LIST_HOSTS: [
        "Discover the hosts on the network",
        "Which computers make up the laboratory, and where do they stand?",
        "Look around the network and tell me what machines answer",
        "Identify all servers we can use",
        "What runs on lab-core-01?",
        "Which hosts are there, and are they up?",
        "Scan the lab for machines.",
        "Show the address of every host",
        "What servers do devices hang on?",
    ],
    Intent.LIST_TESTCASES: [
        "Don't execute anything, just list the test cases",
        "What scenarios exist for android_app?",
        "I need an overview of our test suite",
        "How many tests are there?",
        "Show all tests you could execute, do not start any.",
        "What is in your test suite?",
        "Give me the titles of your test cases",
    ],
    Intent.LOAD_TESTCASE: [
        "Load test case TC-WEB-04",
        "Load TC-WEB-99",
        "Fetch the definition of TC-MOB-02",
        "Let me see the steps of the scenario 'Watch live television'",
        "Prepare test case TC-STB-05 so that I can read it",
        "Open TC-WEB-02",
        "Read me the test case TC-MOB-06",
        "What steps does TC-STB-01 consist of?",
        "Retrieve the scenario called 'Cast a film to the television'",
    ],
    Intent.EXECUTE_TESTCASE: [
        "Execute TC-WEB-04",
        "Run the test that pays with a saved card",
        "Please carry out TC-MOB-03 on the pixel-8",
        "Start the scenario 'Find a plan by search'",
        "Try the live television test",
        "Perform the most important test",
        "Launch TC-STB-02.",
        "Could you run the sign in test for me?",
        "Execute the test case 'Play a title on iOS' and report each step",
        "Repeat TC-WEB-06 on firefox-01",
        "Run the whole regression",
    ],
    Intent.RESULTS: [
        "Which tests failed?",
        "What came out of the executions so far?",
        "Did the tests pass lately?",
        "Show me the history of TC-STB-06",
        "What was the outcome of EX-1019?",
        "Report on the last 3 executions",
        "Give me the results.",
        "How many executions failed and how many passed?",
        "What is the latest outcome of TC-WEB-04?",
        "Which test ran into a timeout?",
        "How did the nightly run go?",
    ],
    Intent.COVERAGE: [
        "Give me a coverage summary",
        "To what extent do our tests cover what is demanded?",
        "Sum up how the requirements are covered",
        "Tell me the percentage of requirements that have tests",
        "Coverage, please",
        "How good is our test coverage?",
        "Which share of the requirements is covered?",
        "Write a short coverage report",
    ],
    Intent.LIST_REQUIREMENTS: [
        "List all requirements",
        "What is demanded of the set-top box? Show the specifications.",
        "Enumerate the user stories",
        "Tell me about REQ-STB-07",
        "Which requirements are there for mobile?",
        "Read out all requirements with their priority",
    ],
    Intent.UNCOVERED: [
        "Which requirements have no test case?",
        "Which demands does nobody test? I mean requirements with no test.",
        "Show requirements that have not been covered",
        "Which requirements are still untested?",
        "Find requirements that no test case covers",
        "What requirements remain uncovered?",
        "Which high priority requirements have no tests at all?",
    ],
    Intent.GAPS: [
        "Do a test gap analysis",
        "Analyze testing gaps",
        "Give me a gap analysis of the tests",
        "What holes does our test coverage have?",
        "Which tests should we write next?",
        "Analyse the coverage gaps per platform",
    ],
    Intent.HELP: [
        "What can you do?",
        "Who are you?",
        "Hello! How can you help me?",
        "What are your capabilities?",
    ],
    None: [
        "Write me a poem about the sea",
        "What is the capital of France?",
        "Bake a cake",
        "🙂",
        "1 2 3",
        "Tell me a joke",
        "Translate this sentence into French",
        "What time is it?",
    ],
}


def named(request: Request, kind: str) -> set[str]:
    return {record.id for record in request.mentioned if kind_of(record) == kind}


CASES = [(prompt, intent) for intent, prompts in PHRASINGS.items() for prompt in prompts]


@pytest.mark.parametrize(("prompt", "intent"), CASES)
def test_a_prompt_is_understood(prompt: str, intent: Intent | None) -> None:
    assert NAMES.read(prompt).intent is intent


@pytest.mark.parametrize(("prompt", "intent"), CASES)
def test_capitals_and_white_space_change_nothing(prompt: str, intent: Intent | None) -> None:
    assert NAMES.read(prompt.lower().replace(" ", "\n  ")).intent is intent


def test_every_intent_has_a_prompt_that_means_it() -> None:
    assert set(Intent) <= set(PHRASINGS)


@pytest.mark.parametrize(
    "prompt",
    [
        "Please do not execute TC-WEB-04",
        "List the tests, but don't run them",
        "Show all tests you could execute, do not start any.",
        "Never launch the regression",
        "What was the result of the last run of TC-WEB-04?",  # mentions a run, orders none
    ],
)
def test_nothing_is_executed_without_an_order(prompt: str) -> None:
    assert NAMES.read(prompt).intent is not Intent.EXECUTE_TESTCASE


@pytest.mark.parametrize("text", ["TC-WEB-04", "tc web 4", "TC_WEB_4", "tc‑web‑04", "TCWEB 04"])
def test_one_name_in_many_spellings_is_the_same_words(text: str) -> None:
    assert "".join(words_of(text)) == "tcweb4"


def test_a_short_not_is_read_as_not() -> None:
    assert words_of("aren't") == words_of("are not")
    assert words_of("don’t") == words_of("do not")


@pytest.mark.parametrize(
    ("prompt", "kind", "name"),
    [
        ("look at tc web 4", "testcase", "TC-WEB-04"),
        ("the shopping basket", "node", "cart"),
        ("back office", "userinterface", "web_backoffice"),
        ("the iPhone 15", "device", "iphone-15"),
        ("Galaxy-A14", "device", "galaxy-a14"),
        ("192.0.2.31", "host", "lab-stb-01"),
        ("result store", "service", "result-store"),
        ("req stb 7", "requirement", "REQ-STB-07"),
        ("ex 1019", "execution", "EX-1019"),
    ],
)
def test_a_thing_is_recognised_by_any_of_its_names(prompt: str, kind: str, name: str) -> None:
    assert named(NAMES.read(prompt), kind) == {name}


def test_a_long_name_hides_the_short_ones_inside_it() -> None:
    assert named(NAMES.read("search results"), "node") == {"search_results"}


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in LAB.testcases])
def test_every_test_case_is_found_by_its_id_and_by_its_title(case) -> None:
    assert NAMES.read(f"execute {case.id}").mentioned == (case,)
    assert NAMES.read(f"execute '{case.title}'").mentioned == (case,)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("open 'Swimming pool' now", ("Swimming pool",)),
        ('open "warp" and `drive`', ("warp", "drive")),
        ("go to flux_capacitor.", ("flux_capacitor",)),
        ("load TC-WEB-99, please", ("TC-WEB-99",)),
        ("open web_shopp", ("web_shopp",)),
        ("open 'Gift cards' on web_shop", ()),  # both exist
        ("the set-top box's up-to-date sign-in page isn't slow", ()),
        ("it's 5 o'clock", ()),
    ],
)
def test_a_name_that_nothing_has_is_unknown(text: str, names: tuple[str, ...]) -> None:
    assert NAMES.read(text).unknown == names


def test_near_names_are_offered_best_first() -> None:
    assert NAMES.near("web_shopp")[0].id == "web_shop"
    assert NAMES.near("zzz") == ()


def test_the_platform_is_read_from_the_words_for_its_devices() -> None:
    assert NAMES.read("the tablets").platforms == {Platform.MOBILE}
    assert NAMES.read("web and television").platforms == {Platform.WEB, Platform.STB}


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("wait at most 500 ms", 500),
        ("within 2 seconds", 2000),
        ("no longer than 1.5s", 1500),
        ("run a second test", None),
        ("250 milliseconds", 250),
        ("step 4", None),
        ("TC-WEB-04 s", None),
    ],
)
def test_a_length_of_time_is_read(text: str, milliseconds: int | None) -> None:
    assert NAMES.read(text).limit_ms == milliseconds


def test_the_end_of_a_very_long_prompt_is_not_read() -> None:
    assert NAMES.read("go " * 5000 + "TC-WEB-04").mentioned == ()
