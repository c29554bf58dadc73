"""The keys of a test that is a conversation: `turns`, or a simulated `user`.

A test with `turns` is read as one with a prompt (the first turn), the texts of all turns, and a
standard: `all_of` the expectations of its turns (`reply`) and its own.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any, cast

from pydantic import (
    BaseModel,
    Field,
    StringConstraints,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from arena.catalog.test import DEFAULT_VALIDATION
from arena.documents.problem import KeyPath
from arena.documents.validation import Fault, type_name
from arena.evaluation.standard import MAX_TURNS
from arena.fields import STRICT

DEFAULT_MAX_TURNS = 10
MAX_FACTS = 100

Text = Annotated[str, StringConstraints(pattern=r"\S")]


class TurnKeys(BaseModel):
    """One turn: what the user says and, optionally, what the reply must satisfy."""

    model_config = STRICT

    user: Text
    expect: dict[str, Any] | None = None


def _read_turn(value: object, handler: ValidatorFunctionWrapHandler) -> TurnKeys:
    """A turn, from its mapping or only its text."""
    if isinstance(value, str):
        return handler({"user": value})
    if not isinstance(value, dict):
        raise ValueError(f"must be a mapping with user and expect, is {type_name(value)}")
    return handler(value)


Turns = Annotated[
    list[Annotated[TurnKeys, WrapValidator(_read_turn)]], Field(min_length=1, max_length=MAX_TURNS)
]


class UserKeys(BaseModel):
    """A simulated user: a model that plays this script."""

    model_config = STRICT

    goal: Text
    persona: Text | None = None
    facts: Annotated[list[Text], Field(max_length=MAX_FACTS)] = []
    first: Text | None = None
    max_turns: Annotated[int, Field(ge=1, le=MAX_TURNS)] = DEFAULT_MAX_TURNS
    stop: Text | None = None


TURN_KEYS = tuple(TurnKeys.model_fields)
USER_KEYS = tuple(UserKeys.model_fields)


class Desugared:
    """The body of a test, with its conversation in the keys that every test has."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.body = dict(body)
        self.faults: list[Fault] = []
        self._turns: list[int] = []
        """Which turn each part of the standard is from."""
        if "turns" in body and "user" in body:
            self._fault("user", "a conversation has turns or a user, not both: leave one out")
        if "turns" in body:
            self._read_turns(body["turns"])
        else:
            self._read_user(body["user"])

    def placed(self, faults: Iterable[Fault]) -> Iterable[Fault]:
        """The faults of the standard, each where its author wrote it."""
        return (replace(fault, path=self._written(fault.path)) for fault in faults)

    def _fault(self, key: str, message: str) -> None:
        self.faults.append(Fault(path=(key,), message=message, of_key=True))

    def _read_turns(self, turns: object) -> None:
        if "prompt" in self.body:
            self._fault("prompt", "the first turn is the prompt: leave prompt out")
        listed = cast(list[object], turns) if isinstance(turns, list) else []
        first = listed[0] if listed else None
        said = first if isinstance(first, str) else _mapping(first).get("user")
        # What is not text is reported by the check of the keys.
        self.body["prompt"] = said if isinstance(said, str) else "-"
        parts: list[dict[str, Any]] = []
        for number, turn in enumerate(listed):
            expect = _mapping(turn).get("expect")
            if isinstance(expect, dict):
                parts.append(_reply(number + 1, cast(dict[str, Any], expect)))
                self._turns.append(number)
        if parts:
            self._combine(parts)

    def _combine(self, parts: list[dict[str, Any]]) -> None:
        """The standard of the whole: the expectations of the turns, then the test's own."""
        own = self.body.pop("expected", None)
        validation = self.body.pop("validation", DEFAULT_VALIDATION)
        if own is not None:
            parts.append({"validation": validation, "expected": own})
        self.body |= {"validation": "all_of", "expected": {"all_of": parts}}
        if self.body.get("pass_score") is None:
            # Every expectation must be met, also where one of them is graded.
            self.body["expected"]["pass_score"] = None

    def _read_user(self, user: object) -> None:
        script, prompt = _mapping(user), self.body.get("prompt")
        if prompt is None:
            # What the test is about; the user says it in words of its own.
            self.body["prompt"] = script.get("first") or script.get("goal") or "-"
        elif "first" in script:
            self._fault("prompt", "the user's first message is in 'user' already: leave prompt out")
        elif script:
            self.body["user"] = {**script, "first": prompt}

    def _written(self, path: KeyPath) -> KeyPath:
        if path[:2] != ("expected", "all_of") or len(path) < 3 or not self._turns:
            return path
        part, rest = cast(int, path[2]), path[3:]
        if part >= len(self._turns):
            return rest
        if rest[:2] == ("expected", "standard"):
            rest = rest[2:]
        return ("turns", self._turns[part], "expect", *rest)


def turn_texts(turns: Iterable[TurnKeys]) -> tuple[str, ...]:
    """What the user says, turn by turn."""
    return tuple(turn.user for turn in turns)


def script_of(user: UserKeys) -> dict[str, Any]:
    """The script of a simulated user, as it is stored with the test."""
    return {"max_turns": user.max_turns} | user.model_dump(exclude_none=True, exclude_defaults=True)


def _reply(turn: int, expect: dict[str, Any]) -> dict[str, Any]:
    standard = {key: value for key, value in expect.items() if key != "weight"}
    part: dict[str, Any] = {
        "validation": "reply",
        "expected": {"turn": turn, "standard": standard},
    }
    return part | ({"weight": expect["weight"]} if "weight" in expect else {})


def _mapping(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
