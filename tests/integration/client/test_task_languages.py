"""The language of a task's result: named, evident, or refused before the result is handed in."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.client import AgentLoop, Client, TaskResult
from arena.client.judging import ServerMarket
from arena.content.store import LocalStore
from arena.content.tree import cid_of
from arena.errors import Forbidden, InvalidInput
from arena.evaluation.record import read_record
from arena.evaluation.resources import Resources
from arena.market.contents import Contents
from arena.market.judging import JudgeFlow
from arena.reviews.review import ReviewAnswer
from arena.sandbox.errors import SandboxUnavailable
from arena.sandbox.namespace.provider import NamespaceProvider
from conftest import missing
from integration.client.test_loop import QUICK, Watched
from market_offers import STANDARD, posted

FUNCTION = {key: value for key, value in STANDARD.items() if key != "language"}
PROGRAM = {"type": "test_cases", "cases": [{"input": [1], "expected": 6}]}
SHELL = "echo 6"
GO = "package main\nfunc main() {}\n"


@pytest.fixture(autouse=True)
def isolation() -> Iterator[None]:
    if shutil.which("bwrap") is None:
        missing("bubblewrap")
    yield


async def assigned(reader: Client, agent: Client, evaluation: dict[str, Any]) -> int:
    task_id = await posted(reader, assignment="first", evaluation=evaluation)
    await agent.apply(task_id)
    return task_id


@pytest.mark.parametrize(
    ("evaluation", "result", "message"),
    [
        (FUNCTION, GO, "not evident"),
        (FUNCTION, "I cannot do that.", "not evident"),
        (FUNCTION, "foo(1)", "not evident"),
        (PROGRAM, SHELL, "not evident"),
        (PROGRAM, GO, "not evident"),
        (FUNCTION, "```go\nfunc add() {}\n```", "functions are called in"),
        (STANDARD, "```js\nfunction add() {}\n```", "asks for python, but .* names javascript"),
        (
            {"type": "all_of", "all_of": [{"type": "checklist", "items": ["a"]}, FUNCTION]},
            GO,
            "not evident",
        ),
    ],
)
async def test_a_result_is_refused_before_it_is_handed_in(
    reader: Client, agent: Client, evaluation: dict[str, Any], result: str, message: str
):
    task_id = await assigned(reader, agent, evaluation)
    for submitted in (
        {"result": result},
        {"result_hash": (await agent.put_content(result.encode())).cid},
    ):
        with pytest.raises(InvalidInput, match=message) as refused:
            await agent.submit(task_id, **submitted)
        assert refused.value.code == "language_refused"
    task = (await reader.task(task_id)).task
    assert (task.state, task.result_hash) == ("assigned", None)


async def test_a_named_language_reaches_the_judge_the_record_and_its_replay(
    reader: Client, agent: Client, tmp_path: Path
):
    task_id = await assigned(reader, agent, PROGRAM)
    await agent.submit(task_id, SHELL, language="sh")
    story = await reader.task(task_id)
    assert (story.task.state, story.task.language) == ("submitted", "sh")
    assert story.events[-1].data == {"resultHash": cid_of(SHELL.encode()), "language": "sh"}
    store = LocalStore(tmp_path / "judges-own")
    async with NamespaceProvider() as sandbox:
        flow = JudgeFlow(
            ServerMarket(reader, store),
            "judy",
            Contents(store),
            Resources(sandbox=sandbox),
            sandbox="namespace",
            report=print,
        )
        assert await flow.step() == 1
    task = (await reader.task(task_id)).task
    assert (task.state, task.score) == ("paid", 100)
    assert task.reason_uri is not None
    assert read_record(await reader.content(task.reason_uri)).language == "sh"
    assert (await reader.verify(task.reason_uri)).outcome == "holds"


@pytest.mark.parametrize(
    ("evaluation", "result"),
    [
        (FUNCTION, "function add(a, b) { return a + b }"),
        (FUNCTION, "def add(a, b): return a + b"),
        (FUNCTION, "```python\nanything\n```"),
        (PROGRAM, "```sh\necho 6\n```"),
        (PROGRAM, "console.log(6)"),
        (STANDARD, "the standard names it"),
    ],
)
async def test_what_is_named_or_evident_needs_no_field(
    reader: Client, agent: Client, evaluation: dict[str, Any], result: str
):
    task_id = await assigned(reader, agent, evaluation)
    assert (await agent.submit(task_id, result)).state == "submitted"
    assert (await reader.task(task_id)).task.language is None


async def test_an_unknown_language_and_one_against_the_standard_are_refused(
    reader: Client, agent: Client
):
    task_id = await assigned(reader, agent, STANDARD)
    for language, message in (
        ("pyhton", "did you mean 'python'"),
        ("go", "asks for python, but the submission names go"),
    ):
        with pytest.raises(InvalidInput, match=message):
            await agent.submit(task_id, "x", language=language)
    assert (await agent.submit(task_id, "x", language="py")).state == "submitted"


async def test_the_language_of_what_is_not_code_is_not_checked(reader: Client, agent: Client):
    task_id = await assigned(reader, agent, {"type": "contains", "contains": ["roses"]})
    await agent.submit(task_id, "roses", language="en")
    assert (await reader.task(task_id)).task.language == "en"


async def test_the_language_is_signed(reader: Client, agent: Client):
    task_id = await assigned(reader, agent, PROGRAM)
    assert agent.signer is not None
    market = (await reader.market()).market
    content = cid_of(SHELL.encode())

    async def send(signed: str | None, sent: str | None) -> None:
        assert agent.signer is not None
        proof = agent.signer.prove(
            market, "submit", task_id=task_id, content=content, language=signed
        )
        await agent._send_result(
            task_id, agent="my-solver", result=SHELL, language=sent, proof=proof
        )

    for signed, sent in ((None, "shell"), ("ruby", "shell"), ("shell", None)):
        with pytest.raises(Forbidden) as refused:
            await send(signed, sent)
        assert refused.value.code == "bad_signature"
    await send("shell", "shell")
    assert (await reader.task(task_id)).task.language == "shell"


async def test_without_a_sandbox_only_a_named_language_is_accepted(
    reader: Client, agent: Client, monkeypatch: pytest.MonkeyPatch
):
    async def broken(*_: object) -> None:
        raise SandboxUnavailable("bubblewrap is not installed")

    monkeypatch.setattr(NamespaceProvider, "call", broken)
    task_id = await assigned(reader, agent, FUNCTION)
    with pytest.raises(InvalidInput, match=r"cannot be parsed here .bubblewrap is not installed"):
        await agent.submit(task_id, "def add(a, b): return a + b")
    await agent.submit(task_id, "def add(a, b): return a + b", language="python")


async def test_the_loop_executes_again_what_was_refused_and_then_names_the_language(
    reader: Client, agent: Client
):
    await posted(reader, assignment="first", evaluation=PROGRAM)
    results = iter([SHELL, TaskResult(text=SHELL, language="shell")])
    watched = Watched(AgentLoop(agent, execute=lambda _: next(results), options=QUICK))
    await watched.until("submitted")
    assert watched.kinds == ["applied", "assigned", "retrying", "submitted"]
    [task] = await reader.all_tasks()
    assert task.language == "shell"


async def test_the_verdict_of_reviewers_uses_the_language_of_the_task(
    reader: Client, agent: Client
):
    checklist = {"type": "checklist", "items": ["It is short"]}
    both = {"type": "all_of", "all_of": [checklist, PROGRAM], "pass_score": 60}
    task_id = await assigned(reader, agent, both)
    await agent.submit(task_id, SHELL, language="shell")
    review = await reader.review_task(task_id, by="judy")
    details = await reader.review(review.id)
    assert details.language == "shell"
    answer = ReviewAnswer(place=details.items[0].place, item=0, passed=True)
    await reader.answer_review(review.id, [answer], reviewer="rita")
    task = (await reader.task(task_id)).task
    assert (task.state, task.score) == ("paid", 100)
    assert task.reason_uri is not None
    assert (await reader.verify(task.reason_uri)).outcome == "holds"
