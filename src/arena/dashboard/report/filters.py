"""The fields that a report is filtered by."""

from collections.abc import Iterable

from arena.dashboard.report.markup import Html, element


def filter_bar(*fields: Html) -> Html:
    """The fields, and how much they leave."""
    shown = element("p", id="shown", role="status", class_="quiet")
    return element("div", *fields, shown, class_="filter", role="search")


def choice(name: str, label: str, everything: str, values: Iterable[str]) -> Html:
    """One of several values, or all."""
    options = [element("option", value, value=value) for value in values]
    every = element("option", everything, value="")
    return element("label", label, element("select", every, *options, name=name))


def search_field(label: str) -> Html:
    """A word that must occur."""
    return element("label", label, element("input", name="find", type="search", autocomplete="off"))
