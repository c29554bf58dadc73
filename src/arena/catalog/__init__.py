"""What is asked: the tests, read from YAML files.

A *test* is a prompt with a standard. A *source* is a file of tests; whatever is wrong with it is a
*problem* with a line and a column. The *catalog* is an immutable snapshot of all tests, and the
*live catalog* swaps one snapshot for the next while files are edited. The *audit* asks whether the
tests are any good: agents that do nothing must not pass them. `builtin/` holds the tests that ship
with Arena.

This room imports `evaluation` and what lies below it; it knows no agents, no database and no web.
"""

from arena.catalog.audit import AuditFinding, audit
from arena.catalog.audits import AuditReport, Audits
from arena.catalog.catalog import Catalog, SourceState, lint, load_catalog
from arena.catalog.live import LiveCatalog
from arena.catalog.loader import read_source
from arena.catalog.problem import Problem
from arena.catalog.source import Source
from arena.catalog.test import Test, digest_of

__all__ = [
    "AuditFinding",
    "AuditReport",
    "Audits",
    "Catalog",
    "LiveCatalog",
    "Problem",
    "Source",
    "SourceState",
    "Test",
    "audit",
    "digest_of",
    "lint",
    "load_catalog",
    "read_source",
]
