"""The key `workspace` of a test: its files, and the place of every fault."""

from pathlib import Path

import pytest

from arena.workspaces.collected import File
from arena.workspaces.description import (
    BadFiles,
    files_in,
    read_files,
    read_workspace,
    write_files,
)


def test_files_are_text_or_base64() -> None:
    files = read_files({"a": "ä", "b": {"base64": "/wA="}, "c": {"text": "x", "executable": True}})
    expected = {
        "a": File(content="ä".encode()),
        "b": File(content=b"\xff\0"),
        "c": File(content=b"x", is_executable=True),
    }
    assert files == expected
    assert read_files(write_files(files)) == files


def test_a_workspace_collects_everything_by_default() -> None:
    workspace = read_workspace({"files": {"a": "1"}, "setup": "make"})
    assert workspace.collect == ("**",) and workspace.setup == "make"


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"files": "folder"}, ("files",)),
        ({"files": {"../a": ""}}, ("files", "../a")),
        ({"files": {"a": 1}}, ("files", "a")),
        ({"files": {"a": {"base64": "?"}}}, ("files", "a", "base64")),
        ({"files": {"a": {"text": "x", "base64": ""}}}, ("files", "a")),
        ({"files": {"a": "", "a/b": ""}}, ("files", "a")),
        ({"files": {"a": "x" * 9_000_000}}, ("files",)),
        ({"collect": "src"}, ("collect",)),
        ({"collect": ["a", "../b"]}, ("collect", 1)),
        ({"collect": ["a**"]}, ("collect", 0)),
        ({"setup": ""}, ("setup",)),
        ({"setup_timeout": 0}, ("setup_timeout",)),
        ({"colect": []}, ("colect",)),
    ],
)
def test_a_fault_has_its_place(value: dict[str, object], path: tuple[str | int, ...]) -> None:
    with pytest.raises(BadFiles) as refused:
        read_workspace(value)
    assert refused.value.path == path


def test_a_folder_of_the_author_has_plain_files_only(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("1")
    assert files_in(tmp_path) == {"a.py": File(content=b"1")}
    (tmp_path / "link").symlink_to("/etc/passwd")
    with pytest.raises(BadFiles, match="'link' is a symbolic link"):
        files_in(tmp_path)
