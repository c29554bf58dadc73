"""Splits a standard: what everybody may see, and what is shown with the verdict."""

import secrets
from collections.abc import Mapping
from typing import cast

from arena.content.canonical import canonical
from arena.errors import InvalidInput
from arena.evaluation.reading import read_standard_document
from arena.evaluation.sealed import SALT_BYTES, Opening

HIDDEN = "hidden"
"""The key that marks a case to be sealed."""

Case = dict[str, object]


def seal(document: object, *, public: int | None = None) -> tuple[dict[str, object], list[Opening]]:
    """The public part of a standard and the openings of its hidden cases.

    Hidden are the cases with `"hidden": true`, or with `public` all but the first so many.
    """
    if not isinstance(document, Mapping):
        raise InvalidInput("a standard is an object with a 'type'")
    standard = dict(cast("Mapping[str, object]", document))
    if standard.get("type") != "test_cases":
        raise InvalidInput("only standards with type 'test_cases' have cases to seal")
    if "sealed" in standard:
        raise InvalidInput("the standard is sealed already; seal the one it was made from")
    shown, hidden = _split(standard.get("cases"), public)
    read_standard_document({**standard, "cases": [*shown, *hidden]})
    if not hidden:
        raise InvalidInput(
            'no case is hidden: mark those to be sealed with "hidden": true, or say how many of '
            "the first are public"
        )
    _refuse_given_away(shown, hidden)
    openings = [Opening(salt=secrets.token_hex(SALT_BYTES), case=case) for case in hidden]
    commitments = [opening.commitment for opening in openings]
    return {**standard, "cases": shown, "sealed": commitments}, openings


def _split(cases: object, public: int | None) -> tuple[list[Case], list[Case]]:
    """The public cases and the hidden ones, without their marks."""
    if not isinstance(cases, list) or not all(
        isinstance(case, dict) for case in cast("list[object]", cases)
    ):
        raise InvalidInput("cases: must be a list of cases")
    shown: list[Case] = []
    hidden: list[Case] = []
    for place, case in enumerate(cast("list[Case]", cases)):
        mark = case.get(HIDDEN, False)
        if not isinstance(mark, bool):
            raise InvalidInput(f"cases[{place}].hidden: must be true or false")
        if public is not None:
            if HIDDEN in case:
                raise InvalidInput(f"cases[{place}] is marked: leave the number of public ones out")
            mark = place >= public
        kept = {key: value for key, value in case.items() if key != HIDDEN}
        (hidden if mark else shown).append(kept)
    return shown, hidden


def _refuse_given_away(shown: list[Case], hidden: list[Case]) -> None:
    """A hidden case with the input of a public one hides nothing."""
    known = {canonical(case.get("input", [])) for case in shown}
    for place, case in enumerate(hidden):
        if canonical(case.get("input", [])) in known:
            raise InvalidInput(
                f"hidden case {place + 1} has the input of a public one: it would hide nothing"
            )
