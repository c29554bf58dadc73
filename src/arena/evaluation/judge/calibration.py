"""Measures a judge by what people said: how well it agrees with them, and with itself."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from arena import clock
from arena.evaluation.judge.agreement import Agreement, Pair, agreement, mean_of, rate_of
from arena.evaluation.judge.judge import ModelJudge
from arena.evaluation.judge.labels import Label
from arena.evaluation.judge.remeasure import Told, remeasure
from arena.evaluation.judgement import Figures, total
from arena.evaluation.verdict import Verdict

OVERALL = "overall"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What came of it."""

    judge: str
    """The judge's identity."""
    figures: Figures
    criteria: tuple[Agreement, ...]
    """One for each criterion that people scored, across all standards that have it."""
    repeats: int
    """How often each item was judged."""
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


async def calibrate(
    judge: ModelJudge,
    labels: Sequence[Label],
    *,
    repeats: int = 3,
    told: Told = lambda _: None,
) -> Calibration:
    """Judge every item anew, `repeats` times; `told` hears how many judgements are done.

    Agreement is that of the first judgement, since one is what a user gets; the others say how
    far it can be repeated. The figures become the latest of that judge.
    """
    panel = judge.config.panel_for(None)
    asked = [(label.standard, label.submission) for label in labels for _ in range(repeats)]
    judged = await remeasure(judge, asked, told)
    verdicts = [judged[first : first + repeats] for first in range(0, len(judged), repeats)]
    figures, criteria = await asyncio.to_thread(_figures, labels, verdicts)
    if judge.figures is not None:
        await asyncio.to_thread(judge.figures.keep, panel.identity, calibration=figures)
    took = [verdict.judgement for verdict in judged if verdict.judgement]
    costs = [one.cost_usd for one in took]
    return Calibration(
        judge=panel.identity,
        figures=figures,
        criteria=criteria,
        repeats=repeats,
        input_tokens=total([one.input_tokens for one in took]),
        output_tokens=total([one.output_tokens for one in took]),
        cost_usd=None if None in costs else sum(cost or 0.0 for cost in costs),
    )


def _figures(
    labels: Sequence[Label], verdicts: Sequence[Sequence[Verdict]]
) -> tuple[Figures, tuple[Agreement, ...]]:
    firsts = [repeated[0] for repeated in verdicts]
    whole = agreement(
        OVERALL,
        [(verdict.score, label.score) for verdict, label in zip(firsts, labels, strict=True)],
    )
    spreads = [_spread(repeated) for repeated in verdicts]
    flips = sum(len({verdict.passed for verdict in repeated}) > 1 for repeated in verdicts)
    figures = Figures(
        measured_at=clock.now(),
        items=len(labels),
        kappa=whole.kappa,
        mean_error=whole.mean_error,
        bias=whole.bias,
        spread=mean_of(spreads),
        flips=rate_of(flips, len(verdicts)),
    )
    pairs = _by_criterion(labels, firsts)
    return figures, tuple(agreement(name, pairs[name]) for name in sorted(pairs))


def _by_criterion(labels: Sequence[Label], verdicts: Sequence[Verdict]) -> dict[str, list[Pair]]:
    pairs: dict[str, list[Pair]] = {}
    for label, verdict in zip(labels, verdicts, strict=True):
        given = {finding.criterion: finding.score for finding in verdict.findings}
        for name, score in label.scores.items():
            pairs.setdefault(name, []).append((given[name] or 0.0, score))
    return pairs


def _spread(verdicts: Sequence[Verdict]) -> float:
    scores = [verdict.score for verdict in verdicts]
    return max(scores) - min(scores)
