"""The same against a real daemon: `ARENA_KUBO_URL=http://127.0.0.1:5001 pytest …`.

It stores a few files in the daemon, and removes the pins again. Skipped without the variable, also
in CI: no daemon comes with the lock file.
"""

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.content.cid import DAG_PB, RAW, Cid
from arena.content.errors import ContentPending
from arena.content.kubo import KuboStore, publish
from arena.content.store import LocalStore
from arena.content.tiered import TieredStore
from arena.content.tree import V0, V1, Link, Profile, cid_of, write_node
from cid_vectors import VECTORS

# When this file is imported: during a test the variables of the user are not set.
URL = os.environ.get("ARENA_KUBO_URL")
pytestmark = pytest.mark.skipif(not URL, reason="ARENA_KUBO_URL is not set")


@pytest.fixture
def live() -> Iterator[KuboStore]:
    assert URL is not None
    store = KuboStore(URL, timeout_seconds=300)
    yield store
    store.close()


@pytest.mark.parametrize("profile", [V0, V1])
@pytest.mark.parametrize("number", range(len(VECTORS)))
def test_a_real_daemon_gives_the_same_cids_and_bytes(
    live: KuboStore, number: int, profile: Profile
):
    data, v0, v1 = VECTORS[number]
    assert live.put(data, profile=profile) == (v0 if profile == V0 else v1)
    assert live.get(cid_of(data, profile)) == data


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_real_daemon_pins_what_is_published(live: KuboStore, tmp_path: Path, is_ours: bool):
    local = LocalStore(tmp_path / "content")
    data = uuid.uuid4().bytes * 20_000
    if is_ours:
        cid = local.put(data)
    else:
        leaf = Cid.of_block(data, codec=RAW)
        node = write_node(b"", [Link(cid=leaf, content_bytes=len(data), total_bytes=len(data))])
        cid = str(Cid.of_block(node, codec=DAG_PB))
        local.put_block(leaf, data)
        local.put_block(Cid.of_block(node, codec=DAG_PB), node)
    publish(local, live, cid)
    try:
        assert live.is_pinned(cid)
        other = LocalStore(tmp_path / "other")
        assert TieredStore(other, [live], timeout_seconds=300).get(cid) == data
    finally:
        live.unpin(cid)
    assert not live.is_pinned(cid)


def test_a_real_daemon_does_not_have_what_nobody_has(live: KuboStore):
    live.timeout_seconds = 10
    with pytest.raises(ContentPending):
        live.get(cid_of(uuid.uuid4().bytes))
