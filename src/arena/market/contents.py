"""The content of tasks: standards and results, verified and pinned."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar, cast

from arena.content.canonical import canonical, read_json
from arena.content.cid import parse_cid
from arena.content.errors import ContentMissing
from arena.content.ports import ContentStore
from arena.content.reading import reading
from arena.content.tree import cid_of
from arena.errors import InfrastructureError, InvalidInput
from arena.evaluation.grader import Grader
from arena.evaluation.reading import read_document, read_standard_document
from arena.evaluation.request_limits import read_request, refuse_large
from arena.evaluation.standard import Standard, TestCases, leaves, passes_from
from arena.evaluation.time_limit import CASE_SECONDS, fixed_seconds, judging_seconds
from arena.evaluation.verdict import MIN_PASS_SCORE, Submission
from arena.market.errors import BadContent
from arena.market.task import MAX_RESULT_BYTES
from arena.pools.effort import BYTES_PER_VALUE
from arena.pools.threads import WRITES
from arena.pools.workers import TooMuchWork, off_loop
from arena.sandbox.errors import HOW_TO_NAME, LanguageRefused
from arena.sandbox.limits import COMPILE_SECONDS
from arena.sandbox.ports import SandboxProvider

MAX_STANDARD_BYTES = 1024 * 1024
MAX_FIXED_SECONDS = 600
"""What the functions and patterns of one standard may take; each has its own limit."""

T = TypeVar("T")


class Contents:
    """The standards that tasks are judged by, and the results that were submitted."""

    def __init__(self, store: ContentStore) -> None:
        self.store = store

    async def keep_standard(
        self, evaluation: str | Mapping[str, object], window_seconds: int
    ) -> None:
        """Make sure that a standard is in the store, usable within the window, and pinned."""
        cid, data = await self._written(evaluation)
        await _by_size(partial(_check_offered, window_seconds), cid, data)
        await WRITES.run(self._keep_standard, cid, None if isinstance(evaluation, str) else data)

    async def keep_result(self, result: bytes | str) -> None:
        """Make sure that a result is in the store and pinned."""
        if isinstance(result, str):
            await self.result(result)
        await WRITES.run(self._keep_result, result)

    async def check_language(
        self,
        evaluation_cid: str,
        result: bytes | str,
        language: str | None,
        open_sandbox: Callable[[], SandboxProvider],
    ) -> None:
        """Refuse a result that its standard could not judge, because of its language."""
        document = await self.standard(evaluation_cid)
        standard = await read_document(document)
        if not any(isinstance(part, TestCases | Grader) for part in leaves(standard)):
            return
        # Imported here: it takes long, and most commands submit no code.
        from arena.evaluation.language import check_languages

        data = result if isinstance(result, bytes) else await self.result(result)
        submission = Submission(output=data.decode("utf-8", "replace"), language=language)
        try:
            await check_languages(standard, submission, open_sandbox())
        except InfrastructureError as error:
            # Whoever judges may have another sandbox, but a name is all that can be relied on.
            if language is None:
                raise LanguageRefused(
                    "the language of the result is not named, and the code cannot be parsed here "
                    f"({error.message}); {HOW_TO_NAME}"
                ) from error

    async def standard(self, cid: str) -> dict[str, Any]:
        """The standard with this CID as a document, verified and valid."""
        data = await self._stored(cid)
        return await _by_size(_valid, cid, data)

    async def result(self, cid: str) -> bytes:
        """The whole result with this CID, verified."""
        return await self._get("the result", cid, MAX_RESULT_BYTES)

    async def _written(self, evaluation: str | Mapping[str, object]) -> tuple[str, bytes]:
        """The CID and the bytes of a standard, which need not be stored yet."""
        if isinstance(evaluation, str):
            cid = cid_of_standard(evaluation)
            return cid, await self._stored(cid)
        data = await asyncio.to_thread(_canonical, evaluation)
        return cid_of(data), data

    async def _stored(self, cid: str) -> bytes:
        return await self._get("the evaluation standard", cid, MAX_STANDARD_BYTES)

    def _keep_standard(self, cid: str, data: bytes | None) -> None:
        if data is not None:
            self.store.put(data)
        # A task may last a year; tools that clean up the store must keep its standard.
        self.store.pin(cid)

    def _keep_result(self, result: bytes | str) -> None:
        if isinstance(result, bytes):
            self.store.pin(self.store.put(result))
        else:
            self.store.pin(str(parse_cid(result)))

    async def _get(self, what: str, cid: str, max_bytes: int) -> bytes:
        """Verified content; if it is pending, that error passes: the caller may try again."""
        try:
            return await reading(self.store, lambda source: source.get(cid, max_bytes=max_bytes))
        except ContentMissing:
            raise BadContent(f"{what} {cid} is not in the content store: put it there") from None
        except InvalidInput as error:
            raise BadContent(f"{what}: {error}") from None


def cid_of_result(result: bytes | str) -> str:
    """The CID that a result will be frozen under."""
    if isinstance(result, str):
        return _canonical_cid("the result", result)
    if not 0 < len(result) <= MAX_RESULT_BYTES:
        raise BadContent(f"the result has {len(result)} bytes, must have 1 to {MAX_RESULT_BYTES}")
    return cid_of(result)


def cid_of_standard(evaluation: str | Mapping[str, object]) -> str:
    """The CID of a standard, given as a CID or as a document."""
    if isinstance(evaluation, str):
        return _canonical_cid("the evaluation standard", evaluation)
    return cid_of(_canonical(evaluation))


def _canonical_cid(what: str, cid: str) -> str:
    try:
        return str(parse_cid(cid))
    except InvalidInput as error:
        raise BadContent(f"{what}: {error}") from None


def _canonical(evaluation: Mapping[str, object]) -> bytes:
    try:
        refuse_large("it", evaluation)
        data = canonical(dict(evaluation))
    except InvalidInput as error:
        raise BadContent(f"the evaluation standard: {error}") from None
    if len(data) > MAX_STANDARD_BYTES:
        raise BadContent(f"the evaluation standard has more than {MAX_STANDARD_BYTES} bytes")
    return data


async def _by_size(check: Callable[[str, bytes], T], cid: str, data: bytes) -> T:
    """Check a standard in a thread; a large one in a worker process."""
    try:
        return await off_loop(len(data) // BYTES_PER_VALUE, check, cid, data)
    except TooMuchWork as error:
        raise BadContent(f"the evaluation standard {cid}: reading it {error}") from None


def _check_offered(window_seconds: int, cid: str, data: bytes) -> None:
    """Refuse a standard that no task may have, before it is stored."""
    try:
        document = read_json(data)
        refuse_large("it", document)
        standard = read_request(document)
    except InvalidInput as error:
        raise BadContent(f"the evaluation standard {cid}: {error}") from None
    if not passes_from(standard, MIN_PASS_SCORE):
        raise BadContent(
            f"the market pays from a score of {MIN_PASS_SCORE} on, but this standard passes from "
            f"another: set its pass_score to {MIN_PASS_SCORE}"
        )
    _check_time(standard, window_seconds)


def _check_time(standard: Standard, window_seconds: int) -> None:
    """Refuse a standard that cannot be judged within the window."""
    if fixed_seconds(standard) > MAX_FIXED_SECONDS:
        raise BadContent(
            f"the functions and patterns of this standard may take {fixed_seconds(standard):g} s, "
            f"the most is {MAX_FIXED_SECONDS} s: use fewer parts"
        )
    seconds = judging_seconds(standard)
    # Half: a submission that waits for others to be judged first must fit as well.
    if 2 * seconds > window_seconds:
        raise BadContent(
            f"judging a submission may take {seconds} s ({CASE_SECONDS:g} s per case of a program, "
            f"{COMPILE_SECONDS:g} s to compile it, {CASE_SECONDS:g} s for all cases of a function "
            f"together), which is more than half of the window of {window_seconds} s: give each "
            f"judge a window of at least {2 * seconds} s, or use fewer cases"
        )


def _valid(cid: str, data: bytes) -> dict[str, Any]:
    try:
        # Strict: of a duplicate key, different parsers would take different values.
        document = read_json(data)
        read_standard_document(document)
    except InvalidInput as error:
        raise BadContent(f"the evaluation standard {cid}: {error}") from None
    return cast("dict[str, Any]", document)
