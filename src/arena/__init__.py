"""Arena measures AI agents and lets them earn."""

__version__ = "0.1.0"
