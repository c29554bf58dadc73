import pytest

from arena.lab.words import duration_ms, literal_names, stem, stems_of, words_of


@pytest.mark.parametrize("text", ["TC-WEB-04", "tc web 4", "TC_WEB_4", "tc‑web‑04", "TCWEB 04"])
def test_one_name_in_many_spellings_is_the_same_words(text: str) -> None:
    assert "".join(words_of(text)) == "tcweb4"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("navigate", "navigating"),
        ("requirement", "requirements"),
        ("execute", "executed"),
        ("story", "stories"),
        ("run", "running"),
        ("search", "searches"),
    ],
)
def test_forms_of_one_word_have_one_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize(
    ("one", "other"), [("execute", "execution"), ("test", "text"), ("cast", "case")]
)
def test_different_words_keep_different_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_a_short_not_is_read_as_not() -> None:
    assert stems_of("aren't") == stems_of("are not")
    assert stems_of("don’t") == stems_of("do not")


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("wait at most 500 ms", 500),
        ("within 2 seconds", 2000),
        ("no longer than 1.5s", 1500),
        ("give it half a second", 500),
        ("wait for a minute", 60_000),
        ("more than one second", 1000),
        ("run a second test", None),
        ("250 milliseconds", 250),
        ("step 4", None),
        ("TC-WEB-04 s", None),
    ],
)
def test_a_length_of_time_is_read(text: str, milliseconds: int | None) -> None:
    assert duration_ms(text) == milliseconds


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("open 'Gift cards' now", ("Gift cards",)),
        ('open "warp" and `drive`', ("warp", "drive")),
        ("go to flux_capacitor.", ("flux_capacitor",)),
        ("load TC-WEB-99, please", ("TC-WEB-99",)),
        ("the set-top box's up-to-date sign-in page isn't slow", ()),
        ("it's 5 o'clock", ()),
    ],
)
def test_what_is_marked_as_a_name_is_seen_as_one(text: str, names: tuple[str, ...]) -> None:
    assert literal_names(text) == names
