"""The tables of shared limits: slots, permits and pauses of places."""
