"""Each lie and each failure of a source has its own error, and nothing of it is kept."""

import ssl
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from arena.content.cid import parse_cid
from arena.content.errors import (
    AnswerCutOff,
    AnswerTooLarge,
    ContentCorrupt,
    ContentPending,
    FormatIgnored,
    InvalidAnswer,
    OtherCid,
    PinRefused,
    RedirectRefused,
    SourceFailed,
    SourceFault,
    SourceRefused,
    SourceTooSlow,
    SourceUnreachable,
    WrongBlock,
)
from arena.content.gateway import GatewayStore
from arena.content.kubo import KuboStore
from arena.content.network import NetworkStore
from arena.content.store import LocalStore
from arena.content.tiered import TieredStore
from arena.content.tree import V0, distinct
from cid_vectors import HELLO, HELLO_CID, noise
from ipfs_server import LIES, IpfsServer, ipfs_server

DATA = noise(600_000)
SHORT_SECONDS = 0.5
"""For sources that never come to an end: the test has to wait as long."""
SLOW = {"slow drip", "slow headers", "silence"}

OF_A_GATEWAY: dict[str, type[SourceFault]] = {
    "wrong block": WrongBlock,
    "endless body": AnswerTooLarge,
    "ignored format": FormatIgnored,
    "slow drip": SourceTooSlow,
    "slow headers": SourceTooSlow,
    "silence": SourceTooSlow,
    "error page": SourceFailed,
    "web page": FormatIgnored,
    "no JSON": FormatIgnored,
    "redirect": RedirectRefused,
    "redirect loop": RedirectRefused,
    "cut off": AnswerCutOff,
    "compressed": InvalidAnswer,
    "401": SourceRefused,
    "403": SourceRefused,
}
OF_A_DAEMON = OF_A_GATEWAY | {
    "ignored format": WrongBlock,
    "error page": InvalidAnswer,
    "web page": InvalidAnswer,
    "no JSON": WrongBlock,
}
OF_STORING = {  # what only `add`, `block/put` and `pin/add` can lie about
    "another CID": OtherCid,
    "pin refused": PinRefused,
}
CASES = [(GatewayStore, lie, error) for lie, error in OF_A_GATEWAY.items()] + [
    (KuboStore, lie, error) for lie, error in OF_A_DAEMON.items()
]
Make = Callable[..., NetworkStore]


def files(folder: Path) -> dict[str, bytes | None]:
    """All that is in a folder, byte for byte."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def patience(lie: str) -> float:
    return SHORT_SECONDS if lie in SLOW else 120


def test_every_lie_of_the_test_server_is_in_the_tables():
    assert set(LIES) == {*OF_A_GATEWAY, *OF_STORING} == {*OF_A_DAEMON, *OF_STORING}


@pytest.mark.parametrize("place", ["root", "last part"])
@pytest.mark.parametrize(("make", "lie", "error"), CASES)
def test_each_lie_has_its_error_and_leaves_no_trace(
    local: LocalStore,
    daemon: IpfsServer,
    make: Make,
    lie: str,
    error: type[SourceFault],
    place: str,
):
    local.put(HELLO)
    # Without raw leaves: of those, the block is the same as the file.
    cid = daemon.keep(DATA, V0)
    *_, (last, _) = distinct(parse_cid(cid), daemon.read, max_bytes=len(DATA))
    before = files(local.folder)
    with ipfs_server() as elsewhere:
        elsewhere.keep(DATA, V0)
        daemon.redirect_to = f"{elsewhere.url}/ipfs/{cid}?format=raw"
        daemon.lie = lie
        daemon.lies_about = parse_cid(cid) if place == "root" else last
        source = make(daemon.url, timeout_seconds=patience(lie))
        with pytest.raises(error) as direct:
            source.get(cid)
        tiered = TieredStore(local, [source], timeout_seconds=patience(lie))
        with pytest.raises(error) as caught:
            tiered.get(cid)
        with pytest.raises(error):
            list(tiered.blocks(cid))
        assert elsewhere.requests == []
    assert type(direct.value) is type(caught.value) is error
    assert source.name in caught.value.message
    assert files(local.folder) == before
    # The same request to an honest source succeeds.
    daemon.lie = None
    assert TieredStore(local, [source], timeout_seconds=120).get(cid) == DATA


@pytest.mark.parametrize("lie", sorted(SLOW))
def test_the_time_limit_holds_on_encrypted_connections(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lie: str
):
    certificate = write_certificate(tmp_path / "certificate.pem")
    trusting = ssl.create_default_context(cafile=certificate)
    monkeypatch.setattr("arena.content.network._certificates", lambda: trusting)
    with ipfs_server(certificate=certificate) as daemon:
        cid = daemon.keep(DATA)
        assert GatewayStore(daemon.url, timeout_seconds=120).get(cid) == DATA
        daemon.lie = lie
        with pytest.raises(SourceTooSlow):
            GatewayStore(daemon.url, timeout_seconds=SHORT_SECONDS).get(cid)


def write_certificate(path: Path) -> Path:
    """A certificate of 127.0.0.1 and its key, which the test itself trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    host = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(host, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(made.public_bytes(Encoding.PEM) + private)
    return path


def test_every_error_has_its_own_code():
    kinds = {*OF_A_GATEWAY.values(), *OF_A_DAEMON.values(), *OF_STORING.values()}
    kinds |= {ContentPending, SourceUnreachable}
    assert len({kind.code for kind in kinds}) == len(kinds)


@pytest.mark.parametrize(
    ("status", "of_a_gateway", "of_a_daemon"),
    [
        (301, SourceFailed, SourceFailed),  # without a location
        (400, SourceFailed, SourceFailed),
        (401, SourceRefused, SourceRefused),
        (403, SourceRefused, SourceRefused),
        (404, ContentPending, InvalidAnswer),  # a daemon has this command
        (405, SourceFailed, InvalidAnswer),
        (410, SourceRefused, SourceFailed),
        (429, SourceFailed, SourceFailed),
        (451, SourceRefused, SourceFailed),
        (500, SourceFailed, SourceFailed),
        (502, SourceFailed, SourceFailed),
        (504, ContentPending, SourceFailed),  # of a gateway: it searched for too long
    ],
)
def test_each_status_has_its_error(
    gateway: GatewayStore, kubo: KuboStore, daemon: IpfsServer, status, of_a_gateway, of_a_daemon
):
    daemon.status = status
    for source, error in ((gateway, of_a_gateway), (kubo, of_a_daemon)):
        with pytest.raises(error) as caught:
            source.get(HELLO_CID)
        assert type(caught.value) is error


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("block was not found locally (offline): ipld: could not find", ContentPending),
        ("ipld: could not find", ContentPending),
        ("context deadline exceeded", ContentPending),  # it searched the network
        ("leveldb: closed", SourceFailed),
        ("\x1b[2J" + "x" * 5000, SourceFailed),
    ],
)
def test_a_daemon_says_in_its_message_that_it_has_not_found_a_block(
    kubo: KuboStore, daemon: IpfsServer, message: str, error: type[SourceFault]
):
    daemon.not_found = message
    with pytest.raises(error) as caught:
        kubo.get(HELLO_CID)
    assert type(caught.value) is error
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 500


@pytest.mark.parametrize("make", [GatewayStore, KuboStore])
def test_a_source_that_is_not_there_cannot_be_reached(make: Make, local: LocalStore):
    with ipfs_server() as gone:
        url = gone.url
    source = make(url, timeout_seconds=60)
    for store in (source, TieredStore(local, [source], timeout_seconds=60)):
        with pytest.raises(SourceUnreachable, match=url):
            store.get(HELLO_CID)


@pytest.mark.parametrize("url", ["http://127.0.0.1:99999", "http://exa mple:1", "http://:1"])
def test_an_impossible_address_is_an_error_and_no_crash(url: str):
    with pytest.raises(SourceUnreachable):
        KuboStore(url, timeout_seconds=60).get(HELLO_CID)


@pytest.mark.parametrize(
    ("lie", "error"),
    [
        ("another CID", OtherCid),
        ("no JSON", InvalidAnswer),
        ("web page", InvalidAnswer),
        ("error page", InvalidAnswer),
        ("401", SourceRefused),
        ("403", SourceRefused),
        ("redirect", RedirectRefused),
        ("endless body", AnswerTooLarge),
        ("silence", SourceTooSlow),
    ],
)
def test_each_lie_about_what_is_stored_has_its_error(
    daemon: IpfsServer, lie: str, error: type[SourceFault]
):
    with ipfs_server() as elsewhere:
        daemon.lie, daemon.redirect_to = lie, f"{elsewhere.url}/api/v0/add"
        kubo = KuboStore(daemon.url, timeout_seconds=patience(lie))
        with pytest.raises(error):
            kubo.put(HELLO)
        with pytest.raises(error):
            kubo.put_block(parse_cid(HELLO_CID), HELLO)
        # What was meant for the daemon goes nowhere else.
        assert elsewhere.requests == []


def test_a_refused_pin_is_an_error(kubo: KuboStore, daemon: IpfsServer):
    cid = kubo.put(HELLO)
    daemon.lie = "pin refused"
    with pytest.raises(PinRefused, match="disk quota exceeded"):
        kubo.pin(cid)


@pytest.mark.parametrize("lie", ["no JSON", "web page", "403", "redirect"])
def test_pins_are_not_believed_without_proof(kubo: KuboStore, daemon: IpfsServer, lie: str):
    cid = kubo.put(HELLO)
    daemon.lie = lie
    for call in (kubo.pin, kubo.is_pinned):
        with pytest.raises(SourceFault):
            call(cid)


def test_a_redirect_within_the_gateway_is_followed(gateway: GatewayStore, daemon: IpfsServer):
    cid = daemon.keep(DATA)
    other = daemon.keep(HELLO)
    daemon.lie, daemon.lies_about = "redirect", parse_cid(cid)
    # To the same block under its own address, relative and absolute.
    for target in (f"/ipfs/{other}?format=raw", f"{daemon.url}/ipfs/{other}?format=raw"):
        daemon.redirect_to = target
        with pytest.raises(WrongBlock, match=cid):  # followed, and verified all the same
            gateway.get(cid)
    assert daemon.requests.count(f"/ipfs/{other}") == 2


@pytest.mark.parametrize(
    ("location", "is_followed"),
    [
        (f"https://{HELLO_CID}.ipfs.gateway.example/?format=raw", True),
        ("https://gateway.example/other/path", True),
        ("/relative", True),
        ("http://gateway.example/ipfs/x", False),  # no longer encrypted
        ("https://gateway.example:8443/ipfs/x", False),
        ("https://gateway.example.attacker.example/", False),
        ("https://evil.gateway.example/", False),
        ("https://bafkqaaa.ipfs.gateway.example/", False),  # another content
        ("https://user@attacker.example/", False),
        ("http://169.254.169.254/latest/meta-data", False),
        ("http://127.0.0.1:5001/api/v0/shutdown", False),
        ("file:///etc/passwd", False),
        ("//attacker.example/ipfs/x", False),
        ("https://[bad/", False),
        ("", True),
    ],
)
def test_a_gateway_may_redirect_only_to_itself_and_to_the_subdomain_of_the_content(
    location: str, is_followed: bool
):
    store = GatewayStore("https://gateway.example", timeout_seconds=60)
    asked = httpx2.URL(f"https://gateway.example/ipfs/{HELLO_CID}")
    try:
        store.redirected(asked, location, parse_cid(HELLO_CID))
    except RedirectRefused:
        assert not is_followed
    else:
        assert is_followed


def test_the_first_honest_source_is_enough(local: LocalStore, daemon: IpfsServer, caplog):
    cid = daemon.keep(DATA)
    with ipfs_server() as liar, ipfs_server() as empty:
        liar.keep(DATA)
        liar.lie = "wrong block"
        sources = [
            GatewayStore(liar.url, timeout_seconds=60),
            GatewayStore(empty.url, timeout_seconds=60),
            GatewayStore(daemon.url, timeout_seconds=60),
        ]
        assert TieredStore(local, sources, timeout_seconds=120).get(cid) == DATA
        # The operator learns of the lie; that a source does not have something is normal.
        assert liar.url in caplog.text
        assert empty.url not in caplog.text


def test_sources_that_have_a_part_each_are_enough_together(local: LocalStore, daemon: IpfsServer):
    cid = daemon.keep(DATA)
    with ipfs_server() as other:
        other.keep(DATA)
        first, *_, last = list(daemon.blocks)
        del daemon.blocks[last if str(last) != cid else first]
        sources = [GatewayStore(one.url, timeout_seconds=60) for one in (daemon, other)]
        assert TieredStore(local, sources, timeout_seconds=120).get(cid) == DATA
        # Nothing is fetched twice.
        asked = daemon.requests + other.requests
        assert len(asked) == len(set(asked)) + 1


def test_the_error_names_what_each_source_did(local: LocalStore, daemon: IpfsServer):
    with ipfs_server() as gone:
        pass
    with ipfs_server() as liar:
        liar.keep(HELLO)
        liar.lie = "wrong block"
        sources = [GatewayStore(one.url, timeout_seconds=60) for one in (daemon, liar, gone)]
        with pytest.raises(WrongBlock) as caught:
            TieredStore(local, sources, timeout_seconds=120).get(HELLO_CID)
    assert all(one.url in caught.value.message for one in (daemon, liar, gone))
    # The others may have it later.
    assert caught.value.retryable


def test_a_source_that_never_answers_leaves_time_for_the_others(
    local: LocalStore, daemon: IpfsServer
):
    cid = daemon.keep(HELLO)
    with ipfs_server() as silent:
        silent.lie = "silence"
        sources = [
            KuboStore(silent.url, timeout_seconds=60),
            KuboStore(daemon.url, timeout_seconds=60),
        ]
        assert TieredStore(local, sources, timeout_seconds=8 * SHORT_SECONDS).get(cid) == HELLO


def test_damaged_content_is_repaired_from_the_network(tiered: TieredStore, daemon: IpfsServer):
    cid = tiered.put(DATA)
    victim = next(path for path in tiered.local.folder.glob("blocks/*/*"))
    true = victim.read_bytes()
    victim.write_bytes(b"damaged")
    with pytest.raises(ContentCorrupt):
        tiered.get(cid)
    daemon.keep(DATA)
    assert tiered.get(cid) == DATA
    assert victim.read_bytes() == true
    assert len(daemon.requests) == 2  # only what was damaged


def test_what_was_fetched_once_is_not_fetched_again(tiered: TieredStore, daemon: IpfsServer):
    cid = daemon.keep(DATA)
    tiered.get(cid)
    asked = len(daemon.requests)
    daemon.blocks.clear()
    assert tiered.get(cid) == DATA
    tiered.pin(cid)
    assert len(daemon.requests) == asked
    assert daemon.writes == []


def test_closing_ends_what_a_thread_waits_for(tiered: TieredStore, daemon: IpfsServer):
    daemon.lie = "silence"
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(tiered.get, HELLO_CID)
        assert daemon.was_asked.wait(60)
        tiered.close()
        assert isinstance(waiting.exception(), SourceFault)
