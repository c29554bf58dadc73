import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.catalog.loader import MAX_FILE_BYTES, read_source
from arena.catalog.source import Source
from arena.evaluation.standard import Checklist

WHOLE = """\
category: speech
description: Says things
tests:
  - id: say.hello-1
    name: Say hello
    description: The agent greets
    prompt: Greet me
    expected: {contains: [hello, world]}
    validation: contains
    timeout: 90
    points: 2.5
    agents: [a-1, b_2]
    active: false
    tags: [smoke, "2024"]
    trials: 3
    budget_tokens: 500
    case_sensitive: true
    whole_word: true
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "my_tests.yaml"


def read(path: Path, text: str | bytes) -> Source:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_source(path)


def problems(path: Path, text: str | bytes) -> list[str]:
    source = read(path, text)
    assert source.tests == ()
    return [str(problem).removeprefix(f"{path}:") for problem in source.problems]


def one(*lines: str) -> str:
    """A file with one test, whose keys are these lines over good ones."""
    keys = {
        "id": "id: t1",
        "name": "name: n",
        "prompt": "prompt: p",
        "expected": "expected: {contains: [a]}",
    }
    keys |= {line.partition(":")[0]: line for line in lines}
    return "tests:\n  - " + "\n    ".join(line for line in keys.values() if line) + "\n"


def test_a_pass_score_reaches_the_standard_and_is_refused_where_it_means_nothing(
    path: Path,
) -> None:
    graded = one("pass_score: 80", "validation: checklist", "expected: {items: [a, b]}")
    (test,) = read(path, graded).tests
    assert test.standard == Checklist(items=("a", "b"), pass_score=80)
    assert problems(path, one("pass_score: 80")) == [
        "6:5: contains gives 100 or 0: a pass_score changes nothing; leave it out"
    ]


def test_every_key_reaches_the_test(path: Path) -> None:
    source = read(path, WHOLE)
    assert source.problems == ()
    (test,) = source.tests
    assert test.as_json() == {
        "id": "say.hello-1",
        "name": "Say hello",
        "description": "The agent greets",
        "prompt": "Greet me",
        "expected": {"contains": ["hello", "world"]},
        "validation": "contains",
        "category": "speech",
        "timeout_seconds": 90,
        "points": 2.5,
        "agents": ["a-1", "b_2"],
        "active": False,
        "tags": ["smoke", "2024"],
        "trials": 3,
        "budget_tokens": 500,
        "case_sensitive": True,
        "whole_word": True,
        "pass_score": None,
    }
    assert source.places[0] == (4, 9)


def test_what_is_left_out_has_its_default(path: Path) -> None:
    (test,) = read(path, one()).tests
    assert test.category == "my_tests"  # the name of the file
    assert test.validation == "contains"
    assert (test.timeout_seconds, test.points, test.trials) == (30, 1.0, 1)
    assert test.agents is None
    assert test.active
    assert test.tags == ()
    assert (test.description, test.budget_tokens, test.case_sensitive) == (None, None, None)
    assert not test.whole_word


def test_an_empty_list_of_agents_means_nobody(path: Path) -> None:
    (test,) = read(path, one("agents: []")).tests
    assert test.agents == ()
    assert not test.is_for("anyone")
    (test,) = read(path, one("agents: null")).tests
    assert test.is_for("anyone")


def test_a_whole_number_of_points_is_fine(path: Path) -> None:
    (test,) = read(path, one("points: 2")).tests
    assert test.points == 2.0


def test_a_category_below_the_tests_counts_too(path: Path) -> None:
    (test,) = read(path, one() + "category: late\n").tests
    assert test.category == "late"


def test_keys_that_begin_with_x_are_room_for_anchors(path: Path) -> None:
    text = "x-all: &all [a, b]\n" + one("agents: *all")
    (test,) = read(path, text).tests
    assert test.agents == ("a", "b")


def test_the_list_of_tests_may_be_an_alias(path: Path) -> None:
    text = "x-tests: &t [{id: a, name: n, prompt: p, expected: {contains: [x]}}]\ntests: *t\n"
    assert [test.id for test in read(path, text).tests] == ["a"]


def test_a_byte_order_mark_and_other_line_ends_are_fine(path: Path) -> None:
    text = one("prompt: Grüße").replace("\n", "\r\n")
    (test,) = read(path, b"\xef\xbb\xbf" + text.encode()).tests
    assert test.prompt == "Grüße"


def test_what_tests_have_in_common_is_kept_once(path: Path) -> None:
    text = one("agents: [a, b]", "tags: [x]") + one("id: t2", "agents: [a, b]", "tags: [x]")
    first, second = read(path, text.replace("tests:\n  - id: t2", "  - id: t2")).tests
    assert first.agents is second.agents
    assert first.tags is second.tags
    assert first.category is second.category
    assert first.validation is second.validation


ID_RULE = "letters, digits, '_', '.' or '-', the first a letter or digit"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("id:", "2:8: id: must be a string, is nothing"),
        ("id: -x", f"2:9: id: must be {ID_RULE}"),
        ("id: a b", f"2:9: id: must be {ID_RULE}"),
        ("id: 12", "2:9: id: must be a string, is a number: quote it"),
        ("id: yes", "2:9: id: must be a string, is true or false: quote it"),
        (f"id: {'a' * 51}", "2:9: id: must have at most 50 characters"),
        ("name: no", "3:11: name: must be a string, is true or false: quote it"),
        (
            "name: [a]",
            "3:11: name: must be a string, is a list",
        ),
        ('name: "a\\nb"', "name: must be one line of text"),
        ("prompt: '  '", "4:13: prompt: must be text that is not empty"),
        ("prompt: 1.5", "prompt: must be a string, is a number: quote it"),
        ("description: 3", "description: must be a string, is a number: quote it"),
        ("timeout: 0", "timeout: must be 1 or more, is 0"),
        ("timeout: 86401", "timeout: must be at most 86400, is 86401"),
        ("timeout: 1.5", "timeout: must be a whole number, is 1.5"),
        ("timeout: true", "timeout: must be a whole number, is true or false"),
        ('timeout: "30"', "must be a whole number, is a string: remove the quotes"),
        ("timeout: 30s", "timeout: must be a whole number, is a string"),
        ("points: 0", "points: must be above 0, is 0"),
        ("points: -1", "points: must be above 0, is -1"),
        ("points: .inf", "points: must be a finite number"),
        ("points: .nan", "points: must be a finite number"),
        ("points: 1e3", "points: must be a number, is a string"),
        ("points: true", "points: must be a number, is true or false"),
        (f"points: {'9' * 400}", "points: must be a finite number"),
        ("trials: 0", "trials: must be 1 or more, is 0"),
        ("trials: 1001", "trials: must be at most 1000, is 1001"),
        ("budget_tokens: 0", "budget_tokens: must be 1 or more, is 0"),
        ("agents: a", "agents: must be a list, is a string"),
        ("agents: [a b]", f"6:14: agents[0]: must be {ID_RULE}"),
        ("agents: [a, 7]", "6:17: agents[1]: must be a string, is a number: quote it"),
        ("active: 'yes'", "active: must be true or false, is a string: remove the quotes"),
        ("tags: [1]", "tags[0]: must be a string, is a number: quote it"),
        ("case_sensitive: 1", "case_sensitive: must be true or false, is a number"),
        ("expected: [a]", "expected: must be a mapping, is a list"),
        ("expected: {contain: [a]}", "5:16: expected: unknown key 'contain'; did you mean"),
        ("expected: {contains: [a, 5]}", "5:30: expected.contains[1]: must be a string, is a numb"),
        ("validation: regexp", "6:17: validation: unknown validation 'regexp'; did you mean 'reg"),
        ("validation: exact", "5:15: expected: needs the key 'value'"),
        ("timeot: 30", "6:5: unknown key 'timeot'; did you mean 'timeout'?"),
        ("colour: red", "6:5: unknown key 'colour'; known: id, name, description, prompt"),
    ],
)
def test_a_wrong_key_is_reported_with_what_is_allowed(path: Path, line: str, problem: str) -> None:
    found = problems(path, one(line))
    assert any(problem in text for text in found), found


def test_missing_keys_are_reported_at_the_test(path: Path) -> None:
    assert problems(path, "tests:\n  - active: true\n") == [
        "2:5: needs the key 'id'",
        "2:5: needs the key 'name'",
        "2:5: needs the key 'prompt'",
        "2:5: needs the key 'expected'",
    ]


def test_all_problems_of_a_file_are_reported_at_once(path: Path) -> None:
    found = problems(
        path,
        "categry: x\n"
        "tests:\n"
        "  - {id: a, name: n, prompt: p, expected: {pattern: '('}, validation: regex}\n"
        "  - {id: a, name: 1, prompt: p, expected: {contains: [b]}, timeout: 0}\n"
        "  - just text\n",
    )
    assert [text.partition(" ")[0] for text in found] == [
        "1:1:",
        "3:53:",
        "4:10:",
        "4:19:",
        "4:69:",
        "5:5:",
    ]
    assert "did you mean 'category'?" in found[0]
    assert "expected.pattern: is not a regular expression: missing )" in found[1]
    assert "duplicate id 'a'; first: line 3, column 10" in found[2]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "1:1: the file is empty; it needs 'tests'"),
        ("category: a\n", "1:1: needs the key 'tests': a list of at least one test"),
        ("tests: []\n", "1:1: needs the key 'tests': a list of at least one test"),
        ("tests:\n", "tests: must be a list of at least one test, is nothing"),
        ("tests: {a: 1}\n", "1:8: tests: must be a list of at least one test, is a mapping"),
        ("tests: [1]\n", "1:9: a test must be a mapping with the keys id, name, prompt, expected"),
        ("category: [a]\n" + one(), "1:11: category: must be a string, is a list"),
        ("category: 2024\n" + one(), "category: must be a string, is a number: quote it"),
        (b"tests: \xff\xfe", "1:8: is not UTF-8: the byte 0xff at offset 7; save the file as UTF"),
        ("tests:\n- é".encode("latin-1"), "2:3: is not UTF-8: the byte 0xe9 at offset 9"),
        ("tests: a".encode("utf-16"), "1:1: is not UTF-8: the byte 0xff at offset 0"),
        (b"#" * (MAX_FILE_BYTES + 1), "1:1: is larger than 1 MiB: split it into several files"),
    ],
)
def test_a_file_that_is_not_a_test_file_says_why(
    path: Path, text: str | bytes, problem: str
) -> None:
    found = problems(path, text)
    assert any(problem in line for line in found), found


def test_a_file_of_exactly_one_mebibyte_is_fine(path: Path) -> None:
    text = one()
    source = read(path, text + "#" * (MAX_FILE_BYTES - len(text)))
    assert len(source.tests) == 1


def test_a_folder_a_dangling_link_and_a_pipe_are_problems(tmp_path: Path) -> None:
    folder, link, pipe = (tmp_path / name for name in ("a.yaml", "b.yaml", "c.yaml"))
    folder.mkdir()
    link.symlink_to("nowhere.yaml")
    os.mkfifo(pipe)
    messages = {path.name: str(read_source(path).problems[0]) for path in (folder, link, pipe)}
    assert messages["a.yaml"].endswith("a.yaml:1:1: is a folder; expected a YAML file")
    assert messages["b.yaml"].endswith("it is a link to nowhere.yaml, which does not exist")
    assert messages["c.yaml"].endswith("is not a regular file; expected a YAML file")


def test_a_file_that_cannot_be_opened_is_a_problem(tmp_path: Path) -> None:
    loop = tmp_path / "loop.yaml"
    loop.symlink_to(loop)
    assert "cannot be read: " in str(read_source(loop).problems[0])
    assert "cannot be read: No such file" in str(read_source(tmp_path / "gone.yaml").problems[0])


def test_a_problem_in_a_merged_key_points_at_the_merge(path: Path) -> None:
    text = (
        "x-base: &base {timeout: 0}\n"
        "tests:\n"
        "  - id: a\n"
        "    name: n\n"
        "    prompt: p\n"
        "    expected: {contains: [x]}\n"
        "    <<: *base\n"
    )
    (problem,) = problems(path, text)
    assert problem.startswith("7:5: timeout: must be")


KEYS = st.sampled_from(
    ["id", "name", "prompt", "expected", "validation", "timeout", "points", "agents", "active"]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 100)
    | st.floats()
    | st.sampled_from(["contains", "regex", "a", "(", ""]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["contains", "pattern", "value"]), inner, max_size=2)
    ),
    max_leaves=5,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dictionaries(KEYS, VALUES), min_size=1, max_size=3))
def test_a_file_gives_its_tests_or_its_problems_and_never_both(
    path: Path, tests: list[dict[str, object]]
) -> None:
    import yaml

    source = read(path, yaml.safe_dump({"tests": tests}))
    assert bool(source.tests) != bool(source.problems)
    assert len(source.tests) in (0, len(tests))
    assert len(source.places) == len(source.tests)
    for test in source.tests:
        assert test.standard  # what was loaded can be judged by
        assert test == type(test).from_json(test.as_json())
