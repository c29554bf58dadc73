"""Content by CID over HTTP."""

from pathlib import Path

import httpx2
import pytest

from arena.content.archive import write_archive
from arena.content.store import LocalStore
from cid_vectors import HELLO, HELLO_CID, NOT_HELLO_CID, noise


async def test_content_is_returned_as_a_download_and_never_rendered(local: httpx2.AsyncClient):
    data = b"<script>alert(1)</script>" + noise(300_000)
    kept = (await local.post("/api/content", content=data)).json()
    assert kept["bytes"] == len(data)
    answer = await local.get(f"/api/content/{kept['cid']}")
    assert answer.content == data
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-disposition"] == "attachment"
    assert "sandbox" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("kind", ["application/json", "text/html", "multipart/form-data", ""])
async def test_the_body_is_kept_as_is_whatever_its_content_type(
    local: httpx2.AsyncClient, kind: str
):
    answer = await local.post("/api/content", content=HELLO, headers={"Content-Type": kind})
    assert answer.json() == {"cid": HELLO_CID, "bytes": 11}


async def test_an_empty_body_is_content(local: httpx2.AsyncClient):
    kept = (await local.post("/api/content")).json()
    assert kept["bytes"] == 0
    assert (await local.get(f"/api/content/{kept['cid']}")).content == b""


@pytest.mark.parametrize(
    ("cid", "status", "code"),
    [
        (NOT_HELLO_CID, 404, "content_missing"),
        ("hello", 422, "invalid_input"),
        ("..%5C..%5Carena.db", 422, "invalid_input"),
        ("b" * 5000, 422, "invalid_input"),
    ],
)
async def test_missing_content_or_a_bad_cid_is_a_problem(
    local: httpx2.AsyncClient, cid: str, status: int, code: str
):
    await local.post("/api/content", content=HELLO)
    answer = await local.get(f"/api/content/{cid}")
    assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_damaged_content_is_not_served(local: httpx2.AsyncClient, tmp_path: Path):
    await local.post("/api/content", content=HELLO)
    (file,) = (tmp_path / "home" / "content" / "blocks").glob("*/*")
    file.write_bytes(b"hello_world")
    answer = await local.get(f"/api/content/{HELLO_CID}")
    assert (answer.status_code, answer.json()["code"]) == (503, "content_corrupt")


async def test_too_large_a_body_is_refused(local: httpx2.AsyncClient):
    answer = await local.post("/api/content", content=bytes(8 * 1024**2 + 1))
    assert answer.status_code == 413


async def test_an_archive_carries_content_from_one_store_to_another(
    local: httpx2.AsyncClient, tmp_path: Path
):
    elsewhere = LocalStore(tmp_path / "elsewhere")
    cids = [elsewhere.put(noise(300_000)), elsewhere.put(HELLO)]
    archive = write_archive(elsewhere, cids)
    answer = await local.post("/api/archive", content=archive)
    assert answer.json() == {"roots": cids}
    back = await local.get("/api/archive", params={"cid": cids})
    assert back.content == archive
    assert back.headers["content-type"] == "application/vnd.ipld.car"


async def test_a_damaged_archive_is_refused(local: httpx2.AsyncClient, tmp_path: Path):
    elsewhere = LocalStore(tmp_path / "elsewhere")
    archive = write_archive(elsewhere, [elsewhere.put(HELLO)])
    answer = await local.post("/api/archive", content=archive[:-1])
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_archive")
    assert (await local.get("/api/archive", params={"cid": HELLO_CID})).status_code == 404


async def test_without_a_token_content_is_neither_read_nor_written(opened):
    async with opened(tokens=("mine:0123456789abcdef",)) as api:
        assert (await api.get(f"/api/content/{HELLO_CID}")).status_code == 401
        assert (await api.post("/api/content", content=HELLO)).status_code == 401
        assert (await api.get("/api/archive", params={"cid": HELLO_CID})).status_code == 401
