import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.catalog.catalog import Catalog
from arena.catalog.live import LiveCatalog
from factories import without_descriptors

PATIENCE_SECONDS = 30.0
"""A change not seen by then will never be, however busy the machine is."""


def write(path: Path, *test_ids: str) -> None:
    """Write the file in one step, as a careful editor does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    tests = "".join(
        f"- {{id: {name}, name: n, prompt: p, expected: {{contains: [a]}}}}\n" for name in test_ids
    )
    scratch = path.with_name(f".{path.name}.new")
    scratch.write_text(f"tests:\n{tests}")
    scratch.replace(path)


def ids(catalog: Catalog) -> list[str]:
    return [test.id for test in catalog.tests]


def live(folder: Path) -> LiveCatalog:
    return LiveCatalog([], home=folder, builtin=False)


async def until(condition: Callable[[], bool]) -> None:
    """Wait until the condition holds."""
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < PATIENCE_SECONDS, "it was never seen"
        await asyncio.sleep(0.005)


def test_an_edit_is_seen_by_refresh(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", "one")
    catalog = live(tmp_path)
    before = catalog.current
    write(tmp_path / "a.yaml", "one", "two")
    assert ids(catalog.refresh()) == ["one", "two"]
    assert ids(before) == ["one"]


def test_refresh_without_a_change_keeps_the_very_same_snapshot(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", "one")
    catalog = live(tmp_path)
    before = catalog.current
    assert catalog.refresh() is before
    (tmp_path / "a.yaml").touch()
    assert catalog.refresh() is before


def test_only_changed_files_are_read_again(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", "one")
    write(tmp_path / "b.yaml", "two")
    catalog = live(tmp_path)
    one = catalog.current.test("one")
    write(tmp_path / "b.yaml", "three")
    assert catalog.refresh().test("one") is one


def test_an_edit_of_the_same_size_within_one_tick_of_the_clock_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    write(path, "one")
    stamp = time.time_ns()
    os.utime(path, ns=(stamp, stamp))
    catalog = live(tmp_path)
    with path.open("r+") as file:  # the same inode, the same size
        file.write(path.read_text().replace("one", "two"))
    os.utime(path, ns=(stamp, stamp))
    assert ids(catalog.refresh()) == ["two"]


def test_a_file_that_turns_bad_keeps_its_last_good_tests(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="arena.catalog")
    path = tmp_path / "a.yaml"
    write(path, "one")
    write(tmp_path / "b.yaml", "two")
    catalog = live(tmp_path)

    path.write_text("tests: oops")
    catalog.refresh()
    assert ids(catalog.current) == ["one", "two"]
    assert len(catalog.current.problems) == 1
    assert [source.state for source in catalog.current.sources] == ["last_good", "good"]
    assert f"{path} has problems (served: last good):\n{path}:1:8:" in caplog.text

    write(path, "one", "three")
    catalog.refresh()
    assert ids(catalog.current) == ["one", "three", "two"]
    assert catalog.current.problems == ()
    assert f"{path} is fixed: 2 tests" in caplog.text


def test_a_problem_that_stays_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path / "a.yaml", "one")
    (tmp_path / "b.yaml").write_text("")
    catalog = live(tmp_path)
    write(tmp_path / "a.yaml", "two")
    catalog.refresh()
    assert ids(catalog.current) == ["two"]
    assert caplog.text.count("b.yaml has problems") == 1


def test_a_file_bad_from_the_start_offers_nothing_until_it_is_fixed(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("tests: 1")
    catalog = live(tmp_path)
    assert ids(catalog.current) == []
    assert [source.state for source in catalog.current.sources] == ["bad"]
    write(path, "one")
    assert ids(catalog.refresh()) == ["one"]


def test_a_removed_file_takes_its_tests_and_its_problems_with_it(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    write(path, "one")
    catalog = live(tmp_path)
    path.write_text("tests: 1")
    assert catalog.refresh().problems
    path.unlink()
    catalog.refresh()
    assert ids(catalog.current) == []
    assert catalog.current.problems == ()
    path.write_text("tests: 1")  # a new file with the old name has no last good version
    assert ids(catalog.refresh()) == []


def test_an_id_taken_away_by_an_earlier_file_is_served_once(tmp_path: Path) -> None:
    write(tmp_path / "b.yaml", "mine", "also_mine")
    catalog = live(tmp_path)
    write(tmp_path / "a.yaml", "mine")
    catalog.refresh()
    assert ids(catalog.current) == ["mine"]
    assert [source.state for source in catalog.current.sources] == ["good", "bad"]
    (tmp_path / "a.yaml").unlink()
    assert ids(catalog.refresh()) == ["mine", "also_mine"]


def test_a_clash_that_an_edit_brings_leaves_the_last_good_content(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", "one")
    write(tmp_path / "b.yaml", "two")
    catalog = live(tmp_path)
    write(tmp_path / "b.yaml", "two", "one")
    catalog.refresh()
    assert ids(catalog.current) == ["one", "two"]
    assert [source.state for source in catalog.current.sources] == ["good", "last_good"]


def test_a_named_folder_that_vanishes_and_returns_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "tests"
    write(folder / "a.yaml", "one")
    catalog = LiveCatalog([folder], builtin=False)
    folder.rename(tmp_path / "away")
    assert "no such folder" in str(catalog.refresh().problems[0])
    (tmp_path / "away").rename(folder)
    assert catalog.refresh().problems == ()
    assert ids(catalog.current) == ["one"]


async def test_edits_additions_and_removals_are_live(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", "one")
    catalog = live(tmp_path)
    async with catalog.watching():
        write(tmp_path / "a.yaml", "two")
        await until(lambda: ids(catalog.current) == ["two"])
        write(tmp_path / "b.yml", "three")
        await until(lambda: ids(catalog.current) == ["two", "three"])
        (tmp_path / "a.yaml").unlink()
        await until(lambda: ids(catalog.current) == ["three"])
        (tmp_path / "b.yml").write_text("tests: [")
        await until(lambda: bool(catalog.current.problems))
        assert ids(catalog.current) == ["three"]


async def test_a_folder_that_does_not_exist_yet_is_watched(tmp_path: Path) -> None:
    catalog = live(tmp_path / "home" / "benchmarks")
    async with catalog.watching():
        write(tmp_path / "home" / "benchmarks" / "a.yaml", "one")
        await until(lambda: ids(catalog.current) == ["one"])
        write(tmp_path / "home" / "benchmarks" / "a.yaml", "two")
        await until(lambda: ids(catalog.current) == ["two"])


async def test_a_folder_that_is_replaced_by_another_is_still_watched(tmp_path: Path) -> None:
    folder = tmp_path / "tests"
    write(folder / "a.yaml", "one")
    catalog = live(folder)
    async with catalog.watching():
        folder.rename(tmp_path / "old")
        write(folder / "b.yaml", "two")
        await until(lambda: ids(catalog.current) == ["two"])
        write(folder / "b.yaml", "three")
        await until(lambda: ids(catalog.current) == ["three"])


async def test_the_target_of_a_link_is_watched_too(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere" / "a.yaml"
    write(target, "one")
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "a.yaml").symlink_to(target)
    catalog = live(folder)
    async with catalog.watching():
        write(target, "two")
        await until(lambda: ids(catalog.current) == ["two"])


async def test_nothing_is_left_behind_when_watching_ends(tmp_path: Path) -> None:
    threads = set(threading.enumerate())
    tasks = asyncio.all_tasks()
    for _ in range(3):
        async with live(tmp_path).watching():
            await asyncio.sleep(0.02)
    assert set(threading.enumerate()) == threads
    assert asyncio.all_tasks() == tasks


async def test_watching_ends_also_when_the_block_fails(tmp_path: Path) -> None:
    threads = set(threading.enumerate())
    with pytest.raises(ZeroDivisionError):
        async with live(tmp_path).watching():
            raise ZeroDivisionError
    assert set(threading.enumerate()) == threads


def test_a_folder_that_cannot_be_read_keeps_its_tests(tmp_path: Path) -> None:
    write(tmp_path / "one.yaml", "a", "b")
    (tmp_path / "named").mkdir()
    write(tmp_path / "named" / "two.yaml", "c")
    catalog = LiveCatalog([tmp_path / "named"], home=tmp_path, builtin=False)
    with without_descriptors():
        assert ids(catalog.refresh()) == ["c", "a", "b"]
    assert [problem.message for problem in catalog.current.folder_problems] == [
        "the folder cannot be read: Too many open files; its files are used as they were last read"
    ] * 2
    write(tmp_path / "one.yaml", "a")
    assert ids(catalog.refresh()) == ["c", "a"]
    assert catalog.current.problems == ()
    # A folder that is gone is no failure: its tests go too.
    (tmp_path / "named" / "two.yaml").unlink()
    (tmp_path / "named").rmdir()
    assert ids(catalog.refresh()) == ["a"]
