# ruff: noqa: E501 - the lines of a submission stay whole

import pytest

from arena.sandbox.languages import add_languages, languages, normal_language
from arena.sandbox.submission import fence_languages, read_submission

PYTHON = "def f(a):\n    return a\n"
JAVASCRIPT = "function f(a) {\n  return a;\n}\n"


@pytest.mark.parametrize(
    ("text", "source", "language"),
    [
        (f"Here it is:\n```python\n{PYTHON}```\nDone.", PYTHON, "python"),
        (f"```js\n{JAVASCRIPT}```", JAVASCRIPT, "javascript"),
        (f"~~~ts title=x\n{JAVASCRIPT}~~~", JAVASCRIPT, "typescript"),
        (f"```sh\nls\n```\n```py\n{PYTHON}```", PYTHON, "python"),  # the longest block is meant
        ("#!/usr/bin/env python3\nprint(1)\n", "#!/usr/bin/env python3\nprint(1)\n", "python"),
        ("#!/bin/sh\necho 1\n", "#!/bin/sh\necho 1\n", "shell"),
        ("#! /usr/bin/env -S ruby -w\nputs 1\n", "#! /usr/bin/env -S ruby -w\nputs 1\n", "ruby"),
    ],
)
def test_code_and_the_language_it_names_are_found(text, source, language) -> None:
    [found] = read_submission(text)
    assert (found.source, found.language) == (source, language)


@pytest.mark.parametrize(
    ("text", "source"),
    [
        (PYTHON, PYTHON),
        (JAVASCRIPT, JAVASCRIPT),
        ("\ufeff" + PYTHON, PYTHON),
        (f"````\n```\n{PYTHON}```\n````", f"```\n{PYTHON}```\n"),
        (f"```\n{PYTHON}```", PYTHON),
        ("#!/opt/unknown\nprint(1)\n", "#!/opt/unknown\nprint(1)\n"),
        ("", ""),
    ],
)
def test_code_that_names_no_language_may_be_in_several(text, source) -> None:
    found = read_submission(text)
    assert [(one.source, one.language) for one in found] == [
        (source, "python"),
        (source, "javascript"),
    ]


def test_the_callers_language_wins_over_the_fence() -> None:
    [found] = read_submission(f"```js\n{JAVASCRIPT}```", "Python3")
    assert (found.source, found.language) == (JAVASCRIPT, "python")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("```js\nx\n```", {"javascript"}),
        ("```js\nx\n```\n```py\ny\n```", {"javascript", "python"}),
        ("```js\nx\n```\n```\ny\n```", set()),  # the second may be anything
        ("```text\nx\n```", set()),
        ("def f(): ...", set()),
    ],
)
def test_the_languages_that_fences_name(text, named) -> None:
    assert fence_languages(text) == named


HELPER = "def helper(a, b):\n    return a + b\n"
ADD = "def add(a, b):\n    return helper(a, b)\n"
USAGE = (
    "result = add(int(input()), 2)\nassert result == 5, 'a much longer example of how to use it'\n"
)


def fenced(body, tag="python", indent=""):
    return "".join(f"{indent}{line}\n" for line in f"```{tag}\n{body}```".split("\n"))


BOTH = HELPER + ADD
ANSWERS = {
    "a longer example below": (fenced(BOTH) + "Use it:\n" + fenced(USAGE), BOTH),
    "a longer example above": (fenced(USAGE) + "The function:\n" + fenced(BOTH), BOTH),
    "a longer block of commands": (fenced(BOTH) + fenced("pip install x\n" * 50, "bash"), BOTH),
    "a helper above": (fenced(HELPER) + fenced(ADD) + fenced(USAGE), f"{HELPER}\n{ADD}"),
    "a helper below": (fenced(ADD) + fenced(USAGE) + fenced(HELPER), f"{ADD}\n{HELPER}"),
    "an import above": (
        fenced("import math\n") + fenced("def add(a, b): return math.fsum([a, b])\n"),
        "import math\n\ndef add(a, b): return math.fsum([a, b])\n",
    ),
    "a constant above": (
        fenced("ZERO = 0\n") + fenced("def add(a, b): return ZERO + a + b\n"),
        "ZERO = 0\n\ndef add(a, b): return ZERO + a + b\n",
    ),
    # The function's own `result` is not the one of the example.
    "an example with the function's words": (
        fenced("def add(a, b):\n    result = a + b\n    return result\n") + fenced(USAGE),
        "def add(a, b):\n    result = a + b\n    return result\n",
    ),
    "the second version is another": (fenced(BOTH) + fenced(BOTH + "# slow\n"), BOTH),
    "other line ends": (f"Here:\n\n{fenced(BOTH)}".replace("\n", "\r\n"), BOTH),
    "never closed": (f"Here:\n```python\n{BOTH}", BOTH),
    "never closed, without a last line end": (f"```python\n{BOTH[:-1]}", BOTH),
    "in a list": ("1. First:\n\n" + fenced(BOTH, indent="   ") + "2. Then.\n", BOTH),
    "behind the mark of a list": ("- " + fenced(BOTH, indent="  ")[2:], BOTH),
    "in a list, with a tab": ("1. First:\n" + fenced(BOTH, indent="\t"), BOTH),
    "behind a mark of the editor": ("\ufeff" + fenced(BOTH), BOTH),
    "a block without a tag": (fenced(USAGE) + fenced(BOTH, ""), BOTH),
    "an empty block": ("```python\n```\n" + fenced(BOTH), BOTH),
    "a method of that name": (
        fenced("class A:\n    def add(self): pass\n") + fenced(BOTH),
        BOTH,
    ),
} | {
    f"tag {tag}": (fenced(BOTH, tag) + fenced("$ run it, with a longer block\n" * 9, "console"), BOTH)
    for tag in ("text", "python3.11", "py3", "Python", "python title=add.py", "{.python}", "unknown")
}  # fmt: skip


@pytest.mark.parametrize("language", [None, "python"])
@pytest.mark.parametrize(("text", "source"), ANSWERS.values(), ids=ANSWERS.keys())
def test_the_function_is_found_with_what_it_needs(text, source, language) -> None:
    found = read_submission(text, language, function_name="add")
    assert (found[0].source, found[0].language) == (source, "python")


def test_javascript_in_blocks() -> None:
    helper, add = (
        "const helper = (a, b) => a + b;\n",
        "export function add(a, b) { return helper(a, b); }\n",
    )
    usage = (
        "const { add } = require('./add');\nconst a = prompt(); console.log(add(a, 2)); // longer\n"
    )
    text = fenced(helper, "js") + fenced(usage, "js") + fenced(add, "js") + fenced(usage, "sh")
    [found] = read_submission(text, function_name="add")
    assert (found.source, found.language) == (f"{helper}\n{add}", "javascript")


def test_the_requested_language_is_taken_of_two() -> None:
    script = "function add(a, b) { return a + b; }\n"
    text = fenced(script, "js") + fenced(BOTH)
    assert read_submission(text, "python", function_name="add")[0].source == BOTH
    assert read_submission(text, "javascript", function_name="add")[0].source == script
    [found] = read_submission(text, function_name="add")
    assert found.language == "javascript"


def test_a_program_is_the_longest_block_of_its_language() -> None:
    text = fenced("print(1)\n") + fenced("x = 2\nprint(x)\n") + fenced("{}\n" * 50, "json")
    assert read_submission(text, "python")[0].source == "x = 2\nprint(x)\n"
    assert read_submission(text)[0].source == "x = 2\nprint(x)\n"


def test_a_custom_language_has_its_tags(tmp_path) -> None:
    text = fenced("{ print }\n", "awk") + fenced("{ print; print }\n", "text")
    assert len(read_submission(text)) == 2
    file = tmp_path / "more.toml"
    file.write_text('[awk]\nfile = "main.awk"\nrun = "awk -f main.awk"\n')
    add_languages(file)
    try:
        [found] = read_submission(text)
        assert found.language == "awk"
    finally:
        languages.cache_clear()


CODE = {
    "a fence that never closes": "x = '''\n```\n'''",
    "an example in a docstring": f'def add(a, b):\n    """Adds.\n\n{fenced("add(1, 2)", indent="    ")}    """\n',
    "another function in a string": f'# Sums.\n\nimport re\nS = """\n{fenced(ADD)}"""\n{BOTH}',
    "a comment": f"/**\n{fenced('add(1, 2)', 'js', ' ')} */\nfunction add(a, b) {{ return a + b; }}\n",
    "other line ends": BOTH.replace("\n", "\r\n"),
    "a C program": f'#include <stdio.h>\n/*\n{fenced("x")}*/\nint main(void) {{}}\n',
}  # fmt: skip


@pytest.mark.parametrize("name", [None, "add"])
@pytest.mark.parametrize("text", CODE.values(), ids=CODE.keys())
def test_a_fence_inside_code_is_code(text, name) -> None:
    assert {one.source for one in read_submission(text, function_name=name)} == {text}


def test_a_fence_in_the_docstring_of_fenced_code_is_code() -> None:
    body = f'def add(a, b):\n    """Adds.\n\n{fenced("add(1, 2)", indent="    ")}    """\n'
    assert read_submission(fenced(body), function_name="add")[0].source == body


# A reader that scans the rest of the text at every position would never finish.
LONG = [
    "\n" * 100_000,
    "```a\n" * 30_000,
    "import" + " " * 100_000 + "!",
    "```js\nadd=" + " " * 100_000 + "!",
    "```js\nfunction" + " " * 100_000 + "!",
    "```js\nclass a" + "a" * 100_000,
    "```python\nclass a" + ": #" * 30_000 + "!\nadd = 1\n" + "import " * 30_000,
]


@pytest.mark.parametrize("text", LONG, ids=range(len(LONG)))
def test_no_text_makes_the_reader_hang(text) -> None:
    assert read_submission(text, function_name="add")[0].source


@pytest.mark.parametrize(
    ("name", "language"),
    [("py3", "python"), ("python3.11", "python"), ("ES6", "javascript"), ("c++17", "cpp"),
     ("cobol85", "cobol85"), ("", "")],
)  # fmt: skip
def test_a_version_is_not_another_language(name, language) -> None:
    assert normal_language(name) == language
