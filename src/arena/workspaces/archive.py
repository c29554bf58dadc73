"""Archives of files (tar, also compressed with gzip): written plainly, read with suspicion.

The reader knows the few parts of the format that files need, and refuses everything else: links,
devices, sparse files, names that lead elsewhere, duplicates. The standard library's reader is made
to accept as much as possible, which is the wrong aim here. Nothing is written to disk.
"""

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from arena.errors import AgentFault
from arena.workspaces.collected import File
from arena.workspaces.gathering import TreeLimits
from arena.workspaces.names import parents, path_problem, shown

BLOCK = 512
GZIP = b"\x1f\x8b"
MAX_ARCHIVE_BYTES = 32 * 1024**2
"""As it arrives, compressed or not."""
MAX_HEADER_BYTES = 16 * 1024
"""Of one extended header: a long name and some attributes."""
CHUNK_BYTES = 1 << 20
MODIFIED = 1_577_836_800
"""When files of written archives were modified: 2020, because ZIP knows no time before 1980."""
ZEROS = bytes(BLOCK)
LONG_NAME, EXTENDED, GLOBAL = b"L", b"x", b"g"
HEADERS = (LONG_NAME, EXTENDED, GLOBAL)
"""Headers that describe the next entry, or all."""
FILES, FOLDER = (b"0", b"\0"), b"5"
KINDS = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a device",
    b"4": "a device",
    b"6": "a named pipe",
    b"K": "a link",
    b"S": "a sparse file",
}
HARMLESS = ("mtime", "atime", "ctime", "uid", "gid", "uname", "gname", "comment")
"""Keys of extended headers that change nothing here."""


class BadArchive(AgentFault):
    """The archive cannot be used."""

    code = "bad_archive"


def write_archive(files: Mapping[str, File], ages: Mapping[str, int] | None = None) -> bytes:
    """A compressed archive of the files; equal files give equal bytes.

    `ages` are seconds by which a file looks older than those that it does not name.
    """
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=1, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path, file in sorted(files.items()):
            entry = tarfile.TarInfo(path)
            entry.size = len(file.content)
            entry.mtime = MODIFIED - (ages or {}).get(path, 0)
            entry.mode = 0o755 if file.is_executable else 0o644
            archive.addfile(entry, io.BytesIO(file.content))
    return buffer.getvalue()


def read_archive(data: bytes, limits: TreeLimits | None = None) -> dict[str, File]:
    """The files of an archive; `BadArchive` names the first entry that is refused."""
    reader = _Reader(limits or TreeLimits())
    if len(data) > MAX_ARCHIVE_BYTES:
        raise BadArchive(f"the archive has {len(data):,} bytes, at most {MAX_ARCHIVE_BYTES:,}")
    if data.startswith(GZIP):
        data = _decompressed(data, reader.limits)
    for entry in _entries(data):
        reader.add(entry)
    return reader.files


def _decompressed(data: bytes, limits: TreeLimits) -> bytes:
    """The decompressed data; stops as soon as it is larger than the files may be."""
    # Every file has a header and is padded to whole blocks.
    most = limits.max_bytes + 4 * BLOCK * limits.max_entries
    stream = zlib.decompressobj(wbits=31)
    pieces: list[bytes] = []
    size = 0
    try:
        while data and not stream.eof:
            piece = stream.decompress(data, CHUNK_BYTES)
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise BadArchive(f"the archive is larger than {most:,} bytes when decompressed")
            data = stream.unconsumed_tail
    except zlib.error as error:
        raise BadArchive(f"the archive is damaged: {error}") from None
    if not stream.eof:
        raise BadArchive("the archive is cut off")
    if stream.unused_data.strip(b"\0"):
        raise BadArchive("something follows the compressed archive")
    return b"".join(pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One entry as its headers describe it."""

    name: bytes
    kind: bytes
    mode: int
    content: bytes


def _entries(data: bytes) -> Iterator[_Entry]:
    """Every entry with the names and sizes of its extended headers."""
    at = 0
    long_name: bytes | None = None
    extended: dict[str, bytes] = {}
    while (header := data[at : at + BLOCK]) != ZEROS:
        name, kind, mode, size = _header(header, long_name)
        is_header = kind in HEADERS
        if not is_header and "size" in extended:
            size = _decimal(extended["size"], name)
        content = _content(data, at + BLOCK, size, name, is_header=is_header)
        at += BLOCK + -(-size // BLOCK) * BLOCK
        if kind == LONG_NAME:
            long_name = content.rstrip(b"\0")
        elif kind == EXTENDED:
            extended = _extended(content)
        elif kind == GLOBAL:
            _refuse_global(content)
        else:
            name = extended.get("path") or long_name or name
            yield _Entry(name=name, kind=kind, mode=mode, content=content)
            long_name, extended = None, {}
    if data[at:].strip(b"\0"):
        raise BadArchive("something follows the end of the archive")


def _content(data: bytes, start: int, size: int, name: bytes, *, is_header: bool) -> bytes:
    if start + size > len(data):
        raise BadArchive(f"{_text(name)} is cut off")
    if is_header and size > MAX_HEADER_BYTES:
        raise BadArchive(f"{_text(name)} has an extended header of {size:,} bytes")
    return data[start : start + size]


def _header(header: bytes, long_name: bytes | None) -> tuple[bytes, bytes, int, int]:
    """The name, kind, mode and size of a header."""
    if len(header) < BLOCK:
        raise BadArchive("the archive is cut off")
    name = header[:100].split(b"\0")[0]
    if header[257:262] == b"ustar" and header[262:263] == b"\0":
        prefix = header[345:500].split(b"\0")[0]
        name = prefix + b"/" + name if prefix else name
    checksum = sum(header) - sum(header[148:156]) + 8 * ord(" ")
    if _octal(header[148:156], name) != checksum:
        raise BadArchive(f"the header of {_text(name)} is damaged")
    kind = header[156:157]
    if kind in KINDS:
        raise BadArchive(f"{_text(long_name or name)} is {KINDS[kind]}")
    if kind not in (*FILES, FOLDER, *HEADERS):
        raise BadArchive(f"{_text(name)} is of an unknown kind ({kind!r})")
    return name, kind, _octal(header[100:108], name), _octal(header[124:136], name)


def _octal(digits: bytes, name: bytes) -> int:
    # Not the binary form of huge numbers: nothing that large is accepted anyway.
    text = digits.strip(b" \0")
    if not all(b"0"[0] <= digit <= b"7"[0] for digit in text):
        raise BadArchive(f"the header of {_text(name)} has a number that is not octal")
    return int(text or b"0", 8)


def _decimal(text: bytes, name: bytes) -> int:
    if not text.isdigit() or len(text) > 12:
        raise BadArchive(f"the extended header of {_text(name)} has a size that is no number")
    return int(text)


def _extended(content: bytes) -> dict[str, bytes]:
    """The records of an extended header: `length key=value` and a line break, each."""
    found: dict[str, bytes] = {}
    while content:
        length, _, _ = content.partition(b" ")
        if not length.isdigit() or len(length) > 6 or not 0 < int(length) <= len(content):
            raise BadArchive("an extended header of the archive is damaged")
        record, content = content[: int(length)], content[int(length) :]
        key, separator, value = record[len(length) + 1 : -1].partition(b"=")
        if not separator or record[-1:] != b"\n":
            raise BadArchive("an extended header of the archive is damaged")
        name = key.decode("utf-8", errors="backslashreplace")
        if name not in ("path", "size") and not _is_harmless(name):
            raise BadArchive(f"an extended header has {shown(name)}, which is not allowed")
        if name in found or b"\0" in value:
            raise BadArchive(f"an extended header has {shown(name)} twice, or with a NUL")
        found[name] = value
    return found


def _is_harmless(key: str) -> bool:
    return key in HARMLESS or key.startswith(("LIBARCHIVE.", "SCHILY.dev", "SCHILY.ino"))


def _refuse_global(content: bytes) -> None:
    """A header for all entries may have a comment (git writes one), and nothing that counts."""
    for key in _extended(content):
        if not _is_harmless(key):
            raise BadArchive(f"a header for the whole archive has {shown(key)}")


def _text(name: bytes) -> str:
    return shown(name.decode("utf-8", errors="surrogateescape").removeprefix("./"))


@dataclass(slots=True)
class _Reader:
    """The files of an archive so far."""

    limits: TreeLimits
    files: dict[str, File] = field(default_factory=dict[str, File])
    folders: set[str] = field(default_factory=set[str])
    entries: int = 0
    size: int = 0

    def add(self, entry: _Entry) -> None:
        """Add an entry, or refuse it."""
        self.entries += 1
        if self.entries > self.limits.max_entries:
            raise BadArchive(f"the archive has over {self.limits.max_entries:,} entries")
        path = entry.name.decode("utf-8", errors="surrogateescape").removeprefix("./")
        if entry.kind == FOLDER:
            path = path.removesuffix("/")
            if path in ("", "."):
                return
        self._check(path)
        if entry.kind == FOLDER:
            if entry.content or path in self.files:
                raise BadArchive(f"{shown(path)} is a folder and a file")
            self.folders |= {path, *parents(path)}
            return
        if path in self.files or path in self.folders:
            raise BadArchive(f"{shown(path)} is in the archive twice")
        self.size += len(entry.content)
        if len(entry.content) > self.limits.max_file_bytes or self.size > self.limits.max_bytes:
            raise BadArchive(f"{shown(path)} is too large: {len(entry.content):,} bytes")
        self.folders |= set(parents(path))
        self.files[path] = File(content=entry.content, is_executable=bool(entry.mode & 0o100))

    def _check(self, path: str) -> None:
        if problem := path_problem(path):
            raise BadArchive(f"the path {shown(path)} {problem}")
        if path.count("/") >= self.limits.max_depth:
            raise BadArchive(f"{shown(path)} is nested more than {self.limits.max_depth} deep")
        if any(parent in self.files for parent in parents(path)):
            raise BadArchive(f"{shown(path)} is in a folder that is also a file")
