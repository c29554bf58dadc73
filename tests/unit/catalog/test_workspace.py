"""Files of tests: read from folders beside the test file, with the place of every fault."""

import os
from pathlib import Path

import pytest

from arena.catalog.live import LiveCatalog
from arena.catalog.loader import read_source
from arena.catalog.test import Test

TEST = """tests:
  - id: a
    name: A
    prompt: Do it
    workspace: {files: given}
    validation: all_of
    expected:
      all_of:
        - {validation: contains, expected: {contains: [done]}}
        - validation: verify
          expected: {command: "true", hidden: secret}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    for folder, text in (("given", "1"), ("secret", "2")):
        (tmp_path / folder / "sub").mkdir(parents=True)
        (tmp_path / folder / "sub/x.txt").write_text(text)
    path = tmp_path / "tests.yaml"
    path.write_text(TEST)
    return path


def test_folders_become_part_of_the_test(file: Path) -> None:
    source = read_source(file)
    assert source.problems == ()
    (test,) = source.tests
    assert test.workspace == {"files": {"sub/x.txt": "1"}}
    assert test.expected["all_of"][1]["expected"]["hidden"] == {"sub/x.txt": "2"}
    frozen = Test.from_json(test.as_json())
    assert frozen.digest == test.digest


def test_bytes_and_programs_are_kept(file: Path) -> None:
    (file.parent / "given/bytes").write_bytes(b"\xff\0")
    (file.parent / "given/run").write_text("#!/bin/sh\n")
    (file.parent / "given/run").chmod(0o755)
    (test,) = read_source(file).tests
    assert test.workspace is not None
    assert test.workspace["files"]["bytes"] == {"base64": "/wA="}
    assert test.workspace["files"]["run"] == {"text": "#!/bin/sh\n", "executable": True}


def test_a_changed_file_is_another_test(file: Path) -> None:
    before = read_source(file)
    (file.parent / "secret/sub/x.txt").write_text("3")
    after = read_source(file)
    assert before.content_digest != after.content_digest
    assert before.tests[0].fingerprint != after.tests[0].fingerprint


def test_the_catalog_follows_the_files_of_its_tests(file: Path) -> None:
    os.utime(file, (1, 1))
    live = LiveCatalog([file.parent], builtin=False)
    digest = live.current.tests[0].digest
    assert live.refresh().tests[0].digest == digest
    (file.parent / "given/sub/more.txt").write_text("more")
    assert live.refresh().tests[0].digest != digest


@pytest.mark.parametrize(
    ("workspace", "problem"),
    [
        ("{files: nothing}", ":5:24: workspace.files: there is no folder 'nothing'"),
        ("{files: /etc}", ":5:24: workspace.files: must be a folder beside the test file"),
        ("{files: tests.yaml}", ":5:24: workspace.files: there is no folder"),
        ("{files: {a: 1}}", ":5:28: workspace.files.a: must be text"),
        ("{files: {../a: x}}", "leads out of the folder"),
        ("{fils: {}}", ":5:17: workspace: unknown key 'fils'"),
        ("{collect: ['a**']}", "write it as a part of its own"),
        ("[]", "workspace: must be"),
    ],
)
def test_a_fault_is_reported_at_its_place(file: Path, workspace: str, problem: str) -> None:
    file.write_text(TEST.replace("{files: given}", workspace))
    problems = "\n".join(map(str, read_source(file).problems))
    assert problem in problems


def test_a_link_or_too_much_in_a_folder_is_a_problem(file: Path) -> None:
    (file.parent / "given/link").symlink_to("/etc/passwd")
    assert "'link' is a symbolic link" in str(read_source(file).problems[0])
    (file.parent / "given/link").unlink()
    for name in ("given", "secret"):
        (file.parent / name / "big").write_bytes(b"x" * (5 << 20))
    assert "the files of the test are too large" in str(read_source(file).problems[0])


def test_verify_needs_a_workspace(file: Path) -> None:
    file.write_text(TEST.replace("    workspace: {files: given}\n", ""))
    (problem,) = read_source(file).problems
    assert "add the key 'workspace'" in problem.message and problem.line == 9
