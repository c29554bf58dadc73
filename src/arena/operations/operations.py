"""Every operation of Arena in one class."""

from arena.operations.evaluation import EvaluationOperations
from arena.operations.results import ResultOperations
from arena.operations.runs import RunOperations
from arena.operations.scores import ScoreOperations
from arena.operations.server import ServerOperations


class Operations(
    ServerOperations, RunOperations, ResultOperations, ScoreOperations, EvaluationOperations
):
    """All that Arena can do: in this process, or over HTTP."""
