"""What the agents say, one file per part of the lab.

Every answer is a function of the desk and the request. It names the lab's objects by the lab's own
words: `userinterface`, `node`, `edge`, `device`, `host`, `service`, `testcase`, `requirement`.
"""
