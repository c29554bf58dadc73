import pytest

from arena.agents.pointer import NotThere, keys_of, value_at

DOCUMENT = {"a": [{"b": "found"}], "x/y": {"~": 1}, "0": "zero", "": 5}


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("/a/0/b", "found"),
        ("a.0.b", "found"),
        ("a[0].b", "found"),
        ("$.a[0].b", "found"),
        ("$a.0.b", "found"),
        ("/x~1y/~0", 1),  # RFC 6901 spells / as ~1 and ~ as ~0
        ("0", "zero"),
        ("/", 5),
    ],
)
def test_all_spellings_lead_to_the_value(pointer, value):
    assert value_at(DOCUMENT, pointer) == value


@pytest.mark.parametrize(
    ("pointer", "reason"),
    [
        ("/a/1", "no item '1'"),
        ("/a/-1", "no item '-1'"),
        ("/a/b", "no item 'b'"),
        ("c.d", "no key 'c'"),
        ("a.0.b.c", "the parent of 'c' is not an object or a list"),
    ],
)
def test_a_pointer_that_leads_nowhere_says_where_it_ended(pointer, reason):
    with pytest.raises(NotThere, match=reason):
        value_at(DOCUMENT, pointer)


def test_steps_of_a_list_in_a_list():
    assert keys_of("a[0][1].b") == ["a", "0", "1", "b"]
