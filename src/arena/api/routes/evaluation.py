"""Is it good: a submission held against a standard."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from fastapi import Depends

from arena import schemas
from arena.api.access import authorize
from arena.api.arena import House
from arena.api.problems import responses
from arena.api.room import room_router
from arena.content.canonical import canonical, read_json
from arena.content.errors import NotCanonical
from arena.content.store import LocalStore
from arena.errors import Forbidden, InvalidInput
from arena.evaluation import (
    ItemAnswer,
    Opening,
    PartPath,
    Standard,
    Submission,
    Unsealing,
    checklists,
    evaluate,
    keep_record,
    read_private_part,
    read_standard_document,
)

router = room_router("/api", "evaluation")

MAX_STANDARD_BYTES = 8 * 1024 * 1024


@router.post("/evaluate", responses=responses(404, 409))
async def evaluate_submission(
    house: House, token_team: Annotated[str | None, Depends(authorize)], body: schemas.Evaluate
) -> schemas.Verdict:
    """Judge a submission by a standard: 409 where people have to answer a checklist first.

    Where tokens are needed, who asks sends the private part of a sealed standard along.
    """
    document = body.standard
    if isinstance(document, str):
        document = await asyncio.to_thread(_fetched, house.content, document)
    # Thousands of cases take a while to read, as do regular expressions to compile.
    standard = await asyncio.to_thread(read_standard_document, document)
    judge = partial(house.judge.judge, fresh=body.fresh)
    resources = replace(house.resources, judge=judge, answers=_placed(standard, body.answers))
    if body.sealed is not None:
        resources = replace(resources, unseal=_given(read_private_part(canonical(body.sealed))))
    elif token_team is not None:
        resources = replace(resources, unseal=_kept_back)
    submission = Submission(output=body.submission, language=body.language)
    verdict = await evaluate(standard, submission, resources)
    shown = schemas.Verdict.model_validate(verdict)
    if not body.record:
        return shown
    sandbox = house.settings.sandbox
    cid = await asyncio.to_thread(
        keep_record, house.content, body.standard, submission, verdict, sandbox=sandbox
    )
    return shown.model_copy(update={"record_cid": cid})


def _given(openings: Sequence[Opening]) -> Unsealing:
    def unseal(_commitments: Sequence[str]) -> Sequence[Opening]:
        return openings

    return unseal


def _kept_back(_commitments: Sequence[str]) -> Sequence[Opening] | None:
    """A verdict shows the hidden cases: any team could have them for an empty submission."""
    raise Forbidden(
        "the private part of a sealed standard is not used for a verdict on request: send it along "
        "as `sealed` (arena evaluate --sealed FILE)"
    )


def _fetched(store: LocalStore, cid: str) -> Any:
    """The document that a CID names."""
    data = store.get(cid, max_bytes=MAX_STANDARD_BYTES)
    try:
        return read_json(data)
    except NotCanonical as wrong:
        raise InvalidInput(f"{cid} is no standard: {wrong.message}") from wrong


def _placed(
    standard: Standard, answers: Sequence[schemas.ChecklistAnswer]
) -> Mapping[PartPath, Sequence[ItemAnswer]]:
    """The answers dealt out to the checklists of a standard, in order."""
    if not answers:
        return {}
    waiting = checklists(standard)
    count = sum(len(checklist.items) for checklist in waiting.values())
    if len(answers) != count:
        raise InvalidInput(f"answers: {len(answers)} for {count} items; give one for each")
    left = iter(answers)
    return {
        place: [ItemAnswer(**next(left).model_dump()) for _ in checklist.items]
        for place, checklist in waiting.items()
    }
