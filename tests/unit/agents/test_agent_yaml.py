"""An agent's file is read like any other document, and errors say why."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.agents.agent_file import MAX_FILE_BYTES, BadFile, read_agent
from arena.agents.spec import HttpSpec


def problems(path) -> list[str]:
    with pytest.raises(BadFile) as caught:
        read_agent(path)
    return [str(problem).removeprefix(f"{path}:") for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", "1:1: the file is empty"),
        (b"# only a comment\n", "1:1: the file is empty"),
        (b"a: 1\nb: \xff\n", "2:4: is not UTF-8: the byte 0xff"),
        (b"a: [1\nb: 2\n", "2:2: is not valid YAML"),
        (b"a: \x07\n", "is not valid YAML"),
        (b"a: 1\n---\nb: 2\n", "2:1: a second YAML document begins here"),
        (b"a: &x [*x]\n", "1:8: the alias *x would contain itself"),
        (
            b"a: &x\n- " + b"y" * 60_000 + b"\nb: [" + b"*x, " * 1000 + b"]",
            "repeat more than 4 MiB",
        ),
        (b"[" * 70 + b"]" * 70, "1:66: lists and mappings nest more than 64 deep"),
        (b"- " * 20_000, "nest more than 64 deep"),
        (b"x" * (MAX_FILE_BYTES + 1), "1:1: is larger than 64 KiB"),
    ],
)
def test_an_unreadable_file_says_where_and_why(tmp_path, raw, expected):
    path = tmp_path / "a.yaml"
    path.write_bytes(raw)
    found = problems(path)
    assert any(expected in problem for problem in found), found


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("id: b", "3:1: duplicate key 'id'; first: line 1, column 1"),
        ("? [a]\n: 1", "3:3: a key must be a string"),
        ("name: !!python/object/apply:os.getcwd []", "3:7: the tag !!python/object/apply:os.get"),
        ("name: !!int 1", "3:7: the tag !!int is not allowed"),
    ],
)
def test_forbidden_content_is_a_problem(tmp_path, line, expected):
    path = tmp_path / "a.yaml"
    path.write_text(f"id: a\nconnector: {{type: command, command: x}}\n{line}\n")
    assert any(expected in problem for problem in problems(path))


def test_a_path_that_is_not_a_regular_file_is_a_problem_and_a_pipe_does_not_block(tmp_path):
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    assert problems(tmp_path) == ["1:1: is a folder; expected a YAML file"]
    assert problems(pipe) == ["1:1: is not a regular file; expected a YAML file"]
    assert "cannot be read: No such file" in problems(tmp_path / "none.yaml")[0]


def test_the_body_of_a_request_holds_what_json_can_hold(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text(
        "id: a\nconnector:\n  type: http\n  url: http://h\n"
        "  body: {when: 2026-01-02, nan: .nan, more: -.inf, on: off, 1: &x [~, 1.5], two: *x}\n"
    )
    agent, place = read_agent(path)
    assert isinstance(agent.connector, HttpSpec)
    assert agent.connector.body == {
        "when": "2026-01-02",
        "nan": ".nan",
        "more": "-.inf",
        "on": False,
        "1": [None, 1.5],
        "two": [None, 1.5],
    }
    assert place == (1, 5)


@settings(max_examples=200)
@given(st.binary(max_size=200) | st.text("[]{}:-,&*!|>'\"#%@ \nab1", max_size=80))
def test_no_file_can_break_the_reader(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "fuzz.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadFile) as caught:
        read_agent(path)
    assert caught.value.problems
