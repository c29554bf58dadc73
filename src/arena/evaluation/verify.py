"""Checks a verdict record: whether what it says follows from what it names.

Plain validators and test cases are judged anew. What a model or a person said is taken as it was
recorded, and everything that was made of it is computed anew: medians, weighted totals, shares,
thresholds. Openings are checked against the commitments of the standard.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, TypeVar, cast

from arena import __version__
from arena.content.canonical import read_json
from arena.content.errors import ContentCorrupt, ContentMalformed, ContentMissing, NotCanonical
from arena.content.store import LocalStore
from arena.errors import InfrastructureError, InvalidInput
from arena.evaluation.cases import judge_cases, recount
from arena.evaluation.checklist import judge_checklist
from arena.evaluation.differences import Difference, differences
from arena.evaluation.evaluate import Leaf, judged_by, validate
from arena.evaluation.faults import InvalidStandard, dotted
from arena.evaluation.judge.replay import replay
from arena.evaluation.reading import read_standard_document
from arena.evaluation.record import MAX_RECORD_BYTES, Record, read_record, verdict_document
from arena.evaluation.resources import PartPath
from arena.evaluation.sealed import unopened
from arena.evaluation.standard import Checklist, JudgePrompt, Standard, TestCases
from arena.evaluation.verdict import Submission, Verdict
from arena.sandbox.ports import SandboxProvider

Outcome = Literal["holds", "differs", "cannot_be_replayed"]
WORDING = ("reasoning", "reason", "evidence", "mark", "prompt_digest")
"""What another version of Arena, or of a language, may put in other words."""
ENGINE_WORDING = ("reasoning", "reason", "evidence")
"""What another engine of a language may put in other words."""
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
"""Where an object happened to be in memory, as Python shows it."""
MAX_DIFFERENCES = 100

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What became of a record that was checked."""

    cid: str
    outcome: Outcome
    differences: tuple[Difference, ...]
    obstacles: tuple[str, ...]
    """What kept a part from being replayed."""
    taken: tuple[str, ...]
    """What nobody can replay and was taken as recorded: what models and people said."""
    notes: tuple[str, ...]
    """What is worded otherwise, and why that decides nothing."""
    record: Record


async def verify(store: LocalStore, cid: str, sandbox: SandboxProvider | None) -> Verification:
    """Check the record called `cid`; raises only where there is no such record here."""
    # In threads, all of it: a record and its submission may have megabytes, and others wait.
    record = await asyncio.to_thread(_record, store, cid)
    check = _Check(record=record, sandbox=sandbox)
    try:
        standard = await asyncio.to_thread(_standard, store, record)
        output = (await asyncio.to_thread(store.get, record.submission_cid)).decode()
    except _Unusable as wrong:
        check.obstacles.append(str(wrong))
    except (ContentMissing, ContentCorrupt, ContentMalformed, InvalidInput) as wrong:
        check.obstacles.append(wrong.message)
    except UnicodeDecodeError:
        check.obstacles.append(f"the submission {record.submission_cid} is not text")
    else:
        await check.replay(standard, Submission(output=output, language=record.language))
    return check.verification(cid)


def _record(store: LocalStore, cid: str) -> Record:
    return read_record(store.get(cid, max_bytes=MAX_RECORD_BYTES))


class _Unusable(Exception):
    """Something the record names is not what it must be."""


def _standard(store: LocalStore, record: Record) -> Standard:
    cid = record.standard_cid
    try:
        return read_standard_document(read_json(store.get(cid)))
    except (InvalidStandard, NotCanonical) as wrong:
        raise _Unusable(f"the standard {cid} cannot be used: {wrong.message}") from None


class _Contradiction(Exception):
    """The record does not even have the shape that its standard demands."""

    def __init__(self, path: str, recorded: object, recomputed: object) -> None:
        self.difference = Difference(path=path, recorded=recorded, recomputed=recomputed)


@dataclass(kw_only=True)
class _Check:
    """One record on its way through the check."""

    record: Record
    sandbox: SandboxProvider | None
    differences: list[Difference] = field(default_factory=list[Difference])
    obstacles: list[str] = field(default_factory=list[str])
    taken: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])

    async def replay(self, standard: Standard, submission: Submission) -> None:
        """Judge anew what can be, compute anew what was made of the rest, and compare."""

        async def judge(part: Leaf, at: PartPath) -> Verdict:
            return await self._part(part, submission, at)

        try:
            verdict = await judged_by(judge, standard, submission)
        except _Contradiction as found:
            self.differences.append(found.difference)
            return
        await asyncio.to_thread(self._compare, verdict)

    def _compare(self, verdict: Verdict) -> None:
        recorded, recomputed = (verdict_document(v) for v in (self.record.verdict, verdict))
        same_version = self.record.made_with.arena == __version__
        same_words = same_version and _engines(recorded) == _engines(recomputed)
        reworded = 0
        for found in differences(recorded, recomputed, ("verdict",)):
            key = _key(found)
            # Where nothing ran here nothing ran there: an engine would only excuse other words.
            if key == "engine" and found.recomputed:
                self.notes.append(f"it ran with {found.recorded}, here with {found.recomputed}")
            elif key in ENGINE_WORDING and _is_same(found.recorded, found.recomputed):
                continue
            elif key in WORDING and self.obstacles:
                continue  # made of words of parts that did not run here
            elif key in (WORDING if not same_version else ENGINE_WORDING) and not same_words:
                reworded += 1
            else:
                self.differences.append(found)
        if reworded:
            self.notes.append(
                f"{reworded} texts are worded otherwise by other versions (the record: Arena "
                f"{self.record.made_with.arena}, here: {__version__})"
            )

    async def _part(self, standard: Leaf, submission: Submission, at: PartPath) -> Verdict:
        recorded = self._recorded(at)
        path = _path(at)
        match standard:
            case TestCases():
                return await self._cases(standard, submission, recorded, path)
            case JudgePrompt():
                self.taken.append(f"{path}: the votes of the models")
                again = partial(replay, standard, submission, recorded)
                return await asyncio.to_thread(_attempted, again, path, "judgement")
            case Checklist():
                self.taken.append(f"{path}: the answers of people")
                return _attempted(
                    lambda: judge_checklist(standard, recorded.answers), path, "answers"
                )
            case _:
                return await validate(standard, submission)

    async def _cases(
        self, standard: TestCases, submission: Submission, recorded: Verdict, path: str
    ) -> Verdict:
        wrong = unopened(standard.sealed, recorded.openings)
        if wrong:
            raise _Contradiction(
                f"{path}.openings", f"openings that do not open {wrong}", "what was sealed"
            )
        run = partial(judge_cases, standard, submission, self.sandbox, recorded.openings)
        try:
            verdict = await run()
            if _says_otherwise(verdict, recorded) and _says_otherwise(await run(), verdict):
                told = "the code says something else each time it runs; its score is the same"
                self.obstacles.append(f"{path}: {told}")
            return verdict
        except InfrastructureError as obstacle:
            self.obstacles.append(f"{path}: {obstacle.message}")
        return _attempted(lambda: recount(standard, recorded), path, "findings")

    def _recorded(self, at: PartPath) -> Verdict:
        verdict = self.record.verdict
        for depth, place in enumerate(at):
            if place >= len(verdict.parts):
                found = f"{len(verdict.parts)} parts"
                raise _Contradiction(f"{_path(at[:depth])}.parts", found, "one for each standard")
            verdict = verdict.parts[place]
        return verdict

    def verification(self, cid: str) -> Verification:
        """What it came to: a difference weighs more than an obstacle."""
        outcome: Outcome = "cannot_be_replayed" if self.obstacles else "holds"
        return Verification(
            cid=cid,
            outcome="differs" if self.differences else outcome,
            differences=tuple(self.differences[:MAX_DIFFERENCES]),
            obstacles=tuple(self.obstacles),
            taken=tuple(self.taken),
            notes=tuple(self.notes),
            record=self.record,
        )


def _says_otherwise(one: Verdict, other: Verdict) -> bool:
    """Whether two runs of a submission passed the same cases and said something else in one."""
    pairs = list(zip(one.findings, other.findings, strict=False))
    return all(left.passed == right.passed for left, right in pairs) and any(
        not _is_same(left.reason, right.reason) for left, right in pairs
    )


def _is_same(one: object, other: object) -> bool:
    """Whether two texts are the same but for addresses in memory."""
    return (
        isinstance(one, str)
        and isinstance(other, str)
        and ADDRESS.sub("", one) == ADDRESS.sub("", other)
    )


def _attempted(compute: Callable[[], T], path: str, key: str) -> T:
    """What the recorded parts come to; a contradiction where they do not even fit."""
    try:
        return compute()
    except InvalidInput as wrong:
        raise _Contradiction(
            f"{path}.{key}", "what does not fit the standard", wrong.message
        ) from None


def _path(at: PartPath) -> str:
    steps = (step for place in at for step in ("parts", place))
    return dotted(("verdict", *steps))


def _key(found: Difference) -> str | int | None:
    """What differs, by Arena's own name for it; None for what a standard has named.

    A criterion may be called anything, `reasoning` for one, and its spread is kept by that name.
    """
    *_, above, key = found.steps
    return None if above == "spread" else key


def _engines(document: Mapping[str, object]) -> list[object]:
    parts = cast("list[Mapping[str, object]]", document["parts"])
    return [document["engine"], *(engine for part in parts for engine in _engines(part))]
