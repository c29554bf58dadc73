"""A waiter who takes reservations: a program that holds a conversation.

It is started for every turn. The question on its standard input has the earlier `messages`, so
it needs no memory of its own.
"""

import json
import re
import sys

DAY = re.compile(r"\b(mon|tues|wednes|thurs|fri|satur|sun)day\b", re.IGNORECASE)
GUESTS = re.compile(r"\b([1-9]\d?)\b")


def main() -> None:
    question = json.load(sys.stdin)
    said = [one["content"] for one in question.get("messages", []) if one["role"] == "user"]
    text = " ".join([*said, question["prompt"]])
    day, guests = DAY.search(text), GUESTS.search(text)
    steps = []
    if day is None:
        reply = "With pleasure. Which day would you like to come?"
    elif guests is None:
        reply = f"{day[0].capitalize()} is fine. For how many guests?"
    else:
        arguments = {"day": day[0].capitalize(), "guests": int(guests[0])}
        steps = [{"tool": "book_table", "arguments": arguments, "result": "booked"}]
        reply = f"Booked: {arguments['day']}, {arguments['guests']} guests. See you then!"
    print(json.dumps({"output": reply, "steps": steps}))


main()
