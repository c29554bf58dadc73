import pytest

from arena.errors import InvalidInput
from arena.sandbox.submission import checked_name, read_submission, unfenced

PYTHON = "def f(a):\n    return a\n"
JAVASCRIPT = "function f(a) {\n  return a;\n}\n"


@pytest.mark.parametrize(
    ("text", "source", "language"),
    [
        (PYTHON, PYTHON, "python"),
        (JAVASCRIPT, JAVASCRIPT, "javascript"),
        ("const f = (a) => a", "const f = (a) => a", "javascript"),
        ("f = lambda a: a\n", "f = lambda a: a\n", "python"),
        ("async def f(a): return a", "async def f(a): return a", "python"),
        (f"Here it is:\n```python\n{PYTHON}```\nDone.", PYTHON, "python"),
        (f"```js\n{JAVASCRIPT}```", JAVASCRIPT, "javascript"),
        (f"~~~ts title=x\n{JAVASCRIPT}~~~", JAVASCRIPT, "typescript"),
        (f"````\n```\n{PYTHON}```\n````", f"```\n{PYTHON}```\n", "python"),
        (f"```sh\nls\n```\n```py\n{PYTHON}```", PYTHON, "python"),  # the longest block is meant
        ("\ufeff" + PYTHON, PYTHON, "python"),
        ("", "", "javascript"),
    ],
)
def test_code_and_language_are_found(text, source, language) -> None:
    found = read_submission(text)
    assert (found.source, found.language) == (source, language)


def test_the_callers_word_wins_over_the_fence() -> None:
    assert read_submission(f"```js\n{JAVASCRIPT}```", "Python3").language == "python"


def test_a_fence_inside_code_that_never_closes_is_code() -> None:
    assert unfenced("x = '''\n```\n'''") == ("x = '''\n```\n'''", "")


@pytest.mark.parametrize("name", ["f", "deepMerge", "_x1", "$"])
def test_names_of_functions(name) -> None:
    assert checked_name(name) == name


@pytest.mark.parametrize("name", ["", "1a", "a b", "f)", "a.b", "é", "f\n", "x" * 129])
def test_what_is_not_a_name_is_refused(name) -> None:
    with pytest.raises(InvalidInput):
        checked_name(name)
