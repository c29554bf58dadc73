"""Prompts in many words, and what they want."""

import pytest

from arena.lab.intents import Intent, recognise
from arena.lab.lab import open_lab
from arena.lab.names import Names
from arena.lab.request import understand

NAMES = Names(open_lab())

FAMILIAR: dict[Intent | None, list[str]] = {
    Intent.LIST_USERINTERFACES: [
        "List all available user interfaces in the system",
        "Name every UI that belongs to your area.",
        "I would like an inventory of the interfaces we look after.",
        "What products with a user interface are registered here?",
        "Could you enumerate the GUIs?",
    ],
    Intent.NAVIGATE: [
        "Navigate to the home node",
        "Take me to the start screen of the web shop",
        "Move to the flux_capacitor node",
        "Get the app back to its landing page",
        "Bring the product back to the place where everything starts, the main page.",
        "Please walk to the settings.",
        "I want to be on the player screen.",
        "Switch over to the login page of the shop",
        "Get me to the programme guide",
        "Can you reach the downloads screen on pixel-8?",
        "Starting at the splash screen, move on to the profile",
    ],
    Intent.DESCRIBE_TREE: [
        "Show me the navigation tree",
        "Explain how the screens of stb_main hang together.",
        "Draw the map of the kids interface: every screen and every transition",
        "What does the menu structure of ios_app look like?",
        "Give me the graph of nodes.",
    ],
    Intent.DEVICE_STATUS: [
        "Are all phones online?",
        "Which of our phones are charged and ready to use?",
        "Tell me what the hardware is doing right now",
        "Is iphone-12 still there?",
        "How are the set-top boxes?",
        "Give an account of the state of all equipment",
    ],
    Intent.HEALTH_CHECK: [
        "Run a health check",
        "Is everything in the lab working as it should, or are there incidents?",
        "Which services are in trouble?",
        "Examine the vital signs of the backend",
        "How is the video-capture service?",
        "Any alarms at the moment?",
    ],
    Intent.LIST_HOSTS: [
        "Discover the hosts on the network",
        "Which computers make up the laboratory, and where do they stand?",
        "Look around the network and tell me what machines answer",
        "Identify all servers we can use",
        "What runs on lab-core-01?",
    ],
    Intent.LIST_TESTCASES: [
        "Don't execute anything, just list the test cases",
        "What scenarios exist for android_app?",
        "I need an overview of our test suite",
        "How many tests are there?",
        "Enumerate the test scripts that belong to REQ-WEB-03",
    ],
    Intent.LOAD_TESTCASE: [
        "Load test case TC-WEB-04",
        "Load TC-WEB-99",
        "Fetch the definition of TC-MOB-02",
        "Let me see the steps of the scenario 'Watch live television'",
        "Prepare test case TC-STB-05 so that I can read it",
        "Pull up the test about gift cards",
    ],
    Intent.EXECUTE_TESTCASE: [
        "Execute TC-WEB-04",
        "Run the test that pays with a saved card",
        "Please carry out TC-MOB-03 on the pixel-8",
        "Start the scenario 'Find a plan by search'",
        "Try the live television test",
        "Perform the most important test",
    ],
    Intent.RESULTS: [
        "Which tests failed?",
        "What came out of the executions so far?",
        "Did the tests pass lately?",
        "Show me the history of TC-STB-06",
        "Which scenarios have gone wrong recently?",
        "What was the outcome of EX-1019?",
        "Report on the last 3 executions",
    ],
    Intent.COVERAGE: [
        "Give me a coverage summary",
        "To what extent do our tests cover what is demanded?",
        "Sum up how the requirements are covered",
        "Tell me the percentage of requirements that have tests",
        "Coverage, please",
    ],
    Intent.LIST_REQUIREMENTS: [
        "List all requirements",
        "What is demanded of the set-top box? Show the specifications.",
        "Enumerate the user stories",
        "Tell me about REQ-STB-07",
        "What are the products supposed to do?",
    ],
    Intent.UNCOVERED: [
        "Which requirements have no test case?",
        "Which demands does nobody test? I mean requirements with no test.",
        "Are there specifications that lack a test case?",
        "Show requirements that have not been covered",
        "Which requirements are still untested?",
    ],
    Intent.GAPS: [
        "Do a test gap analysis",
        "Where do our tests fall short?",
        "Find the weak spots of the test suite and say what to write next",
        "Analyze testing gaps",
        "What are we missing in our tests?",
    ],
    Intent.HELP: [
        "What can you do?",
        "Who are you?",
        "Hello! How can you help me?",
    ],
    None: [
        "Write me a poem about the sea",
        "What is the capital of France?",
        "Bake a cake",
        "🙂",
        "1 2 3",
    ],
}
"""Phrasings that the synonyms were written with."""

FRESH: dict[Intent | None, list[str]] = {
    Intent.LIST_USERINTERFACES: [
        "What user interfaces does the laboratory know?",
        "Show me your interfaces, one per line.",
        "Please make a list of the applications under test.",
    ],
    Intent.NAVIGATE: [
        "Head to the search page",
        "Open settings in the app",
        "Walk the interface to the title details and stop there.",
        "Let's visit the home screen.",
        "Make your way to node profile",
    ],
    Intent.DESCRIBE_TREE: [
        "List nodes and edges, please.",
        "I want to understand the navigation of web_shop; describe its tree.",
        "How is one screen linked with the next in the shop? Show the whole tree.",
        "Which transitions does android_app have?",
    ],
    Intent.DEVICE_STATUS: [
        "Report which devices are offline.",
        "Do we have a browser that is free?",
        "Battery levels, please",
        "Give me the present condition of safari-01.",
    ],
    Intent.HEALTH_CHECK: [
        "Do a check-up of all services and say which are not healthy.",
        "Does any host need attention?",
        "Give me a health report",
        "Are there warnings?",
    ],
    Intent.LIST_HOSTS: [
        "Which hosts are there, and are they up?",
        "Scan the lab for machines.",
        "Show the address of every host",
        "What servers do devices hang on?",
    ],
    Intent.LIST_TESTCASES: [
        "Show all tests you could execute, do not start any.",
        "What is in your test suite?",
        "Give me the titles of your test cases",
    ],
    Intent.LOAD_TESTCASE: [
        "Open TC-WEB-02",
        "Read me the test case TC-MOB-06",
        "What steps does TC-STB-01 consist of?",
        "Retrieve the scenario called 'Cast a film to the television'",
    ],
    Intent.EXECUTE_TESTCASE: [
        "Launch TC-STB-02.",
        "Could you run the sign in test for me?",
        "Execute the test case 'Play a title on iOS' and report each step",
        "Repeat TC-WEB-06 on firefox-01",
        "Run the whole regression",
    ],
    Intent.RESULTS: [
        "Give me the results.",
        "How many executions failed and how many passed?",
        "What is the latest outcome of TC-WEB-04?",
        "Which test ran into a timeout?",
        "How did the nightly run go?",
    ],
    Intent.COVERAGE: [
        "How good is our test coverage?",
        "Which share of the requirements is covered?",
        "Write a short coverage report",
    ],
    Intent.LIST_REQUIREMENTS: [
        "Which requirements are there for mobile?",
        "Read out all requirements with their priority",
        "What should the box be able to do?",
    ],
    Intent.UNCOVERED: [
        "Find requirements that no test case covers",
        "What requirements remain uncovered?",
        "Which high priority requirements have no tests at all?",
    ],
    Intent.GAPS: [
        "Give me a gap analysis of the tests",
        "What holes does our test coverage have?",
        "Which tests should we write next?",
        "Analyse the coverage gaps per platform",
    ],
    Intent.HELP: [
        "What are your capabilities?",
    ],
    None: [
        "Tell me a joke",
        "Translate this sentence into French",
        "What time is it?",
    ],
}
"""Phrasings that were written after the synonyms, to see how far they carry."""


def cases(phrasings: dict[Intent | None, list[str]]) -> list[tuple[str, Intent | None]]:
    return [(prompt, intent) for intent, prompts in phrasings.items() for prompt in prompts]


@pytest.mark.parametrize(("prompt", "intent"), [*cases(FAMILIAR), *cases(FRESH)])
def test_a_prompt_is_understood(prompt: str, intent: Intent | None) -> None:
    assert recognise(understand(prompt, NAMES)) is intent


@pytest.mark.parametrize("prompt", [prompt for prompt, _ in [*cases(FAMILIAR), *cases(FRESH)]])
def test_capitals_and_white_space_change_nothing(prompt: str) -> None:
    plain = recognise(understand(prompt, NAMES))

    assert recognise(understand(prompt.lower().replace(" ", "\n  "), NAMES)) is plain


@pytest.mark.parametrize(
    "prompt",
    [
        "Please do not execute TC-WEB-04",
        "List the tests, but don't run them",
        "Show all tests you could execute, do not start any.",
        "Never launch the regression",
    ],
)
def test_who_says_not_to_execute_never_sees_an_execution(prompt: str) -> None:
    assert recognise(understand(prompt, NAMES)) is not Intent.EXECUTE_TESTCASE


def test_every_intent_has_a_prompt_that_means_it() -> None:
    assert set(Intent) - {Intent.POSITION} <= set(FAMILIAR)
    assert recognise(understand("Where are you now?", NAMES)) is Intent.POSITION
