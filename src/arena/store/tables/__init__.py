"""The tables, a file per room that keeps them. Names and columns of the documents stand.

A room imports the file it needs: mapping all of them would slow every start. `metadata` knows all.
"""
