import asyncio
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.catalog import folders as watcher
from arena.catalog.folders import FolderWatcher


async def until_grown(looks: list[float], beyond: int) -> None:
    start = time.monotonic()
    while len(looks) <= beyond:
        assert time.monotonic() - start < 30, "nobody looked for half a minute"
        await asyncio.sleep(0.005)


async def test_a_change_is_reported_without_waiting_for_the_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "POLL_SECONDS", 120.0)
    looks: list[float] = []
    watching = FolderWatcher([tmp_path], lambda: looks.append(time.monotonic()))
    watching.start()
    try:
        start = time.monotonic()
        while not looks:  # the watch may not stand yet when the first file appears
            (tmp_path / f"{time.monotonic()}.yaml").touch()
            await asyncio.sleep(0.05)
            assert time.monotonic() - start < 60, "nobody looked for a minute"
    finally:
        await watching.stop()


async def test_a_look_that_fails_does_not_end_the_watching(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    looks: list[float] = []

    def look() -> None:
        looks.append(time.monotonic())
        if len(looks) == 1:
            raise ZeroDivisionError

    watching = FolderWatcher([tmp_path], look)
    watching.start()
    try:
        await until_grown(looks, 1)
    finally:
        await watching.stop()
    assert "could not be read" in caplog.text


async def test_without_watches_of_the_system_the_sweep_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_watches(*_folders: Any, **_options: Any) -> Iterator[None]:
        raise OSError("inotify watch limit reached")  # what a machine at its limit says

    monkeypatch.setattr("watchfiles.watch", no_watches)
    monkeypatch.setattr(watcher, "POLL_SECONDS", 0.05)
    caplog.set_level(logging.WARNING)
    looks: list[float] = []
    watching = FolderWatcher([tmp_path], lambda: looks.append(time.monotonic()))
    watching.start()
    try:
        await until_grown(looks, 3)
    finally:
        await watching.stop()
    assert caplog.text.count("inotify watch limit reached") == 1
