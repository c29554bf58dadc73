"""Reviews in the database."""
