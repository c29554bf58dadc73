"""A daemon with a gateway on loopback, and the stores that use it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.content.gateway import GatewayStore
from arena.content.kubo import KuboStore
from arena.content.store import LocalStore
from arena.content.tiered import TieredStore
from ipfs_server import IpfsServer, ipfs_server

PATIENCE_SECONDS = 120.0
"""Only a broken store needs as long."""


@pytest.fixture
def daemon() -> Iterator[IpfsServer]:
    with ipfs_server() as server:
        yield server


@pytest.fixture
def local(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "content")


@pytest.fixture
def kubo(daemon: IpfsServer) -> KuboStore:
    return KuboStore(daemon.url, timeout_seconds=PATIENCE_SECONDS)


@pytest.fixture
def gateway(daemon: IpfsServer) -> GatewayStore:
    return GatewayStore(daemon.url, timeout_seconds=PATIENCE_SECONDS)


@pytest.fixture
def tiered(local: LocalStore, kubo: KuboStore) -> TieredStore:
    return TieredStore(local, [kubo], timeout_seconds=PATIENCE_SECONDS)


@pytest.fixture(params=["local", "kubo", "gateway", "tiered"])
def any_store(
    request: pytest.FixtureRequest,
) -> LocalStore | KuboStore | GatewayStore | TieredStore:
    """Each kind of store in turn."""
    return request.getfixturevalue(request.param)


@pytest.fixture(params=["kubo", "gateway"])
def source(request: pytest.FixtureRequest) -> KuboStore | GatewayStore:
    """Each kind of source in the network in turn."""
    return request.getfixturevalue(request.param)
