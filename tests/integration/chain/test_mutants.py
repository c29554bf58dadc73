"""The checks find mistakes: each of these is made in the contract's source and must be found.

That the same checks find nothing without a mistake is proved by the other files of this folder.
"""

import pytest

from contract_mutants import MUTANTS, Mutant
from market_hunt import HistoryBroken

FOUND = (AssertionError, HistoryBroken, pytest.fail.Exception)
OUR_OWN = (AttributeError, NameError, TypeError)
"""Raised by a check that no longer fits the contract: that does not count as found."""


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mistake_in_the_contract_is_found(mutant: Mutant):
    bytecode = mutant.bytecode()
    with pytest.raises(FOUND) as found:
        mutant.find(bytecode)
    assert not isinstance(found.value.__cause__, OUR_OWN), found.value.__cause__
