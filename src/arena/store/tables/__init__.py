"""Every table, a file per room that keeps it. Names and columns of the documents stand."""

from arena.store.tables.market import (
    MarketAccounts,
    MarketAgents,
    MarketApplications,
    MarketBooks,
    MarketCalls,
    MarketEntries,
    MarketEvents,
    MarketNonces,
    MarketPostings,
    MarketTasks,
)
from arena.store.tables.reviews import ReviewAnswers, Reviews
from arena.store.tables.runs import FrozenTests, Results, RunErrors, RunGroups, Runs, RunTests
from arena.store.tables.scores import Executions, Feedback, Scores, ScoreWeights
from arena.store.tables.table import AnyJson, Table, UtcDateTime

__all__ = [
    "AnyJson",
    "Executions",
    "Feedback",
    "FrozenTests",
    "MarketAccounts",
    "MarketAgents",
    "MarketApplications",
    "MarketBooks",
    "MarketCalls",
    "MarketEntries",
    "MarketEvents",
    "MarketNonces",
    "MarketPostings",
    "MarketTasks",
    "Results",
    "ReviewAnswers",
    "Reviews",
    "RunErrors",
    "RunGroups",
    "RunTests",
    "Runs",
    "ScoreWeights",
    "Scores",
    "Table",
    "UtcDateTime",
]
