"""What people still have to judge: checklists waiting for an answer, and the answers given."""
