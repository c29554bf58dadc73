# pragma version 0.4.3
"""
@notice Validation requests and responses as the text of ERC-8004 (2026-01-25) describes them. For
        tests.
"""

interface Identity:
    def ownerOf(tokenId: uint256) -> address: view

struct Status:
    validatorAddress: address
    agentId: uint256
    response: uint8
    responseHash: bytes32
    tag: String[64]
    lastUpdate: uint256

event ValidationRequest:
    validatorAddress: indexed(address)
    agentId: indexed(uint256)
    requestURI: String[256]
    requestHash: indexed(bytes32)

event ValidationResponse:
    validatorAddress: indexed(address)
    agentId: indexed(uint256)
    requestHash: indexed(bytes32)
    response: uint8
    responseURI: String[256]
    responseHash: bytes32
    tag: String[64]

identity: immutable(address)
requests: HashMap[bytes32, Status]


@deploy
def __init__(identity_registry: address):
    identity = identity_registry


@external
@view
def getIdentityRegistry() -> address:
    return identity


@external
def validationRequest(
    validatorAddress: address, agentId: uint256, requestURI: String[256], requestHash: bytes32
):
    assert msg.sender == staticcall Identity(identity).ownerOf(agentId), "not the owner"
    assert self.requests[requestHash].validatorAddress == empty(address), "exists"
    self.requests[requestHash] = Status(
        validatorAddress=validatorAddress,
        agentId=agentId,
        response=0,
        responseHash=empty(bytes32),
        tag="",
        lastUpdate=block.timestamp,
    )
    log ValidationRequest(
        validatorAddress=validatorAddress,
        agentId=agentId,
        requestURI=requestURI,
        requestHash=requestHash,
    )


@external
def validationResponse(
    requestHash: bytes32,
    response: uint8,
    responseURI: String[256],
    responseHash: bytes32,
    tag: String[64],
):
    status: Status = self.requests[requestHash]
    assert status.validatorAddress != empty(address), "no such request"
    assert msg.sender == status.validatorAddress, "not the validator"
    assert response <= 100, "more than 100"
    status.response = response
    status.responseHash = responseHash
    status.tag = tag
    status.lastUpdate = block.timestamp
    self.requests[requestHash] = status
    log ValidationResponse(
        validatorAddress=status.validatorAddress,
        agentId=status.agentId,
        requestHash=requestHash,
        response=response,
        responseURI=responseURI,
        responseHash=responseHash,
        tag=tag,
    )


@external
@view
def getValidationStatus(
    requestHash: bytes32,
) -> (address, uint256, uint8, bytes32, String[64], uint256):
    status: Status = self.requests[requestHash]
    assert status.validatorAddress != empty(address), "no such request"
    return (
        status.validatorAddress,
        status.agentId,
        status.response,
        status.responseHash,
        status.tag,
        status.lastUpdate,
    )
