from collections.abc import Iterator

import pytest

from arena.assembly import open_arena
from arena.errors import InvalidInput, NotFound
from arena.sandbox.languages import (
    add_languages,
    check_language,
    language_named,
    language_of_file,
    languages,
    normal_language,
)
from arena.settings import Settings

NAMES = "python javascript typescript c cpp rust go java ruby perl php lua shell"


@pytest.fixture(autouse=True)
def only_the_built_in_ones() -> Iterator[None]:
    languages.cache_clear()
    yield
    languages.cache_clear()


def test_the_table_has_the_usual_languages() -> None:
    assert set(NAMES.split()) <= set(languages())
    assert all(language.package and language.needs for language in languages().values())


@pytest.mark.parametrize("name", NAMES.split())
def test_a_files_ending_stands_for_its_language(name) -> None:
    assert language_of_file(f"some/folder/{languages()[name].file}") == name


@pytest.mark.parametrize(
    ("file", "language"),
    [
        ("a.mjs", "javascript"), ("a.cjs", "javascript"), ("A.PY", "python"), ("a.cc", "cpp"),
        ("a.bash", "shell"), ("a.b.rs", "rust"), ("answer.md", None), ("answer.txt", None),
        ("go", None), (".py", None), ("-", None), ("a.", None), ("a.go/answer", None),
    ],
)  # fmt: skip
def test_other_endings(file, language) -> None:
    assert language_of_file(file) == language


def test_compiled_languages_compile() -> None:
    compiled = {name for name, language in languages().items() if language.compile}
    assert {"c", "cpp", "rust", "go", "java", "typescript"} == compiled


def test_a_file_adds_and_replaces(tmp_path) -> None:
    before = language_named("python").run
    file = tmp_path / "more.toml"
    file.write_text(
        '[awk]\nfile = "main.awk"\nrun = "awk -f main.awk"\nneeds = ["awk"]\npackage = "mawk"\n'
        'aliases = ["gawk"]\n'
        '[python]\nfile = "main.py"\nrun = "python3 -O main.py"\n'
    )
    add_languages(file)
    assert language_named("awk").run == "awk -f main.awk"
    assert normal_language("gawk") == check_language("GAWK5") == "awk"
    assert language_named("python").run == "python3 -O main.py" != before


async def test_the_settings_can_name_such_a_file(tmp_path) -> None:
    file = tmp_path / "more.toml"
    file.write_text('[awk]\nfile = "main.awk"\nrun = "awk -f main.awk"\n')
    async with open_arena(Settings(home=tmp_path, languages=file)):
        assert check_language("awk") == "awk"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = ", "not a TOML file"),
        ("python = 3", "must be a table"),
        ('[x]\nrun = "x"', "missing"),
        ('[x]\nfile = "x"\nrun = "x"\nbuild = "x"', "unknown"),
        ('[x]\nfile = "x"\nrun = 3', "run is text"),
        ('[x]\nfile = "x"\nrun = "x"\nneeds = "x"', "needs is a list"),
        ('[x]\nfile = "x"\nrun = "x"\naliases = [1]', "aliases is a list of text"),
    ],
)
def test_a_wrong_file_is_named_with_its_mistake(tmp_path, text, message) -> None:
    file = tmp_path / "more.toml"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=message) as caught:
        add_languages(file)
    assert "more.toml" in str(caught.value)


def test_a_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        add_languages(tmp_path / "none.toml")


def test_an_unknown_language_suggests_the_nearest() -> None:
    with pytest.raises(NotFound, match="did you mean 'python'"):
        language_named("pyhton")
    with pytest.raises(InvalidInput, match="did you mean 'python'"):
        check_language("pyhton")
