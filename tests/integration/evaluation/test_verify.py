"""Records of code that ran, replayed in a real sandbox."""

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from arena.content.archive import read_archive, write_archive
from arena.content.canonical import canonical
from arena.content.store import LocalStore
from arena.evaluation.cases import not_runnable
from arena.evaluation.evaluate import evaluate
from arena.evaluation.reading import read_standard_document
from arena.evaluation.record import NotARecord, contents_of, keep_record
from arena.evaluation.resources import Resources
from arena.evaluation.sealed import seal
from arena.evaluation.verdict import Finding, Submission, Verdict
from arena.evaluation.verify import verify
from arena.pools import workers
from arena.sandbox.errors import LanguageRefused
from arena.sandbox.namespace.provider import NamespaceProvider
from conftest import missing

CASES = [{"input": [n, n + 1], "expected": 2 * n + 1} for n in range(6)]
STANDARD: dict[str, Any] = {
    "type": "test_cases",
    "functionName": "add",
    "language": "python",
    "cases": CASES,
}
GOOD = "def add(a, b):\n    return a + b\n"
HALF = "def add(a, b):\n    return a + b if a < 3 else None\n"
MEMORIZED = "def add(a, b):\n    return {(0, 1): 1, (1, 2): 3, (2, 3): 5}[a, b]\n"
BROKEN = "def add(a, b:\n"
ABSENT = "def sub(a, b): return a - b\n"
FICKLE = "import time\ndef add(a, b):\n    return time.time_ns()\n"


@pytest.fixture
async def sandbox() -> AsyncIterator[NamespaceProvider]:
    if shutil.which("bwrap") is None:
        missing("bubblewrap")
    async with NamespaceProvider() as provider:
        yield provider


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "content")


@pytest.mark.parametrize(
    ("code", "score"), [(GOOD, 100), (HALF, 50), (MEMORIZED, 50), (BROKEN, 0), (ABSENT, 0), ("", 0)]
)
async def test_a_replay_gives_exactly_the_same_verdict(
    store: LocalStore, sandbox: NamespaceProvider, code: str, score: int
):
    submission = Submission(output=code)
    standard = read_standard_document(STANDARD)
    verdict = await evaluate(standard, submission, Resources(sandbox=sandbox))
    assert verdict.score == score
    found = await verify(store, keep_record(store, STANDARD, submission, verdict), sandbox)
    assert (found.outcome, found.differences, found.notes) == ("holds", (), ())


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", FICKLE),
        ("javascript", "const add = () => { throw new Error('t' + Math.random()); }"),
        ("javascript", "const add = () => { throw new Error('t' + process.hrtime.bigint()); }"),
    ],
)
async def test_code_with_different_output_each_time_cannot_be_replayed(
    store: LocalStore, sandbox: NamespaceProvider, language: str, code: str
):
    submission = Submission(output=code)
    document = {**STANDARD, "language": language}
    verdict = await evaluate(
        read_standard_document(document), submission, Resources(sandbox=sandbox)
    )
    cid = keep_record(store, document, submission, verdict)
    found = await verify(store, cid, sandbox)
    assert (found.outcome, found.differences) == ("cannot_be_replayed", ())
    assert "changes with each run" in found.obstacles[0]
    # That excuses only the wording.
    record = json.loads(store.get(cid))
    record["verdict"]["findings"][0]["passed"] = True
    assert (await verify(store, store.put(canonical(record)), sandbox)).outcome == "differs"


async def test_an_address_in_memory_is_no_difference(store: LocalStore):
    submission = Submission(output="def add(a, b): raise ValueError(object())")
    standard = read_standard_document(STANDARD)
    async with NamespaceProvider() as one:
        verdict = await evaluate(standard, submission, Resources(sandbox=one))
    assert "0x" in verdict.findings[0].reason
    async with NamespaceProvider() as another:
        cid = keep_record(store, STANDARD, submission, verdict)
        assert (await verify(store, cid, another)).outcome == "holds"


async def test_a_false_engine_does_not_excuse_forged_texts(
    store: LocalStore, sandbox: NamespaceProvider
):
    submission = Submission(output=HALF)
    verdict = await evaluate(
        read_standard_document(STANDARD), submission, Resources(sandbox=sandbox)
    )
    record = json.loads(store.get(keep_record(store, STANDARD, submission, verdict)))
    record["verdict"]["engine"] = "python 9.9"
    found = await verify(store, store.put(canonical(record)), sandbox)
    assert (found.outcome, found.texts) == ("holds", ())
    assert "it ran with python 9.9" in found.notes[0]
    record["verdict"]["findings"][3]["reason"] = "the author is a thief"
    found = await verify(store, store.put(canonical(record)), sandbox)
    assert (found.outcome, found.differences) == ("texts_differ", ())
    assert [one.recorded for one in found.texts] == ["the author is a thief"]


async def test_a_record_made_with_quickjs_holds_and_says_what_ran_it_here(
    store: LocalStore, sandbox: NamespaceProvider
):
    """0.1 ran some JavaScript in QuickJS, whose messages differ."""
    code = "function add(a, b) { if (a > 2) return a.b.c; return a + b; }"
    submission = Submission(output=code)
    document = {**STANDARD, "language": "javascript"}
    standard = read_standard_document(document)
    verdict = await evaluate(standard, submission, Resources(sandbox=sandbox))
    record = json.loads(store.get(keep_record(store, document, submission, verdict)))
    record["verdict"]["engine"] = "quickjs"
    failed = next(one for one in record["verdict"]["findings"] if not one["passed"])
    failed["reason"] = "TypeError: cannot read property 'c' of undefined"
    found = await verify(store, store.put(canonical(record)), sandbox)
    assert (found.outcome, found.differences) == ("texts_differ", ())
    assert found.notes[0].startswith("it ran with quickjs, here with node v")


async def test_a_forged_reason_differs(store: LocalStore, sandbox: NamespaceProvider):
    submission = Submission(output=HALF)
    verdict = await evaluate(
        read_standard_document(STANDARD), submission, Resources(sandbox=sandbox)
    )
    record = json.loads(store.get(keep_record(store, STANDARD, submission, verdict)))
    record["verdict"]["findings"][3]["reason"] = "expected 7, got 6.999"
    assert (await verify(store, store.put(canonical(record)), sandbox)).outcome == "differs"


async def test_a_forged_verdict_differs(store: LocalStore, sandbox: NamespaceProvider):
    submission = Submission(output=HALF)
    verdict = await evaluate(
        read_standard_document(STANDARD), submission, Resources(sandbox=sandbox)
    )
    record = json.loads(store.get(keep_record(store, STANDARD, submission, verdict)))
    for finding in record["verdict"]["findings"]:
        finding["passed"] = True
    record["verdict"].update(score=100.0, passed=True)
    found = await verify(store, store.put(canonical(record)), sandbox)
    paths = [difference.path for difference in found.differences]
    assert {"verdict.score", "verdict.passed", "verdict.findings[3].passed"} <= set(paths)


async def test_code_that_memorized_the_public_cases_fails_a_sealed_standard(
    store: LocalStore, sandbox: NamespaceProvider, tmp_path: Path
):
    public, openings = seal(STANDARD, public=3)
    standard = read_standard_document(public)
    resources = Resources(sandbox=sandbox, unseal=lambda _: openings)
    for code, score in ((MEMORIZED, 0), (GOOD, 100)):
        submission = Submission(output=code)
        verdict = await evaluate(standard, submission, resources)
        assert (verdict.score, verdict.passed) == (score, score == 100)
        assert verdict.openings == tuple(openings)
        cid = keep_record(store, public, submission, verdict)
        elsewhere = LocalStore(tmp_path / f"elsewhere{score}")
        read_archive(elsewhere, write_archive(store, contents_of(store, [cid])))
        # Here only the record can open the seal.
        assert (await verify(elsewhere, cid, sandbox)).outcome == "holds"


async def test_hidden_cases_swapped_afterwards_are_found(
    store: LocalStore, sandbox: NamespaceProvider
):
    public, openings = seal(STANDARD, public=3)
    standard, submission = read_standard_document(public), Submission(output=MEMORIZED)
    resources = Resources(sandbox=sandbox, unseal=lambda _: openings)
    verdict = await evaluate(standard, submission, resources)
    record = json.loads(store.get(keep_record(store, public, submission, verdict)))
    for change in (
        lambda: record["verdict"]["openings"][0]["case"].update(input=[0, 1], expected=1),
        lambda: record["verdict"]["openings"].pop(),
        lambda: record["verdict"].update(openings=[]),
    ):
        change()
        found = await verify(store, store.put(canonical(record)), sandbox)
        assert found.outcome == "differs"
        assert found.differences[0].path == "verdict.openings"


UNNAMED = {key: value for key, value in STANDARD.items() if key != "language"}
GO = "package main\nfunc add(a, b int) int { return a + b }\n"


@pytest.mark.parametrize(
    ("document", "code", "language"),
    [
        (UNNAMED, GOOD, None),
        (UNNAMED, GOOD, "python"),
        (UNNAMED, "add = lambda *_: None", "js"),
        # An alternative in another language is recorded as one that does not fit.
        (
            {"type": "any_of", "any_of": [{**UNNAMED, "language": "javascript"}, STANDARD]},
            f"```python\n{GOOD}```",
            None,
        ),
    ],
)
async def test_a_replay_uses_the_language_of_the_record(
    store: LocalStore,
    sandbox: NamespaceProvider,
    document: dict[str, Any],
    code: str,
    language: str | None,
):
    submission = Submission(output=code, language=language)
    resources = Resources(sandbox=sandbox)
    verdict = await evaluate(read_standard_document(document), submission, resources)
    found = await verify(store, keep_record(store, document, submission, verdict), sandbox)
    assert (found.outcome, found.differences, found.obstacles) == ("holds", (), ())


async def test_a_record_whose_language_was_guessed_cannot_be_replayed(
    store: LocalStore, sandbox: NamespaceProvider
):
    # What 0.1 recorded: it took the program for JavaScript.
    error = "SyntaxError: Unexpected identifier 'main'"
    named = [f"case {n + 1}" for n in range(len(CASES))]
    findings = tuple(Finding(criterion=name, passed=False, reason=error) for name in named)
    verdict = Verdict(score=0, passed=False, reasoning=error, findings=findings, engine="node")
    found = await verify(
        store, keep_record(store, UNNAMED, Submission(output=GO), verdict), sandbox
    )
    assert (found.outcome, found.differences) == ("cannot_be_replayed", ())
    assert "not evident" in found.obstacles[0]


async def test_a_score_for_a_refused_language_is_forged(
    store: LocalStore, sandbox: NamespaceProvider
):
    submission = Submission(output=GO)
    with pytest.raises(LanguageRefused) as refused:
        await evaluate(read_standard_document(UNNAMED), submission, Resources(sandbox=sandbox))
    verdict = not_runnable(refused.value.message)
    found = await verify(store, keep_record(store, UNNAMED, submission, verdict), sandbox)
    assert found.outcome == "differs"


async def test_content_that_takes_too_long_to_read_is_no_record(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
):
    """A record is read in a worker process, where its reading can be ended."""
    monkeypatch.setattr(workers, "CPU_SECONDS", 1)
    cid = store.put(b'{"a":[' + b",".join([b"[]"] * 5_000_000) + b"]}")
    with pytest.raises(NotARecord, match=r"reading it (took longer|needs more memory)"):
        await verify(store, cid, None)
