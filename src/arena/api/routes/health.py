"""The sign of health."""

from fastapi import APIRouter

import arena
from arena import schemas
from arena.api.room import name_of

router = APIRouter(generate_unique_id_function=name_of)


@router.get("/api/health", tags=["server"])
async def health() -> schemas.Health:
    """Whether the server works, and its version."""
    return schemas.Health(version=arena.__version__)
