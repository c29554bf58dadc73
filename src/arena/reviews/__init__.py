"""Reviews by people: checklists that wait for answers, and the answers.

A *review* is one submission that waits for people. Its *items* are those of every checklist in its
standard; an item is identified by its *place* (which part of a composite) and its number. Each
*reviewer* answers an item with pass or fail; a second answer replaces the first, and the review's
rule combines several reviewers. When every item has enough answers the review is *answered*, its
verdict is made and passed to the run or task that opened it: then it is *done*.

This room imports evaluation and the store. Runs and the market open reviews and take the verdicts.
"""
