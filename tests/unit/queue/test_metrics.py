"""The text format of Prometheus, checked strictly."""

import re

from arena.queue.metrics import metrics_text
from arena.queue.overview import ChoreState, QueueOverview, QueueState, QueueTotals

LINE = re.compile(
    r"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)"
    r"(?:\{(?P<labels>[a-zA-Z_][a-zA-Z0-9_]*=\"(?:[^\"\\\n]|\\[\\\"n])*\""
    r"(?:,[a-zA-Z_][a-zA-Z0-9_]*=\"(?:[^\"\\\n]|\\[\\\"n])*\")*)\})?"
    r" (?P<value>-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)"
)
LABEL = re.compile(r"([a-zA-Z0-9_]+)=\"((?:[^\"\\]|\\.)*)\"")


def parsed(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Every sample; an error for what is not the text format."""
    assert text.endswith("\n")
    found: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
    seen: set[str] = set()
    family, kind, has_help = "", "", ""
    for line in text.splitlines():
        if line.startswith("# HELP "):
            has_help = line.split(" ")[2]
            continue
        if line.startswith("# TYPE "):
            _, _, family, kind = line.split(" ")
            assert family == has_help, "help and type of one family stand together"
            assert family not in seen, "a family stands in one place"
            assert kind in ("gauge", "counter")
            assert (kind == "counter") == family.endswith("_total")
            seen.add(family)
            continue
        match = LINE.fullmatch(line)
        assert match is not None, line
        assert match["name"] == family, "a sample follows the type of its family"
        labels = tuple(LABEL.findall(match["labels"] or ""))
        assert len({name for name, _ in labels}) == len(labels)
        assert (family, labels) not in found, "each series once"
        found[family, labels] = float(match["value"])
    return found


def test_every_figure_has_its_series():
    overview = QueueOverview(
        dispatch="queued",
        queues=[
            QueueState(queue="shards", depth=7, in_work=4, lag_seconds=12.5, workers=[]),
            QueueState(queue="shards.gpu", depth=0, in_work=0, lag_seconds=0, workers=[]),
        ],
        chores=[ChoreState(kind="audit", waiting=2, in_work=1, failed=0, lag_seconds=3)],
        totals=QueueTotals(results=123_456_789_012, takeovers=3, retries=2, hand_backs=1),
    )
    found = parsed(metrics_text(overview, "0.1.0"))
    assert found["arena_info", (("version", "0.1.0"), ("dispatch", "queued"))] == 1
    assert found["arena_queue_depth", (("queue", "shards"),)] == 7
    assert found["arena_queue_in_work", (("queue", "shards"),)] == 4
    assert found["arena_queue_lag_seconds", (("queue", "shards"),)] == 12.5
    assert found["arena_queue_depth", (("queue", "shards.gpu"),)] == 0
    assert found["arena_workers", (("state", "silent"),)] == 0
    assert found["arena_results_total", ()] == 123_456_789_012
    assert found["arena_takeovers_total", ()] == 3
    assert found["arena_retries_total", ()] == 2
    assert found["arena_hand_backs_total", ()] == 1
    assert found["arena_chores", (("kind", "audit"), ("state", "waiting"))] == 2


def test_text_in_labels_is_escaped():
    hostile = 'a"b\\c\nd'
    queue = QueueState(queue=hostile, depth=1, in_work=0, lag_seconds=0, workers=[])
    text = metrics_text(QueueOverview(dispatch="queued", queues=[queue]), "0.1.0")
    assert parsed(text)["arena_queue_depth", (("queue", r"a\"b\\c\nd"),)] == 1
