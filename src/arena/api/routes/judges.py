"""Who judges: the models that the settings name, with the latest figures about them."""

import asyncio
from dataclasses import asdict

from arena import schemas
from arena.api.arena import House
from arena.api.problems import responses
from arena.api.room import room_router
from arena.evaluation.judge.prompt import PROMPT_VERSION

router = room_router("/api/judges", "evaluation")


@router.get("", responses=responses())
async def list_judges(house: House) -> schemas.JudgeList:
    """List the judge that the settings name, with its latest calibration; empty without one."""
    panel = house.judge.config.panel
    if panel is None:
        return schemas.JudgeList(judges=[], count=0)
    known = await asyncio.to_thread(house.judge.known, panel)
    shown = {
        **asdict(panel),
        **asdict(known),
        "id": panel.identity,
        "prompt_version": PROMPT_VERSION,
    }
    return schemas.JudgeList(judges=[schemas.Judge.model_validate(shown)], count=1)
