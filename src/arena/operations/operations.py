"""Every operation of Arena in one class."""

from arena.operations.agents import AgentOperations
from arena.operations.evaluation import EvaluationOperations
from arena.operations.results import ResultOperations
from arena.operations.runs import RunOperations
from arena.operations.scores import ScoreOperations
from arena.operations.server import ServerOperations
from arena.operations.tests import TestOperations


class Operations(
    ServerOperations,
    TestOperations,
    AgentOperations,
    RunOperations,
    ResultOperations,
    ScoreOperations,
    EvaluationOperations,
):
    """All that Arena can do: in this process, or over HTTP."""
