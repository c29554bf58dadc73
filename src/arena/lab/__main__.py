"""`python -m arena.lab AGENT_ID`: a reference agent, JSON lines in and JSON lines out.

A line `{"prompt": …}` is answered by a line `{"output", "usage"}`, a line without a prompt by an
output that says so. `usage` is counted, not estimated: the agents call no model, and their tokens
are the words of the prompt and of every record that was read, and the words that were written.
"""

import json
import sys

from arena.lab.agent import LabAgent
from arena.lab.desk import ROLES
from arena.lab.lab import open_lab


def main(arguments: list[str]) -> int:
    """Answer line by line until the input ends."""
    if len(arguments) != 1 or arguments[0] not in ROLES:
        known = ", ".join(ROLES)
        print(f"usage: python -m arena.lab AGENT_ID\nAGENT_ID is one of: {known}", file=sys.stderr)
        return 2
    # Lines are UTF-8 whatever the machine's locale is; an invalid byte must not end the program.
    sys.stdin.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    agent = LabAgent(ROLES[arguments[0]], open_lab())
    for line in sys.stdin:
        if line.strip():
            print(json.dumps(reply_to(agent, line), ensure_ascii=False), flush=True)
    return 0


def reply_to(agent: LabAgent, line: str) -> dict[str, object]:
    """The answer to one line."""
    try:
        prompt = json.loads(line)["prompt"]
    except (ValueError, TypeError, LookupError, RecursionError):
        prompt = None
    if not isinstance(prompt, str):
        return {"output": 'Error: this line is not a JSON object with a text "prompt".'}
    reply = agent.answer(prompt)
    usage = {"input_tokens": reply.words_read, "output_tokens": reply.words_written}
    return {"output": reply.text, "usage": {**usage, "model": None, "cost_usd": 0.0}}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
