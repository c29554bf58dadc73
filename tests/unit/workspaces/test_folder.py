"""Folders of workspaces: fresh, filled, and removed whatever is in them."""

import os
import stat
from pathlib import Path

import pytest

from arena.workspaces.collected import File
from arena.workspaces.folder import (
    LayoutFailed,
    abandoned,
    hide,
    known_as,
    lay_out,
    new_folder,
    remove,
)


def test_a_folder_is_new_private_and_holds_the_files(tmp_path: Path) -> None:
    first, second = new_folder(tmp_path / "home").path, new_folder(tmp_path / "home").path
    lay_out(first, {"a/b.sh": File(content=b"x", is_executable=True), "c": File(content=b"\xff\0")})
    assert first != second
    assert stat.S_IMODE(first.stat().st_mode) == 0o700
    assert (first / "a/b.sh").read_bytes() == b"x"
    assert os.access(first / "a/b.sh", os.X_OK) and (first / "c").stat().st_mode & 0o111 == 0
    assert list(second.iterdir()) == []


@pytest.mark.parametrize("path", ["../x", "/x", "a\nb"])
def test_a_path_that_leads_elsewhere_is_never_written(tmp_path: Path, path: str) -> None:
    with pytest.raises(LayoutFailed, match="path"):
        lay_out(new_folder(tmp_path / "home").path, {path: File(content=b"")})


def test_a_hidden_folder_is_not_found_by_its_old_path(tmp_path: Path) -> None:
    folder = new_folder(tmp_path).path
    lay_out(folder, {"a": File(content=b"1")})
    hidden = hide(folder)
    assert not folder.exists()
    assert (hidden / "a").read_bytes() == b"1"


def test_a_very_deep_tree_is_removed(tmp_path: Path) -> None:
    folder = new_folder(tmp_path).path
    here = os.open(folder, os.O_RDONLY)
    for _ in range(3000):  # far longer than the longest path that the system accepts
        os.mkdir("deep", dir_fd=here)
        below = os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    remove(folder)
    assert not folder.exists()


def test_folders_without_any_permission_are_removed(tmp_path: Path) -> None:
    folder = new_folder(tmp_path).path
    lay_out(folder, {"a/b/c": File(content=b"1"), "a/d": File(content=b"2")})
    (folder / "a/b").chmod(0)
    (folder / "a").chmod(0)
    folder.chmod(0)
    remove(folder)
    assert not folder.exists()


def test_what_links_lead_to_is_not_removed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o500)
    (tmp_path / "kept").write_text("kept")
    folder = new_folder(tmp_path / "home").path
    (folder / "folder").symlink_to(outside)
    (folder / "file").symlink_to(tmp_path / "kept")
    os.link(tmp_path / "kept", folder / "hard")
    os.mkfifo(folder / "pipe")
    remove(folder)
    assert not folder.exists()
    assert (tmp_path / "kept").read_text() == "kept"
    assert stat.S_IMODE(outside.stat().st_mode) == 0o500


def test_a_link_in_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    link = tmp_path / "link"
    link.symlink_to(outside)
    remove(link)
    assert not link.is_symlink()
    assert (outside / "kept").exists()


def test_only_folders_whose_process_is_gone_are_abandoned(tmp_path: Path) -> None:
    used, given_up = new_folder(tmp_path), new_folder(tmp_path)
    renamed = new_folder(tmp_path)
    hidden = hide(renamed.path)
    (tmp_path / "arena-workspace-file").write_text("not a folder")
    (tmp_path / "other").mkdir()
    assert list(abandoned(tmp_path)) == []
    os.close(given_up.lock)
    (found,) = abandoned(tmp_path)
    assert found.path == given_up.path != used.path
    # Taken by one only.
    assert list(abandoned(tmp_path)) == []
    assert known_as(found.path) == found.path
    assert known_as(hidden) == renamed.path


def test_a_folder_that_is_gone_is_removed_already(tmp_path: Path) -> None:
    remove(tmp_path / "nothing")
