"""Tasks that people judge: the money follows the answers that stand."""

import pytest

from arena.evaluation import JudgePrompt, Means, Submission, Verdict
from arena.market import TaskReviews, TaskState
from arena.reviews import Answer, Reviews, ReviewStatus, SubjectKind
from arena.reviews.records import add_answers
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
