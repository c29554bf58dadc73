import pytest

from arena.lab.lab import open_lab
from arena.lab.names import Names, nearest_names
from arena.lab.records import Platform
from arena.lab.request import understand

LAB = open_lab()
NAMES = Names(LAB)


@pytest.mark.parametrize(
    ("prompt", "kind", "name"),
    [
        ("look at tc web 4", "testcase", "TC-WEB-04"),
        ("the shopping basket", "node", "cart"),
        ("back office", "userinterface", "web_backoffice"),
        ("the iPhone 15", "device", "iphone-15"),
        ("Galaxy-A14", "device", "galaxy-a14"),
        ("192.0.2.31", "host", "lab-stb-01"),
        ("result store", "service", "result-store"),
        ("req stb 7", "requirement", "REQ-STB-07"),
        ("ex 1019", "execution", "EX-1019"),
        ("the paymnet page", "node", "payment"),  # a slip of the pen
    ],
)
def test_a_thing_is_recognised_by_any_of_its_names(prompt: str, kind: str, name: str) -> None:
    assert understand(prompt, NAMES).names(kind) == (name,)


def test_a_long_name_hides_the_short_ones_inside_it() -> None:
    assert understand("search results", NAMES).names("node") == ("search_results",)


def test_an_identifier_must_be_right_to_the_letter() -> None:
    request = understand("open web_shopp", NAMES)

    assert request.unknown == ("web_shopp",)


def test_a_number_is_never_corrected() -> None:
    request = understand("load TC-WEB-99", NAMES)

    assert request.names("testcase") == ()
    assert request.unknown == ("TC-WEB-99",)


def test_a_corrected_word_is_owned_up_to() -> None:
    assert understand("the paymnet page", NAMES).read_as == (("paymnet", "payment"),)


def test_words_without_an_explanation_are_kept() -> None:
    assert understand("go to the swimming pool", NAMES).rest == ("swimming", "pool")


def test_the_platform_is_read_from_the_words_for_its_devices() -> None:
    assert understand("the tablets", NAMES).platforms == {Platform.MOBILE}
    assert understand("web and television", NAMES).platforms == {Platform.WEB, Platform.STB}


def test_a_start_is_told_from_a_goal() -> None:
    request = understand("from the cart to the payment", NAMES)
    starts = {mention.name: request.starts_from(mention) for mention in request.mentions}

    assert starts == {"cart": True, "payment": False}


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in LAB.testcases])
def test_every_test_case_is_found_by_its_id_and_by_its_title(case) -> None:
    assert understand(f"execute {case.id}", NAMES).names("testcase") == (case.id,)
    assert understand(f"execute '{case.title}'", NAMES).names("testcase") == (case.id,)


def test_near_names_are_offered_best_first() -> None:
    assert nearest_names("web_shopp", ["web_backoffice", "web_shop"])[0] == "web_shop"
    assert nearest_names("zzz", ["web_shop"]) == ()
