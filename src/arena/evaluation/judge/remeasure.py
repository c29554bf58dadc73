"""Many submissions judged anew, for measuring a judge: all of them or none."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from arena.evaluation.judge.judge import ModelJudge
from arena.evaluation.standard import JudgePrompt
from arena.evaluation.verdict import Submission, Verdict

AT_ONCE = 1000
"""Judgements under way; how many of them the endpoint sees is for its limits to say."""

Told = Callable[[int], None]
"""Hears how many judgements are done."""


async def remeasure(
    judge: ModelJudge, asked: Sequence[tuple[JudgePrompt, str]], told: Told, *, bare: bool = False
) -> list[Verdict]:
    """A fresh verdict on each; the first that fails ends it all, since half would mislead.

    What judge a standard asks for is left out: it is this one that is measured.
    """
    room = asyncio.Semaphore(AT_ONCE)
    done = 0

    async def one(standard: JudgePrompt, text: str) -> Verdict:
        nonlocal done
        async with room:
            own = replace(standard, judge=None)
            submission = Submission(output=text)
            verdict = await judge.judge(own, submission, fresh=True, bare=bare)
        done += 1
        told(done)
        return verdict

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(standard, text)) for standard, text in asked]
    except* Exception as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]
