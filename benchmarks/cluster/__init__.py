"""Arena on many machines, all of them on this one: PostgreSQL, a server, workers, an agent."""
