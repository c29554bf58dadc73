"""Files and values of ERC-8004 and ERC-8183, without a chain."""

import json
from typing import Any

import pytest
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from arena.chain.standards.abi import GET_JOB
from arena.chain.standards.contract import refused
from arena.chain.standards.job import (
    JobHistory,
    JobStatus,
    describe,
    evaluation_of,
    job_of,
    moment_of,
)
from arena.chain.standards.registration import NotARegistration, read_registration
from arena.market.task import ExpiryReason, TaskState

CID = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
DIGEST = "0x" + "ab" * 32
ZERO = "0x" + "00" * 20


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "Input should be"),
        ("{", "not JSON"),
        ('{"type": "https://example.com", "name": "x", "description": "y"}', "type: "),
        (
            '{"type": "https://eips.ethereum.org/EIPS/eip-8004#registration-v1", "name": "x", '
            '"description": "y", "registrations": [{"agentId": "1", "agentRegistry": "z"}]}',
            "registrations.0.agentId: Input should be a valid integer",
        ),
    ],
)
def test_other_files_are_no_registrations(text: str, why: str):
    with pytest.raises(NotARegistration, match=why):
        read_registration(text.encode())


def test_a_registration_file_of_others_is_read_too():
    """With the fields that the text's own example has."""
    text = {
        "type": "https://eips.ethereum.org/EIPS/eip-8004#registration-v1",
        "name": "myAgentName",
        "description": "what it does",
        "image": "https://example.com/agentimage.png",
        "services": [
            {"name": "A2A", "endpoint": "https://agent.example/card.json", "version": "0.3.0"},
            {"name": "OASF", "endpoint": "ipfs://x", "version": "0.8", "skills": []},
        ],
        "x402Support": False,
        "active": True,
        "registrations": [{"agentId": 22, "agentRegistry": "eip155:1:0x742"}],
        "supportedTrust": ["reputation", "crypto-economic", "tee-attestation"],
    }
    read = read_registration(json.dumps(text).encode())
    assert read.services[0].version == "0.3.0"
    assert read.registrations[0].agent_id == 22
    assert read.arena is None


def test_a_job_with_more_fields_than_the_text_is_read():
    """Two known implementations return more after the nine; the offsets allow for it."""
    nine = (3, "0x" + "11" * 20, "0x" + "22" * 20, "0x" + "33" * 20, b"text", 5, 6, 2)
    types = "uint256,address,address,address,string,uint256,uint256,uint8,address"
    values = (*nine[:4], "text", *nine[5:], "0x" + "00" * 20)
    longer = encode([f"({types},uint256,bytes32)"], [(*values, 9, b"\1" * 32)])
    assert GET_JOB.decode(longer)[0][:8] == nine


def test_custom_errors_are_named():
    unauthorized = f"0x{keccak(text='Unauthorized()')[:4].hex()}"
    nonexistent = f"0x{keccak(text='ERC721NonexistentToken(uint256)')[:4].hex()}{7:064x}"
    assert "fund: the contract refused: Unauthorized" in str(refused(unauthorized, "fund"))
    assert "refused: ERC721NonexistentToken" in str(refused(nonexistent, "ownerOf"))
    assert "refused: 0x12345678" in str(refused("0x12345678", "fund"))
    assert "refused: WrongStatus" in str(refused("WrongStatus", "fund"))


@pytest.mark.parametrize("text", ["", "Write alpha.", "[]", '{"evaluationCID": 5}', "{" * 10_000])
def test_a_description_without_a_standard_names_none(text: str):
    assert evaluation_of(text) is None


def test_a_description_names_its_standard():
    assert evaluation_of(describe("Write alpha.", CID)) == CID


def job(status: int, **told: Any) -> Any:
    data = (3, "0x" + "Aa" * 20, ZERO, "0x" + "Cc" * 20, b"\xff\0text", 5, 6, status, ZERO)
    return job_of("eip155:1:0x", data, JobHistory(**told))


@pytest.mark.parametrize(
    ("status", "told", "state", "reason"),
    [
        (JobStatus.OPEN, {}, TaskState.OPEN, None),
        (JobStatus.FUNDED, {}, TaskState.ASSIGNED, None),
        (JobStatus.SUBMITTED, {"deliverable": DIGEST}, TaskState.SUBMITTED, None),
        (JobStatus.COMPLETED, {"deliverable": DIGEST}, TaskState.PAID, None),
        # Rejected while it was open: nothing was in escrow.
        (JobStatus.REJECTED, {}, TaskState.CANCELLED, None),
        (JobStatus.REJECTED, {"is_refunded": True}, TaskState.REFUNDED, None),
        # A job that pays nothing has no refund, but it was submitted, so the evaluator rejected it.
        (JobStatus.REJECTED, {"deliverable": DIGEST}, TaskState.REFUNDED, None),
        (JobStatus.EXPIRED, {}, TaskState.EXPIRED, ExpiryReason.NO_SUBMISSION),
        (JobStatus.EXPIRED, {"deliverable": DIGEST}, TaskState.EXPIRED, ExpiryReason.NO_VERDICT),
    ],
)
def test_every_state_of_a_job_is_a_state_of_a_task(
    status: int, told: dict[str, Any], state: TaskState, reason: ExpiryReason | None
):
    found = job(status, **told)
    assert (found.state, found.expiry_reason) == (state, reason)


def test_what_a_contract_returns_is_made_readable():
    found = job(JobStatus.OPEN)
    assert (found.client, found.provider, found.hook) == ("0x" + "aa" * 20, None, None)
    assert found.description == "\ufffd\ufffdtext"


def test_a_status_that_the_text_does_not_have_is_an_error():
    with pytest.raises(ValueError, match="9 is not a valid JobStatus"):
        job(9)


def test_a_time_after_the_year_9999_is_no_date():
    assert moment_of(2**200) is None
    assert moment_of(0) is not None
