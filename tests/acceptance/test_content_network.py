"""Content to and from the IPFS network with the command `arena`, in process and on a server."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.content.cid import parse_cid
from cid_vectors import HELLO, HELLO_CID, NOT_HELLO_CID
from ipfs_server import IpfsServer, ipfs_server


@pytest.fixture
def daemon() -> Iterator[IpfsServer]:
    with ipfs_server() as server:
        yield server


def with_settings(shell, home: Path, **variables: str):
    """Somebody with a home and settings of their own."""
    return type(shell)(home=home, variables=variables)


def test_a_verdict_travels_by_its_name_alone(shell, tmp_path: Path, daemon: IpfsServer):
    judge = with_settings(shell, tmp_path / "judge", ARENA_KUBO_URL=daemon.url)
    reader = with_settings(shell, tmp_path / "reader", ARENA_IPFS_GATEWAYS=daemon.url)
    (tmp_path / "standard.json").write_text(json.dumps({"type": "contains", "contains": ["yes"]}))
    (tmp_path / "answer.txt").write_text("yes")
    words = (str(tmp_path / "standard.json"), str(tmp_path / "answer.txt"))
    record = json.loads(judge.arena("evaluate", *words, "--json").stdout)["record_cid"]
    assert daemon.requests == []

    early = reader.arena("content", "fetch", record)
    assert early.returncode == 3
    assert "try again later" in early.stderr

    published = judge.arena("content", "publish", record)
    assert published.returncode == 0, published.stderr
    first, *others = published.stdout.splitlines()
    assert first == f"{record}  the Kubo daemon at {daemon.url}"
    assert len(others) == len(daemon.pins) - 1 == 2

    fetched = reader.arena("content", "fetch", record)
    assert fetched.stdout.split() == [line.split()[0] for line in (first, *others)]
    daemon.blocks.clear()
    assert reader.arena("verify", record).returncode == 0


def test_a_file_is_stored_and_published_in_process_and_on_a_server(
    shell, tmp_path: Path, daemon: IpfsServer
):
    (tmp_path / "hello").write_bytes(HELLO)
    here = with_settings(shell, tmp_path / "here", ARENA_KUBO_URL=daemon.url)
    done = here.json("content", "publish", str(tmp_path / "hello"))
    assert (done["cids"], done["bytes"]) == ([HELLO_CID], 11)
    daemon.pins.clear()
    with here.serving() as api:
        server = ("--server", str(api.base_url))
        assert shell.arena(*server, "content", "publish", HELLO_CID).returncode == 0
        assert daemon.pins == {parse_cid(HELLO_CID)}
        data = shell.arena(*server, "content", "publish", "-", input="from stdin")
        assert data.returncode == 0, data.stderr
        assert len(daemon.pins) == 2
        other = daemon.keep(b"from the network")
        assert shell.json(*server, "content", "fetch", other)["bytes"] == 16
        daemon.blocks.clear()
        assert shell.arena(*server, "content", "get", other).stdout == "from the network"


def test_mistakes_are_explained(shell, tmp_path: Path, daemon: IpfsServer):
    (tmp_path / "hello").write_bytes(HELLO)
    done = shell.arena("content", "publish", str(tmp_path / "hello"))
    assert done.returncode == 2
    assert "ARENA_KUBO_URL" in done.stderr
    done = shell.arena("content", "publish", "no-such-file")
    assert (done.returncode, "cannot be read" in done.stderr) == (2, True)
    done = shell.arena("content", "fetch", HELLO_CID[:-1] + "2")
    assert done.returncode == 2
    daemon.blocks[parse_cid(NOT_HELLO_CID)] = HELLO
    reader = with_settings(shell, tmp_path / "reader", ARENA_IPFS_GATEWAYS=daemon.url)
    done = reader.arena("content", "fetch", NOT_HELLO_CID)
    assert done.returncode == 3
    assert f"sent bytes that do not match {NOT_HELLO_CID}" in done.stderr


def test_ctrl_c_ends_a_command_that_waits_for_the_network(
    shell, tmp_path: Path, daemon: IpfsServer
):
    daemon.lie = "silence"
    variables = {"ARENA_KUBO_URL": daemon.url, "ARENA_IPFS_TIMEOUT_SECONDS": "3600"}
    waiting = with_settings(shell, tmp_path / "home", **variables).start(
        "content", "fetch", HELLO_CID
    )
    try:
        assert daemon.was_asked.wait(60)
        waiting.send_signal(signal.SIGINT)
        assert waiting.wait(timeout=60) == 130
    finally:
        waiting.kill()
        waiting.communicate()
