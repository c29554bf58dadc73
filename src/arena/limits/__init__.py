"""Limits that hold across all machines of one database: calls at once, calls per minute, pauses.

A *place* is what is limited: an agent, a model, the judge calls of a team. A worker *leases slots*
of a place, for a team, and keeps them from call to call, so that a call costs no statement; a
*permit* is the right to start one call, and counts until it is as old as the window. A worker that
dies keeps its slots until its last calls must have ended. How slots are divided is decided by a
pure function (`shares.py`), in a transaction under the lock of the place's row (`records.py`);
`SharedTurns` is what callers wait for, `SharedLimits` has those of a process and renews them. All
times are those of the database. May import the store, models and what is below.
"""
