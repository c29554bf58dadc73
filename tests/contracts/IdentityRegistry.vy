# pragma version 0.4.3
"""
@notice The part of ERC-8004's Identity Registry (text of 2026-01-25) that Arena uses. As the one
        that is in use on several chains, it has no agentExists. For tests.
"""

event Transfer:
    sender: indexed(address)
    receiver: indexed(address)
    tokenId: indexed(uint256)

event Registered:
    agentId: indexed(uint256)
    agentURI: String[2048]
    owner: indexed(address)

event URIUpdated:
    agentId: indexed(uint256)
    newURI: String[2048]
    updatedBy: indexed(address)

owners: HashMap[uint256, address]
wallets: HashMap[uint256, address]
uris: HashMap[uint256, String[2048]]
count: uint256


@external
def register(agentURI: String[2048] = "") -> uint256:
    number: uint256 = self.count
    self.count += 1
    self.owners[number] = msg.sender
    self.wallets[number] = msg.sender
    self.uris[number] = agentURI
    log Transfer(sender=empty(address), receiver=msg.sender, tokenId=number)
    log Registered(agentId=number, agentURI=agentURI, owner=msg.sender)
    return number


@external
def setAgentURI(agentId: uint256, newURI: String[2048]):
    assert msg.sender == self._owner(agentId), "not the owner"
    self.uris[agentId] = newURI
    log URIUpdated(agentId=agentId, newURI=newURI, updatedBy=msg.sender)


@external
def transferFrom(sender: address, receiver: address, tokenId: uint256):
    assert msg.sender == self._owner(tokenId) and sender == msg.sender, "not the owner"
    self.owners[tokenId] = receiver
    # As the text says: the new owner has to prove its wallet first.
    self.wallets[tokenId] = empty(address)
    log Transfer(sender=sender, receiver=receiver, tokenId=tokenId)


@external
@view
def ownerOf(tokenId: uint256) -> address:
    return self._owner(tokenId)


@external
@view
def getAgentWallet(agentId: uint256) -> address:
    return self.wallets[agentId]


@external
@view
def tokenURI(tokenId: uint256) -> String[2048]:
    self._owner(tokenId)
    return self.uris[tokenId]


@internal
@view
def _owner(number: uint256) -> address:
    assert self.owners[number] != empty(address), "no such token"
    return self.owners[number]
