"""Judges submissions on request, keeps and verifies verdict records, and lists the judges."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from arena.content.canonical import read_json
from arena.content.errors import NotCanonical
from arena.content.reading import reading
from arena.errors import Forbidden, InvalidInput
from arena.evaluation.evaluate import evaluate
from arena.evaluation.judge.config import panel_of, refuse_many_calls
from arena.evaluation.judge.figures import Judge, JudgeList, figures_in
from arena.evaluation.judge.prompt import PROMPT_VERSION
from arena.evaluation.reading import read_document
from arena.evaluation.record import store_record
from arena.evaluation.request_limits import judge_prompts, read_request, refuse_large
from arena.evaluation.resources import Resources, Unsealing
from arena.evaluation.sealed import read_private_document
from arena.evaluation.standard import PartPath, Standard, checklists
from arena.evaluation.verdict import ItemAnswer, Opening, Submission, Verdict, Verification
from arena.evaluation.verify import verify
from arena.pools.effort import BYTES_PER_VALUE, effort
from arena.pools.workers import SMALL_EFFORT, TooMuchWork, by_effort
from arena.settings import Settings

if TYPE_CHECKING:
    from arena.content.ports import ContentStore

MAX_STANDARD_BYTES = 8 * 1024 * 1024


class Evaluator:
    """Judges submissions for callers, and verifies verdict records."""

    def __init__(self, settings: Settings, resources: Resources, content: "ContentStore") -> None:
        self._settings = settings
        self._resources = resources
        self._content = content

    async def evaluate(
        self,
        standard: Mapping[str, Any] | str,
        submission: Submission,
        *,
        answers: Sequence[ItemAnswer] = (),
        fresh: bool = False,
        sealed: Mapping[str, Any] | None = None,
        may_unseal: bool = True,
        record: bool = True,
    ) -> Verdict:
        """Judge by a standard, given as a document or as its CID.

        `sealed` is the private part of a sealed standard; without it the stored one is used if
        the caller `may_unseal` it.
        """
        document: Any = standard
        if isinstance(document, str):
            document = await self._read_document(document)
        refuse_large("the standard", document, sealed)
        read = await read_document(document, read_request)
        refuse_many_calls(self._settings, judge_prompts(read))
        resources = replace(self._resources, answers=_answers_by_part(read, answers))
        if fresh:
            resources = replace(resources, purpose=None)
        if sealed is not None:
            resources = replace(resources, unseal=_unseal_with(await _openings(sealed)))
        elif not may_unseal:
            resources = replace(resources, unseal=_refuse_to_unseal)
        verdict = await evaluate(read, submission, resources)
        if not record:
            return verdict
        cid = await store_record(
            self._content, standard, submission, verdict, sandbox=self._settings.sandbox
        )
        return replace(verdict, record_cid=cid)

    async def verify(self, cid: str) -> Verification:
        """Check the verdict record with this CID."""
        return await verify(self._content, cid, self._resources.sandbox)

    def judges(self) -> JudgeList:
        """The configured judge with its latest figures; reads a file."""
        panel = panel_of(self._settings)
        if not panel.is_complete:
            return JudgeList(judges=(), count=0)
        known = figures_in(self._settings.home).of(panel.identity)
        judge = Judge(
            **asdict(panel),
            id=panel.identity,
            prompt_version=PROMPT_VERSION,
            calibration=known.calibration,
            attack=known.attack,
        )
        return JudgeList(judges=(judge,), count=1)

    async def _read_document(self, cid: str) -> Any:
        """The document with this CID."""
        data = await reading(
            self._content, lambda source: source.get(cid, max_bytes=MAX_STANDARD_BYTES)
        )
        try:
            return await by_effort(len(data) // BYTES_PER_VALUE, _read_standard_json, data)
        except (NotCanonical, TooMuchWork) as error:
            raise InvalidInput(f"{cid} is not a standard: {error}") from error


def _read_standard_json(data: bytes) -> object:
    document = read_json(data)
    # Here, in the worker process: handing over millions of values would take as long as reading.
    refuse_large("the standard", document)
    return document


async def _openings(sealed: Mapping[str, Any]) -> Sequence[Opening]:
    """The openings in a private part."""
    try:
        return await by_effort(
            effort(sealed, limit=SMALL_EFFORT), read_private_document, dict(sealed)
        )
    except TooMuchWork as error:
        raise InvalidInput(f"the private part cannot be used: reading it {error}") from None


def _unseal_with(openings: Sequence[Opening]) -> Unsealing:
    def unseal(_commitments: Sequence[str]) -> Sequence[Opening]:
        return openings

    return unseal


def _refuse_to_unseal(_commitments: Sequence[str]) -> Sequence[Opening] | None:
    """Refuse: a verdict shows the hidden cases, so an empty submission would reveal them."""
    raise Forbidden(
        "the private part of a sealed standard must be sent as `sealed` "
        "(arena evaluate --sealed FILE)"
    )


def _answers_by_part(
    standard: Standard, answers: Sequence[ItemAnswer]
) -> Mapping[PartPath, Sequence[ItemAnswer]]:
    """The answers split among the checklists of a standard, in order."""
    if not answers:
        return {}
    waiting = checklists(standard)
    count = sum(len(checklist.items) for checklist in waiting.values())
    if len(answers) != count:
        raise InvalidInput(f"answers: {len(answers)} for {count} items; give one for each")
    left = iter(answers)
    return {place: [next(left) for _ in checklist.items] for place, checklist in waiting.items()}
