# SPDX-License-Identifier: Apache-2.0
"""Random well-typed expressions of the part of CEL that all implementations have.

A type is a name or a tuple: ("list", T), ("map", K, V). The variables d0, d1, ... are dyn: type
errors of these variables show only when the expression is evaluated.

The generator leaves out expressions for which @bufbuild/cel is known to differ. The parentheses
say what @bufbuild/cel does:
- characters beyond U+FFFF (counts UTF-16 units)
- int("") and double("x") (converts as JavaScript)
- "a".replace("", "b") (puts nothing after the last character)
- "a,b,c".split(",", 2) (gives ["a", "b"])
- comparing a large uint with a double (rounds)
- timestamp(1) (takes milliseconds)
- fractions of seconds as text (writes three digits or more)
- !(!(d)) and -(-(d)) (gives d itself)
The least int % -1 is left out, too, because berth reports an overflow.
"""

SCALARS = ("int", "uint", "double", "bool", "string", "bytes")
SMALL = {"int": ("0", "1", "2", "3", "-1", "-2", "7", "10", "63", "0x1F"),
         "uint": ("1u", "2u", "3u", "5u", "10u", "0xFFu"),
         "double": ("0.0", "1.0", "-1.0", "0.5", "1.5", "2.0", "(.25)", "1e3", "-2.5e-3")}
LARGE = {"int": ("9007199254740993", "4611686018427387904", "9223372036854775807",
                 "-9223372036854775808"),
         "uint": ("0u", "9007199254740993u", "18446744073709551615u"),
         "double": ("(-0.0)", "1e20", "1e308", "9007199254740992.0", "(1.0 / 0.0)", "(0.0 / 0.0)")}
DIGITS = ('"1"', '"-17"', '"42"', '"3"', '"2.5"', '"9223372036854775808"', '"x"')
# DIGITS has invalid texts, too: JavaScript refuses them as int() and uint() do. NUMERALS has only
# valid texts: JavaScript converts some texts that double() refuses.
NUMERALS = ('"1"', '"-17"', '"42"', '"2.5"', '"1e3"')
STRINGS = ('""', '"a"', "'b'", '"ab"', '"abc"', '"b\\u00e9\\u4e2d"', 'r"\\d"', '"1"', '"-17"',
           '"2.5"', '"true"', '"x y"', '" pad "', '"AbC"', '"a,b,,c"', '"""tri\'ple"""')
BYTES = ("b''", "b'a'", "b'ab'", "b'\\xff\\000'", "b'\\303\\251'")
PATTERNS = ('"^a"', '"b+"', '"^[a-c]*$"', '"."', '""', '"[0-9]+"', '"(a|b)c"', '"\\\\pL"')
DURATIONS = ('"1s"', '"90m"', '"-1.5h"', '"0s"', '"250ms"')
TIMES = ('"1970-01-01T00:00:00Z"', '"2024-02-29T23:59:59.5Z"', '"1999-12-31T12:00:00+02:00"')
KEYS = ('"a"', '"b"', '"k"')
FIELDS = ("a", "b", "k", "zz")
VARIABLES = {"i": "int", "j": "int", "u": "uint", "x": "double", "s": "string", "t": "string",
             "p": "bool", "l": ("list", "int"), "w": ("list", "string"),
             "m": ("map", "string", "int")}
DYN_COUNT = 4


class Generator:
    """Generates random expressions from one random generator."""

    def __init__(self, random):
        self.random = random
        self.names = 0

    def question(self):
        """Returns the expression in the input format of tests/unit/cel/cel_eval.c."""
        variables = {name: self.literal(kind, {}) for name, kind in VARIABLES.items()}
        scope = dict(VARIABLES)
        for i in range(DYN_COUNT):
            kind = self.random.choice(SCALARS + (("list", "int"), ("map", "string", "int")))
            variables["d%d" % i] = "dyn(%s)" % self.expression(kind, 0, {})
            scope["d%d" % i] = "dyn"
        kind = self.random.choice(SCALARS + ("bool",) * 8 + (("list", "int"), ("list", "string"),
                                                             ("map", "string", "int")))
        return {"expression": self.expression(kind, self.random.randint(1, 5), scope),
                "variables": variables}

    def expression(self, kind, depth, scope):
        """Returns an expression of a type; scope: the variables that it may use."""
        named = [name for name, of in scope.items() if of == kind]
        dyn = [name for name, of in scope.items() if of == "dyn"]
        roll = self.random.random()
        if named and roll < (0.5 if depth <= 0 else 0.15):
            return self.random.choice(named)
        if dyn and roll > 0.97:
            return self.random.choice(dyn)
        if depth <= 0:
            return self.literal(kind, scope)
        if roll < 0.25:
            return "(%s ? %s : %s)" % (self.expression("bool", depth - 1, scope),
                                       self.expression(kind, depth - 1, scope),
                                       self.expression(kind, depth - 1, scope))
        name = kind if isinstance(kind, str) else kind[0]
        return getattr(self, "make_" + name)(kind, depth - 1, scope)

    def literal(self, kind, scope):
        choices = {"string": STRINGS, "bytes": BYTES, "bool": ("true", "false")}
        if kind in SMALL:
            return self.random.choice((SMALL if self.random.random() < 0.9 else LARGE)[kind])
        if kind in choices:
            return self.random.choice(choices[kind])
        if kind == "duration":
            return "duration(%s)" % self.random.choice(DURATIONS)
        if kind == "timestamp":
            return "timestamp(%s)" % self.random.choice(TIMES)
        if kind[0] == "list":
            return "[%s]" % ", ".join(self.expression(kind[1], 0, scope)
                                      for _ in range(self.random.randint(1, 3)))
        keys = self.random.sample(KEYS, self.random.randint(1, 3))
        return "{%s}" % ", ".join("%s: %s" % (key, self.expression(kind[2], 0, scope))
                                  for key in keys)

    def fill(self, templates, depth, scope):
        """Expands one template: replaces each {type} by an expression of that type."""
        rest = self.random.choice(templates)
        out = ""
        while "{" in rest:
            before, _, rest = rest.partition("{")
            kind, _, rest = rest.partition("}")
            out += before + self.word(kind, depth, scope)
        return (out + rest).replace("!(!(", "!(false || !(")

    def word(self, kind, depth, scope):
        """Returns the replacement for {kind}."""
        words = {"pattern": PATTERNS, "key": KEYS, "field": FIELDS, "digits": DIGITS,
            "numeral": NUMERALS}
        if kind in words:
            return self.random.choice(words[kind])
        if kind.startswith("small"):
            return str(self.random.choice((0, 0, 0, 1, 1, 2, 3)))
        if kind == "brace":
            return "{"
        if kind == "unbrace":
            return "}"
        if kind.startswith("list "):
            return self.expression(("list", kind[5:]), depth, scope)
        if kind == "map":
            return self.expression(("map", "string", "int"), depth, scope)
        if kind == "number":
            return self.expression(self.random.choice(("int", "uint", "double")), depth, scope)
        if kind == "any":
            return self.expression(self.random.choice(SCALARS), depth, scope)
        return self.expression(kind, depth, scope)

    def macro(self, template, element, depth, scope):
        """Returns a macro over a list; @ in the template stands for the macro's variable."""
        self.names += 1
        name = "e%d" % self.names
        range_ = self.expression(("list", element), depth, scope)
        inner = dict(scope)
        inner[name] = element
        return range_ + self.fill((template.replace("@", name),), depth, inner)

    def make_int(self, _, depth, scope):
        return self.fill((
            "({int} + {int})", "({int} - {int})", "({int} * {int})", "({int} / {int})",
            "({int} % 3)", "(10 % {int})", "-({int} + 0)", "size({string})", "{string}.size()",
            "size({bytes})",
            "size({list int})", "{list string}.size()", "size({map})", "int({uint})",
            "int({double})", "int({digits})", "{map}[{key}]", "{map}.{field}",
            "{list int}[{small}]",
            "{list int}[dyn(0u)]", "[1, 2, 3][{int} % 3]", "{string}.indexOf({string})",
            "{string}.lastIndexOf({string})",
            "{duration}.getSeconds()", "{duration}.getMinutes()", "{timestamp}.getFullYear()",
            "{timestamp}.getDayOfYear()", "{timestamp}.getDayOfWeek()", "{timestamp}.getMonth()",
            "{timestamp}.getHours()", "int({timestamp})"), depth, scope)

    def make_uint(self, _, depth, scope):
        return self.fill(("({uint} + {uint})", "({uint} - 1u)", "({uint} * {uint})",
                          "({uint} / {uint})", "({uint} % 7u)", "uint({int})", "uint({double})",
                          "uint({digits})"), depth, scope)

    def make_double(self, _, depth, scope):
        return self.fill(("({double} + {double})", "({double} - {double})", "({double} * {double})",
                          "({double} / {double})", "-({double} + 0.0)", "double({int})",
                          "double({uint})",
                          "double({numeral})"), depth, scope)

    def make_string(self, _, depth, scope):
        return self.fill((
            "({string} + {string})", "string({int})", "string({uint})", "string({bool})",
            "string({bytes})", "string({string})", "{list string}[{small}]",
            "{string}.charAt({small})",
            "{string}.substring({small})", "{string}.substring({small}, {small})",
            "{string}.replace({digits}, {string})", "{string}.lowerAscii()",
            "{string}.upperAscii()",
            "{string}.trim()", "{list string}.join({string})", "{list string}.join()",
            "{string}.split({string})[{small}]"),
            depth, scope)

    def make_bytes(self, _, depth, scope):
        return self.fill(("({bytes} + {bytes})", "bytes({string})"), depth, scope)

    def make_duration(self, _, depth, scope):
        return self.fill(("({duration} + {duration})", "({duration} - {duration})",
                          "({timestamp} - {timestamp})"), depth, scope)

    def make_timestamp(self, _, depth, scope):
        return self.fill(("({timestamp} + {duration})", "({duration} + {timestamp})",
                          "({timestamp} - {duration})"), depth, scope)

    def make_list(self, kind, depth, scope):
        element = kind[1]
        roll = self.random.randrange(5)
        if roll == 0:
            return "(%s + %s)" % (self.expression(kind, depth, scope),
                                  self.expression(kind, depth, scope))
        if roll == 1:
            source = self.random.choice(("int", "string"))
            return self.macro(".map(@, {%s})" % element, source, depth, scope)
        if roll == 2:
            source = self.random.choice(("int", "string"))
            return self.macro(".map(@, {bool}, {%s})" % element, source, depth, scope)
        if roll == 3:
            return self.macro(".filter(@, {bool})", element, depth, scope)
        if element == "string":
            return self.fill(("{string}.split({string})", "{string}.split(',', 0)"), depth,
                             scope)
        return self.literal(kind, scope)

    def make_map(self, kind, depth, scope):
        keys = self.random.sample(KEYS, self.random.randint(0, 3))
        return "{%s}" % ", ".join("%s: %s" % (key, self.expression(kind[2], depth, scope))
                                  for key in keys) if keys else self.literal(kind, scope)

    def make_bool(self, _, depth, scope):
        roll = self.random.randrange(10)
        if roll < 2:
            return self.macro(self.random.choice((".all(@, {bool})", ".exists(@, {bool})",
                                                  ".exists_one(@, {bool})")),
                              self.random.choice(("int", "string")), depth, scope)
        if roll < 4:
            kind = self.random.choice(SCALARS + (("list", "int"), ("list", "string"),
                                                 ("map", "string", "int"), "duration", "timestamp"))
            return "(%s %s %s)" % (self.expression(kind, depth, scope),
                                   self.random.choice(("==", "!=")),
                                   self.expression(kind, depth, scope))
        if roll < 5:
            kind = self.random.choice(("string", "bool", "bytes", "duration", "timestamp"))
            return "(%s %s %s)" % (self.expression(kind, depth, scope),
                                   self.random.choice(("<", "<=", ">", ">=")),
                                   self.expression(kind, depth, scope))
        return self.fill((
            "({bool} && {bool})", "({bool} || {bool})", "({bool} && {bool} && {bool})",
            "({bool} || {bool} || {bool})", "!({bool})", "({int} < {number})",
            "({number} <= {int})",
            "({uint} > {int})", "({uint} >= {uint})", "({double} < {double})",
            "(dyn({number}) == {int})", "(dyn({int}) != {number})", "({int} == dyn({any}))",
            "({int} in {list int})", "({string} in {list string})", "({string} in {map})",
            "(dyn({number}) in {list int})", "has({map}.{field})", "{string}.startsWith({string})",
            "{string}.endsWith({string})", "{string}.contains({string})",
            "{string}.matches({pattern})",
            "bool('true')", "bool({string})", "(type({any}) == type({any}))",
            "(type({any}) == string)",
            "has({brace}'a': {int}, 'b': {int}{unbrace}.{field})"), depth, scope)
