"""The files for CI systems: YAML, whose commands the real command line accepts."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from typer.core import TyperGroup

from arena.cli.main import app

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
GUIDE = (ROOT / "docs" / "guide" / "ci.md").read_text()
SNIPPETS: list[dict[str, Any]] = [
    yaml.safe_load(block) for block in re.findall(r"(?ms)^```yaml\n(.*?)^```", GUIDE)
]
SHELL = [
    line for block in re.findall(r"(?ms)^```\n(.*?)^```", GUIDE) for line in block.splitlines()
]
RUN = next(step["run"] for step in ACTION["runs"]["steps"] if step["name"] == "Benchmark")
APPENDED = [shlex.split(words) for words in re.findall(r"words\+=\((--.*?)\)", RUN)]
VALUES = {"$INPUT_FAIL_UNDER": "90"}
"""What a variable stands for, where any text would not do."""


def commands(lines: list[str]) -> list[list[str]]:
    """The words of every `arena …` in these lines of shell; an array of more words is left out."""
    found: list[list[str]] = []
    for line in lines:
        if line.strip().startswith("arena "):
            words = shlex.split(line)
            end = next((n for n, word in enumerate(words) if word in ("||", "|", ">", "&&")), None)
            found.append([word for word in words[1:end] if word != "${words[@]}"])
    return found


def accept(words: list[str]) -> None:
    """Parse a command line with the real parser, without executing it."""
    command: Any = typer.main.get_command(app)
    rest = [VALUES.get(word, word) for word in words]
    context = command.make_context("arena", list(rest))
    while isinstance(command, TyperGroup):
        name, command, rest = command.resolve_command(
            context, [*context._protected_args, *context.args]
        )
        context = command.make_context(name, list(rest), parent=context)


OF_ACTION = commands(RUN.splitlines())


def gitlab() -> dict[str, Any]:
    (job,) = (one["benchmark"] for one in SNIPPETS if "benchmark" in one)
    return job


@pytest.mark.parametrize(
    "words", [*OF_ACTION, *commands(gitlab()["script"]), *commands(SHELL)], ids=shlex.join
)
def test_every_command_is_accepted(words: list[str]):
    accept(words)


def test_a_command_with_an_unknown_option_would_be_noticed():
    with pytest.raises(Exception, match="--junitt"):
        accept(["run", "my-agent", "--junitt", "x"])


def test_the_action_adds_only_options_that_exist():
    (run,) = OF_ACTION
    assert [words[0] for words in APPENDED] == ["--agents", "--tests", "--fail-under"]
    accept([*run, *(word for words in APPENDED for word in words)])


def test_the_action_uses_every_input_and_documents_it():
    text = (ROOT / "action.yml").read_text()
    for name, body in ACTION["inputs"].items():
        assert body["description"]
        assert f"inputs.{name} " in text, name
    (example,) = (
        step["with"]
        for one in SNIPPETS
        if "jobs" in one
        for step in one["jobs"]["benchmark"]["steps"]
        if "with" in step
    )
    assert example.keys() <= ACTION["inputs"].keys()
    rows = re.findall(r"(?m)^\| ([a-z, -]+) \| ", GUIDE)
    listed = {name for row in rows for name in row.split(", ")} - {"input"}
    assert listed == ACTION["inputs"].keys()


def test_the_action_pastes_no_input_into_a_script():
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_gitlab_reads_the_junit_file_that_the_command_writes():
    job = gitlab()
    ((*words,),) = commands(job["script"])
    assert job["artifacts"]["reports"]["junit"] == words[words.index("--junit") + 1]
    assert job["artifacts"]["when"] == "always"
