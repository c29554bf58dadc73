"""Every operation of Arena in one class."""

from arena.operations.results import ResultOperations
from arena.operations.runs import RunOperations
from arena.operations.scores import ScoreOperations
from arena.operations.server import ServerOperations


class Operations(ServerOperations, RunOperations, ResultOperations, ScoreOperations):
    """All that Arena can do: in this process, or over HTTP."""
