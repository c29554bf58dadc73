"""What teams compete for on this machine: slots, threads and worker processes, each bounded.

Teams take turns at each of them (`rounds`), and none can take all of it (`spare`): one team's flood
delays its own work, not that of the others. The team is `arena.team.current_team()`.
"""
