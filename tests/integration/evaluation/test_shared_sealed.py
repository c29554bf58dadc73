"""Private parts of sealed standards reach the machines that share a database, and nobody else."""

import asyncio
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from typer.testing import CliRunner

from arena.assembly import Arena, open_arena
from arena.cli.standard import app
from arena.content.cid import RAW, Cid
from arena.content.errors import ContentMissing
from arena.errors import InfrastructureError
from arena.evaluation.evaluate import evaluate
from arena.evaluation.reading import read_standard_document
from arena.evaluation.resources import NotJudged
from arena.evaluation.sealed import SealedFolder, commitment_of, seal, write_private_part
from arena.evaluation.verdict import Opening, Submission
from arena.runs.run import RunRequest
from arena.settings import Settings
from arena.worker import Worker, WorkerOptions
from conftest import missing
from databases import new_postgres
from factories import write_agent, write_tests

STANDARD: dict[str, object] = {
    "type": "test_cases",
    "functionName": "add",
    "cases": [
        {"input": [1, 2], "expected": 3},
        {"input": [5, 5], "expected": 10, "hidden": True},
    ],
}
PUBLIC, OPENINGS = seal(STANDARD)
COMMITMENTS = [commitment_of(opening) for opening in OPENINGS]
PRIVATE = write_private_part(OPENINGS)


@pytest.fixture
def url(postgres_server: str, postgres_tables: str) -> Iterator[str]:
    with new_postgres(postgres_server, postgres_tables) as made:
        yield made


def queued(home: Path, url: str, **changes: Any) -> Settings:
    return Settings(home=home, database_url=url, dispatch="queued", **changes)


def leave(folder: SealedFolder, private: bytes = PRIVATE) -> Path:
    """Put a private part where an operator would."""
    path = folder.path(COMMITMENTS)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(private)
    return path


def rows(url: str, query: str, *values: object) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(query, values)
        return found.fetchall() if found.description else []


def parts(url: str) -> list[tuple[Any, ...]]:
    return rows(url, "SELECT team_id, name, body FROM arena_sealed_parts ORDER BY team_id")


async def unsealed(arena: Arena, team_id: str | None = None) -> tuple[Opening, ...] | None:
    sealed = arena.sealed if team_id is None else arena.sealed.of_team(team_id)
    found = await asyncio.to_thread(sealed, COMMITMENTS)
    return None if found is None else tuple(found)


async def test_hidden_cases_of_one_machine_are_judged_on_another(url: str, tmp_path: Path):
    if shutil.which("bwrap") is None:
        missing("bubblewrap")
    there = queued(tmp_path / "a", url)
    standard = read_standard_document(PUBLIC)
    submission = Submission(output="def add(a, b): return a + b", language="python")
    async with open_arena(there) as a, open_arena(queued(tmp_path / "b", url)) as b:
        leave(SealedFolder(there.sealed_folder))
        with pytest.raises(NotJudged, match="is missing"):
            await evaluate(standard, submission, b.resources)
        assert await a.publish_sealed() == 1
        verdict = await evaluate(standard, submission, b.resources)
    assert (verdict.score, verdict.openings) == (100, tuple(OPENINGS))
    assert not (tmp_path / "b" / "sealed").exists(), "a secret was left on the other machine"


async def test_only_what_the_database_lacks_is_published(url: str, tmp_path: Path):
    settings = queued(tmp_path / "a", url)
    folder = SealedFolder(settings.sealed_folder)
    async with open_arena(settings) as arena:
        assert await arena.publish_sealed() == 0  # not even a folder
        path = leave(folder)
        (path.parent / "notes.json").write_text("{}")
        (path.parent / "team-").mkdir()  # of no team
        shutil.copy(path, path.parent / "team-")
        (path.parent / "team-none").write_text("a file, not a folder")
        leave(folder.of_team("team/ü"))
        assert await arena.publish_sealed() == 2
        assert await arena.publish_sealed() == 0
    assert parts(url) == [("", path.stem, PRIVATE), ("team/ü", path.stem, PRIVATE)]


async def test_a_damaged_part_is_repaired_and_never_published(url: str, tmp_path: Path):
    settings = queued(tmp_path / "a", url)
    folder = SealedFolder(settings.sealed_folder)
    other = write_private_part([replace(OPENINGS[0], case={"input": [1], "expected": 2})])
    async with open_arena(settings) as a, open_arena(queued(tmp_path / "b", url)) as b:
        for damaged in (b"{", other):
            leave(folder, damaged)
            assert await a.publish_sealed() == 0
        leave(folder)
        assert await a.publish_sealed() == 1
        rows(url, "UPDATE arena_sealed_parts SET body = %b", b"{")
        with pytest.raises(InfrastructureError, match="in the database") as caught:
            await unsealed(b)
        assert not caught.value.retryable
        assert await a.publish_sealed() == 1
        assert await unsealed(b) == tuple(OPENINGS)


async def test_a_team_cannot_use_the_parts_of_another_or_of_the_server(url: str, tmp_path: Path):
    settings = queued(tmp_path / "a", url)
    folder = SealedFolder(settings.sealed_folder)
    async with open_arena(settings) as a, open_arena(queued(tmp_path / "b", url)) as b:
        leave(folder.of_team("red"))
        await a.publish_sealed()
        assert await unsealed(b, "red") == tuple(OPENINGS)
        assert await unsealed(b, "blue") is None
        assert await unsealed(b) is None
        leave(folder)
        await a.publish_sealed()
        assert await unsealed(b) == tuple(OPENINGS)
        assert await unsealed(b, "blue") is None


async def test_a_private_part_is_no_content(url: str, tmp_path: Path):
    settings = queued(tmp_path / "a", url)
    leave(SealedFolder(settings.sealed_folder))
    async with open_arena(settings) as arena:
        await arena.publish_sealed()
        cid = str(Cid.of_block(PRIVATE, codec=RAW))
        with pytest.raises(ContentMissing):
            await asyncio.to_thread(arena.content.get, cid)


async def test_without_queued_runs_nothing_is_published(url: str, tmp_path: Path):
    settings = Settings(home=tmp_path / "a", database_url=url)
    leave(SealedFolder(settings.sealed_folder))
    async with open_arena(settings) as arena:
        assert type(arena.sealed) is SealedFolder
        assert await arena.publish_sealed() == 0
        assert await unsealed(arena) == tuple(OPENINGS)
    assert parts(url) == []


def test_sealing_lets_the_workers_use_the_hidden_cases(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "standard.json"
    file.write_text(json.dumps(STANDARD))
    monkeypatch.setenv("ARENA_DISPATCH", "queued")
    monkeypatch.setenv("ARENA_DATABASE_URL", url)
    done = CliRunner().invoke(app, ["seal", str(file), "--json"])
    assert done.exit_code == 0, done.output
    sealed = json.loads(done.stdout)
    assert parts(url) == [("", sealed["seal"], Path(sealed["private"]).read_bytes())]
    # Without the database both parts are written all the same.
    monkeypatch.setenv("ARENA_DATABASE_URL", urlsplit(url)._replace(path="/none").geturl())
    public = tmp_path / "second.json"
    done = CliRunner().invoke(app, ["seal", str(file), "-o", str(public), "--json"])
    assert (done.exit_code, public.exists()) == (0, True)
    assert "the workers cannot use the hidden cases yet" in done.stderr


async def test_a_run_started_on_one_machine_is_judged_by_the_worker_of_another(
    url: str, tmp_path: Path
):
    if shutil.which("bwrap") is None:
        missing("bubblewrap")
    here, there = queued(tmp_path / "a", url), queued(tmp_path / "b", url)
    leave(SealedFolder(here.sealed_folder))
    write_agent(here.home / "agents", "solver", "return 'def add(a, b): return a + b'")
    body = {key: value for key, value in PUBLIC.items() if key != "type"} | {"language": "python"}
    file = here.home / "benchmarks" / "sealed.yaml"
    write_tests(file, count=1, agents=["solver"], validation="test_cases", expected=body)
    async with open_arena(here) as a, open_arena(there) as b:
        request = RunRequest(team_id="default", agent_id="solver", category="sealed")
        run = await a.executor.create(request)
        await a.executor.start(run.id, "default")
        options = WorkerOptions(is_draining=True, has_sandbox=True)
        await Worker(b, options, print).run(print)
        assert (await a.executor.wait(run.id)).error_message is None
        (result,) = (await a.runs.results(run.id, after=0, limit=10)).results
        assert (result.passed, result.score) == (True, 100)
        assert result.verdict_cid is not None
        # The record was made there, and is checked here.
        assert (await a.evaluation.verify(result.verdict_cid)).outcome == "holds"
