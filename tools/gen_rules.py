# SPDX-License-Identifier: Apache-2.0
"""Turn the rules of *.api files into the C functions of server/kinds that check objects.
gen_types.py calls this module.

src/api/types/README.md describes the rules.
"""

import re

TOKEN = re.compile(r'\s*(&&|\|\||\?\?|[=!<>]=|[!<>(),]|"(?:[^"\\]|\\.)*"|'
    r"[A-Za-z][A-Za-z0-9.]*|[0-9]+)")
ACTION = re.compile(r'([a-zA-Z]+) ([A-Za-z0-9.]+)(?:=([^"]+?|""))?(?: "((?:[^"\\]|\\.)*)")?$')
LINE = re.compile(r"(rule|else)(?: (.*?))?: ((?:[a-z]+[A-Z]?[a-z]*) .*)$")
NAME = re.compile(r"^[a-z_]+$")
ERRORS = {"required": "REQUIRED", "invalid": "INVALID", "forbidden": "FORBIDDEN",
    "notSupported": "NOT_SUPPORTED", "tooLong": "TOO_LONG", "tooMany": "TOO_MANY"}
SHOWN = {"invalid", "notSupported"}  # errors that show the value
FORMATS = {"labelKey": "bt_kinds_check_label_key(check->errors, {place}, {text})",
    "labels": "bt_kinds_check_labels(check->errors, {place}, {value})",
    "port": "bt_kinds_check_port(check->errors, {place}, {value})",
    "subdomain": "bt_kinds_check_name(check->errors, {place}, {value}, BT_NAME_SUBDOMAIN)"}
WORDS = {"creating": "check->write->verb == BT_VERB_CREATE",
    "restoring": "check->write->restoring", "isPart": "place->parent != NULL",
    "perDeviceNodes": "check->per_device_nodes"}
TEXTS = {"STRING", "TIME", "MICRO_TIME"}
NUMBERS = {"INT32", "INT64"}


class Mistake(Exception):
    pass


class Writer:
    """Translates rules to C: the rules of a message, or of the elements of a list in a message."""

    def __init__(self, tables, message, place="place", value="object"):
        self.tables = tables
        self.message = message
        # Names of the C variables that contain the object's path for errors, and the object.
        self.place = place
        self.object = value
        self.lets = {}
        self.tokens = []

    def field(self, path):
        """The field at a path of names."""
        message, found = self.message, None
        for name in path.split("."):
            found = None
            todo = list(message.fields) if message else []
            while todo and found is None:
                field = todo.pop(0)
                if "inline" in field.flags:
                    todo += self.tables.messages[field.message].fields
                elif field.name == name:
                    found = field
            if found is None:
                raise Mistake(f"no field '{path}'")
            message = self.tables.messages.get(found.message)
        return found

    def path(self, path):
        place = self.place
        for name in [] if path == "." else path.split("."):
            place = f'BT_PATH_NAME({place}, "{name}")'
        return place

    def find(self, path):
        self.field(path)
        return f'bt_json_find{"_path" if "." in path else ""}({self.object}, "{path}")'

    def text(self, path):
        if "." in path:
            return f'bt_json_text_at({self.object}, "{path}")'
        return f'bt_kinds_text({self.object}, "{path}")'

    def number(self, path, fallback="0"):
        return f'bt_json_int64_at({self.object}, "{path}", {fallback})'

    def is_set(self, path):
        """Whether the field is neither absent nor empty."""
        field = self.field(path)
        if field.shape != "SINGLE":
            kind = "array" if field.shape == "LIST" else "object"
            return f'bt_json_{kind}_at({self.object}, "{path}")->count != 0'
        if field.type in TEXTS:
            return f"{self.text(path)}.length != 0"
        if field.type == "BOOL":
            return f'bt_json_bool_at({self.object}, "{path}", false)'
        return f"{self.find(path)} != NULL"

    def value(self, path):
        """The value that an error shows: the zero value if the field is absent but not nullable."""
        field = self.field(path)
        if field.shape != "SINGLE":
            found = self.find(path)
            return f"{found} != NULL ? {found} : bt_json_new(check->errors->arena, BT_JSON_NULL)"
        if "nullable" not in field.flags and field.type == "STRING":
            return f"bt_kinds_text_value(check->errors, {self.text(path)})"
        if "nullable" not in field.flags and field.type in NUMBERS:
            return f"bt_kinds_int_value(check->errors, {self.number(path)})"
        return self.find(path)

    def take(self, wanted=None):
        if not self.tokens or (wanted and self.tokens[0] != wanted):
            raise Mistake(f"expected '{wanted or 'a value'}' before '{' '.join(self.tokens)}'")
        return self.tokens.pop(0)

    def peek(self):
        return self.tokens[0] if self.tokens else ""

    def arguments(self):
        found = []
        self.take("(")
        while self.peek() != ")":
            found.append(self.take())
            if self.peek() == ",":
                self.take()
        self.take(")")
        return found

    def call(self, name):
        """A call of a function: returns the type of its result, and its C."""
        paths = self.arguments()
        if name == "has":
            return "bool", f"({self.find(paths[0])} != NULL)"
        if name == "starts":
            return "bool", f"bt_str_has_prefix({self.text(paths[0])}, BT_STR({paths[1]}))"
        if name == "contains":
            array = f'bt_json_array_at({self.object}, "{paths[0]}")'
            return "bool", f"bt_json_has_text({array}, BT_STR({paths[1]}))"
        if name == "includes":
            return "bool", f"(bt_str_find({self.text(paths[0])}, BT_STR({paths[1]})) >= 0)"
        if name == "labelValue":
            return "bool", f"bt_label_value_is_valid({self.text(paths[0])})"
        if name == "length":
            return "number", f"{self.text(paths[0])}.length"
        if name == "count":
            kind = "array" if self.field(paths[0]).shape == "LIST" else "object"
            return "number", f'bt_json_{kind}_at({self.object}, "{paths[0]}")->count'
        if name == "given":
            given = " + ".join(f"({self.find(path)} != NULL)" for path in paths)
            return "number", f"({given})"
        if name == "set":
            return "number", "(" + " + ".join(f"({self.is_set(path)})" for path in paths) + ")"
        raise Mistake(f"no function '{name}'")

    def operand(self, is_alone=True):
        """Returns the type and the C text of one operand. is_alone: the operand is not a side of an
        operator; a field then becomes a bool: whether the field is set."""
        token = self.take()
        if token[0] == '"':
            return "text", token
        if token.isdigit():
            return "number", token
        if self.peek() == "(":
            return self.call(token)
        if token in WORDS:
            return "bool", f"({WORDS[token]})"
        field, fallback = self.field(token), "0"
        if self.peek() == "??":
            self.take()
            fallback = self.take()
        elif is_alone and (not self.peek() or self.peek() in ("&&", "||", ")")):
            return "bool", f"({self.is_set(token)})"
        if field.type in NUMBERS:
            return "number", self.number(token, fallback)
        return "text", self.text(token)

    def term(self):
        if self.peek() == "!":
            self.take()
            return f"!{self.term()}"
        if self.peek() == "(":
            self.take()
            inner = self.condition()
            self.take(")")
            return f"({inner})"
        if self.peek() in self.lets:
            return f"({self.lets[self.take()]})"
        kind, left = self.operand()
        if self.peek() not in ("==", "!=", "<", ">", "<=", ">="):
            if kind != "bool":
                raise Mistake(f"'{left}' is no condition")
            return left
        operator = self.take()
        other, right = self.operand(is_alone=False)
        if "bool" in (kind, other) or kind != other:
            raise Mistake(f"'{left}' and '{right}' cannot be compared")
        if kind == "number":
            return f"(int64_t){left} {operator} {right}"
        equal = f"bt_str_equal_c({left}, {right})"
        return equal if operator == "==" else f"!{equal}"

    def condition(self):
        parts = []
        while True:
            both = [self.term()]
            while self.peek() == "&&":
                self.take()
                both.append(self.term())
            parts.append(" && ".join(both) if len(both) == 1 else f"({' && '.join(both)})")
            if self.peek() != "||":
                return " || ".join(parts)
            self.take()

    def parse(self, text):
        self.tokens, at = [], 0
        while at < len(text.rstrip()):
            match = TOKEN.match(text, at)
            if not match:
                raise Mistake(f"cannot read '{text[at:]}'")
            self.tokens.append(match[1])
            at = match.end()

    def whole_condition(self, text):
        self.parse(text)
        found = self.condition()
        if self.tokens:
            raise Mistake(f"cannot read '{' '.join(self.tokens)}'")
        return found

    def action(self, text):
        words = text.split()
        if words[0] == "call" and len(words) == 2 and NAME.match(words[1]):
            return f"bt_rule_{words[1]}(check, {self.place}, {self.object});"
        if words[0] == "format" and len(words) == 3 and words[2] in FORMATS:
            return FORMATS[words[2]].format(place=self.path(words[1]), text=self.text(words[1]),
                value=self.find(words[1])) + ";"
        match = ACTION.match(text)
        if not match or match[1] not in ERRORS:
            raise Mistake(f"cannot read '{text}'")
        error, path, shown, message = match.groups()
        if path != ".":
            self.field(path)
        if shown == '""':
            value = 'bt_kinds_text_value(check->errors, BT_STR(""))'
        elif shown == "none":
            value = "NULL"
        elif shown and "(" in shown:
            self.parse(shown)
            value = f"bt_kinds_int_value(check->errors, {self.operand()[1]})"
        elif shown or error in SHOWN:
            shown = shown or path
            value = self.object if shown == "." else self.value(shown)
        else:
            value = "NULL"
        if message is None:
            return f"bt_kinds_error_required(check->errors, {self.path(path)});"
        arguments = "".join(f", BT_STR_ARG({self.text(name)})"
            for name in re.findall(r"\{([A-Za-z.]+)\}", message))
        message = re.sub(r"\{[A-Za-z.]+\}", "%.*s", message.replace("%", "%%"))
        return (f"bt_kinds_error(check->errors, BT_FIELD_{ERRORS[error]}, {self.path(path)}, "
            f'{value}, "{message}"{arguments});')

    def statement(self, text):
        """One line of rules as a statement."""
        word, _, rest = text.partition(" ")
        if word == "let":
            name, _, condition = rest.partition(" = ")
            self.lets[name] = self.whole_condition(condition)
            return ""
        if word == "stop":
            return f"if ({self.whole_condition(rest)}) {{ return; }}"
        match = LINE.match(text)
        if not match:
            return self.action(text)
        opening = "" if match[1] == "rule" else "else "
        if match[2]:
            opening += f"if ({self.whole_condition(match[2])}) "
        return f"{opening}{{ {self.action(match[3])} }}"


def write_rule(tables, message, out):
    """The function that checks one message."""
    out.write(f"static void rule_{message.index}(struct bt_check *check, "
        "const struct bt_path *place, const struct bt_json_value *object)\n{\n")
    writer = Writer(tables, message)
    for place, text in message.rules:
        try:
            if text.startswith("each "):
                _, path, rest = text.split(" ", 2)
                element = Writer(tables, tables.messages[writer.field(path).message], "at",
                    "element")
                array = f'bt_json_array_at(object, "{path}")'
                out.write(f"\tfor (uint32_t i = 0; i < {array}->count; i++) {{\n"
                    f"\t\tconst struct bt_path *at = BT_PATH_INDEX({writer.path(path)}, i);\n"
                    f"\t\tconst struct bt_json_value *element = {array}->elements[i];\n"
                    f"\t\t{element.statement(rest)}\n\t}}\n")
            else:
                line = writer.statement(text)
                out.write(f"\t{line}\n" if line else "")
        except Mistake as mistake:
            tables.complain(place, str(mistake))
    out.write("}\n\n")


def write_rules(tables, out):
    """A function for each message that has rules, and a table of them by index of the message."""
    messages = sorted(tables.messages.values(), key=lambda message: message.key)
    out.write("/* Made by tools/gen_types.py. */\n")
    out.write('#include "api/selector.h"\n#include "server/kinds/common.h"\n\n')
    functions = {}
    for index, message in enumerate(messages):
        message.index = index
        words = message.rules[0][1].split() if len(message.rules) == 1 else []
        if words[:1] == ["call"]:
            functions[message.index] = f"bt_rule_{words[1]}"
        elif message.rules:
            functions[message.index] = f"rule_{message.index}"
            write_rule(tables, message, out)
    out.write(f"bt_rule_fn *const bt_kinds_rules[{len(messages)}] = {{\n")
    for index, name in functions.items():
        out.write(f"\t[{index}] = {name},\n")
    out.write("};\n")


def write_rule_names(tables, out):
    """Declares the handwritten checks."""
    names = {name for message in tables.messages.values() for _, text in message.rules
        for name in re.findall(r"\bcall ([a-z_]+)$", text)}
    out.write("/* Made by tools/gen_types.py. */\n")
    for name in sorted(names):
        out.write(f"bt_rule_fn bt_rule_{name};\n")
