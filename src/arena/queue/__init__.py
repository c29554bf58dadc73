"""The queue: work for any machine that runs a worker, delivered through PostgreSQL.

A *job* says that there is work of a *kind* in a *queue*; it is added in the transaction that makes
the work, and delivered to one worker at a time. The engine is Procrastinate. It only delivers, and
notices that a worker has died: what is done and what is left stands in Arena's own tables, so that
a job that is lost or delivered twice loses nothing but time. May import the store.
"""
