"""A Kubo daemon and gateway on loopback: it stores blocks and answers from them, or lies on demand.

The RPC (`/api/v0/…`, POST only) and the gateway (`GET /ipfs/{cid}?format=raw`) behave as those of
Kubo 0.44 do, as far as Arena uses them. `lie` names one of `LIES`: then they do not.
"""

import json
import re
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from arena.content.cid import BASE58, DAG_PB, RAW, Cid, parse_cid
from arena.content.tree import V0, V1, Profile, cut, join, read_node
from arena.errors import ArenaError

RAW_BLOCK = "application/vnd.ipld.raw"
PAGE = b"<!doctype html><title>Welcome</title>"
LIES = (
    "wrong block",  # other bytes than the CID's
    "endless body",
    "ignored format",  # the file instead of its blocks, as js-ipfs did
    "slow drip",  # a byte now and then
    "slow headers",
    "silence",
    "another CID",  # of what was added
    "error page",  # HTML with status 502
    "web page",  # HTML with status 200
    "no JSON",
    "redirect",  # to `redirect_to`
    "redirect loop",
    "cut off",  # half of the body, then the connection closes
    "compressed",
    "401",
    "403",
    "pin refused",
)
DRIP_SECONDS = 0.02


@dataclass
class IpfsServer:
    """What a daemon has, what it was asked, and how it lies."""

    blocks: dict[Cid, bytes] = field(default_factory=dict)
    pins: set[Cid] = field(default_factory=set)
    lie: str | None = None
    lies_about: Cid | None = None
    """Only about this block, so that what comes before it is true."""
    redirect_to: str = ""
    status: int | None = None
    """Answer every request with this status."""
    not_found: str = "block was not found locally (offline): ipld: could not find"
    """What the daemon says about a block that it does not have."""
    is_base58: bool = False
    """Whether CIDs of version 1 are reported in base58btc."""
    requests: list[str] = field(default_factory=list)
    """The commands and paths, in order."""
    queries: list[dict[str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""
    was_asked: threading.Event = field(default_factory=threading.Event)
    is_stopped: threading.Event = field(default_factory=threading.Event)

    def keep(self, data: bytes, profile: Profile = V1) -> str:
        """Have this content, without a request; returns its CID."""
        root = None
        for root, block in cut(data, profile):
            self.blocks[root.key] = block
        return str(root)

    def read(self, cid: Cid) -> bytes:
        """One block; KeyError if it is not there."""
        return self.blocks[cid.key]

    @property
    def writes(self) -> list[str]:
        """The requests that store or pin something."""
        return [one for one in self.requests if one in ("add", "block/put", "pin/add", "pin/rm")]


@contextmanager
def ipfs_server(certificate: Path | None = None) -> Iterator[IpfsServer]:
    """A running server; with a certificate, by HTTPS."""
    state = IpfsServer()

    class Handler(_Handler):
        ipfs = state

    server = _Server(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    if certificate is not None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        state.url = state.url.replace("http:", "https:")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.is_stopped.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: clients hang up when they are lied to."""


class _Failed(Exception):
    """A status, and Kubo's message with it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    ipfs: IpfsServer

    def log_message(self, format: str, *words: Any) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        path, query = self._begin()
        if self._lies(query):
            return
        if path.startswith("/api/"):
            self._send(405, b"405 - Method Not Allowed", "text/plain")
        elif found := re.fullmatch(r"/ipfs/(\w+)", path):
            self._gateway(found[1], query)
        else:
            self._send(404, b"404 page not found", "text/plain")

    def do_POST(self) -> None:
        path, query = self._begin()
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self._lies(query):
            return
        commands: dict[str, Callable[[dict[str, str], bytes], tuple[bytes, str]]] = {
            "version": self._version,
            "add": self._add,
            "cat": self._cat,
            "block/put": self._block_put,
            "block/get": self._block_get,
            "pin/add": self._pin_add,
            "pin/rm": self._pin_rm,
            "pin/ls": self._pin_ls,
        }
        command = commands.get(path.removeprefix("/api/v0/"))
        if command is None:
            self._send(404, b"404 page not found", "text/plain")
            return
        try:
            answer, kind = command(query, body)
        except _Failed as error:
            words = {"Message": str(error), "Code": 0, "Type": "error"}
            self._send(error.status, json.dumps(words).encode(), "application/json")
        else:
            self._send(200, answer, kind)

    def _begin(self) -> tuple[str, dict[str, str]]:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.ipfs.requests.append(parts.path.removeprefix("/api/v0/"))
        self.ipfs.queries.append(query)
        self.ipfs.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.ipfs.was_asked.set()
        return parts.path, query

    # The truth.

    def _gateway(self, name: str, query: dict[str, str]) -> None:
        cid = parse_cid(name)
        if cid.key not in self.ipfs.blocks:
            self._send(404, b"ipld: could not find " + name.encode(), "text/plain")
        elif query.get("format") == "raw" or RAW_BLOCK in self.headers.get("accept", ""):
            self._send(200, self.ipfs.read(cid), RAW_BLOCK)
        else:
            data = join(cid, self.ipfs.read, max_bytes=2**30)
            self._send(200, data, "text/plain; charset=utf-8")

    def _version(self, _query: dict[str, str], _body: bytes) -> tuple[bytes, str]:
        return self._json({"Version": "0.44.0", "Commit": "", "Repo": "18"})

    def _add(self, query: dict[str, str], body: bytes) -> tuple[bytes, str]:
        data = self._part(body)
        known = {("0", "false"): V0, ("1", "true"): V1}
        # A daemon whose configuration was changed: what is not explicit is different.
        shape = query.get("cid-version", "1"), query.get("raw-leaves", "false")
        size, width = query.get("chunker", "size-1048576"), query.get("max-file-links", "1024")
        if shape not in known or (size, width) != ("size-262144", "174"):
            raise _Failed(500, f"other trees are not made here: {shape} {size} {width}")
        cid = self.ipfs.keep(data, known[shape])
        if query.get("pin", "true") == "true":
            self.ipfs.pins.add(parse_cid(cid))
        if self.ipfs.lie == "another CID":
            cid = str(Cid.of_block(b"other", codec=RAW))
        answer = {"Name": "content", "Hash": self._written(parse_cid(cid)), "Size": str(len(data))}
        return self._json(answer)

    def _cat(self, query: dict[str, str], _body: bytes) -> tuple[bytes, str]:
        try:
            return join(self._arg(query), self.ipfs.read, max_bytes=2**30), "text/plain"
        except KeyError:
            raise _Failed(500, "block was not found locally (offline)") from None

    def _block_put(self, query: dict[str, str], body: bytes) -> tuple[bytes, str]:
        block = self._part(body)
        codec = {"raw": RAW, "dag-pb": DAG_PB}[query.get("cid-codec", "raw")]
        cid = Cid.of_block(block, codec=codec)
        self.ipfs.blocks[cid] = block
        if self.ipfs.lie == "another CID":
            cid = Cid.of_block(b"other", codec=codec)
        return self._json({"Key": self._written(cid), "Size": len(block)})

    def _block_get(self, query: dict[str, str], _body: bytes) -> tuple[bytes, str]:
        cid = self._arg(query)
        try:
            return self.ipfs.read(cid), RAW_BLOCK
        except KeyError:
            raise _Failed(500, f"{self.ipfs.not_found} {cid}") from None

    def _pin_add(self, query: dict[str, str], _body: bytes) -> tuple[bytes, str]:
        if self.ipfs.lie == "pin refused":
            raise _Failed(500, "pin: disk quota exceeded")
        cid = self._arg(query)
        waiting = [cid]
        while waiting:
            part = waiting.pop()
            if part.key not in self.ipfs.blocks:
                raise _Failed(500, f"pin: block was not found locally (offline): {part}")
            if part.codec == DAG_PB:
                waiting += [link.cid for link in read_node(self.ipfs.read(part), part).links]
        self.ipfs.pins.add(cid)
        return self._json({"Pins": [self._written(cid)]})

    def _pin_rm(self, query: dict[str, str], _body: bytes) -> tuple[bytes, str]:
        cid = self._arg(query)
        if cid not in self.ipfs.pins:
            raise _Failed(500, "not pinned or pinned indirectly")
        self.ipfs.pins.remove(cid)
        return self._json({"Pins": [self._written(cid)]})

    def _pin_ls(self, query: dict[str, str], _body: bytes) -> tuple[bytes, str]:
        cid = self._arg(query)
        if cid not in self.ipfs.pins:
            raise _Failed(500, f"path '{cid}' is not pinned")
        return self._json({"Keys": {self._written(cid): {"Type": "recursive", "Name": ""}}})

    def _arg(self, query: dict[str, str]) -> Cid:
        try:
            return parse_cid(query["arg"])
        except (KeyError, ArenaError):
            raise _Failed(400, 'argument "arg" is required') from None

    def _part(self, body: bytes) -> bytes:
        """The file in a multipart body."""
        kind, _, boundary = self.headers.get("content-type", "").partition("; boundary=")
        if kind != "multipart/form-data":
            raise _Failed(500, "file argument 'path' is required")
        _, _, rest = body.partition(b"--" + boundary.encode() + b"\r\n")
        head, _, rest = rest.partition(b"\r\n\r\n")
        data, _, _ = rest.rpartition(b"\r\n--" + boundary.encode() + b"--")
        if b"content-type: application/octet-stream" not in head.lower():
            raise _Failed(500, "the part has no content type: it is not a file")
        return data

    def _written(self, cid: Cid) -> str:
        """A CID as this daemon writes it."""
        if cid.version == 0 or not self.ipfs.is_base58:
            return str(cid)
        number, letters = int.from_bytes(cid.binary, "big"), ""
        while number:
            number, place = divmod(number, 58)
            letters = BASE58[place] + letters
        return "z" + letters

    def _json(self, value: object) -> tuple[bytes, str]:
        return json.dumps(value).encode() + b"\n", "application/json"

    def _send(self, status: int, body: bytes, kind: str, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    # The lies.

    def _lies(self, query: dict[str, str]) -> bool:
        """Answer with a lie, if one is set for this request."""
        if self.ipfs.status is not None:
            self._send(self.ipfs.status, b'{"Message": "no"}', "application/json")
            return True
        name = query.get("arg") or urlsplit(self.path).path.rpartition("/")[2]
        if self.ipfs.lies_about is not None and name != str(self.ipfs.lies_about):
            return False
        lies: dict[str, Callable[[str], None]] = {
            "wrong block": self._wrong_block,
            "endless body": self._endless,
            "ignored format": self._ignored_format,
            "slow drip": self._drip,
            "slow headers": self._drip_headers,
            "silence": lambda _: self._wait(),
            "error page": lambda _: self._send(502, PAGE, "text/html"),
            "web page": lambda _: self._send(200, PAGE, "text/html; charset=utf-8"),
            "no JSON": lambda _: self._send(200, b'{"Hash": ', "application/json"),
            "redirect": lambda _: self._redirect(self.ipfs.redirect_to),
            "redirect loop": lambda _: self._redirect(self.path),
            "cut off": self._cut_off,
            "compressed": lambda _: self._send(200, b"", RAW_BLOCK, Content_Encoding="gzip"),
            "401": lambda _: self._send(401, b"", "text/plain"),
            "403": lambda _: self._send(403, b"403 - Forbidden", "text/plain"),
        }
        if self.ipfs.lie not in lies:
            return False  # none, or one that is told in the answer to one command
        with suppress(OSError):  # the client has had enough
            lies[self.ipfs.lie](name)
        return True

    def _wrong_block(self, name: str) -> None:
        block = bytearray(self.ipfs.read(parse_cid(name)))
        block[-1] ^= 1
        self._send(200, bytes(block), RAW_BLOCK)

    def _ignored_format(self, name: str) -> None:
        data = join(parse_cid(name), self.ipfs.read, max_bytes=2**30)
        self._send(200, data, "application/octet-stream")

    def _endless(self, _name: str) -> None:
        self._begin_chunked()
        while not self.ipfs.is_stopped.is_set():
            self._chunk(bytes(65536))

    def _drip(self, name: str) -> None:
        self._begin_chunked()
        block = self.ipfs.read(parse_cid(name))
        # The true bytes, so slowly that only a limit for all of them together ends it.
        for at in range(len(block)):
            self._chunk(block[at : at + 1])
            self._pause()
        self.wfile.write(b"0\r\n\r\n")

    def _drip_headers(self, name: str) -> None:
        block = self.ipfs.read(parse_cid(name))
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(block)}\r\nContent-Type: {RAW_BLOCK}\r\n"
        for at in (head + f"X-Padding: {'x' * 2000}").encode():
            self.wfile.write(bytes((at,)))
            self._pause()
        self.wfile.write(b"\r\n\r\n" + block)

    def _cut_off(self, name: str) -> None:
        block = self.ipfs.read(parse_cid(name))
        self.send_response(200)
        self.send_header("Content-Type", RAW_BLOCK)
        self.send_header("Content-Length", str(len(block)))
        self.end_headers()
        self.wfile.write(block[: len(block) // 2])
        self.close_connection = True

    def _redirect(self, location: str) -> None:
        self._send(302, b"", "text/plain", Location=location)

    def _begin_chunked(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", RAW_BLOCK)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _pause(self) -> None:
        if self.ipfs.is_stopped.wait(DRIP_SECONDS):
            raise BrokenPipeError

    def _wait(self) -> None:
        self.ipfs.is_stopped.wait()
        self.close_connection = True
