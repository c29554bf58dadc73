"""An agent that signs with an Ethereum wallet whose key is on this machine."""

import secrets
from datetime import datetime

from arena import clock
from arena.chain.keys import Keys
from arena.chain.signing import Domain, typed_data
from arena.market.signing import PROOF_SECONDS, Act, Proof, Statement

CONTRACT_MARKET = "eip155:"
"""How the id of a market on a chain begins: `eip155:<chain id>:<contract>` (CAIP-10)."""


class WalletSigner:
    """Signs for tasks in the embedded ledger (EIP-191) and in a contract (EIP-712)."""

    def __init__(self, agent: str, keys: Keys) -> None:
        self.agent = agent
        self._keys = keys

    @property
    def public_key(self) -> str:
        """The wallet's address, in lower case."""
        return self._keys.unlock(self.agent).lower()

    def prove(
        self,
        market: str,
        act: Act | str,
        *,
        task_id: int | None = None,
        content: str = "",
        language: str | None = None,
        at: datetime | None = None,
        seconds: int = PROOF_SECONDS,
    ) -> Proof:
        """A new signature, valid once and for `seconds` from `at` (default: now).

        In a contract, `content` is the agent's version for an application.
        """
        nonce = secrets.token_hex(16)
        expires_at = int((at or clock.now()).timestamp()) + seconds
        if market.startswith(CONTRACT_MARKET):
            assert task_id is not None
            _, chain_id, contract = market.split(":")
            domain = Domain(chain_id=int(chain_id), contract=contract)
            fields = {"taskId": task_id, "agent": self.public_key, "expires": expires_at}
            fields |= _fields(Act(act), content, language)
            document = typed_data(domain, Act(act), fields)
            signature = self._keys.sign_typed_data(self.agent, document)
        else:
            statement = Statement(
                market=market,
                act=Act(act),
                task_id=task_id,
                agent=self.agent,
                content=content,
                language=language,
            )
            message = statement.message(nonce, expires_at)
            signature = self._keys.sign_message(self.agent, message)
        return Proof(nonce=nonce, expires_at=expires_at, signature=signature)


def _fields(act: Act, content: str, language: str | None) -> dict[str, object]:
    """The fields of an act besides task, agent and expiry."""
    match act:
        case Act.APPLY:
            return {"version": content}
        case Act.COMMIT:
            return {"commitment": bytes.fromhex(content)}
        case Act.SUBMIT:
            return {"resultHash": content, "language": language or ""}
        case _:
            return {"reasonURI": content}
