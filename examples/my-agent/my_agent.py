"""An agent that adds numbers and counts words: one JSON object per line in, one per line out."""

import json
import re
import sys


def answer(prompt: str) -> str:
    numbers = [int(number) for number in re.findall(r"-?\d+", prompt)]
    if re.search(r"\b(sum|add|plus|total)\b", prompt, re.IGNORECASE) and numbers:
        return f"The sum is {sum(numbers)}."
    if re.search(r"\bhow many words\b", prompt, re.IGNORECASE):
        quoted = re.search(r'"([^"]*)"', prompt)
        text = quoted[1] if quoted else prompt
        return f"There are {len(text.split())} words."
    return "I can only add numbers and count words."


def main() -> None:
    for line in sys.stdin:
        question = json.loads(line)
        output = answer(question["prompt"])
        usage = {
            "input_tokens": len(question["prompt"].split()),
            "output_tokens": len(output.split()),
        }
        print(json.dumps({"id": question["id"], "output": output, "usage": usage}), flush=True)


if __name__ == "__main__":
    main()
