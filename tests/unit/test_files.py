"""A file appears whole or not at all."""

import os
import stat

import pytest

from arena.files import atomic_file, write_atomically


def test_a_file_is_written_and_replaced(tmp_path):
    path = tmp_path / "a.txt"
    write_atomically(path, b"one")
    write_atomically(path, b"two", durable=False)
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    write_atomically(path, b"one")
    with pytest.raises(ZeroDivisionError), atomic_file(path) as file:
        file.write(b"half of it")
        assert path.read_bytes() == b"one"
        _ = 1 / 0
    assert path.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_exists_can_be_kept(tmp_path):
    path = tmp_path / "key"
    write_atomically(path, b"one", overwrite=False)
    with pytest.raises(FileExistsError):
        write_atomically(path, b"two", overwrite=False)
    assert path.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("mode", "expected"), [(0o666, 0o644), (0o600, 0o600)])
def test_the_umask_applies(tmp_path, mode, expected):
    before = os.umask(0o022)
    try:
        write_atomically(tmp_path / "a", b"", mode=mode)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == expected


def test_the_partial_file_is_created_in_the_given_folder(tmp_path):
    partial = tmp_path / "partial"
    partial.mkdir()
    with atomic_file(tmp_path / "a", partial_folder=partial) as file:
        assert [path.parent for path in partial.iterdir()] == [partial]
        file.write(b"x")
    assert not list(partial.iterdir())
    assert (tmp_path / "a").read_bytes() == b"x"


def test_a_name_of_the_longest_length_can_be_written(tmp_path):
    write_atomically(tmp_path / ("n" * 255), b"x")


def test_a_missing_folder_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "none" / "a", b"x")
