"""The tables, one file per room. Table and column names are those of the project's documents.

A room imports only the file it needs: mapping all tables would slow every start. `metadata` has
all of them.
"""
