"""Quantiles of Student's t distribution in plain Python.

They are all that scipy would be needed for, and it would weigh more than the rest of Arena.
"""

import math
from functools import lru_cache
from statistics import NormalDist

from arena.errors import InvalidInput

SERIES_UP_TO = 200
"""Degrees of freedom summed term by term; above, the expansion is right to ten digits."""


def normal_quantile(confidence: float) -> float:
    """The z with P(|Z| <= z) = confidence: 1.96 for 0.95."""
    _check(confidence)
    return NormalDist().inv_cdf((1 + confidence) / 2)


@lru_cache(maxsize=4096)
def t_quantile(confidence: float, degrees: int) -> float:
    """The t with P(|T| <= t) = confidence at so many degrees of freedom: 2.262 for 0.95 and 9.

    Up to 200 degrees by bisection on the finite series of Abramowitz & Stegun (1964), 26.7.3 and
    26.7.4; above by their expansion 26.7.5 around the normal quantile.
    """
    _check(confidence)
    if degrees < 1:
        raise InvalidInput(f"{degrees} degrees of freedom; a t quantile needs at least 1")
    if degrees > SERIES_UP_TO:
        return _expansion(normal_quantile(confidence), degrees)
    low, high = 0.0, math.pi / 2
    # The angle atan(t/√degrees) is bounded where t is not; 60 halvings exhaust a float.
    for _ in range(60):
        middle = (low + high) / 2
        if _mass_within(middle, degrees) < confidence:
            low = middle
        else:
            high = middle
    return math.tan((low + high) / 2) * math.sqrt(degrees)


def _check(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise InvalidInput(f"confidence is {confidence}, must lie between 0 and 1")


def _mass_within(angle: float, degrees: int) -> float:
    """P(|T| <= t) for t = tan(angle)·√degrees."""
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2
    term = cosine if odd else 1.0
    total = term if degrees > 1 else 0.0
    for step in range(2 + odd, degrees, 2):
        term *= cosine * cosine * (step - 1) / step
        total += term
    return (angle + sine * total) * 2 / math.pi if odd else sine * total


def _expansion(z: float, degrees: int) -> float:
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    fourth = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + first / degrees + second / degrees**2 + third / degrees**3 + fourth / degrees**4
