# SPDX-License-Identifier: Apache-2.0
"""Turn the rules of *.api files into the C functions of server/kinds that check objects.
gen_types.py calls this module.

src/api/types/README.md describes the rules.
"""

import itertools
import re

TOKEN = re.compile(r'\s*(&&|\|\||\?\?|[=!<>]=|[!<>(),]|"(?:[^"\\]|\\.)*"|'
    r"[A-Za-z][A-Za-z0-9.]*|[0-9]+)")
ACTION = re.compile(r'([a-zA-Z]+) ([A-Za-z0-9.\[\]]+)(?:=([^"]+?|""))?(?: "((?:[^"\\]|\\.)*)")?$')
ITEMS = re.compile(r'items ([A-Za-z.]+)( unique)?(?: "([^"\\\\]+)")?$')
TEXTS_LINE = re.compile(r"texts ([A-Za-z.]+) ([A-Za-z]+)( unique)?: (.*)$")
UNIQUE = re.compile(r"unique ([A-Za-z,.]+)(?: if (.+?))?: (.*)$")
ONE_OF = re.compile(r'oneOf ([A-Za-z.]+) "([^"\\\\]+)"$')
FILL = re.compile(r"fill ([A-Za-z.]+) (.+?)(?: if (.+))?$")
LINE = re.compile(r"(rule|else)(?: (.*?))?: ((?:[a-z]+[A-Z]?[a-z]*) .*)$")
NAME = re.compile(r"^[a-z_]+$")
ERRORS = {"required": "REQUIRED", "invalid": "INVALID", "forbidden": "FORBIDDEN",
    "notSupported": "NOT_SUPPORTED", "tooLong": "TOO_LONG", "tooMany": "TOO_MANY",
    "notFound": "NOT_FOUND", "duplicate": "DUPLICATE", "warning": "FORBIDDEN"}
# paths of upstream's errors that no field has
MISSPELT = {"spec.attachedRequired"}
SHOWN = {"invalid", "notSupported", "notFound", "duplicate"}  # errors that show the value
FORMATS = {"configKey": "bt_kinds_check_config_key(check->errors, {place}, {text})",
    "labelKey": "bt_kinds_check_label_key(check->errors, {place}, {text})",
    "deviceName": "bt_kinds_check_device_name(check->errors, {place}, {text}, false)",
    "attributeName": "bt_kinds_check_device_name(check->errors, {place}, {text}, true)",
    "fqdn": "bt_kinds_check_domain(check->errors, {place}, {text}, \"\", \".\")",
    "wildcard": "bt_kinds_check_domain(check->errors, {place}, {text}, \"*.\", \"\")",
    "driver": "bt_kinds_check_driver(check->errors, {place}, {value})",
    "labelValue": "bt_kinds_check_label_value(check->errors, {place}, {text})",
    "labels": "bt_kinds_check_labels(check->errors, {place}, {value})",
    "label": "bt_kinds_check_name(check->errors, {place}, {value}, BT_NAME_LABEL)",
    "path": "bt_kinds_check_name(check->errors, {place}, {value}, BT_NAME_PATH)",
    "port": "bt_kinds_check_port(check->errors, {place}, {value})",
    "portName": "bt_kinds_check_port_name(check->errors, {place}, {value})",
    "quantities": "bt_kinds_check_quantities(check->errors, {place}, {value})",
    "subdomain": "bt_kinds_check_name(check->errors, {place}, {value}, BT_NAME_SUBDOMAIN)"}
WORDS = {"creating": "check->write->verb == BT_VERB_CREATE",
    "restoring": "check->write->restoring", "isPart": "place->parent != NULL",
    "hostNetwork": "check->host_network", "perDeviceNodes": "check->per_device_nodes",
    "writesStatus": "check->write->subresource == BT_SUBRESOURCE_STATUS",
    "isNamespaced": "check->write->resource->namespaced",
    "isGang": 'bt_kinds_job_is_gang(bt_json_object_at(object, "spec")) && '
        "bt_api_options(check->write->api)->workload_with_job"}
# Functions of one text that return a bool.
TEXT_FUNCTIONS = {"labelValue": "bt_label_value_is_valid({text})",
    "isLabel": "bt_dns1123_label_is_valid({text})", "isSubdomain": "bt_kinds_is_subdomain({text})",
    "isInteger": "bt_str_parse_int64({text}, &(int64_t){{0}})",
    "isIP": "bt_kinds_is_ip({text})", "isCIDR": "bt_kinds_is_cidr({text})",
    "isIdentifier": "bt_kinds_is_identifier({text}, '_')",
    "isKind": "bt_kinds_is_identifier({text}, '-')",
    "isWebhookName": "bt_kinds_is_webhook_name({text})",
    "isRequest": "bt_text_set_has(&check->requests, {text})",
    "isPoolName": "bt_kinds_is_pool_name({text})",
    "isTimeZone": "bt_cron_zone_exists({text})",
    "hasBackstep": "bt_kinds_has_backstep({text})",
    "isVolume": "bt_text_set_has(&check->volumes, {text})",
    "isClaim": "bt_text_set_has(&check->claims, {text})"}
EMPTY = '"%s", ""'
TEXTS = {"STRING", "TIME", "MICRO_TIME"}
NUMBERS = {"INT32", "INT64"}


class Mistake(Exception):
    pass


def text_array(texts):
    """The C array of the texts in "a|b|c", with a NULL at the end."""
    return "(const char *const[]){" + "".join(f'"{text}", ' for text in texts.split("|")) + "NULL}"


class Writer:
    """Translates rules to C: the rules of a message, or of the elements of a list in a message."""

    def __init__(self, tables, message, place=None, outer=None):
        self.tables = tables
        self.message = message
        self.depth = outer.depth + 1 if outer else 0  # of lists around the message
        # Names of the C variables that contain the object's path for errors, and the object. Rules
        # of defaults have no path.
        self.place = f"at{self.depth}" if outer and outer.place else place
        self.object = f"element{self.depth}" if outer else "object"
        self.lets = dict(outer.lets) if outer else {}
        self.tokens = []

    def at(self, path):
        """The C arguments of functions that find the value at a path: an object, and a path in it.
        Paths of the object before the update begin with "old."."""
        name = path.removeprefix("old.")
        return f'{self.object if name == path else "check->old"}, "{name}"'

    def field(self, path):
        """The field at a path of names."""
        message, found = self.message, None
        path = path.removeprefix("old.")
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
        deep = "." in path.removeprefix("old.")
        return f'bt_json_find{"_path" if deep else ""}({self.at(path)})'

    def text(self, path):
        if "." in path.removeprefix("old."):
            return f"bt_json_text_at({self.at(path)})"
        return f"bt_kinds_text({self.at(path)})"

    def number(self, path, fallback="0"):
        return f"bt_json_int64_at({self.at(path)}, {fallback})"

    def is_set(self, path):
        """Whether the field is neither absent nor empty."""
        field = self.field(path)
        if field.shape != "SINGLE":
            kind = "array" if field.shape == "LIST" else "object"
            return f"bt_json_{kind}_at({self.at(path)})->count != 0"
        if field.type in TEXTS:
            return f"{self.text(path)}.length != 0"
        if field.type == "BOOL":
            return f"bt_json_bool_at({self.at(path)}, false)"
        return f"{self.find(path)} != NULL"

    def value(self, path):
        """The value that an error shows: the zero value if the field is absent but not nullable."""
        field = self.field(path)
        if field.shape != "SINGLE":
            found = self.find(path)
            return f"{found} != NULL ? {found} : bt_json_new(check->errors->arena, BT_JSON_NULL)"
        if "nullable" not in field.flags and field.type == "STRING":
            return f"bt_json_new_str(check->errors->arena, {self.text(path)})"
        if "nullable" not in field.flags and field.type in NUMBERS:
            return f"bt_json_new_int64(check->errors->arena, {self.number(path)})"
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
            if self.field(paths[0]).shape == "MAP":
                object_ = f"bt_json_object_at({self.at(paths[0])})"
                return "bool", f"(bt_json_get({object_}, BT_STR({paths[1]})) != NULL)"
            array = f"bt_json_array_at({self.at(paths[0])})"
            return "bool", f"bt_json_has_text({array}, BT_STR({paths[1]}))"
        if name == "ends":
            return "bool", f"bt_str_has_suffix({self.text(paths[0])}, BT_STR({paths[1]}))"
        if name == "includes":
            return "bool", f"(bt_str_find({self.text(paths[0])}, BT_STR({paths[1]})) >= 0)"
        if name in TEXT_FUNCTIONS:
            return "bool", f"({TEXT_FUNCTIONS[name].format(text=self.text(paths[0]))})"
        if name == "changed":
            path = paths[0]
            return "bool", f"!bt_kinds_same({self.find('old.' + path)}, {self.find(path)})"
        if name == "length":
            return "number", f"{self.text(paths[0])}.length"
        if name == "count":
            kind = "array" if self.field(paths[0]).shape == "LIST" else "object"
            return "number", f"bt_json_{kind}_at({self.at(paths[0])})->count"
        if name == "total":
            counts = [f"(int64_t)bt_json_object_at({self.at(path)})->count" for path in paths]
            return "number", f"({' + '.join(counts)})"
        if name == "given":
            given = " + ".join(f"({self.find(path)} != NULL)" for path in paths)
            return "number", f"({given})"
        if name == "set":
            return "number", "(" + " + ".join(f"({self.is_set(path)})" for path in paths) + ")"
        raise Mistake(f"no function '{name}'")

    def operand(self, is_alone=True):
        """Returns the type and the C text of one operand. is_alone: the operand is not a side of an
        operator, so a field becomes a bool that says whether the field is set."""
        token = self.take()
        if token[0] == '"':
            return "text", token
        if token.isdigit():
            return "number", token
        if self.peek() == "(":
            return self.call(token)
        if token in WORDS:
            return "bool", f"({WORDS[token]})"
        field, fallback = self.field(token), None
        if self.peek() == "??":
            self.take()
            fallback = self.take()
        elif is_alone and (not self.peek() or self.peek() in ("&&", "||", ")")):
            return "bool", f"({self.is_set(token)})"
        if field.type in NUMBERS or fallback is not None:
            return "number", self.number(token, fallback or "0")
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
        if "{" in right:
            right, arguments = self.filled(right)
            right = f"bt_arena_printf(check->errors->arena, {right}{arguments})"
        function = "bt_str_equal_c" if right[0] == '"' else "bt_str_equal"
        equal = f"{function}({left}, {right})"
        return equal if operator == "==" else f"!{equal}"

    def filled(self, text):
        """The printf format of a text with parts such as {a.b}, and its arguments."""
        arguments = "".join(f", BT_STR_ARG({self.text(name)})"
            for name in re.findall(r"\{([A-Za-z.]+)\}", text))
        return re.sub(r"\{[A-Za-z.]+\}", "%.*s", text.replace("%", "%%")), arguments

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

    def schema(self, path):
        """The C expression of the schema of the message at a path; NULL: no single message."""
        field = self.field(path)
        if field.shape != "SINGLE" or field.type != "MESSAGE":
            return "NULL"
        return f"&bt_schema_messages[{self.tables.messages[field.message].index}]"

    def go_form(self, path):
        found = self.find(path)
        return f"bt_kinds_internal_form(check->errors->arena, {self.schema(path)}, {found})"

    def immutable(self, path):
        """An error if an update changes the field."""
        parent, _, name = path.rpartition(".")
        objects = [f'bt_json_object_at({value}, "{parent}")' if parent else value
            for value in ("check->old", self.object)]
        return (f"bt_kinds_check_immutable(check->errors, {self.path(parent or '.')}, "
            f'{", ".join(objects)}, "{name}", {self.schema(path)});')

    def format(self, path, call):
        if self.field(path).shape == "MAP" and "{text}" in call:
            return self.keys(path, call)
        if self.field(path).shape != "LIST":
            return call.format(place=self.path(path), text=self.text(path),
                value=self.find(path)) + ";"
        array = f"bt_json_array_at({self.at(path)})"
        value = f"{array}->elements[n]"
        call = call.format(place=f"BT_PATH_INDEX({self.path(path)}, n)", text=f"{value}->text",
            value=value)
        return f"for (uint32_t n = 0; n < {array}->count; n++) {{ {call}; }}"

    def keys(self, path, call):
        """The check of each key of a map."""
        object_ = f"bt_json_object_at({self.at(path)})"
        name = f"{object_}->members[n].name"
        call = call.format(place=f"BT_PATH_KEY({self.path(path)}, {name})", text=name, value="")
        return f"for (uint32_t n = 0; n < {object_}->count; n++) {{ {call}; }}"

    def texts(self, text):
        """An error for each text of a list that a function refuses."""
        match = TEXTS_LINE.match(text)
        if not match or match[2] not in TEXT_FUNCTIONS:
            raise Mistake(f"cannot read '{text}'")
        path, function, unique, error = match.groups()
        error, _, message = error.partition(" ")
        array = f"bt_json_array_at({self.at(path)})"
        value = f"{array}->elements[n]"
        holds = TEXT_FUNCTIONS[function].format(text=f"{value}->text")
        add = (f"bt_kinds_error(check->errors, BT_FIELD_%s, BT_PATH_INDEX({self.path(path)}, n), "
            f"{value}, %s);")
        again = f"if (!bt_text_set_add(&texts, {value}->text)) {{ {add % ('DUPLICATE', EMPTY)} }} "
        loop = (f"for (uint32_t n = 0; n < {array}->count; n++) {{ "
            f"if (!{holds}) {{ {add % (ERRORS[error], message)} }} {again if unique else ''}}}")
        return (f"struct bt_text_set texts = {{0}}; {loop} bt_text_set_finish(&texts);"
            if unique else loop)

    def unique(self, text):
        """An error for each element of a list whose key an earlier element has."""
        match = UNIQUE.match(text)
        if not match:
            raise Mistake(f"cannot read '{text}'")
        paths, condition, error = match.groups()
        paths = paths.split(",")
        key = self.text(paths[0])
        if len(paths) > 1:
            arguments = "".join(f", BT_STR_ARG({self.text(path)})" for path in paths)
            key = (f'bt_arena_printf(check->errors->arena, "{" ".join(["%.*s"] * len(paths))}"'
                f"{arguments})")
        when = f"({self.whole_condition(condition)}) && " if condition else ""
        return f"if ({when}!bt_text_set_add(&seen{self.depth}, {key})) {{ {self.action(error)} }}"

    def items(self, text):
        """The check of each text in a list."""
        match = ITEMS.match(text)
        if not match:
            raise Mistake(f"cannot read '{text}'")
        path, unique, texts = match.groups()
        allowed = text_array(texts) if texts else "NULL"
        return (f"bt_kinds_check_items(check->errors, {self.path(path)}, {self.find(path)}, "
            f"{allowed}, {'true' if unique else 'false'});")

    def one_of(self, text):
        """The check that a text is one of several."""
        match = ONE_OF.match(text)
        if not match:
            raise Mistake(f"cannot read '{text}'")
        path, texts = match.groups()
        return (f"bt_kinds_check_allowed(check->errors, {self.path(path)}, {self.value(path)}, "
            f"{text_array(texts)});")

    def action(self, text):
        words = text.split()
        if words[0] == "call" and len(words) == 2 and NAME.match(words[1]):
            return f"bt_rule_{words[1]}(check, {self.place}, {self.object});"
        if words[0] == "format" and len(words) == 3 and words[2] in FORMATS:
            return self.format(words[1], FORMATS[words[2]])
        if words[0] == "immutable" and len(words) == 2:
            return self.immutable(words[1])
        if words[0] == "texts":
            return self.texts(text)
        if words[0] == "items":
            return self.items(text)
        if words[0] == "oneOf":
            return self.one_of(text)
        match = ACTION.match(text)
        if not match or match[1] not in ERRORS:
            raise Mistake(f"cannot read '{text}'")
        error, path, shown, message = match.groups()
        if path != "." and path not in MISSPELT:
            self.field(re.sub(r"\[0\]$", "", path))
        if shown == '""':
            value = 'bt_json_new_str(check->errors->arena, BT_STR(""))'
        elif shown == "none":
            value = "NULL"
        elif shown and shown.startswith("go("):
            value = self.go_form(shown[3:-1])
        elif shown and "(" in shown:
            self.parse(shown)
            value = f"bt_json_new_int64(check->errors->arena, {self.operand()[1]})"
        elif shown or error in SHOWN:
            shown = shown or path
            value = self.object if shown == "." else self.value(shown)
        else:
            value = "NULL"
        if message is None and error == "required":
            return f"bt_kinds_error_required(check->errors, {self.path(path)});"
        if message is None:
            return (f"bt_kinds_error(check->errors, BT_FIELD_{ERRORS[error]}, {self.path(path)}, "
                f'{value}, "%s", "");')
        message, arguments = self.filled(message)
        return (f"bt_kinds_error(check->errors, BT_FIELD_{ERRORS[error]}, {self.path(path)}, "
            f'{value}, "{message}"{arguments});')

    def fill(self, text):
        """The C statement that sets the default of a missing field by a bt_json_put template."""
        match = FILL.match(text)
        if not match:
            raise Mistake(f"cannot read '{text}'")
        path, value, condition = match.groups()
        field = self.field(path)
        names = path.split(".")
        if value == "podTemplate":
            holder = self.object
            for name in names[:-1]:
                holder = f'bt_json_ensure_object(write->arena, {holder}, "{name}")'
            when = f"if ({self.whole_condition(condition)}) " if condition else ""
            return f"{when}{{ bt_kinds_default_pod_template(write->arena, {holder}); }}"
        missing = f"{self.find(path)} == NULL"
        if field.shape != "SINGLE" or field.type in TEXTS:
            missing = f"!({self.is_set(path)})"
        if condition:
            missing = f"({self.whole_condition(condition)}) && {missing}"
        parts = re.split("('[^']*')", value)
        arguments = "".join(f", (int64_t){number}" for part in parts[::2]
            for number in re.findall(r"\b[0-9]+\b", part))
        parts[::2] = [re.sub(r"\b[0-9]+\b", "%d", part) for part in parts[::2]]
        value = "".join(parts)
        if value[0] == "=":
            missing = f"({self.is_set(value[1:])}) && {missing}"
            value, arguments = "%t", f", {self.find(value[1:])}"
        if value == "now":
            value, arguments = "%s", ", bt_time_text(write->arena, write->now_ns)"
        template = "".join(f"{{{name}: " for name in names) + value + "}" * len(names)
        return (f"if ({missing}) {{ bt_json_put(write->arena, {self.object}, "
            f'"{template}"{arguments}); }}')

    def statement(self, text):
        """One line of rules as a statement."""
        word, _, rest = text.partition(" ")
        if word == "fill":
            return self.fill(text)
        if word == "unique":
            return self.unique(text)
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


def kind_of(text):
    """Whether a line is a "rule", "first", "update", "warn" or "fill"."""
    word = re.sub(r"^(each [^ ]+ )+", "", text).partition(" ")[0]
    return word if word in ("first", "update", "warn", "fill") else "rule"


def list_of(text):
    """The list that an "each" line runs for; None for other lines."""
    return text.split(" ", 2)[1] if text.startswith("each ") else None


def write_lines(tables, writer, lines, out):
    """Writes the statements of lines of rules, each with its place."""
    for path, group in itertools.groupby(lines, lambda line: list_of(line[1])):
        group = list(group)
        for place, text in group[:1] if path else group:
            try:
                if path:
                    write_each(tables, writer, path, group, out)
                else:
                    line = writer.statement(text)
                    out.write(f"\t{line}\n" if line else "")
            except Mistake as mistake:
                tables.complain(place, str(mistake))


def write_each(tables, writer, path, lines, out):
    """Writes the loop of "each" lines of one list."""
    path, _, most = path.partition(":")
    element = Writer(tables, tables.messages[writer.field(path).message], outer=writer)
    n = element.depth
    lines = [(place, text.split(" ", 2)[2]) for place, text in lines]
    is_unique = any(text.startswith("unique ") for _, text in lines)
    out.write(f"\t{{\n\tconst struct bt_json_value *list{n} = "
        f"bt_json_array_at({writer.at(path)});\n")
    out.write(f"\tstruct bt_text_set seen{n} = {{0}};\n" if is_unique else "")
    bound = f" && i{n} < {most}" if most else ""
    out.write(f"\tfor (uint32_t i{n} = 0; i{n} < list{n}->count{bound}; i{n}++) {{\n"
        f"\tstruct bt_json_value *element{n} = list{n}->elements[i{n}];\n")
    if writer.place:
        out.write(f"\tBT_UNUSED const struct bt_path *at{n} = "
            f"BT_PATH_INDEX({writer.path(path)}, i{n});\n")
    write_lines(tables, element, lines, out)
    end = f"\tbt_text_set_finish(&seen{n});\n" if is_unique else ""
    out.write(f"\t}}\n{end}\t}}\n")


def write_rule(tables, message, rules, name, out):
    """Writes the C function that checks one message, or sets its defaults if name is "fill". rules:
    lines and their places."""
    parameters = ("struct bt_check *check, BT_UNUSED const struct bt_path *place, "
        "const struct bt_json_value *object")
    if name == "fill":
        parameters = "const struct bt_write *write, struct bt_json_value *object"
    out.write(f"static void {name}_{message.index}({parameters})\n{{\n")
    write_lines(tables, Writer(tables, message, None if name == "fill" else "place"), rules, out)
    out.write("}\n\n")


def write_rules(tables, out):
    """Write a function for each message that has rules, and tables of the functions by message
    index."""
    messages = sorted(tables.messages.values(), key=lambda message: message.key)
    out.write("/* Made by tools/gen_types.py. */\n")
    out.write('#include "api/label.h"\n#include "api/selector.h"\n#include "api/time.h"\n')
    out.write('#include "server/cron.h"\n#include "server/kinds/common.h"\n\n')
    functions = {"rule": {}, "first": {}, "update": {}, "warn": {}, "fill": {}}
    for index, message in enumerate(messages):
        message.index = index
    for message in messages:
        rules = {kind: [] for kind in functions}
        for place, text in message.rules:
            rules[kind_of(text)].append((place, re.sub("^(first|update|warn) ", "", text)))
        words = rules["rule"][0][1].split() if len(rules["rule"]) == 1 else []
        if words[:1] == ["call"]:
            functions["rule"][message.index] = f"bt_rule_{words[1]}"
            rules["rule"] = []
        for kind, lines in rules.items():
            if lines:
                functions[kind][message.index] = f"{kind}_{message.index}"
                write_rule(tables, message, lines, kind, out)
    for kind, names in functions.items():
        out.write(f"bt_{'fill' if kind == 'fill' else 'rule'}_fn *const "
            f"bt_kinds_{kind}s[{len(messages)}] = {{\n")
        for index, name in names.items():
            out.write(f"\t[{index}] = {name},\n")
        out.write("};\n")


def write_rule_names(tables, out):
    """Declares the handwritten checks."""
    names = {name for message in tables.messages.values() for _, text in message.rules
        for name in re.findall(r"\bcall ([a-z_]+)$", text)}
    out.write("/* Made by tools/gen_types.py. */\n")
    for name in sorted(names):
        out.write(f"bt_rule_fn bt_rule_{name};\n")
