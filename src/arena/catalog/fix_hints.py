"""How to close a hole that the audit found in a test: one concrete hint for each kind."""

from collections.abc import Mapping

from arena.evaluation.grader import GRADERS
from arena.evaluation.standard import VALIDATIONS, Standard, leaves

NAMES = {kind: name for name, kind in VALIDATIONS.items()}

BY_AGENT: Mapping[str, str] = {
    "echo": "ask for something that is not in the question: a name, a figure, a reason",
    "silence": "also require something: add a part with contains, number or json_schema",
    "refusal": "require what only a useful answer has, or forbid refusals with not_contains",
    "apology": "require what only a useful answer has, or forbid error messages with not_contains",
    "nobody": "remove the forbidden word, or the required one",
    "solution": "correct the solution or the standard: one of them is wrong",
    "keywords": "forbid the wrong answers with not_contains, or ask for one value: exact, number "
    "or json_schema with const",
    "json": "fix the values that matter: const, enum, minItems or pattern in the schema",
    "claims": "let Arena play the tool (tools), and also require something that only its result "
    "tells",
    "exit": "make the verification fail unless it reaches its end: use score: junit with "
    "min_cases, or score: json",
    "constant": "add cases with other expected values, or raise pass_score",
    "nan": "not a number is neither greater nor less: assert that the difference is small "
    "(abs(a - b) <= limit, math.isclose), not that it is not large",
    "empties": "the code changes its arguments in place: compute the expected value before the "
    "call, or give the code a copy",
    "hooks": "let the command ignore files of the workspace: run with python -I or "
    "--noconftest, and list what may be changed in collect",
    "plea": "give the judge criteria with facts to look for, and combine it (all_of) with a plain "
    "validation",
}
"""By the agent of the finding."""

BY_STANDARD: Mapping[tuple[str, str], str] = {
    ("echo", "regex"): "let the pattern match something that is not in the question",
    ("echo", "contains_any"): "remove the words that stand in the question from contains_any",
    ("silence", "not_contains"): "not_contains alone is passed by silence: combine it (all_of) "
    "with contains",
    ("silence", "regex"): "the pattern matches an empty text: require at least one character that "
    "matters",
    ("silence", "latency"): "doing nothing is fast: combine latency (all_of) with a standard for "
    "the answer",
    ("silence", "cost"): "doing nothing is free: combine cost (all_of) with a standard for the "
    "answer",
    ("silence", "tokens"): "doing nothing uses no tokens: combine tokens (all_of) with a standard "
    "for the answer",
    ("silence", "steps"): "doing nothing takes no steps: combine steps (all_of) with a standard "
    "for the answer",
    ("silence", "tool_not_called"): "doing nothing calls no tool: combine tool_not_called "
    "(all_of) with a standard for the answer",
    ("silence", "verify"): "the workspace already passes as it is given: verify something that is "
    "still to be done",
    ("keywords", "regex"): "anchor the pattern (^…$), or forbid the wrong answers with "
    "not_contains",
    ("keywords", "contains"): "a list of every likely word passes: ask for one value (exact, "
    "number), or forbid the wrong ones with not_contains",
    ("keywords", "contains_any"): "a list of every likely word passes: ask for one value (exact, "
    "number), or forbid the wrong ones with not_contains",
    ("json", "regex"): "the pattern matches empty JSON: use json_schema with the values that "
    "matter",
    **{
        ("exit", kind): "expect one exception by its name, and also some values: code that raises "
        "SystemExit must fail"
        for kind in GRADERS
    },
    **{
        ("constant", kind): "assert values that differ from call to call, or raise pass_score"
        for kind in GRADERS
    },
    **{
        (
            "silence",
            kind,
        ): "the script accepts an empty answer: let it assert what only a good answer "
        "has, and return 0 otherwise"
        for kind in GRADERS
    },
    ("exit", "test_cases"): "add cases whose expected value is not what a program prints that "
    "ends at once",
    ("constant", "test_cases"): "most cases expect the same value: add cases with others, or "
    "raise pass_score",
}
"""By the agent of the finding and a validation of the test, where that says more."""


def hint_for(agent: str, standard: Standard) -> str:
    """How to close the hole that this agent found."""
    for leaf in leaves(standard):
        if found := BY_STANDARD.get((agent, NAMES.get(type(leaf), ""))):
            return found
    return BY_AGENT.get(agent, "")
