"""The queue's access to Arena's tables; PostgreSQL only."""
