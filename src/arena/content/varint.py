"""Numbers of variable length, as CIDs, nodes and archives write them."""

MAX_BITS = 63
"""What the field agrees on: a longer one is a mistake or an attack."""


def write_varint(number: int) -> bytes:
    """The number, seven bits a byte, least first."""
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at `at` and the place after it; ValueError where there is none."""
    number = shift = 0
    while True:
        if at >= len(data):
            raise ValueError("a number is cut off")
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            # One way to write each number, or the same content could have two names.
            if byte == 0 and shift:
                raise ValueError("a number is written longer than it needs")
            return number, at
        shift += 7
        if shift >= MAX_BITS:
            raise ValueError("a number is too large")
