"""The reference agents as a program: JSON lines in, JSON lines out.

One line `{"id", "prompt", "timeout_seconds"}` is one prompt; one line `{"output", "usage"}` is its
answer. A line that is not a prompt gets an answer that says so. The program ends with its input.

`usage` counts what this program really did. It asks no model, so `model` is null and `cost_usd` is
0. Its tokens are the words of its own tokenizer (`words.py`): `input_tokens` are the words of the
prompt and of the lab's records that were read for the answer, `output_tokens` the words written.
"""

import json
import sys
from typing import TextIO, cast

from arena.lab.agent import LabAgent
from arena.lab.lab import open_lab
from arena.lab.roles import ROLES

USAGE = "usage: python -m arena.lab AGENT_ID\nAGENT_ID is one of: "


def main(arguments: list[str]) -> int:
    """Starts the agent that is named and answers until the input ends."""
    if len(arguments) != 1 or arguments[0] not in ROLES:
        print(USAGE + ", ".join(ROLES), file=sys.stderr)
        return 2
    # Lines are UTF-8 whatever the machine's locale is; a bad byte must not end the program.
    sys.stdin.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    serve(LabAgent(ROLES[arguments[0]], open_lab()), sys.stdin, sys.stdout)
    return 0


def serve(agent: LabAgent, lines: TextIO, answers: TextIO) -> None:
    """Answers every line with one line, at once."""
    for line in lines:
        if line.strip():
            answers.write(json.dumps(answer_line(agent, line), ensure_ascii=False) + "\n")
            answers.flush()


def answer_line(agent: LabAgent, line: str) -> dict[str, object]:
    """The answer to one line."""
    prompt = prompt_in(line)
    if prompt is None:
        return {"output": 'Error: this line is not a JSON object with a text "prompt".'}
    spoken = agent.answer(prompt)
    usage = {
        "input_tokens": spoken.words_read,
        "output_tokens": spoken.words_written,
        "model": None,
        "cost_usd": 0.0,
    }
    return {"output": spoken.text, "usage": usage}


def prompt_in(line: str) -> str | None:
    """The prompt of a line, if it has one."""
    try:
        question = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(question, dict):
        return None
    prompt = cast("dict[str, object]", question).get("prompt")
    return prompt if isinstance(prompt, str) else None
