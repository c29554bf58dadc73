"""The default provider: Linux namespaces, a seccomp allow list, limits and nothing else.

A zygote (a warm interpreter in a bubblewrap box without network, environment or rights) clones
itself for every submission into namespaces of its own. `box.py` says what such a box contains,
`filters.py` what the kernel will answer, `launch.py` starts it, `zygote.py` talks to it,
`streams.py` and `runs.py` follow one child from its request to its end, `workspace.py` is a
sandbox with files and commands, `pool.py` keeps Node warm, `probe.py` finds out what this machine
can do and `provider.py` puts it all together.
"""
