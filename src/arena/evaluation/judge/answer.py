"""Reads what a model said as a vote, or says why it is none. There is no second, kinder reading."""

import json
from collections.abc import Sequence
from typing import Annotated, NoReturn, cast

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from arena.evaluation.judge.prompt import keys
from arena.models.completion import Completion
from arena.text import storable

MAX_TEXT = 10_000
"""Characters of a reason or a quote; who says more is not answering the question."""


class BadAnswer(Exception):
    """The answer is not a vote."""


class Scored(BaseModel):
    """What a model said about one criterion."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    quote: Annotated[str, StringConstraints(max_length=MAX_TEXT)]
    reason: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)]
    score: Annotated[int, Field(ge=0, le=100)]


def read_answer(completion: Completion, count: int) -> list[Scored]:
    """The scores in the order of the criteria; raises `BadAnswer`."""
    return read_text(complete_text(completion), count)


def complete_text(completion: Completion) -> str:
    """The text of an answer that is whole, single and nothing but text."""
    if completion.has_tool_calls:
        raise BadAnswer("it calls a tool, and has none")
    if completion.choices != 1:
        raise BadAnswer(f"there are {completion.choices} answers")
    if completion.refusal:
        raise BadAnswer("the model refused to judge")
    if completion.finish_reason != "stop":
        raise BadAnswer(f"it was cut: finish_reason is {completion.finish_reason!r}")
    if not completion.text:
        raise BadAnswer("it is empty")
    return completion.text


def read_text(text: str, count: int) -> list[Scored]:
    """The scores in a text, which must be one JSON object of the right form and nothing else."""
    try:
        value: object = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except RecursionError:
        raise BadAnswer("it is nested too deep") from None
    except ValueError as error:
        raise BadAnswer(f"it is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadAnswer("it is not a JSON object")
    return _scores(cast(dict[str, object], value), keys(count))


def _scores(answer: dict[str, object], wanted: Sequence[str]) -> list[Scored]:
    missing = [key for key in wanted if key not in answer]
    if missing:
        raise BadAnswer(f"{missing[0]} is missing")
    extra = sorted(answer.keys() - set(wanted))
    if extra:
        raise BadAnswer(f"there is no criterion {extra[0][:40]!r}")
    return [_scored(key, answer[key]) for key in wanted]


def _scored(key: str, value: object) -> Scored:
    try:
        read = Scored.model_validate(value)
    except ValidationError as wrong:
        first = wrong.errors(include_url=False, include_input=False)[0]
        place = ".".join((key, *(str(step)[:40] for step in first["loc"])))
        raise BadAnswer(f"{place}: {first['msg']}") from None
    if not read.reason.strip():
        raise BadAnswer(f"{key}.reason is empty")
    return Scored(quote=storable(read.quote), reason=storable(read.reason), score=read.score)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object whose keys are all different: the last of two would silently win."""
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadAnswer(f"{twice[:40]!r} stands there twice")
    return made


def _refuse_constant(name: str) -> NoReturn:
    raise BadAnswer(f"{name} is not JSON")
