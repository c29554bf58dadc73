"""Reading a folder back: what is collected, what changed, and what is refused."""

import os
import socket
from pathlib import Path

import pytest

from arena.workspaces.collected import Change, File
from arena.workspaces.folder import lay_out
from arena.workspaces.gathering import TreeLimits, gather

BEFORE = {
    "src/a.py": File(content=b"1"),
    "src/b.py": File(content=b"2"),
    "README": File(content=b"3"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the given files."""
    root = tmp_path / "workspace"
    root.mkdir()
    lay_out(root, BEFORE)
    return root


def test_only_what_the_patterns_name_is_collected_and_every_change_is_listed(folder: Path) -> None:
    (folder / "src/a.py").write_text("changed")
    (folder / "src/b.py").unlink()
    (folder / "src/new.py").write_text("new")
    (folder / "README").write_text("4")  # of the same size
    (folder / "other").write_text("other")
    found = gather(folder, BEFORE, ["src/**"])
    assert found.files == {"src/a.py": File(content=b"changed"), "src/new.py": File(content=b"new")}
    assert {(change.path, change.kind) for change in found.changes} == {
        ("src/a.py", "changed"),
        ("src/b.py", "deleted"),
        ("README", "changed"),
        ("src/new.py", "added"),
        ("other", "added"),
    }
    assert found.problems == []


def test_nothing_changed(folder: Path) -> None:
    found = gather(folder, BEFORE, ["**"])
    assert found.files == BEFORE and found.changes == [] and found.problems == []


def test_what_tools_write_by_themselves_is_no_change(folder: Path) -> None:
    for path in ("src/__pycache__/a.pyc", ".pytest_cache/README.md"):
        (folder / path).parent.mkdir()
        (folder / path).write_text("x")
    found = gather(folder, BEFORE, ["**"])
    assert found.files == BEFORE and found.changes == []
    assert "2 files that tools write" in found.problems[0]
    kept = gather(folder, BEFORE, ["src/__pycache__/a.pyc"])
    assert list(kept.files) == ["src/__pycache__/a.pyc"]


def test_an_executable_bit_is_a_change(folder: Path) -> None:
    (folder / "README").chmod(0o755)
    assert gather(folder, BEFORE, ["**"]).changes == [Change(path="README", kind="changed")]


def test_links_and_special_files_are_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "folder").symlink_to(tmp_path)
    (folder / "loop").symlink_to("loop")
    os.link(tmp_path / "secret", folder / "hard")
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "socket"))
        found = gather(folder, BEFORE, ["**"])
    assert found.files == BEFORE
    text = "\n".join(found.problems)
    assert text.count("a symbolic link") == 3
    assert "a second name" in text and "a named pipe" in text and "a socket" in text


@pytest.mark.skipif(os.getuid() != 0, reason="only root makes devices")
def test_a_device_is_not_opened(folder: Path) -> None:
    os.mknod(folder / "zero", 0o20666, os.makedev(1, 5))
    found = gather(folder, BEFORE, ["**"])
    assert "zero" not in found.files and "a device" in found.problems[0]


def test_a_given_file_that_became_a_link_is_changed_and_not_collected(folder: Path) -> None:
    (folder / "README").unlink()
    (folder / "README").symlink_to("src/a.py")
    found = gather(folder, BEFORE, ["**"])
    assert "README" not in found.files
    assert Change(path="README", kind="changed") in found.changes


@pytest.mark.parametrize("name", [b"a\nb", b"a\x1b[2Jb", b"\xff\xfe", b"\x7f", "a\u202eb".encode()])
def test_a_name_that_could_deceive_is_refused_and_shown_escaped(folder: Path, name: bytes) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text("x")
    found = gather(folder, BEFORE, ["**"])
    assert found.files == BEFORE
    assert len(found.problems) == 1 and found.problems[0].isprintable()


def test_huge_and_sparse_files_are_not_read(folder: Path) -> None:
    with (folder / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    found = gather(folder, BEFORE, ["**"])
    assert found.files == BEFORE
    assert "1,099,511,627,776 bytes" in found.problems[0]


def test_all_files_together_have_a_limit(folder: Path) -> None:
    for number in range(5):
        (folder / f"{number}").write_bytes(bytes(1000))
    limits = TreeLimits(max_bytes=2500)
    found = gather(folder, BEFORE, ["**"], limits)
    assert sum(len(file.content) for file in found.files.values()) <= 2500
    assert any("too much" in problem for problem in found.problems)


def test_a_huge_folder_does_not_hide_the_others(folder: Path) -> None:
    (folder / "aaa").mkdir()
    for number in range(60):
        (folder / f"aaa/{number}").touch()
    (folder / "src/a.py").write_text("changed")
    found = gather(folder, BEFORE, ["**"], TreeLimits(max_entries=50))
    assert found.files["src/a.py"] == File(content=b"changed")
    assert not any(path.startswith("aaa") for path in found.files)
    assert any("over 50 files" in problem for problem in found.problems)


def test_a_deep_tree_is_refused_below_the_limit(folder: Path) -> None:
    (folder / "/".join(["d"] * 40)).mkdir(parents=True)
    found = gather(folder, BEFORE, ["**"], TreeLimits(max_depth=10))
    assert any("nested more than 10 deep" in problem for problem in found.problems)


def test_problems_have_a_limit(folder: Path) -> None:
    for number in range(300):
        (folder / f"{number}").symlink_to("x")
    found = gather(folder, BEFORE, ["**"])
    assert len(found.problems) == 101


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_an_unreadable_folder_is_reported(folder: Path) -> None:
    (folder / "src").chmod(0)
    found = gather(folder, BEFORE, ["**"])
    (folder / "src").chmod(0o700)
    assert any("'src' cannot be read" in problem for problem in found.problems)
    assert Change(path="src/a.py", kind="deleted") in found.changes
