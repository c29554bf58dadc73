"""Diffs: readable, and bounded for any input."""

from arena.workspaces.collected import Change, File
from arena.workspaces.diff import MAX_DIFF_CHARACTERS, changes_between, unified_diff


def test_added_changed_and_deleted_files_are_named() -> None:
    before = {"a": File(content=b"1\n"), "b": File(content=b"2\n"), "c": File(content=b"3\n")}
    after = {"a": File(content=b"1\n"), "b": File(content=b"two\n"), "d": File(content=b"4\n")}
    assert changes_between(before, after) == (
        Change(path="b", kind="changed"),
        Change(path="c", kind="deleted"),
        Change(path="d", kind="added"),
    )
    assert unified_diff(before, after) == (
        "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-2\n+two\n"
        "--- a/c\n+++ /dev/null\n@@ -1 +0,0 @@\n-3\n"
        "--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+4\n"
    )


def test_line_numbers_count_from_the_start_of_the_file() -> None:
    lines = [f"{number}\n" for number in range(100)]
    before = {"f": File(content="".join(lines).encode())}
    lines[50] = "x\n"
    diff = unified_diff(before, {"f": File(content="".join(lines).encode())})
    assert "@@ -48,7 +48,7 @@" in diff


def test_what_is_not_text_is_named_with_its_size() -> None:
    diff = unified_diff({"f": File(content=b"\0\1")}, {"f": File(content=b"\xff" * 1000)})
    assert "2 bytes" in diff and "1,000 bytes" in diff


def test_another_mode_is_a_change() -> None:
    diff = unified_diff({"f": File(content=b"")}, {"f": File(content=b"", is_executable=True)})
    assert "now executable" in diff


def test_a_hostile_text_is_one_block_and_a_long_diff_is_cut() -> None:
    old = {"f": File(content="".join(f"{n % 40}\n" for n in range(5000)).encode())}
    new = {"f": File(content="".join(f"{n % 39}\n" for n in range(5000)).encode())}
    assert unified_diff(old, new).count("@@") == 2
    many = {f"{n:04}": File(content=b"x" * 1000) for n in range(1000)}
    assert len(unified_diff({}, many)) < MAX_DIFF_CHARACTERS + 100
