"""A file of submissions: every line is judged once, and no line can spoil another's verdict."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app_transport import AppTransport
from arena.api import create_app
from arena.cli import batch
from arena.cli.batch import Batch
from arena.client import Client
from arena.errors import Conflict, InfrastructureError, InvalidInput
from arena.settings import Settings
from judging import Endpoint, vote

EXACT = {"type": "exact", "value": "a"}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    app = create_app(Settings(home=tmp_path / "home"))
    async with (
        app.router.lifespan_context(app),
        Client("http://localhost", transport=AppTransport(app)) as client,
    ):
        yield client


def row(name: str, submission: str = "a", **changes: Any) -> str:
    return json.dumps({"id": name, "standard": EXACT, "submission": submission} | changes)


def written(path: Path, *lines: str | bytes) -> Path:
    data = (line if isinstance(line, bytes) else line.encode() for line in lines)
    path.write_bytes(b"".join(line + b"\n" for line in data))
    return path


def verdicts(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


async def judged(client: Client, tmp_path: Path, *lines: str | bytes) -> list[dict[str, Any]]:
    """The verdict or error of each line, in order."""
    to = tmp_path / "verdicts.jsonl"
    await Batch(written(tmp_path / "batch.jsonl", *lines), to, 1).judge(client)
    return verdicts(to)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (row("bad", "\ud800"), "surrogate"),
        (row("bad\ud800"), "surrogate"),
        (row("bad", standard={"type": "exact", "value": "\ud800"}), "surrogate"),
        (b'{"id": "bad", "submission": "\xff", "standard": {}}', "utf-8"),
        ('{"id": "bad", "submission": "a", "submission": "b", "standard": {}}', "key twice"),
        (row("bad", standard={"type": "number", "value": float("nan")}), "NaN is not JSON"),
        ('{"id": "bad", "submission": "a", "standard": {"value": 1e400}}', "inf"),
        ("[" * 100_000, "not JSON"),
    ],
)
async def test_an_unreadable_line_is_one_error_and_affects_no_other_line(
    client: Client, tmp_path: Path, line: str | bytes, message: str
):
    first, failed, last = await judged(client, tmp_path, row("1"), line, row("3", "b"))
    assert (first["passed"], last["passed"]) == (True, False)
    assert message in failed["error"]["message"]
    assert failed["error"]["line"] == 2


async def test_the_rest_of_an_overlong_line_is_not_read_as_a_line(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(batch, "MAX_LINE", 200)
    smuggled = " " * 200 + row("smuggled")
    first, failed, last = await judged(client, tmp_path, row("1"), smuggled, row("3"))
    assert (first["id"], last["id"]) == ("1", "3")
    assert failed["error"]["line"] == 2
    assert "longer than" in failed["error"]["message"]


async def test_the_batch_itself_is_never_the_output(client: Client, tmp_path: Path):
    source = written(tmp_path / "batch.jsonl", row("1"))
    link = tmp_path / "link.jsonl"
    link.symlink_to(source)
    for to in (source, link):
        with pytest.raises(InvalidInput, match="the batch itself"):
            await Batch(source, to, 1).judge(client)
        assert source.read_text() == row("1") + "\n"


@pytest.mark.parametrize("text", ["my notes", "my notes\n", '{"score": 1}\n', "\xff\n"])
async def test_a_file_that_is_no_batch_output_is_left_alone(
    client: Client, tmp_path: Path, text: str
):
    to = tmp_path / "notes.txt"
    to.write_text(text, encoding="latin-1")
    with pytest.raises(InvalidInput, match="is not a verdict of a batch"):
        await Batch(written(tmp_path / "batch.jsonl", row("1")), to, 1).judge(client)
    assert to.read_text(encoding="latin-1") == text


async def test_a_line_that_was_changed_does_not_keep_the_old_verdict(
    client: Client, tmp_path: Path
):
    (before,) = await judged(client, tmp_path, row("1", "a"))
    kept, failed = await judged(client, tmp_path, row("1", "b"))
    assert kept == before
    assert "for another content" in failed["error"]["message"]
    assert await judged(client, tmp_path, row("1", "a", fresh=True)) == [before]


async def test_an_invalid_line_is_reported_under_its_id(client: Client, tmp_path: Path):
    rows = [row("nul", "a\0b"), row("five", language=5)]
    results = await judged(client, tmp_path, *rows)
    assert [one["id"] for one in results] == ["nul", "five"]
    assert all("error" in one for one in results)


async def test_a_fresh_batch_asks_the_judge_again(tmp_path: Path):
    endpoint = Endpoint()
    endpoint.follow(vote(80))
    await endpoint.start()
    named = {"judge_base_url": endpoint.url, "judge_models": ("m",)}
    graded = {"type": "judge_prompt", "prompt": "Good?", "criteria": ["a"], "weights": [1]}
    source = written(tmp_path / "batch.jsonl", row("1", standard=graded))
    app = create_app(Settings(home=tmp_path / "home", **named))
    async with (
        app.router.lifespan_context(app),
        Client("http://localhost", transport=AppTransport(app)) as client,
    ):
        for number, fresh in enumerate((False, False, True)):
            batch = Batch(source, tmp_path / f"{number}.jsonl", 1, fresh=fresh)
            assert await batch.judge(client) == 0
    await endpoint.stop()
    assert len(endpoint.chats) == 2


async def test_two_batches_do_not_write_to_one_file(client: Client, tmp_path: Path):
    slow = {
        "type": "test_cases",
        "functionName": "f",
        "cases": [{"input": [], "expected": 1}],
    }
    code = "import time\ndef f():\n    time.sleep(1)\n    return 1"
    source = written(tmp_path / "batch.jsonl", row("1"), row("2", code, standard=slow))
    to = written(tmp_path / "verdicts.jsonl", '{"id": "1", "error": {}}')
    first = asyncio.create_task(Batch(source, to, 1).judge(client))
    while to.read_bytes().count(b"score") < 1:
        assert not first.done(), first.result()
        await asyncio.sleep(0.01)
    with pytest.raises(Conflict, match="another batch is writing"):
        await Batch(source, to, 1).judge(client)
    await first
    assert [verdict["id"] for verdict in verdicts(to)] == ["1", "2"]
    assert await Batch(source, to, 1).judge(client) == 0
    assert len(verdicts(to)) == 2


async def test_a_pipe_is_judged_too(client: Client, tmp_path: Path):
    reading, writing = os.pipe()
    os.write(writing, f"{row('1')}\n{row('2', 'b')}\n".encode())
    os.close(writing)
    to = tmp_path / "verdicts.jsonl"
    assert await Batch(Path(f"/dev/fd/{reading}"), to, 2).judge(client) == 1
    os.close(reading)
    assert sorted(verdict["id"] for verdict in verdicts(to)) == ["1", "2"]


async def test_a_full_disk_is_reported_in_one_line(client: Client, tmp_path: Path):
    source = written(tmp_path / "batch.jsonl", row("1"))
    with pytest.raises(InfrastructureError, match="No space left"):
        await Batch(source, Path("/dev/full"), 1).judge(client)
