"""Reads the bodies of the graded standards: test cases, a judge's criteria, a checklist."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from arena.errors import InvalidInput
from arena.evaluation.faults import Body, Fault, InvalidStandard, Options, Path, name_of
from arena.evaluation.standard import (
    MIN_PASS_SCORE,
    Checklist,
    Graded,
    JudgeChoice,
    JudgePrompt,
    TestCases,
)
from arena.sandbox.arguments import checked_name
from arena.sandbox.languages import FUNCTION_LANGUAGES, check_language, normal_language
from arena.sandbox.ports import TestCase

MAX_CASES = 100_000
MAX_ITEMS = 1000
MAX_CRITERIA = 50
MAX_VOTES = 25
COMMITMENT = re.compile("[0-9a-f]{64}")


def _test_cases(body: dict[object, object], here: Body) -> TestCases | None:
    allowed = ("functionName", "tolerance", "language", "pass_score", "sealed")
    if not here.only(body, needs="cases", allows=allowed):
        return None
    function_name = _function_name(body, here)
    language = _language(body, here, function_name)
    tolerance = _tolerance(body, here)
    pass_score = here.pass_score(body)
    sealed = _sealed(body["sealed"], here.inside("sealed")) if "sealed" in body else ()
    # A standard may keep all its cases to itself.
    fewest = 0 if sealed else 1
    listed = _listed(body["cases"], here.inside("cases"), "case", MAX_CASES, fewest=fewest)
    cases = [_case(one, here.inside("cases", i), function_name) for i, one in enumerate(listed)]
    return TestCases(
        function_name=function_name,
        cases=tuple(case for case, _ in cases),
        languages=tuple(own or language for _, own in cases),
        language=language,
        tolerance=tolerance,
        pass_score=pass_score or MIN_PASS_SCORE,
        sealed=sealed,
    )


def with_hidden_cases(standard: TestCases, documents: Sequence[object]) -> TestCases:
    """The standard with its hidden cases behind the public ones, or all that is wrong with them."""
    faults: list[Fault] = []
    here = Body(at=("sealed",), faults=faults, options=Options())
    hidden = [_case(one, here.inside(i), standard.function_name) for i, one in enumerate(documents)]
    if faults:
        raise InvalidStandard(faults)
    languages = (own or standard.language for _, own in hidden)
    return replace(
        standard,
        cases=(*standard.cases, *(case for case, _ in hidden)),
        languages=(*standard.languages, *languages),
    )


def _sealed(value: object, here: Body) -> tuple[str, ...]:
    commitments = _texts(value, here, "commitment", MAX_CASES)
    for i, commitment in enumerate(commitments):
        if not COMMITMENT.fullmatch(commitment):
            here.fault((i,), "must be a commitment of 64 hexadecimal digits")
    return tuple(commitments)


def _case(value: object, here: Body, function_name: str | None) -> tuple[TestCase, str | None]:
    """One case and the language it asks for."""
    nothing = TestCase(input=[], expected=None)
    if not isinstance(value, dict):
        here.fault((), f"must be a mapping with 'input' and 'expected', is {name_of(value)}")
        return nothing, None
    body = cast(dict[object, object], value)
    allowed = ("input", "desc", "tolerance", "language")
    if not here.only(body, needs="expected", allows=allowed):
        return nothing, None
    arguments = body.get("input", [])
    if not isinstance(arguments, list):
        here.fault(("input",), f"must be a list of arguments, is {name_of(arguments)}")
        arguments = []
    here.json(cast(object, arguments), ("input",))
    here.json(body["expected"], ("expected",))
    desc = body.get("desc", "")
    if not isinstance(desc, str):
        here.fault(("desc",), f"must be a string, is {name_of(desc)}")
        desc = ""
    here.json(desc, ("desc",))
    case = TestCase(
        input=cast(list[object], arguments),
        expected=body["expected"],
        desc=desc,
        tolerance=_tolerance(body, here),
    )
    return case, _language(body, here, function_name)


def _function_name(body: Mapping[object, object], here: Body) -> str | None:
    if "functionName" not in body:
        return None
    name = here.text(body["functionName"], ("functionName",))
    if name is None:
        return None
    try:
        return checked_name(name)
    except InvalidInput as wrong:
        here.fault(("functionName",), wrong.message)
        return None


def _language(body: Mapping[object, object], here: Body, function_name: str | None) -> str | None:
    if "language" not in body:
        return None
    text = here.text(body["language"], ("language",))
    language = normal_language(text) if text else None
    if language and function_name and language not in FUNCTION_LANGUAGES:
        known = " and ".join(FUNCTION_LANGUAGES)
        message = f"functions are called in {known}; for {language} leave functionName out"
        here.fault(("language",), message)
    elif language:
        try:
            check_language(language)
        except InvalidInput as unknown:
            here.fault(("language",), unknown.message)
    return language


def _tolerance(body: Mapping[object, object], here: Body) -> float | None:
    if "tolerance" not in body:
        return None
    tolerance = here.number(body["tolerance"], ("tolerance",))
    if tolerance is not None and tolerance < 0:
        here.fault(("tolerance",), f"must be 0 or more, is {tolerance:g}")
    return tolerance


def _judge_prompt(body: dict[object, object], here: Body) -> JudgePrompt | None:
    allowed = ("criteria", "weights", "pass_score", "judge")
    if not here.only(body, needs="prompt", allows=allowed):
        return None
    prompt = here.text(body["prompt"], ("prompt",))
    criteria: Sequence[str] = ("overall",)
    if "criteria" in body:
        criteria = _texts(body["criteria"], here.inside("criteria"), "criterion", MAX_CRITERIA)
    weights = _weights(body, here, len(criteria))
    pass_score = here.pass_score(body)
    judge = _judge_choice(body["judge"], here.inside("judge")) if "judge" in body else None
    return JudgePrompt(
        prompt=prompt or "",
        criteria=tuple(criteria),
        weights=weights,
        pass_score=pass_score or MIN_PASS_SCORE,
        judge=judge,
    )


def _weights(body: Mapping[object, object], here: Body, count: int) -> tuple[float, ...]:
    if "weights" not in body:
        return (1.0,) * count
    at: Path = ("weights",)
    given = body["weights"]
    if not isinstance(given, list):
        here.fault(at, f"must be a list of numbers, is {name_of(given)}")
        return ()
    listed = cast(list[object], given)
    weights = [here.number(one, ("weights", i)) or 0.0 for i, one in enumerate(listed)]
    if len(weights) != count:
        here.fault(at, f"has {len(weights)} weights for {count} criteria: give one for each")
    for i, weight in enumerate(weights):
        if not 0 <= weight <= 1e6:
            here.fault(("weights", i), f"must be from 0 to 1000000, is {weight:g}")
    if sum(weights) <= 0:
        here.fault(at, "the weights must not all be 0")
    return tuple(weights)


def _judge_choice(value: object, here: Body) -> JudgeChoice | None:
    if not isinstance(value, dict):
        here.fault((), f"must be a mapping, is {name_of(value)}")
        return None
    body = cast(dict[object, object], value)
    here.only(body, needs="models", allows=("votes", "base_url"))
    models: Sequence[str] = ()
    if "models" in body:
        models = _texts(body["models"], here.inside("models"), "model", MAX_VOTES)
    votes = body.get("votes")
    if votes is not None and (
        isinstance(votes, bool) or not isinstance(votes, int) or not 1 <= votes <= MAX_VOTES
    ):
        here.fault(("votes",), f"must be a whole number from 1 to {MAX_VOTES}")
        votes = None
    base_url = here.text(body["base_url"], ("base_url",)) if "base_url" in body else None
    return JudgeChoice(models=tuple(models), votes=votes, base_url=base_url)


def _checklist(body: dict[object, object], here: Body) -> Checklist | None:
    if not here.only(body, needs="items", allows=("pass_score",)):
        return None
    items = _texts(body["items"], here.inside("items"), "item", MAX_ITEMS)
    pass_score = here.pass_score(body)
    return Checklist(items=tuple(items), pass_score=pass_score or MIN_PASS_SCORE)


def _listed(value: object, here: Body, what: str, most: int, *, fewest: int = 1) -> list[object]:
    """`value` as a list with something in it, and not too much."""
    if not isinstance(value, list):
        here.fault((), f"must be a list, is {name_of(value)}")
        return []
    listed = cast(list[object], value)
    if len(listed) < fewest:
        here.fault((), f"must have at least one {what}")
    if len(listed) > most:
        here.fault((), f"has {len(listed)} entries, at most {most} are allowed")
        return []
    return listed


def _texts(value: object, here: Body, what: str, most: int) -> list[str]:
    """`value` as a list of different texts."""
    read = [here.text(one, (i,)) for i, one in enumerate(_listed(value, here, what, most))]
    first: dict[str, int] = {}
    for i, text in enumerate(read):
        if text is not None and first.setdefault(text.strip(), i) != i:
            here.fault((i,), f"{what} {text!r} is there twice")
    return [text for text in read if text is not None]


READERS: dict[str, Callable[[dict[object, object], Body], Graded | None]] = {
    "test_cases": _test_cases,
    "judge_prompt": _judge_prompt,
    "checklist": _checklist,
}
