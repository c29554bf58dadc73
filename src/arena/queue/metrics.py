"""The state of the queue in Prometheus' text format."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import get_args

from arena.queue.overview import QueueOverview, WorkerState

MEDIA_TYPE = "text/plain; version=0.0.4"

Sample = tuple[Mapping[str, str], float]
"""Labels and a value."""


def metrics_text(overview: QueueOverview, version: str) -> str:
    """Every figure of the queue, one per line."""
    states = Counter(worker.state for worker in overview.workers)
    families = [
        _info(overview, version),
        *_queues(overview),
        _family(
            "arena_workers",
            "gauge",
            "Workers by state.",
            [({"state": state}, states[state]) for state in get_args(WorkerState)],
        ),
        _family("arena_queue_runs", "gauge", "Runs in the queue.", [({}, len(overview.runs))]),
        _family(
            "arena_queue_stuck",
            "gauge",
            "Things that wait although they should not, by reason.",
            [
                ({"why": why}, number)
                for why, number in sorted(Counter(one.why for one in overview.stuck).items())
            ],
        ),
        *_chores(overview),
        *(
            _family(f"arena_{name}_total", "counter", TOTALS[name], [({}, value)])
            for name, value in asdict(overview.totals).items()
        ),
    ]
    return "".join(families)


TOTALS = {
    "results": "Results that workers have written.",
    "takeovers": "Shards of a dead worker that another one took over.",
    "retries": "Shards that came again because a worker could not execute them.",
    "hand_backs": "Shards that a worker gave back because it was stopped.",
    "reconciled": "Jobs that were lost by the queue and added again.",
}


def _info(overview: QueueOverview, version: str) -> str:
    labels = {"version": version, "dispatch": overview.dispatch}
    return _family("arena_info", "gauge", "The server; always 1.", [(labels, 1)])


def _queues(overview: QueueOverview) -> list[str]:
    figures = {
        "depth": "Shards, tasks or chores that nobody has taken yet.",
        "in_work": "Shards, tasks or chores that somebody works on.",
        "lag_seconds": "How long the first of them has waited.",
    }
    return [
        _family(
            f"arena_queue_{name}",
            "gauge",
            text,
            [({"queue": one.queue}, getattr(one, name)) for one in overview.queues],
        )
        for name, text in figures.items()
    ]


def _chores(overview: QueueOverview) -> list[str]:
    states = ("waiting", "in_work", "failed")
    return [
        _family(
            "arena_chores",
            "gauge",
            "Requested work that is not done, by kind and state.",
            [
                ({"kind": one.kind, "state": state}, getattr(one, state))
                for one in overview.chores
                for state in states
            ],
        ),
        _family(
            "arena_chores_lag_seconds",
            "gauge",
            "How long the first piece of requested work has waited.",
            [({"kind": one.kind}, one.lag_seconds) for one in overview.chores],
        ),
    ]


def _family(name: str, kind: str, help_text: str, samples: Iterable[Sample]) -> str:
    lines = [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"]
    lines += [f"{name}{_labels(labels)} {_number(value)}" for labels, value in samples]
    return "\n".join(lines) + "\n"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    # Not `:g`, which would round a large counter.
    return repr(value)
