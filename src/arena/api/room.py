"""What the routes of every room have in common: a guard at the door, and names that read well."""

from fastapi import APIRouter, Depends
from fastapi.routing import APIRoute

from arena.api.access import authorize


def room_router(prefix: str, tag: str) -> APIRouter:
    """A router whose routes need a team."""
    return APIRouter(
        prefix=prefix,
        tags=[tag],
        dependencies=[Depends(authorize)],
        generate_unique_id_function=name_of,
    )


def name_of(route: APIRoute) -> str:
    """For generated clients: listTests, not listTestsApiBenchmarksTestsGet."""
    return route.name
