"""What it adds up to: components, the overall score, intervals, ranks and comparisons.

What is observed of an agent is kept as a `Share` per component: whole numbers that can be added up
in any order. `scorecard` turns them into scores from 0 to 100 with an interval each, `rank` puts
agents in order, `compare` asks whether a difference is more than luck, `summarise_trials` counts
repeats and `pareto_front` sets accuracy against cost. A score is a `Decimal` with two decimals, a
statistic is a `float`, and None always means "no data".

All of these are pure functions of their arguments, without random numbers; docs/scoring.md explains
the numbers to those who read them.
"""

from arena.scoring.comparison import Comparison, compare, find_winner
from arena.scoring.components import (
    COMPONENT_NAMES,
    MICROPOINTS,
    Components,
    CostContribution,
    average_rating,
    benchmark_score,
    cost_contribution,
    cost_efficiency_score,
    success_rate_score,
    user_rating_score,
)
from arena.scoring.history import (
    Execution,
    ExecutionStatus,
    RecordedVote,
    Source,
    Subject,
    Vote,
)
from arena.scoring.intervals import (
    CONFIDENCE,
    Interval,
    share_interval,
    t_interval,
    weighted_interval,
    wilson_interval,
)
from arena.scoring.matrix import MatrixRow, TestOutcome, matrix
from arena.scoring.overall import DEFAULT_WEIGHTS, Overall, Weights, overall
from arena.scoring.pair import Contender, Pair, TestDifference, compare_pair
from arena.scoring.pareto import CostPoint, Front, pareto_front
from arena.scoring.ranking import Entry, Place, rank
from arena.scoring.scorecard import Evidence, Scorecard, scorecard
from arena.scoring.share import Share, share_score
from arena.scoring.standing import TestStanding, discrimination
from arena.scoring.trials import (
    TrialCounts,
    TrialResult,
    TrialSummary,
    pass_all_k,
    pass_at_k,
    summarise_trials,
)

__all__ = [
    "COMPONENT_NAMES",
    "CONFIDENCE",
    "DEFAULT_WEIGHTS",
    "MICROPOINTS",
    "Comparison",
    "Components",
    "Contender",
    "CostContribution",
    "CostPoint",
    "Entry",
    "Evidence",
    "Execution",
    "ExecutionStatus",
    "Front",
    "Interval",
    "MatrixRow",
    "Overall",
    "Pair",
    "Place",
    "RecordedVote",
    "Scorecard",
    "Share",
    "Source",
    "Subject",
    "TestDifference",
    "TestOutcome",
    "TestStanding",
    "TrialCounts",
    "TrialResult",
    "TrialSummary",
    "Vote",
    "Weights",
    "average_rating",
    "benchmark_score",
    "compare",
    "compare_pair",
    "cost_contribution",
    "cost_efficiency_score",
    "discrimination",
    "find_winner",
    "matrix",
    "overall",
    "pareto_front",
    "pass_all_k",
    "pass_at_k",
    "rank",
    "scorecard",
    "share_interval",
    "share_score",
    "success_rate_score",
    "summarise_trials",
    "t_interval",
    "user_rating_score",
    "weighted_interval",
    "wilson_interval",
]
