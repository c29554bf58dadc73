import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.catalog.template import NoValue, Template, Use

VALUES = {
    "name": "Ada",
    "count": 3,
    "rate": 0.5,
    "tags": ["a", "b"],
    "user": {"name": "Bob", "age": 7},
    "a.b": "dotted",
    "first name": "spaced",
    "none": None,
    "yes": True,
    "cell": '["x", 2]',
    "braces": "{{name}}",
}


def rendered(text: object) -> object:
    return Template({"text": text}).render(VALUES)["text"]


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("Hello {{name}}!", "Hello Ada!"),
        ("{{ name }}", "Ada"),
        ("{{count}}", 3),  # nothing but a placeholder: its own type
        ("{{tags}}", ["a", "b"]),
        ("{{user}}", {"name": "Bob", "age": 7}),
        ("{{none}}", None),
        ("{{yes}} ", "true "),
        ("{{count}} of {{rate}}", "3 of 0.5"),
        ("tags: {{tags}}", 'tags: ["a", "b"]'),
        ("{{user.name}} is {{user.age}}", "Bob is 7"),
        ("{{a.b}}", "dotted"),
        ("{{first name}}", "spaced"),
        ("{{cell:json}}", ["x", 2]),
        ("{{count:json}}", 3),
        ("{{{{name}}", "{{name}}"),  # escaped
        ("{{{{{{name}}", "{{Ada"),
        ('{"a":{{count}}}', '{"a":3}'),
        ("{{1, 2}, {3, 4}}", "{{1, 2}, {3, 4}}"),  # no name: not a placeholder
        ("{{}} {name} }}", "{{}} {name} }}"),
        ("{{name\n}}", "{{name\n}}"),
        ("{{braces}}", "{{name}}"),  # a value is not a template
        ("<{{braces}}>", "<{{name}}>"),
        ({"a": ["{{count}}", "x"], "b": 1}, {"a": [3, "x"], "b": 1}),
        ({"{{name}}": "x"}, {"{{name}}": "x"}),  # keys are what they are
        (5, 5),
    ],
)
def test_a_placeholder_becomes_its_value(text: object, result: object) -> None:
    assert rendered(text) == result


def test_a_missing_variable_is_named_with_the_path_to_its_use() -> None:
    template = Template({"expected": {"contains": ["a", "{{nmae}}"]}})
    with pytest.raises(NoValue) as error:
        template.render(VALUES)
    assert error.value.message == "there is no variable 'nmae'; did you mean 'name'?"
    assert error.value.path == ("expected", "contains", 1)
    assert template.uses == [Use("nmae", ("expected", "contains", 1))]
    with pytest.raises(NoValue, match=r"no variable 'user\.mail'"):
        rendered("{{user.mail}}")
    with pytest.raises(NoValue, match="not valid JSON: Expecting value"):
        rendered("{{name:json}}")


def test_fixed_keys_are_left_as_they_are() -> None:
    template = Template({"id": "{{x}}", "prompt": "{{name}}"}, fixed=("id",))
    assert template.render(VALUES) == {"id": "{{x}}", "prompt": "Ada"}
    assert template.varying == {"prompt"}


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text().filter(lambda text: "{{" not in text),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(body=st.dictionaries(st.text(), PLAIN))
def test_a_body_without_placeholders_stays_what_it_is(body: dict[str, object]) -> None:
    template = Template(body)
    assert template.render({}) == body
    assert template.uses == []


@given(value=PLAIN)
def test_a_text_that_is_only_a_placeholder_becomes_any_value_unchanged(value: object) -> None:
    assert Template({"a": ["{{v}}"]}).render({"v": value}) == {"a": [value]}


@given(text=st.text())
def test_doubled_braces_stand_for_themselves(text: str) -> None:
    escaped = text.replace("{{", "{{{{")
    assert Template({"a": escaped}).render({})["a"] == text
