"""What words mean here: many phrasings, few ideas.

A concept is an idea that intents are told apart by. The table lists the phrasings of each; they are
stemmed like the prompt, and the longest phrase wins over the words inside it.
"""

from collections.abc import Sequence
from enum import StrEnum

from arena.lab.words import stems_of


class Concept(StrEnum):
    """The ideas that prompts are made of."""

    INTERFACE = "interface"
    NODE = "node"
    EDGE = "edge"
    TREE = "tree"
    TESTCASE = "testcase"
    REQUIREMENT = "requirement"
    COVERAGE = "coverage"
    LACK = "lack"
    GAP = "gap"
    RESULT = "result"
    DEVICE = "device"
    HOST = "host"
    SERVICE = "service"
    HEALTH = "health"
    STATUS = "status"
    LIST = "list"
    GO = "go"
    LOAD = "load"
    EXECUTE = "execute"
    DISCOVER = "discover"
    SUMMARY = "summary"
    HELP = "help"
    POSITION = "position"
    CONTINUE = "continue"
    PASSED = "passed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    ERROR = "error"
    WEB = "web"
    MOBILE = "mobile"
    STB = "stb"
    NOT = "not"


PHRASES: dict[Concept, str] = {
    Concept.INTERFACE: (
        "user interface, userinterface, interface, ui, uis, gui, guis, application, app, "
        "frontend, front end, product under test, application under test, app under test"
    ),
    Concept.NODE: "node, screen, page, dialog, dialogue",
    Concept.EDGE: (
        "edge, transition, connection, connected, arrow, hang together, belong together"
    ),
    Concept.TREE: (
        "navigation tree, tree, navigation map, map, sitemap, site map, structure, graph, "
        "navigation model, hierarchy, navigation structure, menu structure"
    ),
    Concept.TESTCASE: (
        "test case, testcase, test, scenario, test script, test scenario, tested, regression, "
        "test suite"
    ),
    Concept.REQUIREMENT: (
        "requirement, req, specification, spec, user story, acceptance criterion, acceptance "
        "criteria, must do, must be able, supposed to do, has to do, expected to do, be able "
        "to, what must"
    ),
    Concept.COVERAGE: (
        "coverage, cover, covered, covering, uncovered, not covered, not been covered, exercised"
    ),
    Concept.LACK: (
        "uncovered, not covered, not been covered, not been tested, without, untested, not "
        "tested, lack, lacking, missing, no test, no test case, unverified, nobody tests, "
        "never tested, not verified, not yet covered, nothing tests, no coverage, "
        "unprotected, left out, neglected, no scenario"
    ),
    Concept.GAP: (
        "gap, hole, blind spot, weak spot, white spot, what is missing, what are we missing, "
        "where are we thin, fall short, falls short, should we write next, shortcoming"
    ),
    Concept.RESULT: (
        "result, outcome, execution, history, last run, latest run, previous run, recent run, "
        "past run, test run, ran, verdict, test report, turned out, went, did it go, how did, "
        "last executed, executed last, last night, previous execution, the run, nightly run, "
        "regression run, this run, our run, been executed, came of, come of, what happened"
    ),
    Concept.DEVICE: (
        "device, phone, handset, tablet, set top box, settop box, box, browser, hardware, "
        "equipment, battery, temperature, gadget, unit"
    ),
    Concept.HOST: "host, machine, server, computer, workstation, host computer",
    Concept.SERVICE: "service, daemon, backend, back end, background process, micro service",
    Concept.HEALTH: (
        "health, healthy, unhealthy, vital, degraded, trouble, problem, incident, alert, in "
        "order, sick, well being, alarm, warning, wrong, in good shape, diagnostic, "
        "threshold, health check, alive, in shape, attention"
    ),
    Concept.STATUS: (
        "status, state, condition, online, offline, availability, busy, reachable, up, down, "
        "charged, idle, free, doing, maintenance"
    ),
    Concept.LIST: (
        "list, show, enumerate, which, what, give, name, tell, display, all, available, "
        "every, overview, inventory, print, exist, there, present, see, catalogue of, how "
        "many, know of, can you test, can be tested"
    ),
    Concept.GO: (
        "navigate, go, get me, get us, open, take, bring, move, reach, get to, walk, head, "
        "visit, switch to, jump, way to, route, path, make your way, find your way, steer, "
        "lead, return, drive, land on, show up on, get back, bring up, proceed, back to"
    ),
    Concept.LOAD: (
        "load, open, fetch, read, retrieve, get, pull up, detail, describe, step, look up, "
        "bring up, content, definition, consist, made of, look at, inspect, prepare, import, "
        "into memory, do in, contain"
    ),
    Concept.EXECUTE: (
        "execute, run, perform, start, launch, kick off, carry out, try, replay, rerun, re "
        "run, run through, put through, exercise, repeat, walk through, trigger, do a run"
    ),
    Concept.DISCOVER: (
        "discover, discovery, find, scan, detect, network, connected, plugged, part of the "
        "lab, look around, identify, registered, address, explore, locate, ip"
    ),
    Concept.SUMMARY: (
        "summary, summarise, summarize, overview, how much, percentage, percent, ratio, "
        "figure, how many, how well, share, proportion, sum up, report, statistic, in total, "
        "to what extent, how far, brief"
    ),
    Concept.HELP: (
        "what can you do, who are you, capability, help me, what do you do, how can you help, "
        "introduce yourself, your skills, your job, hello, hi, what are you"
    ),
    Concept.POSITION: (
        "where are you, where am i, current screen, current node, current position, which "
        "screen are you on, which node are you on"
    ),
    Concept.CONTINUE: "from here, from there, continue, carry on, go on",
    Concept.PASSED: "passed, pass, green, succeeded, success, successful",
    Concept.FAILED: (
        "failed, fail, gone wrong, went wrong, go wrong, failure, failing, red, broke, "
        "broken, unsuccessful, did not pass, not passed"
    ),
    Concept.TIMEOUT: (
        "timeout, time out, timed out, too long, hang, hung, stuck, ran out of time, ran into "
        "its time limit, too slow, too slowly, time limit, in time, deadline, freeze, froze, "
        "timing out, exceeded its time, never finished, respond, unresponsive, stall, "
        "stalled, slow"
    ),
    Concept.ERROR: "error, could not start, could not be executed, crash, crashed",
    Concept.WEB: "web, website, browser, desktop",
    Concept.MOBILE: "mobile, phone, tablet, smartphone, handset",
    Concept.STB: "stb, box, set top box, settop box, set top, television, tv",
    Concept.NOT: "do not, never, not, without, no need to, instead of, rather than, avoid",
}


def phrase_table() -> dict[tuple[str, ...], frozenset[Concept]]:
    """Every phrasing, stemmed, with the ideas it stands for."""
    table: dict[tuple[str, ...], frozenset[Concept]] = {}
    for concept, phrasings in PHRASES.items():
        for phrasing in phrasings.split(","):
            key = stems_of(phrasing)
            table[key] = table.get(key, frozenset()) | {concept}
    return table


TABLE = phrase_table()
LONGEST = max(len(key) for key in TABLE)
NEGATION_REACH = 3
"""How many words after a "not" a verb is taken as denied."""


def concepts_in(stems: Sequence[str]) -> frozenset[Concept]:
    """The ideas of a text.

    A walk that is denied counts for nothing at that place. An execution that is denied counts for
    nothing in the whole text: who says "do not start any" must never see one started.
    """
    found: set[Concept] = set()
    denied: set[Concept] = set()
    denied_until = -1
    place = 0
    while place < len(stems):
        size, ideas = longest_phrase(stems, place)
        if place <= denied_until:
            denied |= ideas & {Concept.EXECUTE}
            ideas -= {Concept.GO}
        if Concept.NOT in ideas:
            denied_until = place + size - 1 + NEGATION_REACH
        found |= ideas
        place += max(size, 1)
    return frozenset(found - denied)


def longest_phrase(stems: Sequence[str], place: int) -> tuple[int, frozenset[Concept]]:
    """The longest phrasing that starts at this word, and its ideas."""
    for size in range(min(LONGEST, len(stems) - place), 0, -1):
        ideas = TABLE.get(tuple(stems[place : place + size]))
        if ideas:
            return size, ideas
    return 0, frozenset()
