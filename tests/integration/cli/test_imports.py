"""A command imports what it needs and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
sys.argv = ["arena", *{words!r}]
from arena.__main__ import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("modules:", *sorted(sys.modules))
"""

HEAVY = {
    "a2a",
    "alembic",
    "cryptography",
    "fastapi",
    "httpx",
    "httpx2",
    "jsonschema",
    "psycopg",
    "sqlalchemy.dialects.postgresql",
    "starlette",
    "uvicorn",
    "watchfiles",
}
"""What takes long to import and is of no use to a command that reads a table."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose database is there already: making one needs Alembic."""
    home = tmp_path_factory.mktemp("home")
    modules_of(home, "runs", "list")
    return home


def modules_of(home: Path, *words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(words=words)],
        env={"ARENA_HOME": str(home), "PATH": "/usr/bin:/bin"},
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("modules:")[2].split())


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("runs", "list"),
        ("leaderboard",),
        ("agents", "list"),
        ("tests", "list"),
        ("review",),
        ("task", "list"),
        ("ledger", "balance"),
        ("content", "put", "/dev/null"),
    ],
    ids=" ".join,
)
def test_a_reading_command_imports_nothing_heavy(home: Path, words: tuple[str, ...]):
    assert not HEAVY & modules_of(home, *words)


def test_a_benchmark_imports_no_web_framework_and_no_chain(home: Path):
    words = ("run", "qa-web-manager", "--test", "bench_nav_001")
    assert not {"fastapi", "starlette", "uvicorn", "httpx", "cryptography"} & modules_of(
        home, *words
    )


def test_only_a_command_that_exports_loads_the_exports(home: Path):
    words = ("run", "qa-web-manager", "--test", "bench_nav_001")

    def exports(*more: str) -> set[str]:
        loaded = {name for name in modules_of(home, *words, *more) if "cli.export." in name}
        return {name.removeprefix("arena.cli.export.") for name in loaded}

    assert exports("--fail-under", "0") == set()
    assert exports("--csv", "results.csv") == {"csv", "exported", "target"}


@pytest.mark.parametrize("words", [("chain", "--help"), ("chain", "keys")], ids=" ".join)
def test_libraries_for_chains_are_imported_only_when_they_are_used(
    home: Path, words: tuple[str, ...]
):
    assert not {"eth_abi", "eth_account", "eth_utils", "httpx2"} & modules_of(home, *words)
