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
    """Spec 01 section 5.1."""
    sign, whole, digits, suffix = FORM.match(text).groups()
    digits = digits or ''
    amount = Fraction(int((whole or '0') + digits), 10**len(digits))
    if suffix in DECIMAL_SUFFIX:
        amount *= Fraction(10)**DECIMAL_SUFFIX[suffix]
    elif suffix in BINARY_SUFFIX:
        amount *= 2**BINARY_SUFFIX[suffix]
    else:                                       # decimal exponent, e.g. 1e9
        amount *= Fraction(10)**int(suffix[1:])
    amount = Fraction(round_up(amount * 10**9), 10**9)      # digits below nano are rounded away from zero
    if suffix in BINARY_SUFFIX and amount > INT64_MAX:
        amount = Fraction(INT64_MAX)
    return -amount if sign == '-' else amount


def parse(text):
    """The exact amount of a quantity (01 5.1)."""
    return _parse(str(text).strip())


def parse_map(quantities):
    """A ResourceList as name -> amount; {} if absent (01 5.1)."""
    return {name: parse(text) for name, text in (quantities or {}).items()}


class Amount:
    """A quantity with its form. The form decides how a number that does not fit int64 is converted
    (01 5.1).

    The number is `digits` x 10^`exponent`. If `small` is true, upstream keeps the number in an
    int64, not in a big decimal.
    """
    SMALL_BINARY_DIGITS = {10: 11, 20: 8, 30: 5, 40: 2}

    def __init__(self, digits, exponent, small):
        self.digits, self.exponent, self.small = digits, exponent, small

    @staticmethod
    @functools.lru_cache(maxsize=None)
    def of(text):
        sign, whole, digits, suffix = FORM.match(text).groups()
        whole, digits = (whole or '').lstrip('0') or '0', digits or ''
        if suffix in BINARY_SUFFIX:
            small = not digits and len(whole) <= Amount.SMALL_BINARY_DIGITS.get(BINARY_SUFFIX[suffix], 0)
            exponent = 0 if small else -len(digits)
        else:
            exponent = DECIMAL_SUFFIX[suffix] if suffix in DECIMAL_SUFFIX else int(suffix[1:])
            small = len(whole) + len(digits) <= 18 and exponent - len(digits) >= -9
            exponent -= len(digits)
        exact = _parse(text)
        exponent = max(exponent, -9)
        if (exact / Fraction(10)**exponent).denominator != 1:       # the fraction of a binary quantity may need more digits
            exponent = -9
        return Amount(int(exact / Fraction(10)**exponent), 0 if exact == 0 else exponent, small or exact == 0)

    @property
    def exact(self):
        return self.digits * Fraction(10)**self.exponent

    def __add__(self, other):
        if not self.digits or not other.digits:
            return self if self.digits else other
        exponent = min(self.exponent, other.exponent)
        scaled = [a.digits * 10**(a.exponent - exponent) for a in (self, other)]
        small = self.small and other.small and all(-2**63 <= n < 2**63 for n in scaled + [sum(scaled)])
        if not small:                       # a sum that is not small has the finer scale of the two amounts
            return Amount(sum(scaled), exponent, False)
        return Amount(sum(scaled), exponent, True)

    def larger(self, other):
        """The larger of this amount and a later one. If the later one is larger, the result is
        `small` only if both amounts are."""
        return self if other.exact <= self.exact else Amount(other.digits, other.exponent, other.small and self.small)

    def integer(self, scale):
        """The amount in units of 10^scale, rounded up, as int64."""
        shift = self.exponent - scale
        if shift <= 0:
            quotient = Fraction(self.digits, 10**-shift)
            if self.small:
                return -round_up(-quotient) if quotient < 0 else round_up(quotient)
            if quotient.denominator == 1:
                return wrap(quotient.numerator)
            if quotient < 0:
                return wrap((-(-quotient.numerator // quotient.denominator) if -shift < 19 else quotient.numerator // quotient.denominator) + 1)
            return wrap(round_up(quotient))
        number = self.digits * 10**shift
        if self.small:
            if shift in (1, 2, 3, 6, 9):
                return 0 if self.digits == -2**63 else wrap(number)
            return number if -2**63 <= number < 2**63 else 0
        return wrap(number if shift <= 18 else self.digits * -2**63)


def amount_map(quantities):
    """A ResourceList as name -> Amount; {} if absent."""
    return {name: Amount.of(str(text).strip()) for name, text in (quantities or {}).items()}


def round_up(amount):
    """Ceiling of a fraction (01 5.1, Value)."""
    return -((-amount.numerator) // amount.denominator)


def wrap(number):
    """Two's complement wrap-around of int64 sums (05 1.1)."""
    number &= (1 << 64) - 1
    return number - (1 << 64) if number >> 63 else number


def truncate(number):
    """A float as int64, toward zero. amd64 converts numbers outside of int64 to the least int64."""
    return int(number) if -2.0**63 <= number < 2.0**63 else -2**63


def value(amount):
    """Value(): whole units, rounded up (01 5.1)."""
    if isinstance(amount, Amount):
        return amount.integer(0)
    return wrap(round_up(Fraction(amount)))


def milli_value(amount):
    """MilliValue(): thousandths, rounded up (01 5.1)."""
    if isinstance(amount, Amount):
        return amount.integer(-3)
    return wrap(round_up(Fraction(amount) * 1000))


def divide(a, b):
    """Integer division truncating toward zero (05 1.1)."""
    quotient = abs(a) // abs(b)
    return quotient if (a >= 0) == (b >= 0) else -quotient
