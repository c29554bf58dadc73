"""Content from and to the IPFS network, over HTTP."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import httpx2
import pytest

from arena.content.cid import parse_cid
from arena.content.tree import V0, cid_of
from cid_vectors import HELLO, HELLO_CID, NOT_HELLO_CID, noise
from ipfs_server import IpfsServer, ipfs_server

CONTAINS = {"type": "contains", "contains": ["yes"]}
TOKENS = ("a:aaaaaaaaaaaaaaaaaaaa", "b:bbbbbbbbbbbbbbbbbbbb")


def as_team(team: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {team * 20}"}


@pytest.fixture
def daemon() -> Iterator[IpfsServer]:
    with ipfs_server() as server:
        yield server


@pytest.fixture
async def api(opened, daemon: IpfsServer):
    """A server that reads from the daemon and publishes to it."""
    async with opened(kubo_url=daemon.url) as client:
        yield client


@pytest.fixture
async def reader(opened, daemon: IpfsServer):
    """A server that only reads, from the daemon's gateway."""
    async with opened(ipfs_gateways=(daemon.url,)) as client:
        yield client


async def recorded(api: httpx2.AsyncClient) -> tuple[str, dict[str, str]]:
    """The CID of a verdict record, and the record."""
    body = {"standard": CONTAINS, "submission": "yes"}
    cid = (await api.post("/api/evaluate", json=body)).json()["record_cid"]
    return cid, (await api.get(f"/api/content/{cid}")).json()


async def test_content_of_the_network_is_read_and_stored(
    reader: httpx2.AsyncClient, daemon: IpfsServer
):
    data = noise(300_000)
    cid = daemon.keep(data)
    assert (await reader.get(f"/api/content/{cid}")).content == data
    daemon.blocks.clear()
    assert (await reader.get(f"/api/content/{cid}")).content == data


async def test_content_that_is_not_there_yet_may_be_asked_for_again(
    reader: httpx2.AsyncClient, daemon: IpfsServer
):
    path = f"/api/content/{HELLO_CID}"
    for answer in (await reader.get(path), await reader.post(f"{path}/fetch")):
        assert (answer.status_code, answer.json()["code"]) == (503, "content_pending")
        assert int(answer.headers["retry-after"]) > 0
    daemon.keep(HELLO)
    assert (await reader.get(f"/api/content/{HELLO_CID}")).content == HELLO


async def test_without_a_network_content_is_missing_and_cannot_be_published(
    local: httpx2.AsyncClient,
):
    answer = await local.post(f"/api/content/{HELLO_CID}/fetch")
    assert (answer.status_code, answer.json()["code"]) == (404, "content_missing")
    await local.post("/api/content", content=HELLO)
    fetched = await local.post(f"/api/content/{HELLO_CID}/fetch")
    assert fetched.json() == {"cids": [HELLO_CID], "bytes": 11}
    answer = await local.post(f"/api/content/{HELLO_CID}/publish")
    assert (answer.status_code, answer.json()["code"]) == (409, "nowhere_to_publish")
    assert "ARENA_KUBO_URL" in answer.json()["detail"]


async def test_a_lie_is_not_a_reason_to_try_again(reader: httpx2.AsyncClient, daemon: IpfsServer):
    daemon.blocks[parse_cid(NOT_HELLO_CID)] = HELLO
    answer = await reader.get(f"/api/content/{NOT_HELLO_CID}")
    assert (answer.status_code, answer.json()["code"]) == (503, "source_wrong_block")
    assert "retry-after" not in answer.headers


@pytest.mark.parametrize("data", [HELLO, noise(600_000)], ids=len)
async def test_content_is_published_and_pinned(
    api: httpx2.AsyncClient, daemon: IpfsServer, data: bytes
):
    cid = (await api.post("/api/content", content=data)).json()["cid"]
    assert daemon.requests == []
    answer = await api.post(f"/api/content/{cid}/publish")
    where = f"the Kubo daemon at {daemon.url}"
    assert answer.json() == {"cids": [cid], "bytes": len(data), "published_to": where}
    assert daemon.pins == {parse_cid(cid)}
    # Again: the same.
    assert (await api.post(f"/api/content/{cid}/publish")).json() == answer.json()


async def test_a_record_is_published_and_fetched_with_what_it_refers_to(
    api: httpx2.AsyncClient, daemon: IpfsServer, opened, tmp_path: Path
):
    cid, record = await recorded(api)
    cids = [cid, record["standard_cid"], record["submission_cid"]]
    published = (await api.post(f"/api/content/{cid}/publish")).json()
    assert published["cids"] == cids
    assert daemon.pins == {parse_cid(one) for one in cids}
    # Another machine, which has nothing but the name of the record.
    (tmp_path / "home").rename(tmp_path / "first")
    async with opened(ipfs_gateways=(daemon.url,)) as other:
        fetched = await other.post(f"/api/content/{cid}/fetch")
        assert fetched.json() == {"cids": cids, "bytes": published["bytes"]}
        daemon.blocks.clear()
        checked = await other.get(f"/api/verify/{cid}")
        assert checked.json()["outcome"] == "holds", checked.json()


async def test_a_record_can_be_verified_whose_parts_are_in_the_network(
    api: httpx2.AsyncClient, daemon: IpfsServer, opened, tmp_path: Path
):
    cid, record = await recorded(api)
    await api.post(f"/api/content/{cid}/publish")
    (tmp_path / "home").rename(tmp_path / "first")
    async with opened(ipfs_gateways=(daemon.url,)) as other:
        standard = daemon.blocks.pop(parse_cid(record["standard_cid"]))
        answer = await other.get(f"/api/verify/{cid}")
        assert (answer.status_code, answer.json()["code"]) == (503, "content_pending")
        daemon.blocks[parse_cid(record["standard_cid"])] = standard
        answer = await other.get(f"/api/verify/{cid}")
        assert answer.json()["outcome"] == "holds"
        # By its CID, a standard of the network is used as well.
        await other.post(f"/api/content/{cid}/fetch")
        body = {"standard": record["standard_cid"], "submission": "yes"}
        assert (await other.post("/api/evaluate", json=body)).json()["score"] == 100


async def test_nothing_is_published_if_a_part_of_a_record_is_not_to_be_had(
    api: httpx2.AsyncClient, daemon: IpfsServer, tmp_path: Path
):
    cid, record = await recorded(api)
    (file,) = (tmp_path / "home" / "content").glob(f"blocks/*/{record['standard_cid']}")
    file.unlink()
    answer = await api.post(f"/api/content/{cid}/publish")
    assert (answer.status_code, answer.json()["code"]) == (503, "content_pending")
    assert daemon.writes == []


@pytest.mark.parametrize(
    ("lie", "code"),
    [
        ("another CID", "source_other_cid"),
        ("pin refused", "source_pin_refused"),
        ("403", "source_refused"),
        ("web page", "source_answer_invalid"),
    ],
)
async def test_publishing_says_what_the_daemon_did(
    api: httpx2.AsyncClient, daemon: IpfsServer, lie: str, code: str
):
    await api.post("/api/content", content=HELLO)
    daemon.lie = lie
    answer = await api.post(f"/api/content/{HELLO_CID}/publish")
    assert (answer.status_code, answer.json()["code"]) == (503, code)


async def test_exported_content_may_come_from_the_network(
    reader: httpx2.AsyncClient, daemon: IpfsServer
):
    cid = daemon.keep(noise(300_000), V0)
    answer = await reader.get("/api/archive", params={"cid": cid})
    assert answer.status_code == 200
    assert noise(300_000)[:100] in answer.content


async def test_what_a_team_fetches_counts_towards_its_quota(opened, daemon: IpfsServer):
    data = Random(5).randbytes(700_000)
    cid = daemon.keep(data)
    more = {"ipfs_gateways": (daemon.url,), "tokens": TOKENS, "content_quota_mib": 1}
    async with opened(**more) as api:
        other = Random(6).randbytes(700_000)
        assert (await api.post("/api/content", content=other, headers=as_team("a"))).is_success
        answer = await api.post(f"/api/content/{cid}/fetch", headers=as_team("a"))
        assert (answer.status_code, answer.json()["code"]) == (507, "quota_reached")
        answer = await api.post(f"/api/content/{cid}/fetch", headers=as_team("b"))
        assert answer.json()["bytes"] == 700_000


async def test_without_a_token_nothing_is_fetched_or_published(opened, daemon: IpfsServer):
    daemon.keep(HELLO)
    async with opened(kubo_url=daemon.url, tokens=TOKENS) as api:
        for verb in ("fetch", "publish"):
            assert (await api.post(f"/api/content/{HELLO_CID}/{verb}")).status_code == 401
        assert daemon.requests == []


@pytest.mark.parametrize("verb", ["fetch", "publish"])
@pytest.mark.parametrize(
    "name",
    ["http%3A%2F%2F169.254.169.254%2F", "..%2F..%2Fapi%2Fv0%2Fshutdown", "localhost", "b" * 999],
)
async def test_no_request_can_name_another_address(
    api: httpx2.AsyncClient, daemon: IpfsServer, verb: str, name: str
):
    answer = await api.post(f"/api/content/{name}/{verb}")
    assert answer.status_code in (404, 422)
    assert daemon.requests == []


async def test_putting_importing_and_judging_publish_nothing(
    api: httpx2.AsyncClient, daemon: IpfsServer
):
    cid, _ = await recorded(api)
    archive = (await api.get("/api/archive", params={"cid": cid})).content
    await api.post("/api/archive", content=archive)
    await api.post("/api/content", content=noise(300_000))
    await api.get(f"/api/verify/{cid}")
    await api.post(f"/api/content/{cid}/fetch")
    assert daemon.requests == []


async def test_a_slow_network_does_not_delay_what_is_stored_here(opened, daemon: IpfsServer):
    daemon.lie = "silence"
    async with opened(ipfs_gateways=(daemon.url,)) as api:
        await api.post("/api/content", content=HELLO)
        names = [cid_of(bytes([number])) for number in range(40)]
        waiting = [asyncio.create_task(api.get(f"/api/content/{name}")) for name in names]
        await asyncio.to_thread(daemon.was_asked.wait, 60)
        # More requests wait for the network than there are threads; reads and writes go on.
        for _ in range(3):
            assert (await api.get(f"/api/content/{HELLO_CID}")).content == HELLO
            assert (await api.post("/api/content", content=noise(1000))).is_success
        assert not any(task.done() for task in waiting)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_the_address_of_the_daemon_is_shown_without_its_secrets(opened, daemon: IpfsServer):
    url = daemon.url.replace("http://", "http://ann:secret-word@") + "/secret-path"
    async with opened(kubo_url=url) as api:
        await api.post("/api/content", content=HELLO)
        answer = await api.post(f"/api/content/{HELLO_CID}/publish")
        assert answer.status_code == 503
        assert "secret" not in json.dumps(answer.json())
