"""The door for the eye: finds the built page of `web/` and serves it at `/agent-dashboard`."""
