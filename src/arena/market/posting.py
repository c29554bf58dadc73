"""Row 1 of the table of moves: what may be offered. Pure."""

from datetime import datetime, timedelta

from arena.errors import InvalidInput
from arena.market.errors import WrongRole
from arena.market.naming import check_amount, check_party, check_whole
from arena.market.terms import (
    MAX_APPLICANTS,
    MAX_DEADLINE_DAYS,
    MAX_WINDOW_SECONDS,
    MIN_REWARD,
    MIN_WINDOW_SECONDS,
    Assignment,
    Terms,
    TimeoutPolicy,
)


def check_terms(terms: Terms, poster: str, at: datetime) -> None:
    """Refuse terms that could not be kept; every live task must have an exit (I8)."""
    check_amount("reward", terms.reward, least=MIN_REWARD)
    check_amount("bond", terms.bond, least=0)
    _check_parties(terms, poster)
    _check_times(terms, at)
    _check_windows(terms)
    _check_choices(terms)


def _check_parties(terms: Terms, poster: str) -> None:
    """All roles are different people (I9), but for a task that says it is self-judged."""
    roles = {"judge": check_party("judge", terms.judge)}
    if terms.fallback_judge is not None:
        roles["fallback_judge"] = check_party("fallback_judge", terms.fallback_judge)
    if terms.arbiter is not None:
        roles["arbiter"] = check_party("arbiter", terms.arbiter)
    seen = {} if terms.is_self_judged else {poster: "poster"}
    for role, name in roles.items():
        if role != "judge" and name == poster:
            raise WrongRole(f"{role} is {name!r}, who posts the task: choose somebody else")
        if name in seen:
            hint = " (or say is_self_judged)" if seen[name] == "poster" else ""
            raise WrongRole(f"{role} is {name!r}, who is {seen[name]}: choose another{hint}")
        seen[name] = role
    if terms.is_self_judged and terms.judge != poster:
        raise WrongRole(f"is_self_judged, but the judge is {terms.judge!r}, not the poster")


def _check_times(terms: Terms, at: datetime) -> None:
    times = {
        "deadline": terms.deadline,
        "commit_deadline": terms.commit_deadline,
        "apply_until": terms.apply_until,
    }
    for name, moment in times.items():
        if moment is None:
            continue
        if moment.tzinfo is None:
            raise InvalidInput(f"{name} has no time zone")
        if moment <= at:
            raise InvalidInput(f"{name} is {moment.isoformat()}, must be later than now")
        if name != "deadline" and moment >= terms.deadline:
            raise InvalidInput(f"{name} must be before the deadline")
    if terms.deadline > at + timedelta(days=MAX_DEADLINE_DAYS):
        raise InvalidInput(f"the deadline is more than {MAX_DEADLINE_DAYS} days away")


def _check_windows(terms: Terms) -> None:
    _check_window("judge_window_seconds", terms.judge_window_seconds)
    if terms.fallback_judge is not None:
        _check_window("fallback_window_seconds", terms.fallback_window_seconds)
    elif terms.fallback_window_seconds:
        raise InvalidInput("fallback_window_seconds is set, but there is no fallback_judge")
    if terms.dispute_window_seconds:
        _check_window("dispute_window_seconds", terms.dispute_window_seconds)
        _check_window("arbiter_window_seconds", terms.arbiter_window_seconds)
        if terms.arbiter is None:
            raise InvalidInput("a dispute window needs an arbiter")
    elif terms.arbiter is not None or terms.arbiter_window_seconds or terms.bond:
        raise InvalidInput("arbiter, arbiter_window_seconds and bond need a dispute_window_seconds")


def _check_choices(terms: Terms) -> None:
    least, most = (1, 100) if terms.timeout_policy is TimeoutPolicy.SPLIT else (0, 0)
    told = f"agent_share_percent (of a {terms.timeout_policy})"
    check_whole(told, terms.agent_share_percent, least, most)
    check_whole("max_applicants", terms.max_applicants, 1, MAX_APPLICANTS)
    if (terms.assignment is Assignment.BEST_REPUTATION) != (terms.apply_until is not None):
        raise InvalidInput("apply_until belongs to the assignment best_reputation, which needs it")


def _check_window(name: str, seconds: int) -> None:
    check_whole(name, seconds, MIN_WINDOW_SECONDS, MAX_WINDOW_SECONDS)
