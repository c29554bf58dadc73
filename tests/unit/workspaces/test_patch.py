"""Patches: applied exactly, or refused with the line at fault."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.workspaces.collected import File
from arena.workspaces.diff import unified_diff
from arena.workspaces.patch import BadPatch, apply_patch

FILES = {
    "a.py": File(content=b"one\ntwo\nthree\n"),
    "run.sh": File(content=b"#!/bin/sh\n", is_executable=True),
    "end": File(content=b"no newline"),
}


def test_lines_are_replaced_added_and_removed() -> None:
    patch = "--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
    assert apply_patch(FILES, patch)["a.py"] == File(content=b"one\nTWO\nthree\n")


def test_files_are_made_deleted_renamed_and_made_executable() -> None:
    patch = """diff --git a/new.sh b/new.sh
new file mode 100755
index 0000000..1
--- /dev/null
+++ b/new.sh
@@ -0,0 +1 @@
+hello
diff --git a/run.sh b/run.sh
deleted file mode 100755
--- a/run.sh
+++ /dev/null
@@ -1 +0,0 @@
-#!/bin/sh
diff --git a/a.py b/lib/b.py
similarity index 80%
rename from a.py
rename to lib/b.py
--- a/a.py
+++ b/lib/b.py
@@ -3 +3 @@
-three
+3
diff --git a/end b/end
old mode 100644
new mode 100755
diff --git a/empty b/empty
new file mode 100644
index 0000000..e69de29
"""
    assert apply_patch(FILES, patch) == {
        "new.sh": File(content=b"hello\n", is_executable=True),
        "lib/b.py": File(content=b"one\ntwo\n3\n"),
        "end": File(content=b"no newline", is_executable=True),
        "empty": File(content=b""),
    }


def test_a_missing_line_break_at_the_end_is_kept_or_added() -> None:
    mark = "\\ No newline at end of file"
    patch = f"--- a/end\n+++ b/end\n@@ -1 +1 @@\n-no newline\n{mark}\n+a newline\n"
    assert apply_patch(FILES, patch)["end"] == File(content=b"a newline\n")


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ("", "changes no file"),
        ("hello\n", "changes no file"),
        ("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-uno\n+1\n", "does not fit"),
        ("--- a/a.py\n+++ b/a.py\n@@ -2 +2 @@\n-one\n+1\n", "does not fit"),  # another line
        ("--- a/a.py\n+++ b/a.py\n@@ -1,2 +1 @@\n-one\n", "cut off"),
        ("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-one\n+1\n+2\n", "neither a hunk"),
        ("--- a/no\n+++ b/no\n@@ -1 +1 @@\n-one\n+1\n", "no file 'no'"),
        ("--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+x\n", "exists already"),
        ("--- a/a.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", "not all of it"),
        ("--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n", "leads out"),
        ("--- /dev/null\n+++ /etc/x\n@@ -0,0 +1 @@\n+x\n", "absolute"),
        ('--- /dev/null\n+++ "b/a\\nb"\n@@ -0,0 +1 @@\n+x\n', "line break"),
        ('--- /dev/null\n+++ "b/\\377"\n@@ -0,0 +1 @@\n+x\n', "not UTF-8"),
        ("--- /dev/null\n+++ b/a.py/x\n@@ -0,0 +1 @@\n+x\n", "a file and a folder"),
        ("diff --git a/l b/l\nnew file mode 120000\n", "only regular files"),
        ("diff --git a/l b/l\nnew file mode 160000\n", "only regular files"),
        ("diff --git a/b b/b\nGIT binary patch\nliteral 3\n", "binary"),
        ("diff --git a/a.py b/b.py\ncopy from a.py\ncopy to b.py\n", "copies"),
        ("diff --git a/a.py b/end\nrename from a.py\nrename to end\n", "exists already"),
        ("diff --git a/a.py b/../x\nrename from a.py\nrename to ../x\n", "leads out"),
        (
            "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-one\n+1\n"
            "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-1\n+2\n",
            "twice",
        ),
        ("--- a/a.py\n+++ b/other.py\n@@ -1 +1 @@\n-one\n+1\n", "two files"),
        ("@@ -1 +1 @@\n-one\n+1\n", "before the name"),
        ("--- a/a.py\n+++ b/a.py\n@@ -99,0 +99 @@\n+x\n", "no such line"),
        ("--- a/a.py\n+++ b/a.py\n@@ -9999999999 +1 @@\n+x\n", "not the header of a hunk"),
    ],
)
def test_a_patch_that_does_not_fit_or_attacks_is_refused(patch: str, reason: str) -> None:
    with pytest.raises(BadPatch) as refused:
        apply_patch(FILES, patch)
    assert reason in refused.value.message


LINES = st.lists(st.sampled_from(["a", "b", "c", "", "ä", "-x", "+y"]), max_size=12)
TEXTS = st.tuples(LINES, st.booleans()).map(lambda pair: "\n".join(pair[0]) + "\n" * pair[1])


@given(TEXTS, TEXTS)
def test_our_own_diff_of_two_texts_can_be_applied(old: str, new: str) -> None:
    before, after = {"f": File(content=old.encode())}, {"f": File(content=new.encode())}
    diff = unified_diff(before, after)
    assert (apply_patch(before, diff) if diff else before) == after


def test_what_git_writes_is_applied(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        ran = subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
            cwd=tmp_path,
            check=True,
            capture_output=True,
            text=True,
        )
        return ran.stdout

    git("init", "-q")
    (tmp_path / "old name").write_text("".join(f"{n}\n" for n in range(50)))
    (tmp_path / "ä.txt").write_text("eins\n")
    git("add", ".")
    git("commit", "-qm", "x")
    before = {name: File(content=(tmp_path / name).read_bytes()) for name in ("old name", "ä.txt")}
    git("mv", "old name", "new name")
    lines = (tmp_path / "new name").read_text().splitlines()
    (tmp_path / "new name").write_text("\n".join([*lines[:10], "x", *lines[11:40], *lines[41:]]))
    (tmp_path / "ä.txt").write_text("zwei\n")
    (tmp_path / "added").write_text("added")
    git("add", ".")
    after = {
        name: File(content=(tmp_path / name).read_bytes())
        for name in ("new name", "ä.txt", "added")
    }
    assert apply_patch(before, git("diff", "--cached", "-M")) == after
