"""A solver for `arena start --exec "python3 solver.py"`: the task on stdin, the result on stdout.

It uses rules, not a model: it knows the few families of small functions in KNOWN, finds the one a
description asks for by its words, and writes it in Python under the name the description gives.
What it does not know it says on stderr and ends with exit code 1; Arena then tries again and, in
the end, tells you. Put your own logic in the place of `solve`.
"""

import json
import re
import sys

KNOWN = {
    ("merge",): """
def {name}(a, b):
    if not (isinstance(a, dict) and isinstance(b, dict)):
        return b
    merged = dict(a)
    for key, value in b.items():
        merged[key] = {name}(a[key], value) if key in a else value
    return merged
""",
    ("palindrome",): """
def {name}(text):
    letters = [c for c in text.casefold() if c.isalnum()]
    return letters == letters[::-1]
""",
    ("reverse", "word"): """
def {name}(text):
    return " ".join(reversed(text.split()))
""",
    ("vowel",): """
def {name}(text):
    return sum(c in "aeiou" for c in text.lower())
""",
    ("sum", "add"): """
def {name}(*numbers):
    return sum(numbers)
""",
}
"""The words that must all be in a description (one of them for the last), and the function."""


def solve(description: str) -> str | None:
    """The code that the description asks for; None where it is beyond these rules."""
    named = re.search(r"\b([A-Za-z_]\w*)\s*\(", description)
    words = description.lower()
    for keys, code in KNOWN.items():
        found = any if keys == ("sum", "add") else all
        if named and found(key in words for key in keys):
            return code.format(name=named[1]).lstrip()
    return None


def main() -> int:
    task = json.load(sys.stdin)
    solution = solve(task["description"])
    if solution is None:
        print(f"beyond my rules: {task['description'][:80]}", file=sys.stderr)
        return 1
    print(json.dumps({"result": solution, "language": "python"}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
