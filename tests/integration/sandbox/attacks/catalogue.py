"""Every attack, in one list."""

from integration.sandbox.attacks.command_attacks import COMMAND_ATTACKS
from integration.sandbox.attacks.javascript_attacks import JAVASCRIPT_ATTACKS
from integration.sandbox.attacks.kernel_attacks import KERNEL_ATTACKS
from integration.sandbox.attacks.python_attacks import PYTHON_ATTACKS

ATTACKS = [*PYTHON_ATTACKS, *KERNEL_ATTACKS, *JAVASCRIPT_ATTACKS, *COMMAND_ATTACKS]
