"""Reads one question from standard input and prints the answer."""

import json
import re
import sys

CAPITALS = {"France": "Paris", "Japan": "Tokyo"}


def answer(prompt: str) -> str:
    """What this agent says to a prompt."""
    for country, capital in CAPITALS.items():
        if country in prompt:
            return f"It is {capital}."
    if sum_asked := re.search(r"(\d+) \+ (\d+)", prompt):
        return str(int(sum_asked[1]) + int(sum_asked[2]))
    return "I do not know."


if __name__ == "__main__":
    print(answer(json.load(sys.stdin)["prompt"]))
