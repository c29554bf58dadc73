"""Exports of a run: files for CI systems, spreadsheets and programs.

A file per format: each yields the text of its file in pieces, from an `ExportedRun`, so that
memory does not grow with the number of results. Text of agents is hostile; the file of a format
says how it is escaped. `target.py` writes the pieces. Only commands that export load this folder.
"""
