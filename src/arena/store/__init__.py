"""Where it is kept: the database, its tables and their migrations, on SQLite and PostgreSQL.

Other rooms open a transaction here (`Database.reading`, `Database.writing`) and reach the tables
from their `records`. This room imports nothing of the others.
"""
