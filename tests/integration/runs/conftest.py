"""Runs are executed in each way: embedded on both databases, and by a worker."""

import pytest

BY_WORKERS = {"test_runs.py", "test_budgets.py", "test_verdicts.py", "test_tools.py"}
"""Files whose tests are also executed by a worker; the others do not depend on who executes."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what only the embedded way has: leases, and executors that died."""
    items[:] = [item for item in items if "[queued" not in item.name or _is_for_workers(item)]


def _is_for_workers(item: pytest.Item) -> bool:
    return item.path.name in BY_WORKERS and not item.get_closest_marker("embedded")


@pytest.fixture(params=["sqlite", "postgresql", "queued"])
def dialect(request: pytest.FixtureRequest) -> str:
    """Each way in turn."""
    return request.param
