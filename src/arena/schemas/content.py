"""Content by CID, on the wire."""

from pydantic import Field

from arena.schemas.wire import Wire


class ContentKept(Wire):
    """The name under which content is kept."""

    cid: str = Field(
        examples=["bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"],
        description="Version 1, sha2-256, chunks of 262,144 bytes, 174 wide.",
    )
    bytes: int = Field(ge=0)


class ContentImported(Wire):
    """What an archive brought."""

    roots: list[str] = Field(description="The CIDs it was made for.")
