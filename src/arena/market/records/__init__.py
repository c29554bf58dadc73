"""Tasks, accounts and postings in the database."""
