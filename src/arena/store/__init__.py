"""The database, its tables and their migrations, on SQLite and PostgreSQL.

Other rooms open transactions here (`Database.reading`, `Database.writing`) and use the tables in
their `records`.
"""
