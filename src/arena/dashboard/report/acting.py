"""What an agent did, for a report: its conversation, and the files it changed."""

from arena.dashboard.report.markup import Html, element, joined, untrusted
from arena.runs.run import Result
from arena.runs.user import user_text

SPEAKERS = {"system": "System", "user": "User", "assistant": "Agent"}
MOST_MESSAGES = 100
MESSAGE_CHARACTERS = 5_000
DIFF_CHARACTERS = 50_000
MOST_FILES = 100


def conversation(result: Result) -> Html | None:
    """The conversation as one; None if the agent was asked once."""
    if not result.messages:
        return None
    lines = [
        element(
            "li",
            element("b", SPEAKERS[message.role]),
            _block(_cut(message.content, MESSAGE_CHARACTERS), f"Message {number}"),
        )
        for number, message in enumerate(result.messages[:MOST_MESSAGES], start=1)
    ]
    rest = len(result.messages) - MOST_MESSAGES
    more = element("p", f"and {rest:,} more messages", class_="quiet") if rest > 0 else None
    return joined(element("h3", "Conversation"), element("ol", *lines), more)


def simulated_user(result: Result) -> Html | None:
    """How the user that a model played kept to its script; None without one."""
    lines = user_text(result.user).splitlines()
    if not lines:
        return None
    return joined(
        element("h3", "Simulated user"), *(element("p", untrusted(line)) for line in lines)
    )


def workspace(result: Result) -> Html | None:
    """What the agent made of its workspace; None if it had none."""
    found = result.workspace
    if found is None:
        return None
    changes = [f"{one['kind']} {one['path']}" for one in found.get("changes", ())]
    problems = list(found.get("problems", ()))
    unprotected = "Unprotected: the agent could have read the hidden files."
    diff = found.get("diff")
    return joined(
        element("h3", "Workspace"),
        element("p", unprotected, class_="cut") if found.get("is_protected") is False else None,
        _list(problems, "Left out"),
        _list(changes, "Changed files") or element("p", "No file was changed."),
        _block(_cut(diff, DIFF_CHARACTERS), "Difference") if diff else None,
    )


def _block(text: str, name: str) -> Html:
    # A scroll area must be reachable by keyboard.
    return element(
        "div",
        untrusted(text),
        class_="text",
        dir="auto",
        tabindex="0",
        role="region",
        aria_label=name,
    )


def _list(lines: list[str], title: str) -> Html | None:
    if not lines:
        return None
    shown = [element("li", untrusted(line)) for line in lines[:MOST_FILES]]
    rest = len(lines) - MOST_FILES
    more = element("li", f"and {rest:,} more", class_="quiet") if rest > 0 else None
    return joined(element("p", title), element("ul", *shown, more))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + "…"
