"""Workspaces: the files of a test, laid out for an agent, and read back from it.

The files that an agent leaves behind are hostile until proved otherwise: nothing here follows a
link, opens anything but a regular file, or reads more than its limits. Everything is plain files
and values; commands of a test run elsewhere, in the sandbox.

Words: *given* files are those that the test lays out; *collected* files are those that its
`collect` patterns name afterwards; a *hook* is a file that tools load or obey without being told
to (conftest.py, a .pth file, a Makefile).
"""
