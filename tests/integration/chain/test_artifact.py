"""The artifact that ships is what its source compiles to."""

import hashlib
import json
import runpy
from importlib.resources import files
from pathlib import Path

import pytest
from eth_utils.abi import abi_to_signature

from arena.chain.artifact import load_artifact
from arena.evaluation.verdict import MIN_PASS_SCORE
from contract_chain import Chain

ROOT = Path(__file__).parents[3]
EIP_170_BYTES = 24_576
"""The largest contract that a chain accepts."""


@pytest.fixture(scope="module")
def source() -> str:
    return files("arena.chain").joinpath("ArenaMarket.vy").read_text(encoding="utf-8")


def test_the_source_compiles_to_the_artifact_byte_for_byte(source: str):
    script = runpy.run_path(str(ROOT / "scripts" / "compile_contract.py"))
    stored = files("arena.chain").joinpath("ArenaMarket.json").read_text(encoding="utf-8")
    if script["artifact_text"](source) != stored:
        made, kept = json.loads(script["artifact_text"](source)), json.loads(stored)
        stale = sorted(name for name in made if made[name] != kept.get(name))
        pytest.fail(f"ArenaMarket.json is stale ({', '.join(stale)}): run make contract")


def test_the_artifact_says_what_it_was_made_from(source: str):
    artifact = load_artifact()
    assert artifact.name == "ArenaMarket"
    assert artifact.compiler == "vyper 0.4.3"
    assert artifact.settings["evm_version"] == "cancun"
    assert artifact.source_sha256 == hashlib.sha256(source.encode()).hexdigest()


def test_the_artifact_is_read_once():
    assert load_artifact() is load_artifact()


def test_a_deployed_contract_has_exactly_the_runtime_code():
    artifact = load_artifact()
    chain = Chain.deployed()
    assert chain.env.get_code(chain.address) == artifact.runtime_bytecode
    assert len(artifact.runtime_bytecode) <= EIP_170_BYTES
    assert chain.read("MIN_PASS_SCORE") == MIN_PASS_SCORE


def test_nobody_owns_the_contract():
    """Every function that writes is one of the market's moves."""
    writing = {
        abi_to_signature(dict(entry)).partition("(")[0]
        for entry in load_artifact().abi
        if entry["type"] == "function" and entry["stateMutability"] != "view"
    }
    assert writing == {
        "postTask",
        "applyForTask",
        "applyForTaskSigned",
        "assignTask",
        "cancelTask",
        "commitResult",
        "commitResultSigned",
        "submitResult",
        "submitResultSigned",
        "judgeAndPay",
        "dispute",
        "disputeSigned",
        "resolve",
        "expire",
        "settle",
        "withdraw",
    }
