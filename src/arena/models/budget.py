"""The budget of a run: what it may spend on models and in time, and what it has spent.

A run with a budget sets its `Meter` in a context variable, because everything between the run and
a model call would only pass it on. `check` stands before each model call and each question;
whoever gets an answer counts it with `spend`, exactly once. Without a budget there is no meter,
and both do nothing.
"""

import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from arena.models.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The limits of a run; None is no limit. In a request, None leaves a limit as it is."""

    max_cost_usd: float | None = None
    max_tokens: int | None = None
    """Input and output together."""
    max_minutes: float | None = None
    """While it is executed, over all resumptions."""
    allow_unknown_prices: bool | None = None
    """Whether what has no known cost, or no known tokens, counts as nothing."""

    @property
    def is_limited(self) -> bool:
        """Whether there is any limit."""
        limits = (self.max_cost_usd, self.max_tokens, self.max_minutes)
        return any(limit is not None for limit in limits)

    def as_json(self) -> dict[str, Any] | None:
        """As it is stored; None if nothing is limited."""
        allowed = bool(self.allow_unknown_prices)
        return {**asdict(self), "allow_unknown_prices": allowed} if self.is_limited else None

    def changed_by(self, request: "Budget") -> "Budget":
        """The budget with what a request names."""
        named = {name: value for name, value in asdict(request).items() if value is not None}
        return replace(self, **named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a run has spent: its agent, its judges and its simulated users."""

    cost_usd: float = 0.0
    tokens: int = 0
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """As it is stored."""
        return {
            "cost_usd": round(self.cost_usd, 9),
            "tokens": self.tokens,
            "seconds": round(self.seconds, 3),
        }

    def limits(self, budget: Budget) -> "list[Limit]":
        """What is spent of each limit."""
        found: list[Limit] = []
        if (cost := budget.max_cost_usd) is not None:
            text = f"{dollars(self.cost_usd)} of {dollars(cost)} spent"
            found.append(Limit(name="max_cost", text=text, is_reached=self.cost_usd >= cost))
        if (tokens := budget.max_tokens) is not None:
            text = f"{self.tokens:,} of {tokens:,} tokens used"
            found.append(Limit(name="max_tokens", text=text, is_reached=self.tokens >= tokens))
        if (minutes := budget.max_minutes) is not None:
            text = f"{self.seconds / 60:.2f} of {minutes:g} minutes passed"
            is_reached = self.seconds >= 60 * minutes
            found.append(Limit(name="max_minutes", text=text, is_reached=is_reached))
        return found

    def reached(self, budget: Budget) -> "Limit | None":
        """The first limit that is reached; None if none is."""
        return next((limit for limit in self.limits(budget) if limit.is_reached), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One limit of a budget."""

    name: Literal["max_cost", "max_tokens", "max_minutes"]
    text: str
    """What is spent of it."""
    is_reached: bool

    def __str__(self) -> str:
        return f"{self.text} ({self.name})"


class BudgetExceeded(Exception):
    """The run may spend nothing more; no result is recorded for what was refused."""


class Meter:
    """Counts what one execution of a run spends, and refuses more than its budget."""

    def __init__(self, budget: Budget, before: Spent) -> None:
        self.budget = budget
        self._cost_usd: float = before.cost_usd
        self._tokens: int = before.tokens
        self._seconds: float = before.seconds
        self._started = time.monotonic()
        self._unknown: str | None = None

    @property
    def spent(self) -> Spent:
        """Until now, over all executions of the run."""
        seconds = self._seconds + time.monotonic() - self._started
        return Spent(cost_usd=self._cost_usd, tokens=self._tokens, seconds=seconds)

    def check(self) -> None:
        """Raise `BudgetExceeded` if a limit is reached, or can no longer be kept."""
        reached = self.spent.reached(self.budget)
        if reached is not None:
            raise BudgetExceeded(str(reached))
        if self._unknown is not None:
            raise BudgetExceeded(self._unknown)

    def spend(self, usage: Usage) -> None:
        """Count the usage of an answer; if what a limit needs is unknown, nothing more is spent."""
        budget = self.budget
        tokens = (usage.input_tokens or 0) + (usage.output_tokens or 0)
        self._tokens += tokens
        self._cost_usd += usage.cost_usd or 0.0
        if budget.allow_unknown_prices:
            return
        missing = None
        if budget.max_cost_usd is not None and usage.cost_usd is None:
            missing = "cost", "max_cost"
        elif budget.max_tokens is not None and None in (usage.input_tokens, usage.output_tokens):
            missing = "token count", "max_tokens"
        if missing is not None:
            what, limit = missing
            who = f" of {usage.model}" if usage.model else ""
            self._unknown = (
                f"an answer{who} has no known {what}, so {limit} cannot be kept; "
                "--allow-unknown-prices counts such answers as nothing"
            )


_meter: ContextVar[Meter | None] = ContextVar("meter", default=None)


def current_meter() -> Meter | None:
    """The meter of the run that the current task works for; None without a budget."""
    return _meter.get()


def check() -> None:
    """Raise `BudgetExceeded` if the current run may spend nothing more."""
    meter = _meter.get()
    if meter is not None:
        meter.check()


def spend(usage: Usage) -> None:
    """Count the usage of an answer for the current run."""
    meter = _meter.get()
    if meter is not None:
        meter.spend(usage)


@contextmanager
def metered(meter: Meter | None) -> Generator[None]:
    """Count what is spent until the block ends."""
    if meter is None:
        yield
        return
    token = _meter.set(meter)
    try:
        yield
    finally:
        _meter.reset(token)


def dollars(amount: float) -> str:
    """An amount with as many decimals as it takes to tell it from a limit."""
    return f"${amount:.2f}" if round(amount, 2) == round(amount, 6) else f"${amount:.6f}"
