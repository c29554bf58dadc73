"""The README, followed literally in a new folder by a user with an empty home.

Blocks marked `sh` are executed in order, files whose first line is their path are written, and
blocks marked `text` must be what the commands print, apart from numbers, ids, bars and the ends of
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
    is_activated: bool = False

    def type(self, block: str) -> None:
        """Execute a block; one for another terminal is left running."""
        script = block.replace("make demo\n", "make demo ONCE=1\n")
        # A new terminal is activated like the first one.
        activated = ". .venv/bin/activate\n" if self.is_activated else ""
        self.is_activated |= ".venv/bin/activate" in block
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                ["bash", "-eo", "pipefail", "-c", activated + script],
                cwd=self.folder,
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.others.append(process)
        if not OTHER_TERMINAL.match(block):
            code = process.wait(timeout=5 * PATIENCE_SECONDS)
            assert code == 0, f"{block}\n{self.log.read_text()}"

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
                path = terminal.folder / named[1]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        home = terminal.folder / ".arena" / "arena.db"
        assert home.exists()
        assert not list((tmp_path / "user").rglob("arena.db")), "there is a second home"


def test_every_command_of_the_readme_is_in_a_block_that_is_executed():
    page = (ROOT / "README.md").read_text()
    executed = [text for language, text in blocks(page) if language == "sh"]
    assert len(executed) >= 8
    for language, text in blocks(page):
        is_command = re.search(r"(?m)^(arena|make|pip|pipx) ", text)
        assert language == "sh" or not is_command, text
