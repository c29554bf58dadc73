"""An interactive review, item by item, with single keys."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from rich.console import Console
from rich.text import Text

from arena.cli import output
from arena.cli.conversation import as_text
from arena.cli.keys import Keys
from arena.reviews.review import ReviewAnswer, ReviewDetails, ReviewItem

HELP = "p pass · f fail · n note · s skip · b back · v view · q quit"
MAX_NOTE = 10_000
VERDICTS = {"p": True, "f": False}


Spot = tuple[tuple[int, ...], int]
"""An item: the place of its checklist, and its index in it."""


class Ending(Enum):
    """How a review ended."""

    FINISHED = "finished"
    QUIT = "quit"


@dataclass
class Session:
    """The session of one reviewer."""

    keys: Keys
    screen: Console
    reviewer: str

    async def review(
        self, details: ReviewDetails, heading: str, hints: Mapping[Spot, str]
    ) -> tuple[list[ReviewAnswer], Ending]:
        """The reviewer's answers to this review; also the answers so far if they quit."""
        self.screen.rule(style="dim")
        self.screen.print(output.plain(heading), style="dim")
        self.screen.print(output.plain(details.review.title), style="bold")
        await self._view(details)
        work = _Work.of(details, self.reviewer)
        work.hints = hints
        ending = await self._go_through(work, details)
        return work.answers, ending

    async def _go_through(self, work: "_Work", details: ReviewDetails) -> Ending:
        while True:
            while not work.is_through:
                self._ask(work)
                key = await self.keys.key()
                if key is None or key == "q":
                    self.screen.print()
                    return Ending.QUIT
                await self._do(key, work, details)
            # A program does not see the summary, so it need not confirm it.
            if not self.keys.is_live or not await self._goes_back(work):
                return Ending.FINISHED
            work.back()

    def _ask(self, work: "_Work") -> None:
        item = work.item
        self.screen.print(
            Text.assemble((f"[{work.at + 1}/{len(work.items)}] ", "bold"), output.plain(item.text))
        )
        hint = work.hints.get((item.place, item.item))
        if hint:
            self.screen.print(output.plain(f"      a model suggests: {hint}"), style="dim")
        given = work.given.get(work.at)
        if given is not None:
            self.screen.print(f"      you answered: {'pass' if given else 'fail'}", style="dim")
        note = work.notes.get(work.at)
        if note:
            self.screen.print(output.plain(f"      note: {note}"), style="dim")
        self.screen.print(f"      {HELP} ", style="dim", end="")

    async def _do(self, key: str, work: "_Work", details: ReviewDetails) -> None:
        if key in VERDICTS:
            self.screen.print("pass" if VERDICTS[key] else "fail")
            work.answer(VERDICTS[key])
        elif key == "n":
            self.screen.print("note: ", end="")
            note = await self.keys.line()
            if note is not None:
                work.notes[work.at] = note.strip()[:MAX_NOTE]
            if not self.keys.is_live:
                self.screen.print()
        elif key == "s":
            self.screen.print("skipped")
            work.at += 1
        elif key == "b":
            self.screen.print("back")
            work.back()
        else:
            self.screen.print()
            if key == "v":
                await self._view(details)

    async def _goes_back(self, work: "_Work") -> bool:
        passed = sum(work.given.values())
        summary = f"{passed} of {len(work.items)} pass"
        left = len(work.items) - len(work.given)
        if left:
            summary += f", {left} not answered"
        self.screen.print(f"{summary}: Enter sends, b goes back ", style="bold", end="")
        key = await self.keys.key()
        self.screen.print()
        return key == "b"

    async def _view(self, details: ReviewDetails) -> None:
        """Show the prompt and the submission, page by page if a person can turn pages."""
        text = Text.assemble(
            ("asked: ", "bold"),
            output.plain(details.prompt),
            "\n\n",
            ("answer:\n", "bold"),
            output.plain(details.submission),
        )
        if details.messages:
            said = as_text(details.messages, details.steps)
            text = Text.assemble(("conversation:\n", "bold"), said)
        if details.truncated:
            text.append("\n… the output was longer; it was cut here", "yellow")
        lines = list(text.wrap(self.screen, self.screen.width))
        page = max(self.screen.height - 2, 5) if self.keys.is_live else max(len(lines), 1)
        for start in range(0, len(lines), page):
            if start:
                left = output.counted(len(lines) - start, "line")
                message = f"— {left} more: space shows them, other keys continue —"
                self.screen.print(message, style="dim", end="")
                key = await self.keys.key()
                self.screen.print()
                if key != " ":
                    break
            for line in lines[start : start + page]:
                self.screen.print(line)
        self.screen.print()


@dataclass
class _Work:
    """Where the reviewer is, and their answers so far."""

    items: list[ReviewItem]
    given: dict[int, bool]
    notes: dict[int, str]
    hints: Mapping[Spot, str] = field(default_factory=dict[Spot, str])
    """A model's suggestions."""
    at: int = 0
    changed: set[int] = field(default_factory=set[int])

    @classmethod
    def of(cls, details: ReviewDetails, reviewer: str) -> "_Work":
        """Start with the reviewer's own earlier answers; those of others would bias them."""
        own = {
            number: answer
            for number, item in enumerate(details.items)
            for answer in item.answers
            if answer.reviewer == reviewer and answer.is_standing
        }
        return cls(
            items=list(details.items),
            given={number: answer.passed for number, answer in own.items()},
            notes={number: answer.note for number, answer in own.items() if answer.note},
        )

    @property
    def item(self) -> ReviewItem:
        return self.items[self.at]

    @property
    def is_through(self) -> bool:
        return self.at >= len(self.items)

    def answer(self, passed: bool) -> None:
        """Answer the current item and move on."""
        self.given[self.at] = passed
        self.changed.add(self.at)
        self.at += 1

    def back(self) -> None:
        """Go back one item, at most to the first."""
        self.at = max(0, min(self.at, len(self.items)) - 1)

    @property
    def answers(self) -> list[ReviewAnswer]:
        """The answers given in this session."""
        return [
            ReviewAnswer(
                place=self.items[number].place,
                item=self.items[number].item,
                passed=self.given[number],
                note=self.notes.get(number) or None,
            )
            for number in sorted(self.changed)
        ]
