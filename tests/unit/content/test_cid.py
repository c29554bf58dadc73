"""CIDs match those of other tools, and only well-formed ones are read."""

import base64
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.content.cid import Cid, parse_cid
from arena.content.tree import V0, cid_of
from arena.errors import InvalidInput
from cid_vectors import HELLO, HELLO_CID, NOT_HELLO_CID, VECTORS


@pytest.mark.parametrize(("data", "v0", "v1"), VECTORS, ids=lambda value: str(len(value)))
def test_a_cid_is_the_one_other_tools_give(data: bytes, v0: str, v1: str):
    assert cid_of(data) == v1
    assert cid_of(data, V0) == v0


def test_a_cid_that_is_wrong_by_a_letter_parses_and_names_other_bytes():
    assert not parse_cid(NOT_HELLO_CID).names(HELLO)
    assert parse_cid(HELLO_CID).names(HELLO)


def test_one_cid_in_two_spellings_is_one_value():
    assert parse_cid("zb2rhj7crUKTQYRGCRATFaQ6YFLTde2YzdqbbhAASkL9uRDXn") == parse_cid(HELLO_CID)


def test_versions_0_and_1_of_a_node_are_kept_under_one_name():
    old = parse_cid(VECTORS[1][1])
    assert old.version == 0
    assert parse_cid(str(old.key)).digest == old.digest


def written(*parts: bytes) -> str:
    return "b" + base64.b32encode(b"".join(parts)).decode().rstrip("=").lower()


DIGEST = bytes(32)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "does not begin"),
        ("hello", "does not begin"),
        ("Qm", "has 46 characters, this has 2"),
        ("Qmnonsense", "has 46 characters, this has 10"),
        ("Qm" + "0" * 44, "not base58btc"),  # 0 is not among its letters
        ("b", "cut off"),
        (HELLO_CID.upper(), "does not begin"),
        (HELLO_CID[:-1], "base32"),
        (HELLO_CID[:-1] + "f", "canonical base32"),  # bits to spare that are not 0
        (HELLO_CID + "a", "base32"),
        ("b" + HELLO_CID[1:].replace("a", "A", 1), "small letters"),
        ("b" + "é" * 20, "not base32"),
        ("f0155", "does not begin"),
        ("b" * 1000, "too long"),
        (written(b"\x01\x55\x12\x20", DIGEST, b"\x00"), "something follows"),
        (written(b"\x02\x55\x12\x20", DIGEST), "version is 2"),
        (written(b"\x01\x71\x12\x20", DIGEST), "codec is 0x71"),  # dag-cbor
        (written(b"\x01\x55\x13\x40", DIGEST, DIGEST), "not sha2-256"),
        (written(b"\x01\x55\x00\x05hello"), "not sha2-256"),  # the bytes themselves
        (written(b"\x01\x55\x12\x20", DIGEST[:20]), "cut off"),
        (written(b"\x81\x00\x55\x12\x20", DIGEST), "longer than it needs"),
    ],
)
def test_what_is_not_a_cid_is_refused_with_the_reason(text: str, why: str):
    with pytest.raises(InvalidInput, match=why):
        parse_cid(text)


@given(st.binary(min_size=32, max_size=32), st.sampled_from([(0, 0x70), (1, 0x70), (1, 0x55)]))
def test_every_cid_reads_back(digest: bytes, kind: tuple[int, int]):
    cid = Cid(version=kind[0], codec=kind[1], digest=digest)
    assert parse_cid(str(cid)) == cid


@given(st.text())
def test_any_text_is_a_cid_or_refused(text: str):
    try:
        cid = parse_cid(text)
    except InvalidInput:
        return
    assert parse_cid(str(cid)) == cid


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz234567", min_size=58, max_size=58))
def test_there_is_one_base32_spelling_of_a_cid(text: str):
    for head in ("b", "bafkrei", "bafybei"):
        spelt = (head + text)[:59]
        with suppress(InvalidInput):
            assert str(parse_cid(spelt)) == spelt
