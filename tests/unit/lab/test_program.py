"""The reference agents as real processes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import arena
from arena.lab.desk import ROLES

BUILTIN = Path(arena.__file__).parent / "agents" / "builtin"


def talk(name: str, *lines: bytes) -> list[dict[str, object]]:
    """Starts the agent, sends the lines, and gives its answer lines after it ended by itself."""
    done = subprocess.run(
        [sys.executable, "-m", "arena.lab", name],
        input=b"".join(line + b"\n" for line in lines),
        capture_output=True,
        timeout=30,
        check=True,
        env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
    )
    assert done.stderr == b""
    return [json.loads(line) for line in done.stdout.splitlines()]


def question(prompt: str) -> bytes:
    return json.dumps({"id": "q", "prompt": prompt, "timeout_seconds": 30}).encode()


@pytest.mark.parametrize("name", ROLES)
def test_every_agent_answers_as_a_process(name: str) -> None:
    (answer,) = talk(name, question("Which hosts are there?"))

    assert "192.0.2.11" in str(answer["output"])
    usage = answer["usage"]
    assert isinstance(usage, dict)
    assert usage["model"] is None
    assert usage["cost_usd"] == 0
    assert usage["input_tokens"] > 0
    assert usage["output_tokens"] > 0


def test_bad_lines_get_an_answer_and_the_next_prompt_too() -> None:
    bad = [b"not json", b"[1]", b'{"prompt": 3}', b"{}", b'"x"', b"\xff\xfe", b"[" * 100_000]

    answers = talk("qa-web-manager", *bad, question("Hello, who are you?"))

    assert len(answers) == len(bad) + 1
    assert all("Error" in str(answer["output"]) for answer in answers[:-1])
    assert "Sherlock" in str(answers[-1]["output"])


def test_letters_of_every_kind_come_and_go_whole() -> None:
    (answer,) = talk("qa-web-manager", question("Go to the node 'überblick ☕'"))

    assert "überblick ☕" in str(answer["output"])


def test_half_a_character_does_not_end_the_program() -> None:
    lone = b'{"prompt": "open the node \'\\ud83d\'"}'

    answers = talk("qa-web-manager", lone, question("Hello, who are you?"))

    assert len(answers) == 2


def test_one_process_remembers_between_prompts() -> None:
    answers = talk("qa-web-manager", question("Execute TC-WEB-01"), question("Show the results"))

    assert "EX-1045: TC-WEB-01" in str(answers[1]["output"])


def test_two_processes_say_the_same() -> None:
    prompts = [question("Execute TC-WEB-04"), question("Analyse the gaps"), question("Go home")]

    assert talk("qa-web-manager", *prompts) == talk("qa-web-manager", *prompts)


def test_an_answer_comes_before_the_next_prompt_is_sent() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "arena.lab", "ai-assistant"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(2):
            process.stdin.write(question("Coverage, please") + b"\n")
            process.stdin.flush()
            assert b"coverage summary" in process.stdout.readline()
        process.stdin.close()

    assert process.returncode == 0


@pytest.mark.parametrize("arguments", [[], ["nobody"], ["qa-web-manager", "more"]])
def test_a_wrong_name_is_a_usage_error_that_lists_the_right_ones(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "arena.lab", *arguments],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert done.returncode == 2
    assert all(name in done.stderr for name in ROLES)


@pytest.mark.parametrize("name", ROLES)
def test_every_agent_has_a_file_that_starts_it(name: str) -> None:
    described = yaml.safe_load((BUILTIN / f"{name}.yaml").read_text(encoding="utf-8"))

    assert described["id"] == name
    assert described["version"] == "1.0.0"
    assert described["nickname"] == ROLES[name].nickname
    assert described["connector"] == {
        "type": "command",
        "command": f"{{python}} -m arena.lab {name}",
        "persistent": True,
    }
