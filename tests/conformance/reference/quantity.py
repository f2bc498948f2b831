# SPDX-License-Identifier: Apache-2.0
"""Quantities and 64 bit integer arithmetic (specification 01 5.1, 05 1.1)."""
import functools
import re
from fractions import Fraction

INT64_MAX = 2**63 - 1
DECIMAL_SUFFIX = {'': 0, 'n': -9, 'u': -6, 'm': -3, 'k': 3, 'M': 6, 'G': 9, 'T': 12, 'P': 15, 'E': 18}
BINARY_SUFFIX = {'Ki': 10, 'Mi': 20, 'Gi': 30, 'Ti': 40, 'Pi': 50, 'Ei': 60}
FORM = re.compile(r'^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[+-]?\d*)$')


@functools.lru_cache(maxsize=None)
def _parse(text):
    """01 5.1."""
    sign, whole, digits, suffix = FORM.match(text).groups()
    digits = digits or ''
    amount = Fraction(int((whole or '0') + digits), 10**len(digits))
    if suffix in DECIMAL_SUFFIX:
        amount *= Fraction(10)**DECIMAL_SUFFIX[suffix]
    elif suffix in BINARY_SUFFIX:
        amount *= 2**BINARY_SUFFIX[suffix]
    else:                                       # decimal exponent, e.g. 1e9
        amount *= Fraction(10)**int(suffix[1:])
    amount = Fraction(round_up(amount * 10**9), 10**9)      # finer than nano is rounded away from zero
    if suffix in BINARY_SUFFIX and amount > INT64_MAX:
        amount = Fraction(INT64_MAX)
    return -amount if sign == '-' else amount


def parse(text):
    """The exact amount of a quantity (01 5.1)."""
    return _parse(str(text).strip())


def parse_map(quantities):
    """A ResourceList as name -> amount; absent is empty (01 5.1)."""
    return {name: parse(text) for name, text in (quantities or {}).items()}


def round_up(amount):
    """Ceiling of a fraction (01 5.1, Value)."""
    return -((-amount.numerator) // amount.denominator)


def wrap(number):
    """Two's complement wrap-around of int64 sums (05 1.1)."""
    number &= (1 << 64) - 1
    return number - (1 << 64) if number >> 63 else number


def value(amount):
    """Value(): whole units, rounded up (01 5.1)."""
    return wrap(round_up(Fraction(amount)))


def milli_value(amount):
    """MilliValue(): thousandths, rounded up (01 5.1)."""
    return wrap(round_up(Fraction(amount) * 1000))


def divide(a, b):
    """Integer division truncating toward zero (05 1.1)."""
    quotient = abs(a) // abs(b)
    return quotient if (a >= 0) == (b >= 0) else -quotient
