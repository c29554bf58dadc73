"""Reports: what others wrote is text, and a folder holds a whole page or the one before."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.dashboard.report.markup import element, frame, joined, untrusted
from arena.dashboard.report.pages import RunReport, run_page, write_report
from arena.dashboard.report.standard import standard
from arena.errors import InvalidInput
from arena.evaluation.verdict import Finding
from arena.models.message import Message
from arena.models.step import Step
from arena.operations.runs import RunDetails
from arena.runs.run import RunStatus
from arena.scoring.board import Provenance
from exported import a_run
from factories import a_result


class Reader(HTMLParser):
    """What a browser would make of it: its tags and its text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def read(markup: str) -> Reader:
    reader = Reader()
    reader.feed(markup)
    reader.close()
    return reader


def tags(letters: str) -> str:
    """Letters that cannot be seen, which spell the name of a flag."""
    return "".join(chr(0xE0000 + ord(letter)) for letter in letters)


@pytest.mark.parametrize(
    "emoji",
    [
        "👨\u200d👩\u200d👧\u200d👦",
        "👩🏽\u200d💻",
        "🧑\u200d🤝\u200d🧑",
        "🏳\ufe0f\u200d🌈",
        "❤\u200d🔥",  # without its variation selector
        "🤷🏿\u200d♀\ufe0f",
        f"🏴{tags('gbsct')}\U000e007f",
    ],
)
def test_emoji_of_several_characters_are_whole(emoji: str):
    assert untrusted(emoji) == f"<bdi>{emoji}</bdi>"


@pytest.mark.parametrize("text", ["a\u200db", "👩\u200d", "👩\u200d👩", "💻\u200d👩", "\u200d💻"])
def test_a_joiner_that_joins_no_known_emoji_is_marked(text: str):
    assert read(untrusted(text)).text.count("U+200D") == 1


@pytest.mark.parametrize("hidden", ["gbxyz\x7f", "gbeng", "gbeng\x7f\x7f", "gbeng\x7fabc"])
def test_tags_that_spell_no_known_flag_are_marked(hidden: str):
    assert not set(tags(hidden)) & set(read(untrusted(f"🏴{tags(hidden)}")).text)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_text_brings_no_tag_but_its_own_marks(text: str):
    reader = read(untrusted(text))
    assert set(reader.tags) <= {"bdi", "span"}
    if not re.search(r"[^\x20-\x7e]", text):
        assert reader.text == text


@given(st.text())
def test_an_attribute_cannot_be_left(value: str):
    assert read(element("p", title=value)).tags == ["p"]


@pytest.mark.parametrize("unseen", ["\u202e", "\u200b", "\x00", "\x1b", "\ud800"])
def test_what_cannot_be_seen_is_shown(unseen: str):
    shown = untrusted(f"a{unseen * 2}b")
    assert unseen not in shown
    assert f"U+{ord(unseen):04X}×2" in shown
    shown.encode()


def test_the_policy_of_a_page_names_its_own_style_and_script_only():
    page = frame(title="t", heading="h", lead=joined(""), main=joined(""), data_name="d.json")
    policy = re.search(r'content="(default-src[^"]*)"', page)
    assert policy is not None
    assert re.fullmatch(
        r"default-src &#x27;none&#x27;; style-src &#x27;sha256-[\w+/=]+&#x27;; "
        r"script-src &#x27;sha256-[\w+/=]+&#x27;; base-uri &#x27;none&#x27;; "
        r"form-action &#x27;none&#x27;",
        policy[1],
    )
    assert "http://" not in page.replace('"http-equiv', "")
    assert "https://" not in page


def test_a_report_takes_the_place_of_the_one_before_and_of_nothing_else(tmp_path: Path):
    (tmp_path / "mine.txt").write_text("stays")
    for page in ("old", "new"):
        assert write_report(tmp_path, page, "{}") == tmp_path / "index.html"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "index.html",
        "mine.txt",
        "report.json",
    ]
    assert (tmp_path / "index.html").read_text() == "new"


def test_a_folder_that_cannot_be_is_the_callers_error(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="cannot write the report"):
        write_report(tmp_path / "file", "page", "{}")
    with pytest.raises(InvalidInput, match="cannot write the report"):
        write_report(tmp_path / "file" / "below", "page", "{}")


@pytest.mark.parametrize("provenance", list(Provenance))
def test_a_run_says_its_suite_and_whether_it_is_a_claim(provenance: Provenance):
    run = a_run(provenance=provenance, suite="<b>words", suite_tests=8, test_count=4)
    details = RunDetails(run=run, results=[], count=0, errors=[], categories=[])
    text = read(run_page(RunReport(details=details, results=[], tests={}), "report.json")).text
    assert "Suite <b>words, version aaaaaaaaaaaa, 4 of its 8 tests" in text
    claim = "reported: executed elsewhere, a claim"
    assert (claim in text) == (provenance is Provenance.REPORTED)


def test_a_result_says_in_which_turn_a_step_was_and_how_its_user_played():
    user = {"model": "m<i>", "ended": "finished", "score": 100.0, "findings": []}
    result = a_result(
        actual_output={"output": "Booked", "user": user},
        messages=[
            Message(role="user", content="A table?"),
            Message(role="assistant", content="Booked"),
        ],
        steps=[Step(tool="book", turn=2)],
        findings=[Finding(criterion="reply 2: contains x", passed=True, reason="has x")],
    )
    details = RunDetails(run=a_run(), results=[result], count=1, errors=[], categories=[])
    page = read(run_page(RunReport(details=details, results=[result], tests={}), "report.json"))
    assert "turn 2, claimed by the agent" in page.text
    assert "simulated user m<i>: said that it was finished; kept to its script: 100" in page.text
    assert "reply 2: contains x: has x" in page.text
    assert "i" not in page.tags


def test_a_run_that_its_budget_stopped_says_so():
    run = a_run(status=RunStatus.BUDGET_EXCEEDED, error_message="$1.00 of $1.00 spent (max_cost)")
    details = RunDetails(run=run, results=[], count=0, errors=[], categories=[])
    text = read(run_page(RunReport(details=details, results=[], tests={}), "report.json")).text
    assert "Stopped by its budget$1.00 of $1.00 spent" in text
    assert "budget exceeded" in text
    assert "budget_exceeded" not in text


def test_files_of_a_standard_are_shown_by_their_names():
    body = {"command": "true", "hidden": {"b.py": {"text": "import os"}, "a<i>.py": "x\ny"}}
    page = read(str(standard("verify", body)))
    assert "hiddena<i>.pyb.py" in page.text
    assert "import" not in page.text
    assert "i" not in page.tags
