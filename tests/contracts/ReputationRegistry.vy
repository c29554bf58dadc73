# pragma version 0.4.3
"""
@notice Feedback as the text of ERC-8004 (2026-01-25) describes it. For tests.
"""

interface Identity:
    def ownerOf(tokenId: uint256) -> address: view

struct Entry:
    value: int128
    valueDecimals: uint8
    tag1: String[64]
    tag2: String[64]

event NewFeedback:
    agentId: indexed(uint256)
    clientAddress: indexed(address)
    feedbackIndex: uint64
    value: int128
    valueDecimals: uint8
    indexedTag1: indexed(String[64])
    tag1: String[64]
    tag2: String[64]
    endpoint: String[256]
    feedbackURI: String[256]
    feedbackHash: bytes32

identity: immutable(address)
given: HashMap[uint256, HashMap[address, HashMap[uint64, Entry]]]
last: HashMap[uint256, HashMap[address, uint64]]


@deploy
def __init__(identity_registry: address):
    identity = identity_registry


@external
@view
def getIdentityRegistry() -> address:
    return identity


@external
def giveFeedback(
    agentId: uint256,
    amount: int128,
    valueDecimals: uint8,
    tag1: String[64],
    tag2: String[64],
    endpoint: String[256],
    feedbackURI: String[256],
    feedbackHash: bytes32,
):
    assert valueDecimals <= 18, "too many decimals"
    owner: address = staticcall Identity(identity).ownerOf(agentId)
    assert msg.sender != owner, "feedback on an own agent"
    self.last[agentId][msg.sender] += 1
    index: uint64 = self.last[agentId][msg.sender]
    self.given[agentId][msg.sender][index] = Entry(
        value=amount, valueDecimals=valueDecimals, tag1=tag1, tag2=tag2
    )
    log NewFeedback(
        agentId=agentId,
        clientAddress=msg.sender,
        feedbackIndex=index,
        value=amount,
        valueDecimals=valueDecimals,
        indexedTag1=tag1,
        tag1=tag1,
        tag2=tag2,
        endpoint=endpoint,
        feedbackURI=feedbackURI,
        feedbackHash=feedbackHash,
    )


@external
@view
def getLastIndex(agentId: uint256, clientAddress: address) -> uint64:
    return self.last[agentId][clientAddress]


@external
@view
def readFeedback(
    agentId: uint256, clientAddress: address, feedbackIndex: uint64
) -> (int128, uint8, String[64], String[64], bool):
    entry: Entry = self.given[agentId][clientAddress][feedbackIndex]
    return entry.value, entry.valueDecimals, entry.tag1, entry.tag2, False
