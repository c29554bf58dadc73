"""Project rules that no linter checks."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
FORBIDDEN_NAMES = {"utils.py", "helpers.py", "common.py", "misc.py", "base.py"}


def committed() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_no_file_has_outgrown_its_job():
    long = {p.name: n for p in SOURCES if (n := len(p.read_text().splitlines())) > MAX_FILE_LINES}
    assert long == {}


def test_no_function_has_outgrown_a_screen():
    long = [
        f"{path.name}:{node.lineno} {node.name}"
        for path in SOURCES
        if "migrations" not in path.parts
        for node in functions(path)
        if (node.end_lineno or 0) - node.lineno >= MAX_FUNCTION_LINES
    ]
    assert long == []


def test_files_are_named_for_what_they_hold():
    names = {path.name for path in SOURCES}
    assert not names & FORBIDDEN_NAMES
    assert not [name for name in names if name.startswith("test_")]


def test_only_settings_and_secrets_read_the_environment():
    readers = {
        str(path.relative_to(ROOT / "src" / "arena"))
        for path in SOURCES
        if re.search(r"os\.(environ|getenv)", path.read_text())
    }
    readers.discard("sandbox/harness/zygote.py")  # it only clears its own
    readers.discard("agents/worker.py")  # a process of the agent, which is told of its trace there
    assert readers <= {"settings.py", "agents/secrets.py", "agents/environment.py"}


def test_no_committed_file_names_a_package_registry():
    hosts = re.compile(r"(?i)pypi\.org|pythonhosted|registry\.npmjs|--index-url|find-links")
    named = [
        str(path.relative_to(ROOT))
        for path in committed()
        if path != Path(__file__) and hosts.search(path.read_text(errors="replace"))
    ]
    assert named == []


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-frameworks.lock"])
def test_the_lock_has_a_hash_for_everything(name):
    lock = (ROOT / name).read_text()
    blocks = re.split(r"(?m)^(?=[a-z0-9])", lock)
    pinned = [block for block in blocks if "==" in block.partition("\n")[0]]
    assert pinned
    assert [block.partition(" ")[0] for block in pinned if "--hash=sha256:" not in block] == []
