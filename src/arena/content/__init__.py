"""Bytes by CID: put, get (always verified), pin, and archives to carry them.

A *CID* names content by its hash, so whoever has the name can check the bytes. Standards,
submissions and verdict records are kept here. May import `arena.errors` and `arena.clock`.
"""

from arena.content.archive import InvalidArchive, read_archive, write_archive
from arena.content.canonical import NotCanonical, canonical, read_canonical, read_json
from arena.content.cid import Cid, parse_cid
from arena.content.errors import (
    ContentCorrupt,
    ContentMalformed,
    ContentMissing,
    ContentTooLarge,
)
from arena.content.store import LocalStore
from arena.content.tree import V0, V1, Profile, cid_of

__all__ = [
    "V0",
    "V1",
    "Cid",
    "ContentCorrupt",
    "ContentMalformed",
    "ContentMissing",
    "ContentTooLarge",
    "InvalidArchive",
    "LocalStore",
    "NotCanonical",
    "Profile",
    "canonical",
    "cid_of",
    "parse_cid",
    "read_archive",
    "read_canonical",
    "read_json",
    "write_archive",
]
