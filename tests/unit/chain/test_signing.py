"""Signatures, compared with eth_account's own and with the words of the standards."""

import re
from typing import Any

import pytest
from eth_abi.abi import encode
from eth_account import Account
from eth_account.messages import encode_defunct, encode_typed_data
from eth_utils.crypto import keccak

from arena.chain.keys import Keys
from arena.chain.signing import (
    ACTS,
    Domain,
    commitment_of,
    digest,
    recover,
    salt_word,
    typed_data,
)
from arena.market.errors import BadSignature
from arena.market.signing import Act
from arena.market.wallets import message_signer
from arena.settings import Settings

COW = keccak(text="cow")
"""The private key of the examples in EIP-712."""
COW_ADDRESS = "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"
DOMAIN = Domain(chain_id=31337, contract="0x" + "cc" * 20)
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
FIELDS: dict[Act, dict[str, Any]] = {
    Act.APPLY: {"taskId": 7, "agent": COW_ADDRESS, "version": "1.2", "expires": 99},
    Act.COMMIT: {"taskId": 7, "agent": COW_ADDRESS, "commitment": b"\x05" * 32, "expires": 99},
    Act.SUBMIT: {
        "taskId": 2**255,
        "agent": COW_ADDRESS,
        "resultHash": "bafkreié",
        "language": "",
        "expires": 99,
    },
    Act.DISPUTE: {"taskId": 7, "agent": COW_ADDRESS, "reasonURI": "ipfs://x", "expires": 99},
}
TYPES = {
    Act.APPLY: "Apply(uint256 taskId,address agent,string version,uint256 expires)",
    Act.COMMIT: "Commit(uint256 taskId,address agent,bytes32 commitment,uint256 expires)",
    Act.SUBMIT: "Submit(uint256 taskId,address agent,string resultHash,string language,"
    "uint256 expires)",
    Act.DISPUTE: "Dispute(uint256 taskId,address agent,string reasonURI,uint256 expires)",
}


@pytest.fixture
def keys(tmp_path: Any) -> Keys:
    return Keys(Settings(home=tmp_path, chain_keys=(f"cow:0x{COW.hex()}",)))


def by_the_standard(act: Act, fields: dict[str, Any]) -> bytes:
    """EIP-712 written out: the hash of a prefix, the domain's hash and the message's."""
    domain_type = (
        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
    )
    domain = keccak(
        encode(
            ["bytes32", "bytes32", "bytes32", "uint256", "address"],
            [
                *(keccak(text=text) for text in (domain_type, "Arena", "1")),
                *(DOMAIN.chain_id, DOMAIN.contract),
            ],
        )
    )
    kinds = re.findall(r"(\w+) (\w+)", TYPES[act].partition("(")[2])
    values = [
        keccak(text=fields[name]) if kind == "string" else fields[name] for kind, name in kinds
    ]
    words = ["bytes32" if kind == "string" else kind for kind, _ in kinds]
    message = keccak(encode(["bytes32", *words], [keccak(text=TYPES[act]), *values]))
    return keccak(b"\x19\x01" + domain + message)


def test_every_act_on_a_task_can_be_signed():
    assert set(ACTS) == set(Act) - {Act.REGISTER}


@pytest.mark.parametrize("act", FIELDS)
def test_the_hash_is_that_of_the_standard(act: Act):
    assert digest(DOMAIN, act, FIELDS[act]) == by_the_standard(act, FIELDS[act])


@pytest.mark.parametrize("act", FIELDS)
def test_a_signature_is_eth_accounts_and_its_signer_is_recovered(act: Act, keys: Keys):
    document = typed_data(DOMAIN, act, FIELDS[act])
    signature = keys.sign_typed_data("cow", document)
    theirs = Account.sign_message(encode_typed_data(full_message=document), COW).signature
    assert signature == f"0x{bytes(theirs).hex()}"
    assert recover(DOMAIN, act, FIELDS[act], signature) == COW_ADDRESS


@pytest.mark.parametrize(
    "domain",
    [
        Domain(chain_id=1, contract=DOMAIN.contract),
        Domain(chain_id=DOMAIN.chain_id, contract="0x" + "dd" * 20),
    ],
)
def test_a_signature_is_worth_nothing_on_another_chain_or_contract(domain: Domain, keys: Keys):
    fields = FIELDS[Act.APPLY]
    signature = keys.sign_typed_data("cow", typed_data(DOMAIN, Act.APPLY, fields))
    assert recover(domain, Act.APPLY, fields, signature) != COW_ADDRESS


@pytest.mark.parametrize("field", ["taskId", "agent", "version", "expires"])
def test_a_signature_is_worth_nothing_for_other_fields(field: str, keys: Keys):
    fields = FIELDS[Act.APPLY]
    signature = keys.sign_typed_data("cow", typed_data(DOMAIN, Act.APPLY, fields))
    other: dict[str, Any] = {
        "taskId": 8,
        "agent": "0x" + "01" * 20,
        "version": "1.3",
        "expires": 100,
    }
    changed = {**fields, field: other[field]}
    assert recover(DOMAIN, Act.APPLY, changed, signature) != COW_ADDRESS


def test_a_signature_has_one_form(keys: Keys):
    fields = FIELDS[Act.APPLY]
    signature = keys.sign_typed_data("cow", typed_data(DOMAIN, Act.APPLY, fields))
    r, s, v = signature[2:66], int(signature[66:130], 16), int(signature[130:], 16)
    twin = f"0x{r}{ORDER - s:064x}{55 - v:02x}"
    bad = [twin, signature[:-2] + "00", signature[:-2], signature + "00", "0xzz", "", "0x"]
    bad += [f"0x{'00' * 32}{s:064x}{v:02x}", f"0x{'ff' * 32}{s:064x}{v:02x}"]
    for one in bad:
        with pytest.raises(BadSignature):
            recover(DOMAIN, Act.APPLY, fields, one)


@pytest.mark.parametrize("message", [b"", b"hello", "café".encode(), bytes(range(256))])
def test_the_signer_of_plain_bytes_is_recovered(message: bytes, keys: Keys):
    signature = keys.sign_message("cow", message)
    theirs = Account.sign_message(encode_defunct(message), COW).signature
    assert signature == f"0x{bytes(theirs).hex()}"
    assert message_signer(message, signature) == COW_ADDRESS
    assert message_signer(message + b".", signature) != COW_ADDRESS


def test_a_commitment_is_the_one_that_the_contract_computes():
    types = ["uint256", "address", "uint256", "address", "bytes32", "bytes32"]
    values = [31337, DOMAIN.contract, 7, COW_ADDRESS, keccak(text="cid"), keccak(text="sälz")]
    assert salt_word("sälz") == keccak("sälz".encode())
    found = commitment_of(DOMAIN, 7, COW_ADDRESS, "cid", "sälz")
    assert found == keccak(encode(types, values)).hex()
    assert re.fullmatch("[0-9a-f]{64}", found)
