"""Every operation of Arena in one class."""

from arena.operations.agents import AgentOperations
from arena.operations.baselines import BaselineOperations
from arena.operations.boards import BoardOperations
from arena.operations.comparisons import ComparisonOperations
from arena.operations.evaluation import EvaluationOperations
from arena.operations.ledger import LedgerOperations
from arena.operations.pushes import PushOperations
from arena.operations.results import ResultOperations
from arena.operations.reviews import ReviewOperations
from arena.operations.runs import RunOperations
from arena.operations.scores import ScoreOperations
from arena.operations.server import ServerOperations
from arena.operations.tasks import TaskOperations
from arena.operations.tests import TestOperations
from arena.operations.workers import WorkerOperations


class Operations(
    ServerOperations,
    TestOperations,
    AgentOperations,
    RunOperations,
    PushOperations,
    ResultOperations,
    ReviewOperations,
    ScoreOperations,
    BoardOperations,
    BaselineOperations,
    ComparisonOperations,
    EvaluationOperations,
    TaskOperations,
    LedgerOperations,
    WorkerOperations,
):
    """All operations: in this process, or over HTTP."""
