"""Keeps to what an agent allows: so many questions at once, so many a minute."""

from arena.agents.agent import Limits
from arena.models.turns import Turns


class Limiter(Turns):
    """Gives out turns to ask one agent; shared by all who ask it in this process."""

    def __init__(self, limits: Limits, *, window_seconds: float = 60.0) -> None:
        super().__init__(
            max_concurrency=limits.max_concurrency,
            per_minute=limits.per_minute,
            window_seconds=window_seconds,
        )
