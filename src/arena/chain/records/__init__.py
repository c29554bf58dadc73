"""Transactions in the database: the only code of this room that uses the tables."""
