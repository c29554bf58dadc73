"""What 0.1 printed for programs, and what it stored, is still understood.

Fields may be added; none may go, and none may change its type.
"""

import gzip
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
import typer

from acceptance.conftest import Shell
from arena.cli.main import app
from arena.store.tables.metadata import METADATA
from arena.store.tables.table import Id
from compatibility import V0_1, Played, model, play, shown, unpack_home
from databases import new_postgres

OUTPUTS: dict[str, Any] = json.loads((V0_1 / "outputs.json").read_text())
OPENED: dict[str, Any] = json.loads((V0_1 / "opened.json").read_text())
KINDS = {str: "string", bool: "boolean", int: "number", float: "number", type(None): "null"}


def fields(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Every path in a JSON document with its type; the items of a list share one path."""
    if isinstance(value, dict):
        yield place, "object"
        for name, inner in value.items():
            yield from fields(inner, f"{place}.{name}")
    elif isinstance(value, list):
        yield place, "array"
        for inner in value:
            yield from fields(inner, f"{place}[]")
    else:
        yield place, KINDS[type(value)]


def commands_with_json() -> Iterator[tuple[str, ...]]:
    """The words of every current command that has `--json`."""

    def walk(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if any("--json" in option.opts for option in command.params):
            yield words
        if hasattr(command, "list_commands"):
            context = command.make_context("arena", ["run"], resilient_parsing=True)
            for name in command.list_commands(context):
                yield from walk(command.get_command(context, name), (*words, name))

    return walk(typer.main.get_command(app), ())


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """The scenario that 0.1 played, played again."""
    folder = tmp_path_factory.mktemp("story")
    with model() as variables:
        yield play(Shell(home=folder / "home", variables=variables), folder)


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_json_output_of_0_1_has_kept_its_fields(played: Played, name: str):
    assert played[name]["code"] == OUTPUTS[name]["code"]
    then, now = set(fields(OUTPUTS[name]["output"])), set(fields(played[name]["output"]))
    # What was null then may have a value now, and vice versa.
    nulls = {place for place, kind in now if kind == "null"}
    missing = {place for place, _ in then} - {place for place, _ in now}
    assert {place for place in missing if place.rpartition(".")[0] not in nulls} == set()
    changed = {one for one in then - now if one[1] != "null" and one[0] not in nulls | missing}
    assert changed == set()


NEWER = {
    ("baseline",),
    ("task", "commit"),
    ("task", "reveal"),
    ("content", "fetch"),
    ("content", "publish"),
    ("ledger", "rebuild"),
    ("chain",),
    ("suites",),
    ("archive",),
    ("runs", "push"),
    ("runs", "reexecute"),
    ("tests", "from-result"),
    ("tests", "from-execution"),
    ("workers",),
}
"""Commands and groups of commands that 0.1 did not have."""


def test_the_scenario_covers_every_command_of_0_1():
    covered = {tuple(one["words"]) for one in OUTPUTS.values()}
    for words in commands_with_json():
        is_newer = any(words[: len(one)] == one for one in NEWER)
        is_covered = any(one[: len(words)] == words for one in covered)
        assert is_newer or is_covered, f"arena {' '.join(words)} --json"


@contextmanager
def opened(dialect: str, folder: Path, request: pytest.FixtureRequest) -> Iterator[Shell]:
    """A user with the home of 0.1, on either database."""
    home = unpack_home(folder)
    if dialect == "sqlite":
        yield Shell(home=home)
        return
    (home / "arena.db").unlink()
    with new_postgres(request.getfixturevalue("postgres_server")) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(gzip.decompress((V0_1 / "postgresql.sql.gz").read_bytes()))
        yield Shell(home=home, variables={"ARENA_DATABASE_URL": url})


def kept(then: Any, now: Any) -> Any:
    """The part of a current document that the one of 0.1 also has."""
    if isinstance(then, dict) and isinstance(now, dict):
        if "results_duration_seconds" in now:  # in 0.1 the duration of a run was this sum
            now = now | {"duration_seconds": now["results_duration_seconds"]}
        return {name: kept(one, now[name]) for name, one in then.items() if name in now}
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        return [kept(*pair) for pair in zip(then, now, strict=True)]
    return now


def rounded(value: Any) -> Any:
    """A document with its floats to six places: 0.1 kept the rounding errors of sums."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return round(value, 6) if isinstance(value, float) else value


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_a_database_of_0_1_shows_what_it_showed(
    dialect: str, tmp_path: Path, request: pytest.FixtureRequest
):
    with opened(dialect, tmp_path, request) as shell:
        now = shown(shell)
        for name, then in OPENED[dialect].items():
            if name == "leaderboard":
                check_board(shell, then, now[name])
            else:
                assert kept(then, now[name]) == rounded(then), name
        # The migrated home can still be used.
        before = len(now["runs"]["runs"])
        assert shell.arena("run", "parrot").returncode == 0
        assert len(shell.json("runs", "list", "--limit", "1000")["runs"]) == before + 1


OF_A_BOARD = {"rank", "rank_low", "rank_high", "intervals", "coverage", "provisional"}
"""What of an entry depends on the others, or on the suite."""


def check_board(shell: Shell, then: Any, now: Any) -> None:
    """The board of 0.1 mixed agents that were asked different questions; now each is on its own.

    Most of its runs were of the bundled tests, so their suite is the default.
    """
    assert (now["suite"], now["suites"]) == ("lab", ["lab", "legacy"])
    before = {entry["agent_id"]: entry for entry in then["leaderboard"]}
    legacy = shell.json("leaderboard", "--suite", "legacy")["leaderboard"]
    after = {entry["agent_id"]: entry for entry in now["leaderboard"]}
    assert after.keys() == before.keys()
    after |= {entry["agent_id"]: entry for entry in legacy}
    for name, entry in before.items():
        same = {field: value for field, value in entry.items() if field not in OF_A_BOARD}
        assert kept(same, after[name]) == rounded(same)
    assert {entry["agent_id"] for entry in legacy} == {"parrot", "poet"}
    # One with 3 of the 17 tests, and three without any of them, no longer stand above the others.
    ranks = {entry["agent_id"]: entry["rank"] for entry in now["leaderboard"]}
    assert ranks == {
        "ai-assistant": 1,
        "qa-web-manager": 2,
        "monitoring-manager": None,
        "solver": None,
        "parrot": None,
        "poet": None,
    }
    assert [one["kind"] for one in shell.json("leaderboard", "--log")["events"]] == ["upgraded"]


def test_ids_in_the_sqlite_database_of_0_1_read_as_the_api_shows_them(tmp_path: Path):
    home = unpack_home(tmp_path)
    with closing(sqlite3.connect(home / "arena.db")) as connection:
        before = ids_of(connection)
    shell = Shell(home=home)
    runs = shell.json("runs", "list", "--limit", "1000")["runs"]
    results = shell.json("runs", "show", runs[0]["id"])["results"]
    with closing(sqlite3.connect(home / "arena.db")) as connection:
        find = "SELECT agent_id FROM agent_benchmark_runs WHERE id = ?"
        for run in runs:
            assert connection.execute(find, [run["id"]]).fetchall() == [(run["agent_id"],)]
        find = "SELECT test_id FROM agent_benchmark_results WHERE id = ? AND run_id = ?"
        for one in results:
            named = connection.execute(find, [one["id"], runs[0]["id"]]).fetchall()
            assert named == [(one["test_id"],)]
        after = ids_of(connection)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert all(one == str(UUID(one)) for found in after.values() for one in found)
    earlier = {place: [str(UUID(one)) for one in found] for place, found in before.items()}
    assert {place: after[place] for place in earlier} == earlier
    assert sum(map(len, after.values())) > 50  # the home has ids in nearly every table


def ids_of(connection: sqlite3.Connection) -> dict[tuple[str, str], list[str]]:
    """Every id in a database, by table and column, in the order of the rows."""
    return {
        (table.name, column.name): [
            one
            for (one,) in connection.execute(
                f"SELECT {column.name} FROM {table.name}"
                f" WHERE {column.name} NOT NULL ORDER BY rowid"
            )
        ]
        for table in METADATA.sorted_tables
        for column in table.columns
        if isinstance(column.type, Id) and column.name in columns_of(connection, table.name)
    }


def columns_of(connection: sqlite3.Connection, table: str) -> set[str]:
    """The columns of a table; none if it does not exist."""
    return {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
