"""Runs and their results in the database: the only files of this room that use tables."""
