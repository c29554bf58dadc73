"""Every operation of Arena in one class."""

from arena.operations.agents import AgentOperations
from arena.operations.evaluation import EvaluationOperations
from arena.operations.ledger import LedgerOperations
from arena.operations.results import ResultOperations
from arena.operations.reviews import ReviewOperations
from arena.operations.runs import RunOperations
from arena.operations.scores import ScoreOperations
from arena.operations.server import ServerOperations
from arena.operations.tasks import TaskOperations
from arena.operations.tests import TestOperations


class Operations(
    ServerOperations,
    TestOperations,
    AgentOperations,
    RunOperations,
    ResultOperations,
    ReviewOperations,
    ScoreOperations,
    EvaluationOperations,
    TaskOperations,
    LedgerOperations,
):
    """All operations: in this process, or over HTTP."""
