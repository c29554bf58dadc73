"""The README, followed literally in a new folder by a user with an empty home.

Blocks marked `sh` are executed in order, each in the folder that the one before ended in. Files
whose first line is their path are written; where a command has made the file, it must be as shown.
Blocks marked `text` must be what the commands print, apart from numbers, ids, bars and the ends of
lines. A block for another terminal is executed beside the others, and stopped at the end as by
Ctrl-C.

`make demo` is executed with ONCE=1, because its server would run until Ctrl-C, and in a folder
whose set-up is already done: the environment of these tests is its `.venv`.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from conftest import missing

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"(?ms)^```(\w*)\n(.*?)^```$")
PATH_COMMENT = re.compile(r"# ([\w./-]+\.\w+)\n")
OTHER_TERMINAL = re.compile(r"# in a \w+ terminal, until Ctrl-C")
PATIENCE_SECONDS = 120


def blocks(page: str) -> list[tuple[str, str]]:
    """The code blocks of a page, each with its language."""
    return BLOCK.findall(page)


def shape(line: str) -> str:
    """A line without what differs from run to run: ids, numbers, units of time, bars."""
    line = re.sub(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "ID", line)
    line = re.sub(r"[\d.]*\d", "N", line)
    line = re.sub(r"\bN m?s\b", "N s", line)
    return " ".join(re.sub("[█▏▎▍▌▋▊▉]", " ", line).split()).rstrip("… ")


@dataclass(kw_only=True)
class Terminal:
    """A user who types what the README shows."""

    folder: Path
    log: Path
    environment: dict[str, str]
    others: list[subprocess.Popen[bytes]] = field(default_factory=list)
    activation: str = ""
    """The command that activates the environment, once it has been typed."""

    def type(self, block: str) -> None:
        """Execute a block; one for another terminal is left running."""
        script = block.replace("make demo\n", "make demo ONCE=1\n")
        if ". .venv/bin/activate" in block:
            self.activation = f". {self.folder}/.venv/bin/activate\n"
        ended_in = self.log.with_name("ended_in.txt")
        if not (is_other := bool(OTHER_TERMINAL.match(block))):
            script += f'\npwd > "{ended_in}"'
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                ["bash", "-eo", "pipefail", "-c", self.activation + script],
                cwd=self.folder,
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.others.append(process)
        if not is_other:
            code = process.wait(timeout=5 * PATIENCE_SECONDS)
            assert code == 0, f"{block}\n{self.log.read_text()}"
            self.folder = Path(ended_in.read_text().strip())

    def save(self, name: str, text: str) -> None:
        """Write a file; one that is there already must be what the README shows."""
        path = self.folder / name
        if path.exists():
            assert path.read_text() == text
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def expect(self, text: str) -> None:
        """Wait until every line of the text was printed."""
        for line in text.splitlines():
            deadline = time.monotonic() + PATIENCE_SECONDS
            while not any(one.startswith(shape(line)) for one in self.printed()):
                assert time.monotonic() < deadline, f"{line}\n{self.log.read_text()}"
                time.sleep(0.1)

    def printed(self) -> Iterator[str]:
        return map(shape, self.log.read_text().splitlines())

    def close(self) -> None:
        """Stop what still runs, as Ctrl-C does."""
        for process in self.others:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
                process.wait(timeout=PATIENCE_SECONDS)


@contextmanager
def a_newcomer(folder: Path) -> Iterator[Terminal]:
    """A user with an empty home in a checkout that has been set up."""
    checkout, home = folder / "checkout", folder / "user"
    for path in (checkout, home):
        path.mkdir()
    shutil.copytree(ROOT / "scripts", checkout / "scripts")
    for name in ("Makefile", "requirements.lock", "pyproject.toml", "hatch_build.py"):
        shutil.copy(ROOT / name, checkout)
    (checkout / ".venv").symlink_to(sys.prefix)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
    # The test environment has been built; building again would need the network.
    variables = {"HOME": str(home), "XDG_DATA_HOME": "", "ARENA_SKIP_WEB": "1"}
    terminal = Terminal(folder=checkout, log=folder / "printed.txt", environment=kept | variables)
    try:
        yield terminal
    finally:
        terminal.close()


@pytest.fixture(autouse=True)
def tools() -> None:
    for tool in ("bash", "make", "bwrap"):
        if shutil.which(tool) is None:
            missing(tool)


def test_every_block_of_the_readme_runs_as_written(tmp_path: Path):
    with a_newcomer(tmp_path) as terminal:
        for language, text in blocks((ROOT / "README.md").read_text()):
            if language == "sh":
                terminal.type(text)
            elif language == "text":
                terminal.expect(text)
            elif named := PATH_COMMENT.match(text):
                terminal.save(named[1], text[named.end() :])
        homes = {path.parent for path in tmp_path.rglob("arena.db")}
        assert homes == {
            tmp_path / "checkout" / "demo" / ".arena",
            tmp_path / "user" / "my-project" / ".arena",
        }


def test_every_command_of_the_readme_is_in_a_block_that_is_executed():
    page = (ROOT / "README.md").read_text()
    executed = [text for language, text in blocks(page) if language == "sh"]
    assert len(executed) >= 8
    for language, text in blocks(page):
        is_command = re.search(r"(?m)^(arena|make|pip|pipx) ", text)
        assert language == "sh" or not is_command, text
