# SPDX-License-Identifier: Apache-2.0
"""CEL device selectors: parser and evaluator (specification 12b; "12b 5" means section 5 of 12b).

There is no type checker and no cost limit. The model refuses to compile an expression only for
wrong syntax. If upstream refuses it for another reason, the model finds the error only when
evaluation reaches it.
"""
import functools
import ipaddress
import re
from fractions import Fraction

from .quantity import BINARY_SUFFIX, DECIMAL_SUFFIX


class CelError(Exception):
    """A run-time error."""


class FatalError(CelError):
    """An error that no operator absorbs."""


class CompileError(Exception):
    """An expression that is not valid CEL."""


# --- values (12b 3)

class Uint(int):
    pass


class Quantity:
    def __init__(self, amount, is_integer=True, is_computed=False):
        self.amount, self.is_integer, self.is_computed = amount, is_integer, is_computed


class Semver:
    def __init__(self, order, numbers):
        self.order, self.numbers = order, numbers


class Optional:
    def __init__(self, *content):
        self.content = content


class Type:
    def __init__(self, name):
        self.name = name


class IP:
    def __init__(self, address):
        self.address = address


class CIDR:
    def __init__(self, network):
        self.network = network


class Domains(dict):
    """A map in which every missing key has an empty map as its value (12b 4)."""


class Lazy:
    """The value of a variable of cel.bind, computed when the variable is first read."""

    def __init__(self, compute):
        self.compute, self.outcome = compute, None

    def get(self):
        if self.outcome is None:
            try:
                self.outcome = (self.compute(), None)
            except CelError as e:
                self.outcome = (None, e)
        if self.outcome[1] is not None:
            raise self.outcome[1]
        return self.outcome[0]


TYPE_NAMES = ((bool, 'bool'), (Uint, 'uint'), (int, 'int'), (float, 'double'), (str, 'string'), (list, 'list'), (dict, 'map'), (Quantity, 'kubernetes.Quantity'),
              (Semver, 'kubernetes.Semver'), (Optional, 'optional_type'), (Type, 'type'), (CIDR, 'net.CIDR'), (IP, 'net.IP'))
GO_NAMES = {'int': 'types.Int', 'string': 'types.String', 'bool': 'types.Bool', 'double': 'types.Double', 'uint': 'types.Uint', 'null_type': 'types.Null',
            'optional_type': '*types.Optional', 'kubernetes.Semver': 'cel.Semver', 'kubernetes.Quantity': 'cel.Quantity'}


def type_name(value):
    return next((name for kind, name in TYPE_NAMES if isinstance(value, kind)), 'null_type')


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def in_range(number):
    if not -2**63 <= number < 2**63:
        raise CelError('integer overflow')
    return number


def parse_quantity(text):
    """Spec 12b section 9.7."""
    m = re.fullmatch(r'([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)', text)
    if not m:
        raise CelError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
    number, suffix = m.groups()
    if suffix not in DECIMAL_SUFFIX and suffix not in BINARY_SUFFIX and not re.fullmatch('[eE][-+]?[0-9]+', suffix):
        raise CelError("unable to parse quantity's suffix")
    whole, _, digits = number.lstrip('+-').partition('.')
    amount = Fraction(int((whole or '0') + digits), 10**len(digits))
    if suffix in BINARY_SUFFIX:
        amount *= 2**BINARY_SUFFIX[suffix]
        is_integer = not digits and 15 - len(whole) - int(0.3 * BINARY_SUFFIX[suffix]) - 1 >= 0
    else:
        exponent = DECIMAL_SUFFIX[suffix] if suffix in DECIMAL_SUFFIX else int(suffix[1:])
        amount *= Fraction(10)**exponent
        is_integer = len(whole + digits) <= 18 and exponent - len(digits) >= 0
    return Quantity(-amount if number[0] == '-' else amount, is_integer and amount < 2**63)


def parse_semver(text, normalize=False):
    """Spec 12b section 9.8."""
    if normalize:
        parts = (text[1:] if text[:1] == 'v' else text).split('.', 2)
        for i, part in enumerate(parts):
            if len(part) > 1:
                part = part.lstrip('0')
                parts[i] = part if part[:1].isdigit() else '0' + part
        if len(parts) < 3:
            if '+' in parts[-1] or '-' in parts[-1]:
                raise CelError('short version cannot contain PreRelease/Build meta data')
            parts += ['0'] * (3 - len(parts))
        text = '.'.join(parts)
    if text == '':
        raise CelError('Version string empty')
    parts = text.split('.', 2)
    if len(parts) < 3:
        raise CelError('No Major.Minor.Patch elements found')
    rest, plus, build = parts[2].partition('+')
    patch, dash, pre = rest.partition('-')
    numbers, order = [], []
    for part, what in ((parts[0], 'Major'), (parts[1], 'Minor'), (patch, 'Patch')):
        if not re.fullmatch('[0-9]+', part):
            raise CelError('Invalid character(s) found in %s number "%s"' % (what.lower(), part))
        if len(part) > 1 and part[0] == '0':
            raise CelError('%s number must not contain leading zeroes "%s"' % (what, part))
        numbers.append(int(part))
    for part in pre.split('.') if dash else []:
        if part == '':
            raise CelError('Prerelease is empty')
        if not re.fullmatch('[0-9A-Za-z-]+', part):
            raise CelError('Invalid character(s) found in prerelease "%s"' % part)
        order.append((0, int(part), '') if part.isdigit() else (1, 0, part))
    for part in build.split('.') if plus else []:
        if part == '':
            raise CelError('Build meta data is empty')
        if not re.fullmatch('[0-9A-Za-z-]+', part):
            raise CelError('Invalid character(s) found in build meta data "%s"' % part)
    return Semver((tuple(numbers), 0 if order else 1, order), numbers)


# --- parser (12b 5)

BLANK = r'(?:\s|//[^\n]*)*'
TOKEN = re.compile(BLANK + r'''(?:(?P<double>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)|(?P<uint>\d+[uU])|(?P<int>0x[0-9a-fA-F]+|\d+)
|(?P<string>[rR]?(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))|(?P<name>[A-Za-z_]\w*)|(?P<op>\|\||&&|==|!=|<=|>=|[-<>!+*/%().,\[\]?:{}]))'''.replace('\n', ''))
RESERVED = ('package', 'as', 'for', 'if', 'var', 'in')


def unescape(text):
    return re.sub(r'\\u([0-9a-fA-F]{4})|\\(.)', lambda m: chr(int(m[1], 16)) if m[1] else {'n': '\n', 't': '\t'}.get(m[2], m[2]), text)


def tokens(text):
    position, out = 0, []
    while True:
        m = TOKEN.match(text, position)
        if not m:
            if re.fullmatch(BLANK, text[position:]):
                return out + [('end', '')]
            raise CompileError('Syntax error')
        position, kind, part = m.end(), m.lastgroup, m.group(m.lastgroup)
        if kind == 'string':
            part = part[2:-1] if part[0] in 'rR' else unescape(part[1:-1])
        out.append((kind, part))


class Parser:
    """Recursive descent; a node of the tree is a tuple that starts with its kind."""

    def __init__(self, text):
        self.tokens, self.i = tokens(text), 0

    def peek(self, ahead=0): return self.tokens[min(self.i + ahead, len(self.tokens) - 1)]

    def accept(self, *operators):
        kind, text = self.peek()
        if (kind == 'op' or (kind, text) == ('name', 'in')) and text in operators:
            self.i += 1
            return text
        return None

    def need(self, operator):
        if not self.accept(operator):
            raise CompileError('Syntax error')

    def expression(self):
        """Spec 12b section 5."""
        condition = self.either()
        if not self.accept('?'):
            return condition
        yes = self.either()
        self.need(':')
        return ('?', condition, yes, self.expression())

    def chain(self, operator, operand):
        parts = [operand()]
        while self.accept(operator):
            parts.append(operand())
        return parts[0] if len(parts) == 1 else (operator, parts)

    def either(self): return self.chain('||', self.both)
    def both(self): return self.chain('&&', self.relation)

    def left(self, operand, *operators):
        a = operand()
        while True:
            operator = self.accept(*operators)
            if not operator:
                return a
            a = ('binary', operator, a, operand())

    def relation(self): return self.left(self.sum, '<', '<=', '>=', '>', '==', '!=', 'in')
    def sum(self): return self.left(self.product, '+', '-')
    def product(self): return self.left(self.unary, '*', '/', '%')

    def unary(self):
        """Spec 12b section 5; a minus before a number belongs to the literal."""
        count = 0
        if self.peek() == ('op', '!'):
            while self.accept('!'):
                count += 1
            operand = self.member()
            return ('not', operand) if count % 2 else operand
        while self.peek() == ('op', '-') and self.peek(1)[0] not in ('int', 'double'):
            self.i += 1
            count += 1
        operand = self.member()
        return ('negate', operand) if count % 2 else operand

    def arguments(self, end=')'):
        found = []
        while not self.accept(end):
            optional = self.accept('?') if end == ']' else None
            value = self.expression()
            found.append(('optional element', value) if optional else value)
            if self.peek() != ('op', end):
                self.need(',')
                if self.peek() == ('op', end) and end == ')':
                    raise CompileError('Syntax error')
        return found

    def map(self):
        entries = []
        while not self.accept('}'):
            key = self.expression()
            self.need(':')
            entries.append((key, self.expression()))
            if self.peek() != ('op', '}'):
                self.need(',')
        return ('map', entries)

    def primary(self):
        """Spec 12b section 5."""
        kind, text = self.peek()
        sign = 1
        if (kind, text) == ('op', '-'):
            self.i += 1
            sign, (kind, text) = -1, self.peek()
            if kind not in ('int', 'double'):
                raise CompileError('Syntax error')
        self.i += 1
        if kind == 'int':
            if not -2**63 <= sign * int(text, 0) < 2**63:
                raise CompileError('invalid int literal')
            return ('literal', sign * int(text, 0))
        if kind == 'double':
            return ('literal', sign * float(text))
        if kind == 'uint':
            return ('literal', Uint(int(text[:-1])))
        if kind == 'string':
            return ('literal', text)
        if kind == 'op' and text == '(':
            inner = self.expression()
            self.need(')')
            return inner
        if kind == 'op' and text == '[':
            return ('list', self.arguments(']'))
        if kind == 'op' and text == '{':
            return self.map()
        if kind != 'name' or text == 'in':
            raise CompileError('Syntax error')
        if text in ('true', 'false', 'null'):
            return ('literal', {'true': True, 'false': False, 'null': None}[text])
        if text in RESERVED:
            raise CompileError('reserved identifier: ' + text)
        return ('call', text, None, self.arguments()) if self.accept('(') else ('variable', text)

    def member(self):
        value = self.primary()
        while True:
            if self.accept('.'):
                optional = self.accept('?')
                kind, text = self.peek()
                if kind != 'name':
                    raise CompileError('Syntax error')
                self.i += 1
                if not optional and self.accept('('):
                    value = ('call', text, value, self.arguments())
                else:
                    value = ('optional select' if optional else 'select', value, text)
            elif self.accept('['):
                optional = self.accept('?')
                index = self.expression()
                self.need(']')
                value = ('optional index' if optional else 'index', value, index)
            else:
                return value


@functools.lru_cache(maxsize=None)
def parse(text):
    """The tree of an expression (12b 5)."""
    parser = Parser(text)
    tree = parser.expression()
    if parser.peek()[0] != 'end':
        raise CompileError('Syntax error')
    return tree


# --- evaluation (12b 8)

def equal(a, b):
    """Spec 12b section 8."""
    if a is None or b is None:
        return a is b
    if isinstance(a, (Quantity, Semver, IP)):
        if type(a) is not type(b) or isinstance(b, Quantity) and b.is_computed:
            raise CelError('no such overload')
        return a.amount == b.amount if isinstance(a, Quantity) else a.order == b.order if isinstance(a, Semver) else a.address == b.address
    if is_number(a) and is_number(b):
        return a == b
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and not any(differ_for_sure(x, y) for x, y in zip(a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return set(a) == set(b) and not any(differ_for_sure(a[k], b[k]) for k in a)
    if isinstance(a, Optional) and isinstance(b, Optional):
        return bool(a.content) == bool(b.content) and (not a.content or equal(a.content[0], b.content[0]))
    if isinstance(a, Type) and isinstance(b, Type):
        return a.name == b.name
    return type_name(a) == type_name(b) and a == b


def differ_for_sure(a, b):
    """Whether a and b differ; values that cannot be compared count as equal (12b 8)."""
    try:
        return not equal(a, b)
    except CelError:
        return False


def is_equal(a, b):
    """Equality in which an error counts as false, for "in", "!=" and sets (12b 8)."""
    try:
        return equal(a, b)
    except CelError:
        return False


def lookup(container, key):
    """The value of a selection or an index (12b 8)."""
    if isinstance(container, dict) and not isinstance(key, bool) and isinstance(key, (str, int, float)) and key in container:
        return container[key]
    if isinstance(container, Domains):
        return {}
    if isinstance(container, list):
        if not is_number(key):
            raise CelError("unsupported index type '%s' in list" % type_name(key))
        if key != int(key):
            raise CelError('unsupported index value %s in list' % key)
        if not 0 <= key < len(container):
            raise CelError('index out of bounds: %d' % key)
        return container[int(key)]
    raise CelError('no such key: %s' % as_text(key))


def as_text(key):
    """A key as error texts print it (12b 8.3)."""
    if isinstance(key, bool) or key is None:
        return {True: 'true', False: 'false', None: 'null'}[key]
    return '%g' % key if isinstance(key, float) else str(key)


def boolean(value):
    if not isinstance(value, bool):
        raise CelError('no such overload')
    return value


def evaluate(e, env):
    """The value of a tree; env: name -> value (12b 8)."""
    kind = e[0]
    if kind == 'literal':
        return e[1]
    if kind == 'variable':
        if e[1] in env:
            return env[e[1]].get() if isinstance(env[e[1]], Lazy) else env[e[1]]
        if e[1] in ('int', 'string', 'bool', 'double', 'uint', 'list', 'map'):
            return Type(e[1])
        raise CelError("undeclared reference to '%s' (in container '')" % e[1])
    if kind == 'list':
        out = []
        for x in e[1]:
            out += evaluate(x[1], env).content if x[0] == 'optional element' else [evaluate(x, env)]
        return out
    if kind == 'map':
        return {evaluate(k, env): evaluate(v, env) for k, v in e[1]}
    if kind in ('select', 'index', 'optional select', 'optional index'):
        container = evaluate(e[1], env)
        key = e[2] if kind.endswith('select') else evaluate(e[2], env)
        if kind in ('select', 'index') and not isinstance(container, Optional):
            return lookup(container, key)
        if isinstance(container, Optional):
            if not container.content:
                return container
            container = container.content[0]
        try:
            return Optional(lookup(container, key))
        except CelError:
            return Optional()
    if kind in ('||', '&&'):            # an operand that decides the result takes precedence over an error
        first_error = None
        for x in e[1]:
            try:
                if boolean(evaluate(x, env)) == (kind == '||'):
                    return kind == '||'
            except FatalError:
                raise
            except CelError as error:
                first_error = first_error or error
        if first_error:
            raise first_error
        return kind == '&&'
    if kind == 'not':
        return not boolean(evaluate(e[1], env))
    if kind == 'negate':
        value = evaluate(e[1], env)
        if isinstance(value, (bool, str)):
            raise CelError('no such overload')
        if not is_number(value) or isinstance(value, Uint):
            raise CelError('no such overload: -_')
        return -value if isinstance(value, float) else in_range(-value)
    if kind == '?':
        return evaluate(e[2] if boolean(evaluate(e[1], env)) else e[3], env)
    if kind == 'binary':
        return binary(e[1], e[2], e[3], env)
    return call(e[1], e[2], e[3], env)


def binary(operator, left, right, env):
    """Spec 12b sections 8 and 9.1."""
    if operator == 'in' and right == ('list', []):
        return False
    a, b = evaluate(left, env), evaluate(right, env)
    if operator == 'in':
        if isinstance(b, list):
            constant = right[0] == 'list' and right[1] and all(x[0] == 'literal' and x[1] is not None for x in right[1])
            if constant and isinstance(a, Semver):
                raise FatalError('internal error: runtime error: hash of unhashable type cel.Semver')
            return any(is_equal(a, x) for x in b)
        if isinstance(b, dict):
            return a in b
        raise CelError('no such overload')
    if operator == '==':
        return equal(a, b)
    if operator == '!=':
        return not is_equal(a, b)
    if operator in ('<', '<=', '>', '>='):
        if a is None or isinstance(a, (list, dict, Quantity, Semver, Type, Optional)):
            raise CelError('no such overload: _%s_' % operator)
        if not (is_number(a) and is_number(b) or type_name(a) == type_name(b)):
            raise CelError('no such overload')
        return {'<': a < b, '<=': a <= b, '>': a > b, '>=': a >= b}[operator]
    if a is None or isinstance(a, (bool, dict, Quantity, Semver, Optional, Type)):
        raise CelError('no such overload: _%s_' % operator)
    if operator == '+' and isinstance(a, (list, str)) and type_name(a) == type_name(b):
        return a + b
    if operator != '+' and isinstance(a, list) or operator == '%' and isinstance(a, float):
        raise CelError('no such overload: _%s_' % operator)
    if not is_number(a) or type_name(a) != type_name(b):
        raise CelError('no such overload')
    return arithmetic(operator, a, b)


def arithmetic(operator, a, b):
    """Spec 12b section 8."""
    if isinstance(a, float):
        if operator == '/':
            return a / b if b else float('inf')
        return {'+': a + b, '-': a - b, '*': a * b}[operator]
    if operator in '/%':
        if b == 0:
            raise CelError('division by zero' if operator == '/' else 'modulus by zero')
        quotient = abs(a) // abs(b) if (a >= 0) == (b >= 0) else -(abs(a) // abs(b))
        result = quotient if operator == '/' else a - quotient * b
    else:
        result = {'+': a + b, '-': a - b, '*': a * b}[operator]
    if isinstance(a, Uint):
        if not 0 <= result < 2**64:
            raise CelError('unsigned integer overflow')
        return Uint(result)
    return in_range(int(result))


def macro(function, receiver, arguments, env):
    """all, exists, exists_one, map and filter (12b 6)."""
    over = evaluate(receiver, env)
    if function in ('all', 'exists', 'exists_one') and len(arguments) == 3:
        if not isinstance(over, (list, dict)):
            raise CelError('unsupported comprehension range type: ' + GO_NAMES.get(type_name(over), type_name(over)))
        pairs = list(enumerate(over)) if isinstance(over, list) else list(over.items())
        scopes = [{**env, arguments[0][1]: a, arguments[1][1]: b} for a, b in pairs]
    else:
        if not isinstance(over, (list, dict)):
            raise CelError("got '%s', expected iterable type" % GO_NAMES.get(type_name(over), type_name(over)))
        scopes = [{**env, arguments[0][1]: a} for a in over]
    first_error, count, out = None, 0, []
    for scope in scopes:
        try:
            if function == 'map':
                if len(arguments) < 3 or evaluate(arguments[1], scope):
                    out.append(evaluate(arguments[-1], scope))
                continue
            holds = boolean(evaluate(arguments[-1], scope))
            if function == 'all' and not holds:
                return False
            if function == 'exists' and holds:
                return True
            if holds:
                count += 1
                out.append(scope[arguments[0][1]])
        except FatalError:
            raise
        except CelError as error:
            first_error = first_error or error
    if first_error:
        raise first_error
    return {'all': True, 'exists': False, 'exists_one': count == 1, 'map': out, 'filter': out}[function]


def has(argument, env):
    """Spec 12b section 6."""
    if argument[0] != 'select':
        raise CompileError('invalid argument to has() macro')
    container = evaluate(argument[1], env)
    if isinstance(container, Domains):
        return True
    if isinstance(container, list):
        raise CelError("unsupported index type 'string' in list")
    if isinstance(container, Optional):
        return bool(container.content) and argument[2] in container.content[0]
    return isinstance(container, dict) and argument[2] in container


def call(function, receiver, arguments, env):
    """A macro, a function of a name space, a global function or a method (12b 6, 9)."""
    space = receiver[1] if receiver is not None and receiver[0] == 'variable' else None
    if receiver is None and function == 'has':
        return has(arguments[0], env)
    if space == 'cel' and function == 'bind':
        return evaluate(arguments[2], {**env, arguments[0][1]: Lazy(lambda: evaluate(arguments[1], env))})
    if space == 'optional':
        return Optional() if function == 'none' else Optional(evaluate(arguments[0], env))
    if receiver is not None and function in ('all', 'exists', 'exists_one', 'map', 'filter') and len(arguments) >= 2:
        return macro(function, receiver, arguments, env)
    if receiver is not None and function in ('orValue', 'or', 'hasValue', 'value'):
        return optional_method(function, evaluate(receiver, env), arguments, env)
    target = None if receiver is None or space in ('lists', 'sets') else evaluate(receiver, env)
    values = [evaluate(a, env) for a in arguments]
    if space == 'lists' and function == 'range':
        return list(range(values[0]))
    if space == 'sets' and function in ('contains', 'intersects'):
        guard('sets.' + function, values, (list, list))
        found = [any(is_equal(a, b) for b in (values[0] if function == 'contains' else values[1]))
                 for a in (values[1] if function == 'contains' else values[0])]
        return all(found) if function == 'contains' else any(found)
    if receiver is None:
        return global_function(function, values)
    constant = bool(arguments) and arguments[0][0] == 'literal' and arguments[0][1] is not None
    return method(function, target, values, constant)


def optional_method(function, value, arguments, env):
    """Spec 12b section 9.5."""
    if function == 'hasValue':
        return bool(value.content)
    if function == 'value':
        if not value.content:
            raise CelError('optional.none() dereference')
        return value.content[0]
    if not value.content:
        return evaluate(arguments[0], env)
    return value.content[0] if function == 'orValue' else value


def global_function(function, values):
    """Spec 12b sections 9.1 and 9.7 to 9.9."""
    if function in GLOBAL_PARAMETERS:
        guard(function, values, GLOBAL_PARAMETERS[function])
    if function in ('quantity', 'semver'):
        return parse_quantity(*values) if function == 'quantity' else parse_semver(*values)
    if function in ('isQuantity', 'isSemver'):
        try:
            (parse_quantity if function == 'isQuantity' else parse_semver)(*values)
            return True
        except CelError:
            return False
    value = values[0]
    if function == 'sign':
        return (value.amount > 0) - (value.amount < 0)
    if function == 'dyn':
        return value
    if function == 'type':
        return Type(type_name(value))
    if function == 'size':
        return method('size', value, [], False)
    if function == 'int':
        if isinstance(value, str) and not re.fullmatch('[+-]?[0-9]+', value):
            raise CelError("type conversion error from 'string' to 'int'")
        return in_range(int(value))
    if function == 'double':
        return float(value)
    if function == 'string':
        return str(value)
    if function == 'ip':
        try:
            return IP(ipaddress.ip_address(value))
        except ValueError:
            raise CelError('IP Address "%s" parse error during conversion from string: ParseAddr("%s"): unable to parse IP' % (value, value))
    if function == 'cidr':
        return CIDR(ipaddress.ip_network(value))
    raise CelError("undeclared reference to '%s' (in container '')" % function)


PARAMETERS = {'upperAscii': (str,), 'lowerAscii': (str,), 'reverse': (list,), 'substring': (str, int, int), 'charAt': (str, int), 'split': (str, str, int),
              'replace': (str, str, str, int), 'trim': (str,), 'find': (str, str), 'add': (Quantity, (Quantity, int)), 'sub': (Quantity, (Quantity, int)),
              'isInteger': (Quantity,), 'asInteger': (Quantity,), 'asApproximateFloat': (Quantity,), 'major': (Semver,), 'minor': (Semver,),
              'patch': (Semver,)}
GLOBAL_PARAMETERS = {'quantity': (str,), 'isQuantity': (str,), 'semver': (str, bool), 'isSemver': (str, bool), 'sign': (Quantity,)}


def guard(function, arguments, kinds):
    """Spec 12b section 8.9."""
    for value, kind in zip(arguments, kinds):
        if not isinstance(value, kind) or kind is not bool and isinstance(value, (bool, Uint)):
            raise CelError('no such overload: %s(%s)' % (function, ', '.join(type_name(v) for v in arguments)))


def method(function, x, values, constant_argument):
    """Spec 12b sections 9.2 to 9.10."""
    if function in ('isGreaterThan', 'isLessThan', 'compareTo'):
        if not isinstance(x, (Quantity, Semver)) or type(x) is not type(values[0]):
            raise CelError('no such overload: %s(%s, %s)' % (function, type_name(x), type_name(values[0])))
        a, b = (x.amount, values[0].amount) if isinstance(x, Quantity) else (x.order, values[0].order)
        sign = (a > b) - (a < b)
        return {'isGreaterThan': sign > 0, 'isLessThan': sign < 0, 'compareTo': sign}[function]
    if function in ('startsWith', 'endsWith', 'contains'):
        if not isinstance(x, str) or not isinstance(values[0], str):
            raise CelError('no such overload')
        return {'startsWith': x.startswith, 'endsWith': x.endswith, 'contains': x.__contains__}[function](values[0])
    if function == 'matches':
        if not isinstance(x, str):
            raise CelError('no such overload' if constant_argument else 'no such overload: matches')
        return re.search(values[0], x) is not None
    if function == 'size':
        if not isinstance(x, (str, list, dict)):
            raise CelError('no such overload: size')
        return len(x)
    if function == 'includes':
        if not isinstance(x, list):
            return is_equal(x, values[0])
        for i, y in enumerate(x):
            if i == 48:
                raise CelError("'includes' function cannot be applied to lists longer than 48 values")
            if is_equal(y, values[0]):
                return True
        return False
    if function in PARAMETERS:
        guard(function, [x] + values, PARAMETERS[function])
    if isinstance(x, str):
        return string_method(function, x, values)
    if isinstance(x, Quantity) and function in ('add', 'sub'):
        other = values[0].amount if isinstance(values[0], Quantity) else values[0]
        amount = x.amount + other if function == 'add' else x.amount - other
        return Quantity(amount, amount == int(amount) and -2**63 <= amount < 2**63, True)
    if isinstance(x, Quantity) and function == 'isInteger':
        return x.is_integer
    if isinstance(x, Quantity) and function == 'asInteger':
        if not x.is_integer:
            raise CelError('cannot convert value to integer')
        return int(x.amount)
    if isinstance(x, Quantity) and function == 'asApproximateFloat':
        return float(x.amount)
    if isinstance(x, Semver) and function in ('major', 'minor', 'patch'):
        return x.numbers[('major', 'minor', 'patch').index(function)]
    if isinstance(x, list) and function in ('join', 'sort', 'sum', 'max', 'min', 'reverse'):
        if function == 'join':
            return (values[0] if values else '').join(x)
        return {'sort': sorted, 'sum': sum, 'max': max, 'min': min, 'reverse': lambda y: y[::-1]}[function](x)
    if isinstance(x, IP) and function == 'family':
        return x.address.version
    if isinstance(x, CIDR) and function == 'containsIP':
        return ipaddress.ip_address(values[0]) in x.network
    raise CelError('no such overload: ' + function)


def string_method(function, x, values):
    """Spec 12b sections 9.2 and 9.6."""
    if function == 'upperAscii':
        return re.sub('[a-z]', lambda m: m[0].upper(), x)
    if function == 'lowerAscii':
        return re.sub('[A-Z]', lambda m: m[0].lower(), x)
    if function == 'trim':
        return x.strip()
    if function == 'split':
        return x.split(values[0])
    if function == 'find':
        m = re.search(values[0], x)
        return m[0] if m else ''
    if function == 'replace':
        return x.replace(values[0], values[1])
    if function == 'format':
        rest = iter(values[0])
        return re.sub('%[sd]', lambda m: str(next(rest)), x)
    if function == 'charAt':
        if not 0 <= values[0] <= len(x):
            raise CelError('index out of range: %d' % values[0])
        return x[values[0]:values[0] + 1]
    if function == 'substring':
        start, end = values[0], values[1] if len(values) > 1 else len(x)
        if len(values) > 1 and start > end:
            raise CelError('invalid substring range. start: %d, end: %d' % (start, end))
        for bound in (start, end):
            if not 0 <= bound <= len(x):
                raise CelError('index out of range: %d' % bound)
        return x[start:end]
    raise CelError('no such overload: ' + function)


# --- interface (12b 2)

def device_value(driver, device):
    """The variable `device` (12b 4)."""
    attributes, capacity = Domains(), Domains()
    for name, value in (device.get('attributes') or {}).items():
        domain, _, short = name.rpartition('/')
        if 'version' in value:
            converted = parse_semver(value['version'])
        elif 'int' in value:
            converted = int(value['int'])
        elif 'bool' in value or 'string' in value:
            converted = value['bool'] if 'bool' in value else value['string']
        else:
            raise CelError('attribute %s: unsupported attribute value' % name)
        attributes.setdefault(domain or driver, {})[short] = converted
    for name, value in (device.get('capacity') or {}).items():
        domain, _, short = name.rpartition('/')
        capacity.setdefault(domain or driver, {})[short] = parse_quantity(value['value'])
    return {'driver': driver, 'allowMultipleAllocations': bool(device.get('allowMultipleAllocations')), 'attributes': attributes, 'capacity': capacity}


def as_boolean(value):
    """The result of a selector (12b 8)."""
    if isinstance(value, bool):
        return value
    name = type_name(value)
    opaque = {'kubernetes.Semver': "'Semver'", 'kubernetes.Quantity': "'Quantity'", 'double': 'Double', 'list': 'list', 'map': 'map'}
    detail = "type conversion error from %s to 'bool'" % opaque.get(name, "'%s'" % name)
    if name in ('int', 'uint'):
        detail = "unsupported type conversion from '%s' to bool" % name
    elif name == 'string':
        detail = "unsupported native conversion from string to 'bool'"
    raise CelError('CEL result of type %s could not be converted to bool: %s' % (name, detail))


def device_matches(expression, driver, device):
    """Whether a selector holds for a device (12b 2)."""
    return as_boolean(evaluate(parse(expression), {'device': device_value(driver, device)}))
