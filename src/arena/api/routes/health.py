"""The sign of health."""

from fastapi import APIRouter

import arena
from arena import schemas

router = APIRouter()


@router.get("/api/health", tags=["server"])
async def health() -> schemas.Health:
    """Whether the server works, and its version."""
    return schemas.Health(version=arena.__version__)
