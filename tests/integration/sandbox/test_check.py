"""`arena sandbox check`: what the machine can do, for people and for programs."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arena.cli.sandbox import app
from integration.sandbox.machine import need_isolation


def test_the_report_names_every_step() -> None:
    need_isolation()
    result = CliRunner().invoke(app, ["check", "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.output)
    assert report["usable"] is True
    names = [step["name"] for step in report["steps"]]
    assert {"platform", "bubblewrap", "libseccomp", "python functions", "commands"} <= set(names)


def test_people_get_a_table() -> None:
    need_isolation()
    result = CliRunner().invoke(app, ["check"])
    assert result.exit_code == 0, result.output
    assert "can be isolated" in result.output


def test_a_machine_that_cannot_isolate_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = CliRunner().invoke(app, ["check", "--json"])
    assert result.exit_code == 3
    report = json.loads(result.output)
    assert report["usable"] is False
    broken = [step for step in report["steps"] if step["required"] and not step["works"]]
    assert broken[0]["remedy"] == "install the package bubblewrap"
