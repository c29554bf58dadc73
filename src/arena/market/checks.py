"""Checks of requests: names, texts, amounts, and the terms of a new task. Pure.

`check_terms` is row 1 of the table of moves.
"""

import re
from datetime import datetime, timedelta

from arena.amounts import MAX_AMOUNT, TEST_MONEY, Amount, Currency
from arena.errors import InvalidInput
from arena.market.call import ANYONE, Call
from arena.market.errors import BadContent, WrongRole
from arena.market.signing import AGENT_ID, BAD_AGENT_ID
from arena.market.task import (
    MAX_APPLICANTS,
    MAX_DEADLINE_DAYS,
    MAX_ID,
    MAX_KEY_LENGTH,
    MAX_LANGUAGE_LENGTH,
    MAX_WINDOW_SECONDS,
    MIN_WINDOW_SECONDS,
    Assignment,
    Task,
    TimeoutPolicy,
)
from arena.text import text_problem

PARTY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,99}")
COMMITMENT = re.compile(r"[0-9a-f]{64}")
MAX_URI_LENGTH = 2_000
MAX_PAGE = 1000
MAX_SHOWN = 60
"""Characters of a bad value that a message quotes."""


def check_party(what: str, name: object) -> str:
    """A valid name of a party; else an error."""
    if not isinstance(name, str) or not PARTY.fullmatch(name) or name == ANYONE:
        raise InvalidInput(
            f"{what} is {_quoted(name)}; a party's name has 1 to 100 of A-Z a-z 0-9 . _ @ -, "
            f"starts with a letter or digit and is not {ANYONE!r}"
        )
    return name


def check_agent(name: object) -> str:
    """A valid agent id; else an error."""
    if not isinstance(name, str) or not AGENT_ID.fullmatch(name) or name == ANYONE:
        raise InvalidInput(f"{_quoted(name)} {BAD_AGENT_ID}")
    return name


def check_text(what: str, text: object, most: int) -> str:
    """A text that is not blank and that both databases can store."""
    if not isinstance(text, str) or not 1 <= len(text) <= most:
        raise InvalidInput(f"{what} must be a text of 1 to {most} characters")
    if problem := text_problem(text):
        raise InvalidInput(f"{what} {problem}")
    if not text.strip():
        raise InvalidInput(f"{what} must not be blank")
    return text


def check_amount(
    what: str, amount: object, *, least: int = 1, currency: Currency = TEST_MONEY
) -> Amount:
    """An amount in minor units of the currency; the error shows it in major units."""
    # A bool is an int in Python, but not an amount.
    if not isinstance(amount, int) or isinstance(amount, bool):
        raise InvalidInput(f"{what} is {_quoted(amount)}, must be a whole number of minor units")
    given = amount if isinstance(amount, Amount) else currency.amount(amount)
    most = Amount(MAX_AMOUNT).at(currency.decimals)
    try:
        converted = given.at(currency.decimals)
    except ValueError as error:
        raise InvalidInput(f"{what}: {error}, which {currency.code} does not have") from None
    if least <= converted <= most:
        return converted
    limits = f"{currency.amount(least)} to {most}"
    raise InvalidInput(f"{what} is {given}, must be from {limits}")


def check_whole(what: str, number: object, least: int, most: int) -> int:
    """A whole number within limits; True and 1.0 are not whole numbers."""
    if isinstance(number, int) and not isinstance(number, bool) and least <= number <= most:
        return number
    raise InvalidInput(
        f"{what} is {_quoted(number)}, must be a whole number from {least} to {most}"
    )


def check_page(limit: int, before: int | None) -> None:
    """Refuse a page that is too large, or a number that no row can have."""
    check_whole("limit", limit, 1, MAX_PAGE)
    if before is not None:
        check_whole("before", before, 0, MAX_ID)


def _quoted(value: object) -> str:
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def check_call(call: Call) -> None:
    """Refuse names and texts that could not be stored. A score is checked by its move."""
    if call.by != ANYONE:
        check_party("by", call.by)
    if call.agent is not None:
        check_agent(call.agent)
    if call.result_hash is not None:
        check_text("result_hash", call.result_hash, MAX_KEY_LENGTH)
    if call.reason_uri is not None:
        check_text("reason_uri", call.reason_uri, MAX_URI_LENGTH)
    if call.language is not None:
        # Whether it is known is checked with the standard: an essay may be in any language.
        check_text("language", call.language, MAX_LANGUAGE_LENGTH)
    if call.commitment is not None and not COMMITMENT.fullmatch(call.commitment):
        raise BadContent("a commitment is 64 hexadecimal digits; commitment_of makes it")


def check_terms(task: Task, at: datetime) -> None:
    """Refuse terms that could not be met; every live task must have an exit (I8)."""
    currency = Currency(code=task.currency, decimals=task.decimals)
    check_amount("reward", task.reward, currency=currency)
    check_amount("bond", task.bond, least=0, currency=currency)
    _check_parties(task)
    _check_times(task, at)
    _check_windows(task)
    # A share without a split is refused, not ignored: the poster meant something else.
    least, most = (1, 100) if task.timeout_policy is TimeoutPolicy.SPLIT else (0, 0)
    share = f"agent_share_percent (of a {task.timeout_policy})"
    check_whole(share, task.agent_share_percent, least, most)
    check_whole("max_applicants", task.max_applicants, 1, MAX_APPLICANTS)
    if (task.assignment is Assignment.BEST_REPUTATION) != (task.apply_until is not None):
        raise InvalidInput("apply_until belongs to the assignment best_reputation, which needs it")


def _check_parties(task: Task) -> None:
    """All roles are different people (I9), except for a task that says it is self-judged."""
    roles = {"judge": check_party("judge", task.judge)}
    if task.fallback_judge is not None:
        roles["fallback_judge"] = check_party("fallback_judge", task.fallback_judge)
    if task.arbiter is not None:
        roles["arbiter"] = check_party("arbiter", task.arbiter)
    seen = {} if task.is_self_judged else {task.poster: "poster"}
    for role, name in roles.items():
        if role != "judge" and name == task.poster:
            raise WrongRole(f"{role} is {name!r}, who posts the task: choose somebody else")
        if name in seen:
            hint = " (or set is_self_judged)" if seen[name] == "poster" else ""
            raise WrongRole(f"{role} is {name!r}, who is {seen[name]}: choose another{hint}")
        seen[name] = role
    if task.is_self_judged and task.judge != task.poster:
        raise WrongRole(f"is_self_judged, but the judge is {task.judge!r}, not the poster")


def _check_times(task: Task, at: datetime) -> None:
    for name in ("deadline", "commit_deadline", "apply_until"):
        moment: datetime | None = getattr(task, name)
        if moment is None:
            continue
        if moment.tzinfo is None:
            raise InvalidInput(f"{name} has no time zone")
        if moment <= at:
            raise InvalidInput(f"{name} is {moment.isoformat()}, must be later than now")
        # Equal times would leave an empty window.
        if name != "deadline" and moment >= task.deadline:
            raise InvalidInput(f"{name} must be before the deadline")
    if task.deadline > at + timedelta(days=MAX_DEADLINE_DAYS):
        raise InvalidInput(f"the deadline is more than {MAX_DEADLINE_DAYS} days away")


def _check_windows(task: Task) -> None:
    windows = ["judge_window_seconds"]
    if task.fallback_judge is not None:
        windows.append("fallback_window_seconds")
    elif task.fallback_window_seconds:
        raise InvalidInput("fallback_window_seconds is set, but there is no fallback_judge")
    if task.dispute_window_seconds:
        windows += ["dispute_window_seconds", "arbiter_window_seconds"]
        if task.arbiter is None:
            raise InvalidInput("a dispute window needs an arbiter")
    elif task.arbiter is not None or task.arbiter_window_seconds or task.bond:
        raise InvalidInput("arbiter, arbiter_window_seconds and bond need a dispute_window_seconds")
    for name in windows:
        check_whole(name, getattr(task, name), MIN_WINDOW_SECONDS, MAX_WINDOW_SECONDS)
