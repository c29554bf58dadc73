"""A test that is written as YAML reads back as the same test."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.catalog.loader import read_source
from arena.catalog.test import Test
from arena.catalog.writing import keys_of, written_yaml
from arena.errors import InvalidInput
from factories import a_test

TEXT = st.text(alphabet=st.characters(exclude_categories=("Cs",), exclude_characters="\0"))
PROMPT = TEXT.filter(lambda text: any(not one.isspace() and one.isprintable() for one in text))


def read_back(text: str) -> Test:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "custom.yaml"
        path.write_text(text, encoding="utf-8", newline="")
        source = read_source(path)
    assert source.problems == ()
    (test,) = source.tests
    return test


@given(prompt=PROMPT, word=PROMPT, comment=TEXT)
def test_any_text_survives_and_no_comment_becomes_content(
    prompt: str, word: str, comment: str
) -> None:
    test = a_test(prompt=prompt, validation="json_schema", expected={"schema": {"const": word}})
    assert read_back(written_yaml(keys_of(test), [comment])) == test


@pytest.mark.parametrize(
    "word", ["yes", "no", "null", "~", "1e3", "1_000", "0x1f", "2026-01-31", "12:30:45", "a: b"]
)
def test_a_word_that_yaml_would_read_as_something_else_is_quoted(word: str) -> None:
    test = a_test(name=word, expected={"contains": [word]})
    assert read_back(written_yaml(keys_of(test))) == test


def test_every_key_survives() -> None:
    test = a_test(
        description="Two\nlines",
        timeout_seconds=7,
        points=2.5,
        agents=("one",),
        tags=("a", "b"),
        trials=3,
        budget_tokens=99,
        case_sensitive=True,
        whole_word=True,
        group="family",
        solution={"answer": "yes"},
    )
    assert read_back(written_yaml(keys_of(test))) == test


def test_a_comment_cannot_break_out_of_its_line() -> None:
    text = written_yaml(keys_of(a_test()), ["x\u2028tests: []\u2029y\x85z\rq\x0bw\x1b[31m"])
    assert read_back(text).id == "t1"
    assert "\x1b" not in text
    head = text.partition("tests:\n")[0]
    assert all(line.startswith("#") for line in head.splitlines())


def test_a_test_that_no_file_can_hold_is_refused() -> None:
    with pytest.raises(InvalidInput, match="more than 1,048,576 bytes"):
        written_yaml(keys_of(a_test(prompt="x" * 2_000_000)))
