"""The client does not need the server, and its two variants have the same calls."""

import inspect
import subprocess
import sys

from arena import clock
from arena.client import Client, Signer, SyncClient
from arena.content.tree import cid_of
from arena.market.signing import Act, Proof, Statement, check_proof


def test_importing_the_client_imports_nothing_of_the_server():
    script = "import sys, arena.client; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    for package in ("sqlalchemy", "fastapi", "typer", "alembic", "cryptography", "yaml"):
        assert package not in loaded
    for room in ("arena.market.market", "arena.store.database", "arena.api", "arena.settings"):
        assert room not in loaded


def test_every_call_has_a_blocking_variant():
    calls = {
        name
        for name, member in inspect.getmembers(Client, inspect.isfunction)
        if not name.startswith("_") and name not in ("close", "call")
    }
    fronts = {name for name in vars(SyncClient) if not name.startswith("_")}
    assert calls <= fronts
    assert fronts - calls == {"close", "is_closed", "wait_for"}


def test_the_market_accepts_what_the_client_signs():
    signer = Signer.new("my-solver")
    content = cid_of(b"result")
    proof = signer.prove("m1", "submit", task_id=7, content=content)
    statement = Statement(
        market="m1", act=Act.SUBMIT, task_id=7, agent="my-solver", content=content
    )
    given = Proof(nonce=proof.nonce, expires_at=proof.expires_at, signature=proof.signature)
    check_proof(signer.public_key, statement, given, clock.now())


def test_a_key_is_read_back_from_its_file(tmp_path):
    signer = Signer.new("my-solver")
    (tmp_path / "key.pem").write_bytes(signer.pem)
    assert Signer.load("my-solver", tmp_path / "key.pem").public_key == signer.public_key
