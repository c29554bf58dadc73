"""What all tables are, for migrations."""

from arena.store.tables import market, reviews, runs, scores
from arena.store.tables.table import Table

# Importing a file of tables puts them into the metadata that they share.
ROOMS = (market, reviews, runs, scores)
METADATA = Table.metadata
