import stat
import threading
from pathlib import Path

import pytest

from arena.errors import InvalidInput, NotFound
from arena.market.signing import KeyFolder


def test_a_key_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path):
    keys = KeyFolder(tmp_path / "keys")
    made = keys.make("solver")
    assert keys.make("solver").public_key == made.public_key
    assert keys.load("solver").public_key == made.public_key
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o700
    assert [path.name for path in (tmp_path / "keys").iterdir()] == ["solver.pem"]
    assert stat.S_IMODE((tmp_path / "keys" / "solver.pem").stat().st_mode) == 0o600


def test_two_that_make_a_key_at_once_have_the_same(tmp_path: Path):
    keys, made = KeyFolder(tmp_path), []
    threads = [
        threading.Thread(target=lambda: made.append(keys.make("solver").public_key))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8
    assert len(set(made)) == 1


def test_a_key_that_is_not_here_is_named(tmp_path: Path):
    with pytest.raises(NotFound, match="solver"):
        KeyFolder(tmp_path).load("solver")


@pytest.mark.parametrize("content", [b"", b"not a key", b"\xff\xfe"])
def test_a_file_that_is_not_a_key_is_reported(tmp_path: Path, content: bytes):
    (tmp_path / "solver.pem").write_bytes(content)
    with pytest.raises(InvalidInput, match=r"solver\.pem"):
        KeyFolder(tmp_path).load("solver")


@pytest.mark.parametrize("name", ["", "../x", "a/b", "A", ".x", "x" * 101])
def test_a_name_stays_in_the_folder(tmp_path: Path, name: str):
    for act in (KeyFolder(tmp_path).make, KeyFolder(tmp_path).load):
        with pytest.raises(InvalidInput):
            act(name)
    assert list(tmp_path.iterdir()) == []
