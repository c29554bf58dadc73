"""The state of every task, rebuilt from the contract's events alone."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from contract_chain import Log

STATES = (
    "none",
    "open",
    "assigned",
    "committed",
    "submitted",
    "judged",
    "disputed",
    "paid",
    "refunded",
    "expired",
    "cancelled",
)
"""In the order of the contract's numbers."""


@dataclass(kw_only=True)
class Seen:
    """A task as its events tell it."""

    poster: str
    terms: dict[str, Any]
    reward: int
    escrow: int
    evaluation_cid: str
    state: str = "open"
    applicants: list[str] = field(default_factory=list)
    agent: str | None = None
    commitment: bytes = bytes(32)
    result_hash: str | None = None
    score: int | None = None
    disputer: str | None = None
    bond: int = 0
    expiry_reason: str | None = None


class Projection:
    """Folds events. The names of its methods are those of the events."""

    def __init__(self) -> None:
        self.tasks: dict[int, Seen] = {}
        self.credits: Counter[str] = Counter()

    def fold(self, log: Log) -> None:
        values = dict(log.values)
        if log.name in ("Credited", "Withdrawn"):
            sign = 1 if log.name == "Credited" else -1
            self.credits[values["who"]] += sign * values["amount"]
        elif log.name == "TaskPosted":
            self.tasks[values["taskId"]] = Seen(
                poster=values["poster"],
                terms=values["terms"],
                reward=values["reward"],
                escrow=values["reward"],
                evaluation_cid=values["evaluationCID"],
            )
            assert values["judge"] == values["terms"]["judge"]
        else:
            getattr(self, f"_{log.name}")(self.tasks[values.pop("taskId")], values)

    def _Applied(self, task: Seen, values: dict[str, Any]) -> None:
        task.applicants.append(values["agent"])

    def _Assigned(self, task: Seen, values: dict[str, Any]) -> None:
        task.state, task.agent = "assigned", values["agent"]
        assert values["by"] == (task.agent if task.terms["isFirst"] else task.poster) or (
            values["by"] == task.poster
        )

    def _Committed(self, task: Seen, values: dict[str, Any]) -> None:
        task.state, task.commitment = "committed", values["commitment"]
        assert values["agent"] == task.agent

    def _ResultSubmitted(self, task: Seen, values: dict[str, Any]) -> None:
        task.state, task.result_hash = "submitted", values["resultHash"]
        assert values["agent"] == task.agent

    def _Judged(self, task: Seen, values: dict[str, Any]) -> None:
        task.state, task.score = "judged", values["score"]
        assert values["judge"] in (task.terms["judge"], task.terms["fallbackJudge"])
        assert (values["winner"], values["resultHash"]) == (task.agent, task.result_hash)

    def _Disputed(self, task: Seen, values: dict[str, Any]) -> None:
        task.state, task.disputer, task.bond = "disputed", values["by"], values["bond"]
        assert task.bond == task.terms["bond"]

    def _Resolved(self, task: Seen, values: dict[str, Any]) -> None:
        assert task.state == "disputed"
        assert values["arbiter"] == task.terms["arbiter"]
        assert values["bondTo"] == (task.agent if values["score"] >= 60 else task.poster)

    def _Paid(self, task: Seen, values: dict[str, Any]) -> None:
        assert values["agent"] == task.agent and values["score"] >= 60
        self._end(task, "paid", values["amount"])

    def _Refunded(self, task: Seen, values: dict[str, Any]) -> None:
        assert values["poster"] == task.poster and values["score"] < 60
        self._end(task, "refunded", values["amount"])

    def _Cancelled(self, task: Seen, values: dict[str, Any]) -> None:
        assert values["poster"] == task.poster
        self._end(task, "cancelled", values["amount"])

    def _Expired(self, task: Seen, values: dict[str, Any]) -> None:
        assert values["hasSubmission"] == (task.state == "submitted")
        task.expiry_reason = "no_verdict" if values["hasSubmission"] else "no_submission"
        self._end(task, "expired", values["toAgent"] + values["toPoster"])

    def _end(self, task: Seen, state: str, amount: int) -> None:
        assert amount == task.escrow
        task.state, task.escrow, task.bond = state, 0, 0
