import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.agents.agent_yaml import MAX_BYTES, BadFile, read_document


def problems(path) -> list[str]:
    with pytest.raises(BadFile) as caught:
        read_document(path)
    return [str(problem).removeprefix(f"{path}:") for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", "1:1: the file is empty"),
        (b"# only a comment\n", "1:1: the file is empty"),
        (b"a: 1\nb: \xff\n", "2:4: byte 0xff is not UTF-8"),
        (b"a: [1\nb: 2\n", "2:2: not valid YAML"),
        (b"a: \x07\n", "not valid YAML"),
        (b"a: 1\n---\nb: 2\n", "2:1: not valid YAML"),
        (b"a: 1\nb: 2\na: 3\n", "3:1: 'a' is written twice, first in line 1"),
        (b"a: &x [1]\nb: *x\n", "2:4: aliases are not allowed"),
        (b"? [a]\n: 1\n", "1:3: a key must be a plain word"),
        (b"[" * 40 + b"]" * 40, "1:33: nested deeper than 32 levels"),
        (b"- " * 20_000, "nested deeper than 32 levels"),
        (b"x" * (MAX_BYTES + 1), "1:1: longer than 64 KiB"),
    ],
)
def test_what_cannot_be_read_says_where_and_why(tmp_path, raw, expected):
    path = tmp_path / "a.yaml"
    path.write_bytes(raw)
    found = problems(path)
    assert len(found) == 1
    assert expected in found[0]


def test_a_file_that_is_no_file_is_a_problem_and_a_pipe_is_not_waited_for(tmp_path):
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    for path in (tmp_path, pipe):
        assert problems(path) == ["1:1: is not a regular file; an agent's file is wanted"]
    assert "cannot be read: no such file" in problems(tmp_path / "none.yaml")[0]


def test_dates_and_fancy_tags_stay_text_and_nothing_is_executed(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("when: 2026-01-02\nrun: !!python/object/apply:os.getcwd []\nnan: .nan\n")
    assert read_document(path).value == {"when": "2026-01-02", "run": [], "nan": ".nan"}


def test_places_are_found_by_keys_and_indexes(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("a:\n  - b: 1\n  - c: 2\n")
    document = read_document(path)
    assert str(document.place(("a", 1, "c"))) == f"{path}:3:8"
    assert str(document.place(("a", 1, "c"), at_key=True)) == f"{path}:3:5"
    assert str(document.place(("a", 7, "x"))) == f"{path}:2:3"


@settings(max_examples=200)
@given(st.binary(max_size=200) | st.text("[]{}:-,&*!|>'\"#%@ \nab1", max_size=80))
def test_no_file_can_break_the_reader(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "fuzz.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    try:
        document = read_document(path)
    except BadFile as error:
        assert error.problems
    else:
        assert document.place(()).path == path
