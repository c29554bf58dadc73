"""The libraries for chains leave the process as it was."""

import subprocess
import sys

CHECK = """
import sys
before = sys.getrecursionlimit()
from arena.chain.keys import Keys
from arena.chain.signing import salt_word
from arena.market.errors import BadSignature
from arena.market.wallets import message_signer
from arena.settings import Settings
try:
    message_signer(b"text", "0x00")
except BadSignature:
    pass
Keys(Settings(chain_keys=["alice:0x" + 64 * "1"])).address_of("alice")
salt_word("salt")
assert "py_ecc" in sys.modules
print(before == sys.getrecursionlimit())
"""


def test_a_nested_request_cannot_crash_a_process_that_uses_a_chain():
    """One of them raises the recursion limit, which is what refuses deep JSON."""
    done = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
