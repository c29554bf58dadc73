"""What may be written: names of parties, texts, amounts, keys. Bad input ends here."""

import re

from arena.amounts import MAX_AMOUNT, decimal_text
from arena.errors import InvalidInput
from arena.text import text_problem

PARTY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,99}")
AGENT = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")
ANYONE = "anyone"
"""Who ends a task where nobody is named: timeouts need no role. No party is called so."""
MAX_KEY_LENGTH = 200
MAX_ID = 2**63 - 1


def check_party(what: str, name: object) -> str:
    """The name of a party, if it is one."""
    if not isinstance(name, str) or not PARTY.fullmatch(name) or name == ANYONE:
        raise InvalidInput(
            f"{what} is {_shown(name)}; a party's name has 1 to 100 of A-Z a-z 0-9 . _ @ -, "
            f"begins with a letter or digit and is not {ANYONE!r}"
        )
    return name


def check_agent(name: object) -> str:
    """The id of an agent, if it is one."""
    if not isinstance(name, str) or not AGENT.fullmatch(name) or name == ANYONE:
        raise InvalidInput(
            f"{_shown(name)} is no agent id: small letters, digits and -, at most 100"
        )
    return name


def check_text(what: str, text: object, most: int, *, least: int = 1) -> str:
    """A text that both databases can keep."""
    if not isinstance(text, str) or not least <= len(text) <= most:
        raise InvalidInput(f"{what} must be a text of {least} to {most} characters")
    if problem := text_problem(text):
        raise InvalidInput(f"{what} {problem}")
    if least and not text.strip():
        raise InvalidInput(f"{what} must say something: it has nothing but white space")
    return text


def check_amount(what: str, amount: object, *, least: int = 1) -> int:
    """An amount of money in minor units; a refusal tells it as people write it."""
    if isinstance(amount, int) and not isinstance(amount, bool):
        if least <= amount <= MAX_AMOUNT:
            return amount
        limits = f"{decimal_text(least)} to {decimal_text(MAX_AMOUNT)}"
        raise InvalidInput(f"{what} is {decimal_text(amount)}, must be from {limits}")
    raise InvalidInput(f"{what} is {_shown(amount)}, must be a whole number of minor units")


def check_whole(what: str, number: object, least: int, most: int) -> int:
    """A whole number within limits; True and 1.0 are none."""
    if isinstance(number, int) and not isinstance(number, bool) and least <= number <= most:
        return number
    raise InvalidInput(f"{what} is {_shown(number)}, must be a whole number from {least} to {most}")


def _shown(value: object) -> str:
    told = repr(value)
    return told if len(told) <= 60 else f"{told[:60]}…"
