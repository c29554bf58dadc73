"""Where it is kept: the database, its tables and their migrations, on SQLite and PostgreSQL.

Other rooms open a transaction here (`Database.reading`, `Database.writing`) and reach the tables
from their one `records.py`. This room imports nothing of the others.
"""

from arena.store.database import Database, StoreUnavailable, open_database
from arena.store.whole import whole

__all__ = ["Database", "StoreUnavailable", "open_database", "whole"]
