"""Tasks that people judge: the money follows the answers that stand."""

import pytest
from pydantic import SecretStr

from arena.assembly import open_arena
from arena.evaluation import (
    JudgePrompt,
    Means,
    SealedFolder,
    Submission,
    Verdict,
    seal,
    write_private_part,
)
from arena.market import TaskReviews, TaskState
from arena.reviews import Answer, Reviews, ReviewStatus, SubjectKind
from arena.reviews.records import add_answers
from arena.settings import Settings
from market_desk import TEAM, Desk

STANDARD = {
    "type": "all_of",
    "all_of": [
        {"type": "checklist", "items": ["It works"]},
        {"type": "judge_prompt", "prompt": "Is it good?"},
    ],
}


def says(passed: bool) -> list[Answer]:
    return [Answer(place=(0,), item=0, passed=passed)]


@pytest.mark.parametrize(("first", "then", "state"), [(1, 0, "refunded"), (0, 1, "paid")])
async def test_an_answer_that_is_changed_while_the_verdict_is_made_decides(
    desk: Desk, first: int, then: int, state: str
):
    task_id = await desk.submitted(evaluation=STANDARD)
    asked: list[int] = []

    async def slow(_standard: JudgePrompt, _submission: Submission) -> Verdict:
        asked.append(1)
        if len(asked) == 1:
            await add_answers(desk.database, review_id, TEAM, "rita", says(bool(then)))
        return Verdict(score=20, passed=False, reasoning="hm", findings=())

    tasks = TaskReviews(desk.database, desk.market, desk.content, sandbox="", reviewers_needed=1)
    settlers = {SubjectKind.TASK: tasks.settle}
    reviews = Reviews(desk.database, Means(judge=slow), settlers)
    await reviews.open(await tasks.wanted(TEAM, task_id, by="jim"))
    (review,) = await reviews.list(TEAM)
    review_id = review.id
    done = await reviews.answer(review_id, TEAM, "rita", says(bool(first)))
    task = await desk.market.task(TEAM, task_id)
    assert (done.status, task.state) == (ReviewStatus.DONE, TaskState(state))
    assert (task.score, len(asked)) == (60 if then else 10, 2)


async def test_a_team_with_a_token_opens_only_the_hidden_cases_that_were_left_for_it(
    desk: Desk, settings: Settings
):
    shown, hidden = ({"input": [n, 1], "expected": n + 1, "hidden": n > 1} for n in (1, 2))
    public, openings = seal({"type": "test_cases", "functionName": "add", "cases": [shown, hidden]})
    people = {"type": "checklist", "items": ["It works"]}
    task_id = await desk.post(evaluation={"type": "all_of", "all_of": [people, public]})
    await desk.apply(task_id)
    await desk.assign(task_id)
    await desk.submit(task_id, b"def add(a, b): return a + b")

    everybodys = SealedFolder(settings.sealed_folder)

    def leave(folder: SealedFolder) -> None:
        file = folder.path([opening.commitment for opening in openings])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(write_private_part(openings))

    tokens = (SecretStr(f"{TEAM}:{'t' * 20}"),)
    async with open_arena(settings.model_copy(update={"tokens": tokens})) as house:
        await house.reviews.open(await house.task_reviews.wanted(TEAM, task_id, by="jim"))
        (review,) = await house.reviews.list(TEAM)
        leave(everybodys)
        leave(everybodys.of_team("blue"))
        answered = await house.reviews.answer(review.id, TEAM, "rita", says(True))
        assert "private part" in (answered.trouble or "")
        leave(everybodys.of_team(TEAM))
        done = await house.reviews.settle(answered)
        assert (done.status, done.trouble) == (ReviewStatus.DONE, None)
    assert (await desk.market.task(TEAM, task_id)).state is TaskState.PAID
