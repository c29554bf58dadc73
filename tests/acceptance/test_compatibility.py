"""What 0.1 printed for programs, and what it stored, is still understood.

Fields may be added; none may go, and none may change its type.
"""

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import typer

from acceptance.conftest import Shell
from arena.cli.main import app
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
    missing = {place for place, _ in then} - {place for place, _ in now}
    assert missing == set()
    assert {one for one in then - now if one[1] != "null"} == set()


NEWER = {("task", "commit"), ("task", "reveal")}
"""Commands that 0.1 did not have."""


def test_the_scenario_covers_every_command_of_0_1():
    covered = {tuple(one["words"]) for one in OUTPUTS.values()} | NEWER
    for words in commands_with_json():
        assert any(one[: len(words)] == words for one in covered), f"arena {' '.join(words)} --json"


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
        return {name: kept(one, now[name]) for name, one in then.items() if name in now}
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        return [kept(*pair) for pair in zip(then, now, strict=True)]
    return now


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_a_database_of_0_1_shows_what_it_showed(
    dialect: str, tmp_path: Path, request: pytest.FixtureRequest
):
    with opened(dialect, tmp_path, request) as shell:
        now = shown(shell)
        for name, then in OPENED[dialect].items():
            assert kept(then, now[name]) == then, name
        # The migrated home can still be used.
        before = len(now["runs"]["runs"])
        assert shell.arena("run", "parrot").returncode == 0
        assert len(shell.json("runs", "list", "--limit", "1000")["runs"]) == before + 1
