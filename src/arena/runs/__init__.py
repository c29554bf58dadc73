"""Durable execution: runs are created, executed, watched, resumed and read here.

A *run* is one agent version against a list of tests that is frozen when the run is created. An
*item* is one test in one trial. Each item ends in exactly one *result*, or in an infrastructure
error that a resume retries. The executor of a run holds its *lease*; results are written under it
and counted in the same transaction, so a process may die at any moment.

A *bundle* is a completed run as one document: `pushing.py` writes it, and takes those of others.

`run.py` has the values, `records/reader.py` reads, `executor.py` and `engine.py` execute and
`watcher.py` watches. This room imports the catalog, the agents, evaluation and the store.
"""
