"""The metadata of all tables, for migrations."""

from arena.store.tables import boards, chain, market, queue, reviews, runs, scores
from arena.store.tables.table import Table

# Importing a file of tables adds them to the shared metadata.
ROOMS = (boards, chain, market, queue, reviews, runs, scores)
METADATA = Table.metadata
