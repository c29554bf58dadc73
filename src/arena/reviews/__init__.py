"""What people still have to judge: checklists waiting for an answer, and the answers given.

A *review* is one submission that waits for people. Its *items* are those of every checklist in its
standard; an item is found by its *place* (which part of a composite) and its number. Each
*reviewer* answers an item with pass or fail; a second answer replaces the first, and several
reviewers become one by the review's rule. When every item has enough answers the review is
*answered*, its verdict is made, and whoever opened it takes the verdict: then it is *done*.

This room imports evaluation and the store. Runs and the market open reviews and take the verdicts.
"""
