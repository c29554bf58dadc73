"""Archives: what is written is read back, and every attack is refused by the name of its entry."""

import contextlib
import gzip
import io
import tarfile
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.workspaces.archive import BadArchive, read_archive, write_archive
from arena.workspaces.collected import File
from arena.workspaces.gathering import TreeLimits

PARTS = st.text(st.characters(codec="utf-8", categories=("L", "N", "Pd")), min_size=1, max_size=80)
PATHS = st.lists(PARTS, min_size=1, max_size=3).map("/".join)
FILES = st.dictionaries(
    PATHS, st.builds(File, content=st.binary(max_size=600), is_executable=st.booleans()), max_size=6
)


def archive(*entries: tarfile.TarInfo, format: int = tarfile.PAX_FORMAT) -> bytes:
    """An archive with these entries; files have as many zeros as they say."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=format) as opened:
        for entry in entries:
            opened.addfile(entry, io.BytesIO(bytes(entry.size)))
    return buffer.getvalue()


def entry(name: str, kind: bytes = tarfile.REGTYPE, **values: object) -> tarfile.TarInfo:
    """One entry."""
    info = tarfile.TarInfo(name)
    info.type = kind
    for key, value in values.items():
        setattr(info, key, value)
    return info


@given(FILES)
def test_what_is_written_is_read_back(files: dict[str, File]) -> None:
    folders = {
        "/".join(path.split("/")[:n]) for path in files for n in range(1, path.count("/") + 1)
    }
    if folders & files.keys():
        return  # a file and a folder of one name
    assert read_archive(write_archive(files)) == files


@pytest.mark.parametrize("format", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
def test_archives_of_other_tools_are_read(format: int) -> None:
    long = "/".join(["part" * 10] * 3) + "/file"
    data = archive(entry("./", b"5"), entry("./a", size=3), entry(long, size=700), format=format)
    assert read_archive(data).keys() == {"a", long}
    assert read_archive(gzip.compress(data)).keys() == {"a", long}


ATTACKS: dict[str, tuple[Callable[[], bytes], str]] = {
    "a path out of the folder": (lambda: archive(entry("../evil")), "'../evil' leads out"),
    "a path out of the folder, later": (lambda: archive(entry("a/../../evil")), "leads out"),
    "an absolute path": (lambda: archive(entry("/etc/evil")), "'/etc/evil' is absolute"),
    "a symbolic link": (
        lambda: archive(entry("link", tarfile.SYMTYPE, linkname="/etc/passwd")),
        "'link' is a symbolic link",
    ),
    "a hard link": (
        lambda: archive(entry("a"), entry("hard", tarfile.LNKTYPE, linkname="a")),
        "'hard' is a hard link",
    ),
    "a link, then a file through it": (
        lambda: archive(entry("d", tarfile.SYMTYPE, linkname="/tmp"), entry("d/evil")),
        "'d' is a symbolic link",
    ),
    "a device": (lambda: archive(entry("dev", tarfile.CHRTYPE)), "'dev' is a device"),
    "a block device": (lambda: archive(entry("dev", tarfile.BLKTYPE)), "'dev' is a device"),
    "a pipe": (lambda: archive(entry("pipe", tarfile.FIFOTYPE)), "'pipe' is a named pipe"),
    "a duplicate": (lambda: archive(entry("a"), entry("a")), "'a' is in the archive twice"),
    "a duplicate by another spelling": (lambda: archive(entry("a"), entry("./a")), "twice"),
    "a file in a file": (lambda: archive(entry("a"), entry("a/b")), "also a file"),
    "a file that is a folder": (lambda: archive(entry("a/b"), entry("a")), "twice"),
    "a folder that is a file": (lambda: archive(entry("a"), entry("a", b"5")), "folder and a file"),
    "a line break": (lambda: archive(entry("a\nb")), "line break"),
    "not UTF-8": (lambda: archive(entry("a\udcff"), format=tarfile.GNU_FORMAT), "not UTF-8"),
    "a double slash": (lambda: archive(entry("a//b")), "empty part"),
    "a sparse file": (lambda: archive(entry("s", tarfile.GNUTYPE_SPARSE)), "a sparse file"),
    "a sparse file by attributes": (
        lambda: archive(entry("s", pax_headers={"GNU.sparse.size": "99999999999"})),
        "'GNU.sparse.size'",
    ),
    "a name in the attributes": (
        lambda: archive(entry("good", pax_headers={"path": "../evil"})),
        "'../evil' leads out",
    ),
    "a link in the attributes": (
        lambda: archive(entry("good", pax_headers={"linkpath": "/etc/passwd"})),
        "'linkpath'",
    ),
    "an unknown kind": (lambda: archive(entry("v", b"V")), "unknown kind"),
    "a file larger than the limit": (
        lambda: archive(entry("big", size=5000)),
        "'big' is too",
    ),
    "too many entries": (lambda: archive(*map(entry, map(str, range(60)))), "over 50 entries"),
    "too deep": (lambda: archive(entry("d/" * 60 + "x")), "nested more than"),
    "a bomb": (lambda: gzip.compress(bytes(50_000_000)), "larger than"),
    "cut off": (lambda: archive(entry("a", size=600))[:700], "cut off"),
    "cut off when compressed": (lambda: gzip.compress(archive(entry("a")))[:-9], "cut off"),
    "no archive": (lambda: b"PK\x03\x04" + bytes(600), "damaged"),
    "empty": (lambda: b"", "cut off"),
    "a damaged header": (lambda: b"x" + archive(entry("a"))[1:], "damaged"),
    "something after the end": (lambda: archive(entry("a")) + archive(entry("b")), "follows"),
    "something after the compressed end": (
        lambda: gzip.compress(archive(entry("a"))) + b"evil",
        "follows the compressed",
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_with_its_reason(name: str) -> None:
    make, reason = ATTACKS[name]
    with pytest.raises(BadArchive) as refused:
        read_archive(make(), TreeLimits(max_entries=50, max_file_bytes=4096, max_bytes=8192))
    assert reason in refused.value.message
    assert refused.value.message.isprintable()


def test_a_negative_or_binary_size_is_refused() -> None:
    data = bytearray(archive(entry("a", size=10)))
    data[124:136] = b"\x80" + bytes(10) + b"\x05"
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    with pytest.raises(BadArchive, match="not octal"):
        read_archive(bytes(data))


@given(st.binary(max_size=2000))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    for candidate in (data, data + bytes(1024), gzip.compress(data)):
        with contextlib.suppress(BadArchive):
            read_archive(candidate)


@given(st.integers(0, 2047), st.integers(0, 255))
def test_a_changed_byte_never_raises_anything_else(place: int, value: int) -> None:
    data = bytearray(write_like_git())
    data[place % len(data)] = value
    with contextlib.suppress(BadArchive):
        read_archive(bytes(data))


def write_like_git() -> bytes:
    """An archive with extended headers."""
    return archive(entry("ä" * 70, size=30, pax_headers={"comment": "x"}), entry("b", size=5))
