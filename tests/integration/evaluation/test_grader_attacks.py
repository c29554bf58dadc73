"""Attacks on graders: all score 0, and their controls show that they would work."""

from collections.abc import AsyncIterator

import pytest

from arena.evaluation.evaluate import evaluate
from arena.evaluation.reading import read_standard
from arena.evaluation.resources import Resources
from arena.evaluation.verdict import Submission
from arena.sandbox import grading
from arena.sandbox.grading import GraderCall, run_grader
from arena.sandbox.namespace.provider import NamespaceProvider
from arena.sandbox.submission import Code

from .grader_attacks import ATTACKS, Attack
from .value_attacks import VALUE_ATTACKS

ALL = [*ATTACKS, *VALUE_ATTACKS]
CONTROLLED = [attack for attack in ALL if attack.control != "none"]
FILES = {"python": ("test.py", "python3 test.py"), "javascript": ("test.js", "node test.js")}


@pytest.fixture
async def sandbox() -> AsyncIterator[NamespaceProvider]:
    async with NamespaceProvider() as provider:
        yield provider


@pytest.mark.parametrize("attack", ALL, ids=lambda attack: attack.name)
async def test_an_attack_scores_nothing(attack: Attack, sandbox: NamespaceProvider) -> None:
    body = {"script": attack.script, "entry_points": ["candidate"], "classes": attack.classes}
    standard = read_standard(attack.language, body)
    submission = Submission(output=attack.source, language=attack.language)
    verdict = await evaluate(standard, submission, Resources(sandbox=sandbox))
    assert verdict.score == 0, verdict.reasoning
    assert not verdict.passed


@pytest.mark.parametrize("attack", CONTROLLED, ids=lambda attack: attack.name)
async def test_the_attack_works_without_the_protection(
    attack: Attack, sandbox: NamespaceProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    if attack.control == "visible":
        assert await _passes_where_memory_is_visible(attack, sandbox, monkeypatch)
    else:
        assert await _passes_in_one_process(attack, sandbox)


def test_most_attacks_have_a_control() -> None:
    assert len(ALL) >= 60
    assert len(CONTROLLED) >= 40


async def _passes_in_one_process(attack: Attack, provider: NamespaceProvider) -> bool:
    """A simple harness: the submission, then its test, in one file."""
    name, command = FILES[attack.language]
    if attack.language == "javascript":
        text = f'{attack.source}\nconst assert = require("node:assert");\n{attack.script}'
    else:
        text = f"{attack.source}\n{attack.script}\ncheck(candidate)\n"
    sandbox = await provider.create()
    await sandbox.write_file(name, text)
    result = await sandbox.exec(f"{command}; code=$?; sleep 1; exit $code")
    if attack.control == "printed":
        return "verdict: 100" in result.stdout
    return result.exit_code == 0


async def _passes_where_memory_is_visible(
    attack: Attack, provider: NamespaceProvider, monkeypatch: pytest.MonkeyPatch
) -> bool:
    """The grading process is started from the readable interpreter, and keeps its debugger."""
    original = grading.program

    def open_program(file: str) -> str:
        text = original(file)
        text = text.replace(
            "if not self._received().get(\\'protected\\')", "if not self._received()"
        )
        text = text.replace('if not self._received().get("protected"):', "if not self._received():")
        text = text.replace("if (receive().protected !== true)", "if (receive() === undefined)")
        return text.replace('process.on("SIGUSR1", () => {});', "")

    monkeypatch.setattr(grading, "program", open_program)
    monkeypatch.setattr(grading, "HIDE", "")
    command = grading._command  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(
        grading, "_command", lambda *given: command(*given).replace("exec ./loader $p", "exec $p")
    )
    call = GraderCall(
        language=attack.language,
        script=attack.script,
        submission={"output": attack.source},
        code=Code(source=attack.source, language=attack.language),
        entry_points=["candidate"],
    )
    return (await run_grader(provider, call)).score == 100
