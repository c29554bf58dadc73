import pytest

from arena.errors import InvalidInput, NotFound
from arena.sandbox.languages import Languages

NAMES = "python javascript typescript c cpp rust go java ruby perl php lua shell"


def test_the_table_has_the_usual_languages() -> None:
    table = Languages.builtin().table
    assert set(NAMES.split()) <= set(table)
    assert all(language.package and language.needs for language in table.values())


def test_compiled_languages_compile() -> None:
    table = Languages.builtin().table
    compiled = {name for name, language in table.items() if language.compile}
    assert {"c", "cpp", "rust", "go", "java", "typescript"} == compiled


def test_a_file_adds_and_replaces(tmp_path) -> None:
    file = tmp_path / "more.toml"
    file.write_text(
        '[awk]\nfile = "main.awk"\nrun = "awk -f main.awk"\nneeds = ["awk"]\npackage = "mawk"\n'
        '[python]\nfile = "main.py"\nrun = "python3 -O main.py"\n'
    )
    table = Languages.builtin().extended(file)
    assert table.named("awk").run == "awk -f main.awk"
    assert table.named("python").run == "python3 -O main.py"
    assert Languages.builtin().named("python").run != "python3 -O main.py"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = ", "not a TOML file"),
        ("python = 3", "must be a table"),
        ('[x]\nrun = "x"', "missing"),
        ('[x]\nfile = "x"\nrun = "x"\nbuild = "x"', "unknown"),
        ('[x]\nfile = "x"\nrun = 3', "text"),
        ('[x]\nfile = "x"\nrun = "x"\nneeds = "x"', "needs is a list"),
    ],
)
def test_a_wrong_file_is_named_with_its_mistake(tmp_path, text, message) -> None:
    file = tmp_path / "more.toml"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=message) as caught:
        Languages.builtin().extended(file)
    assert "more.toml" in str(caught.value)


def test_a_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        Languages.builtin().extended(tmp_path / "none.toml")


def test_an_unknown_language_suggests_the_nearest() -> None:
    with pytest.raises(NotFound, match="did you mean 'python'"):
        Languages.builtin().named("pyhton")
