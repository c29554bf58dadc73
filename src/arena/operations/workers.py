"""Workers and the queue that they take work from."""

from dataclasses import replace

from arena import __version__
from arena.operations.operation import OperationGroup, get
from arena.queue.metrics import MEDIA_TYPE, metrics_text
from arena.queue.overview import QueueOverview

FRESH = {"Cache-Control": "no-store"}


class WorkerOperations(OperationGroup):
    """Workers and the queue."""

    @get("/api/workers", id="list_workers", tag="server", team=False, response_headers=FRESH)
    async def workers(self) -> QueueOverview:
        """Workers, the queue, the runs in it, and what is stuck and why.

        A team's token shows the runs of the team; workers and queues are shared by all teams.
        """
        found = await self._overview(self.token_team)
        shown = [replace(one, reason=self._shown(one.reason)) for one in found.stuck]
        if self.token_team is None:
            return replace(found, stuck=shown)
        # Machines and processes concern operators only.
        workers = [replace(worker, host=None, pid=None) for worker in found.workers]
        return replace(found, stuck=shown, workers=workers)

    @get(
        "/api/metrics",
        id="get_metrics",
        tag="server",
        team=False,
        media_type=MEDIA_TYPE,
        description="The figures in Prometheus' text format.",
        response_headers=FRESH,
    )
    async def metrics(self) -> bytes:
        """The figures of the queue for Prometheus: depth, lag, workers, takeovers, retries."""
        return metrics_text(await self._overview(None), __version__).encode()

    async def _overview(self, team: str | None) -> QueueOverview:
        if not self.arena.settings.is_queued:
            return QueueOverview(dispatch="embedded")
        return await self.arena.queue_reader.overview(team)
