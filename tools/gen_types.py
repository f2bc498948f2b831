#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turn *.api files into C: structures, their field tables, the tables of schema/schema.h.

The format is described in src/api/types/README.md. Every mistake is reported as file:line: text
and makes the run fail. A reference to a package without a file is a mistake only with --strict;
otherwise an empty message replaces the missing message.
"""

import argparse
import io
import pathlib
import re
import sys

import gen_rules

SCALARS = {
    "string": "STRING",
    "bool": "BOOL",
    "int32": "INT32",
    "int64": "INT64",
    "bytes": "BYTES",
    "quantity": "QUANTITY",
    "intOrString": "INT_OR_STRING",
    "time": "TIME",
    "microTime": "MICRO_TIME",
    "stringList": "STRING_LIST",
    "rawJSON": "RAW_JSON",
    "float32": "FLOAT32",
    "duration": "DURATION",
    "pluginArgs": "PLUGIN_ARGS",
}
MAP_VALUES = {"string", "quantity", "time", "bytes", "stringList"}
LIST_ELEMENTS = {"string", "bool", "int32", "int64", "quantity", "intOrString"}
FLAGS = ["always", "required", "inline", "merge", "replace", "retainKeys", "set", "atomic",
    "nullable", "unchecked", "given", "immutable"]
CHECK_FLAGS = {"given", "immutable"}  # flags that are stored in the field's checks
MESSAGE_FLAGS = {"atomic", "typeMeta", "pluginArgs"}
RULES = {"rule", "else", "stop", "each", "let", "call", "format", "items", "oneOf", "texts",
    "first", "update", "warn", "fill"}
FORMATS = {"label": "LABEL", "subdomain": "SUBDOMAIN", "labelKey": "LABEL_KEY",
    "labels": "LABELS", "intOrPercent": "INT_OR_PERCENT", "driver": "DRIVER"}
FLAG_NAMES = {"set": "LIST_SET", "retainKeys": "RETAIN_KEYS"}
PACKAGE = re.compile(r"^[a-z]+/v[0-9]+((alpha|beta)[0-9]+)?$")
MESSAGE = re.compile(r"^[A-Z][A-Za-z0-9]*$")
FIELD = re.compile(r"^[A-Za-z][A-Za-z0-9-]*$")
TYPE = re.compile(r"^(\[\]|map\[)?([A-Za-z0-9/.]+)(\])?$")
DEFAULTS = {
    "STRING": re.compile(r"^[^\"\\]*$"),
    "BOOL": re.compile(r"^(true|false)$"),
    "INT32": re.compile(r"^[0-9]+$"),
    "INT64": re.compile(r"^[0-9]+$"),
}
CHECKS = {
    "enum": re.compile(r"^[A-Za-z0-9]+([|][A-Za-z0-9]+)*$"),
    "format": re.compile(f"^({'|'.join(FORMATS)})$"),
    "min": re.compile(r"^[0-9]+$"),
    "range": re.compile(r"^[0-9]+-[0-9]+$"),
    "maxItems": re.compile(r"^[0-9]+$"),
    "unique": FIELD,
}
NUMBER_MAX = 10000
INLINE_DEPTH_MAX = 4
FIELDS_MAX = 250  # fields of inline messages included; lookups store the number in a byte
# Keywords of C or C++ that are names of fields: the member of the structure gets a "_" at its end.
KEYWORDS = {"bool", "continue", "default", "int", "namespace", "operator", "template"}
STRUCT = re.compile(r"^bt_[a-z0-9_]+$")
MEMBER = re.compile(r"^([a-z][a-z0-9_]*(\[[A-Z_]+\])?|\*)$")
# Types of the C member of a field, and of a nullable field; see codec/message.h.
C_TYPES = {
    "STRING": ("STR", "struct bt_str", "struct bt_str"),
    "BOOL": ("BOOL", "bool", "struct bt_opt_bool"),
    "INT32": ("I32", "int32_t", "struct bt_opt_i32"),
    "INT64": ("I64", "int64_t", "struct bt_opt_i64"),
    "RAW_JSON": ("RAW_JSON", "struct bt_str", "struct bt_str"),
    "QUANTITY": ("SCALAR", "struct bt_quantity", "const struct bt_quantity *"),
    "INT_OR_STRING": ("SCALAR", "struct bt_int_or_string", "const struct bt_int_or_string *"),
    "TIME": ("SCALAR", "struct bt_time", "const struct bt_time *"),
    "MICRO_TIME": ("SCALAR", "struct bt_time", "const struct bt_time *"),
}
# Types that only configurations have.
CONFIG_TYPES = {
    "FLOAT32": ("F32", "float", None),
    "DURATION": ("DURATION", "int64_t", "struct bt_opt_i64"),
    "BYTES": ("BYTES", "struct bt_str", "struct bt_str"),
    "PLUGIN_ARGS": ("ARGS", "struct bt_plugin_args", None),
}
C_MAPS = {
    "STRING": ("struct bt_str_map", "struct bt_str_pair", "value"),
    "QUANTITY": ("struct bt_resource_list", "struct bt_resource_entry", "quantity"),
    "TIME": ("BT_LIST(struct bt_time_entry)", "struct bt_time_entry", "value"),
}
C_ALIGNMENTS = {"bool": 1, "struct bt_opt_bool": 1, "int32_t": 4, "struct bt_opt_i32": 4,
    "float": 4}

HEADER = """/* Made by tools/gen_types.py from src/api/types. */
#ifndef BT_API_TYPES_H
#define BT_API_TYPES_H
/**
 * The objects of the Kubernetes API, as far as the engine reads them, and their field tables
 * (codec/message.h). Immutable once decoded; the arena owns their memory. An absent nullable member
 * is a NULL pointer, or a text without data.
 */
#include "api/int_or_string.h"
#include "api/quantity.h"
#include "api/time.h"
#include "codec/message.h"

struct bt_time_entry {
	struct bt_str key;
	struct bt_time value;
};

"""

CONFIG_HEADER = """/* Made by tools/gen_types.py from src/config/types. */
#ifndef BT_CONFIG_TYPES_H
#define BT_CONFIG_TYPES_H
/**
 * The parts of a configuration, decoded and defaulted. Durations are nanoseconds. Include
 * config/config.h instead of this header: it first defines the extension points.
 */
#include "api/types.h"
#include "codec/json.h"

"""


class Field:
    def __init__(self, place, number, name):
        self.place = place
        self.number = number
        self.name = name
        self.shape = "SINGLE"
        self.type = None
        self.message = None  # key of the message: "core/v1.Pod"
        self.flags = set()
        self.merge_key = None
        self.keys = None
        self.member = None  # member of the C structure; "*": the members of the inline message
        self.comment = ""
        self.description = ""  # text for users, in OpenAPI and `kubectl explain`
        self.go_type = None  # of a STRING: the name of the field's type in Go; None: string
        self.hidden = False  # the field is only a member of the C structure
        self.empty = False  # a structure that is all zero is written as {}, not left out
        self.default = None
        self.checks = {}  # members of struct bt_schema_checks

    def has_checks(self):
        return bool(self.checks or self.flags & CHECK_FLAGS)


class Message:
    def __init__(self, place, package, name, atomic):
        self.place = place
        self.package = package
        self.name = name
        self.atomic = atomic
        self.fields = []
        self.index = 0
        self.comment = []
        self.description = ""
        self.flags = set()
        self.rules = []  # (place, line): see gen_rules.py
        self.imported = False
        self.struct = None  # the message's C structure
        self.symbol = None  # name of the message's field table in C
        self.wrapper = None  # the inline field whose members lie in this structure

    @property
    def key(self):
        return f"{self.package}.{self.name}"


class Tables:
    def __init__(self):
        self.errors = []
        self.packages = {}
        self.messages = {}
        self.kinds = []  # place, message key, apiVersion, kind
        self.c_types = C_TYPES
        self.flat = set()  # keys of messages whose members lie in another message's structure

    def complain(self, place, text):
        self.errors.append(f"{place}: {text}")


def c_name(name):
    """The C name of a field: host_ip for hostIP."""
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).replace("-", "_").lower()


def read_flag(tables, field, word):
    """Add one flag, a word of the field's line, to the field."""
    name, equals, value = word.partition("=")
    if name == "merge" and equals:
        field.merge_key = value
        field.flags.add("merge")
    elif name == "keys" and equals and all(value.split(",")):
        field.keys = value.split(",")
    elif name == "type" and field.type == "STRING" and MESSAGE.match(value):
        field.go_type = value
    elif name == "default" and equals and field.default is None:
        field.default = value
    elif word == "hidden":
        field.hidden = True
    elif name in CHECKS and name not in field.checks and CHECKS[name].match(value):
        field.checks[name] = value
    elif name == "c" and not field.member and (MEMBER.match(value) or not equals):
        field.member = value or c_name(field.name)
        field.member += "_" if field.member in KEYWORDS else ""
    elif word == "empty" and field.member:
        field.empty = True
    elif name in FLAGS and not equals and name not in field.flags:
        field.flags.add(name)
    else:
        tables.complain(field.place, f"bad or repeated flag '{word}'")


def read_type(tables, field, package, text):
    match = TYPE.match(text)
    if not match or (match[1] == "map[") != bool(match[3]):
        tables.complain(field.place, f"bad type '{text}'")
        return
    field.shape = {"[]": "LIST", "map[": "MAP"}.get(match[1], "SINGLE")
    base = match[2]
    if base in SCALARS:
        field.type = SCALARS[base]
        allowed = {"LIST": LIST_ELEMENTS, "MAP": MAP_VALUES}.get(field.shape)
        if allowed is not None and base not in allowed:
            tables.complain(field.place, f"no {field.shape.lower()} of {base}")
        return
    field.type = "MESSAGE"
    field.message = base if "/" in base else f"{package}.{base}"
    if not MESSAGE.match(field.message.rpartition(".")[2]):
        tables.complain(field.place, f"bad type '{text}'")


def read_field(tables, place, message, words, comment):
    if len(words) < 3 or not words[0].isdigit() or not FIELD.match(words[1]):
        tables.complain(place, "expected '<number> <name> <type> [flags]'")
        return
    field = Field(place, int(words[0]), words[1])
    if not 0 < field.number <= NUMBER_MAX:
        tables.complain(place, f"number {field.number} out of range")
    if any(other.number == field.number for other in message.fields):
        tables.complain(place, f"number {field.number} used twice")
    if any(other.name == field.name for other in message.fields):
        tables.complain(place, f"field '{field.name}' named twice")
    read_type(tables, field, message.package, words[2])
    for word in words[3:]:
        read_flag(tables, field, word)
    field.comment = comment
    message.fields.append(field)


def read_message(tables, place, words, state):
    message = Message(place, state["package"], words[1], "atomic" in words[2:])
    message.comment = state["comment"]
    for word in words[2:]:
        name = word.partition("=")[2] or f"bt_{c_name(message.name)}"
        if word == "struct" or (word.startswith("struct=") and STRUCT.match(name)):
            message.struct = name
        elif word in MESSAGE_FLAGS:
            message.flags.add(word)
        else:
            tables.complain(place, f"bad flag '{word}'")
    if message.key in tables.messages:
        tables.complain(place, f"message {words[1]} described twice")
    tables.messages[message.key] = message
    state["message"] = message


def read_description(tables, place, text, message):
    """Add a line "| text" to the documentation of the field or message above it."""
    if message is None or not text or '"' in text or "\\" in text:
        tables.complain(place, "expected '| text' without quotes below a message or field")
        return
    holder = message.fields[-1] if message.fields else message
    holder.description += (" " if holder.description else "") + text


def read_line(tables, place, line, state):
    if line.lstrip().startswith("|"):
        read_description(tables, place, line.strip()[1:].strip(), state["message"])
        return
    text, _, comment = line.partition("#")
    words = text.split()
    if not words:
        state["comment"] = state["comment"] + [comment.strip()] if comment else []
        return
    if line[0] in " \t":
        if state["message"] is None:
            tables.complain(place, "a field outside of a message")
        elif words[0].rstrip(":") in RULES:
            state["message"].rules.append((place, text.strip()))
        else:
            read_field(tables, place, state["message"], words, comment.strip())
        return
    if words[0] == "package" and len(words) == 2 and PACKAGE.match(words[1]):
        if state["package"] or words[1] in tables.packages:
            tables.complain(place, "package named twice")
        state["package"] = words[1]
        tables.packages[words[1]] = place
    elif not state["package"]:
        tables.complain(place, "expected 'package <group>/<version>' first")
    elif words[0] == "message" and MESSAGE.match((words + [""])[1]):
        read_message(tables, place, words, state)
    elif words[0] == "kind" and len(words) == 5 and words[2] == "=":
        tables.kinds.append((place, f"{state['package']}.{words[1]}", words[3], words[4]))
    else:
        tables.complain(place, f"cannot read '{line.strip()}'")
    state["comment"] = []


def read_file(tables, path):
    state = {"package": None, "message": None, "comment": []}
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        read_line(tables, f"{path}:{number}", line, state)
    expected = f"{path.stem.replace('_', '/', 1)}"
    if state["package"] != expected:
        tables.complain(f"{path}:1", f"the package of this file must be {expected}")


def resolve(tables, strict):
    """Check the references to messages; an empty message replaces a missing message."""
    missing = {}
    for message in list(tables.messages.values()):
        for field in message.fields:
            if field.message is None or field.message in tables.messages:
                continue
            package = field.message.rpartition(".")[0]
            if strict or package in tables.packages:
                tables.complain(field.place, f"no message {field.message}")
            missing[field.message] = Message("", package, field.message.rpartition(".")[2],
                False)
    tables.messages.update(missing)
    for place, key, version, kind in tables.kinds:
        if key not in tables.messages:
            tables.complain(place, f"no message {key}")


def member_names(tables, message, depth=0):
    """JSON names of the fields, those of inline messages included."""
    names = []
    for field in message.fields:
        if "inline" in field.flags and depth == INLINE_DEPTH_MAX:
            tables.complain(field.place, f"inline messages nest more than {INLINE_DEPTH_MAX} deep")
        elif "inline" in field.flags and field.message in tables.messages:
            names += member_names(tables, tables.messages[field.message], depth + 1)
        else:
            names.append(field.name)
    return names


def check_field(tables, field):
    flags = field.flags
    scalar_list = field.shape == "LIST" and field.type != "MESSAGE"
    message_list = field.shape == "LIST" and field.type == "MESSAGE"
    single_message = field.shape == "SINGLE" and field.type == "MESSAGE"
    rules = [
        ("inline" in flags and not (single_message and flags == {"inline"}),
            "only a message without other flags can be inline"),
        ("merge" in flags and not (message_list if field.merge_key else scalar_list),
            "'merge=key' is for lists of messages, 'merge' for other lists"),
        (field.keys is not None and not message_list, "'keys=' is for lists of messages"),
        ("set" in flags and not scalar_list, "'set' is for lists of scalars"),
        ("atomic" in flags and not (single_message or field.shape == "MAP"),
            "'atomic' is for messages and maps"),
        ("replace" in flags and not single_message, "'replace' is for messages"),
        ("retainKeys" in flags and not (single_message or field.merge_key),
            "'retainKeys' is for messages and merged lists"),
        ("nullable" in flags and field.shape != "SINGLE", "a list or map is never nullable"),
        ("maxItems" in field.checks and field.shape == "SINGLE",
            "'maxItems=' is for lists and maps"),
        ("unique" in field.checks and not message_list, "'unique=' is for lists of messages"),
        ("enum" in field.checks and field.type != "STRING", "'enum=' is for texts"),
        ("min" in field.checks and field.type not in ("INT32", "INT64", "QUANTITY"),
            "'min=' is for numbers and quantities"),
        ("range" in field.checks and field.type not in ("INT32", "INT64"),
            "'range=' is for numbers"),
        (field.default is not None and (field.shape != "SINGLE" or not DEFAULTS.get(field.type,
            re.compile("$.")).match(field.default)), "the default does not fit the type"),
    ]
    for wrong, text in rules:
        if wrong:
            tables.complain(field.place, text)
    if message_list and field.message in tables.messages:
        target = tables.messages[field.message]
        known = member_names(tables, target)
        keys = [field.merge_key, field.checks.get("unique")]
        for key in (field.keys or []) + [key for key in keys if key]:
            if target.place and key not in known:
                tables.complain(field.place, f"{target.key} has no member '{key}'")


def check(tables):
    for message in tables.messages.values():
        for field in message.fields:
            if field.type == "MESSAGE" and field.message not in tables.messages:
                continue
            check_field(tables, field)
            if field.type == "MESSAGE" and field.shape == "SINGLE":
                if tables.messages[field.message].atomic:
                    field.flags.add("atomic")
        names = member_names(tables, message)
        if len(set(names)) != len(names):
            tables.complain(message.place, "an inline message repeats a member")
        if len(names) + len(message.fields) > FIELDS_MAX:
            tables.complain(message.place, "too many fields")
    seen = set()
    for place, _, version, kind in tables.kinds:
        if (version, kind) in seen:
            tables.complain(place, f"{version} {kind} served twice")
        seen.add((version, kind))


def name_structs(tables):
    """Set the C structure of messages, and the symbol of each message's field table."""
    for message in tables.messages.values():
        for field in message.fields:
            if field.member == "*":
                message.wrapper = field
                tables.flat.add(field.message)
    users = {}
    for message in tables.messages.values():
        if message.key not in tables.flat and any(field.member for field in message.fields):
            message.struct = message.struct or f"bt_{c_name(message.name)}"
        if message.struct:
            users.setdefault(message.struct, []).append(message)
    for struct, messages in users.items():
        owner = messages[0] if len(messages) == 1 else next((message for message in messages
            if f"bt_{c_name(message.name)}" == struct), None)
        for message in messages:
            message.symbol = struct if message is owner else f"bt_{c_name(message.name)}"
            if message.symbol == struct and message is not owner:
                message.symbol = f"bt_{message.package.replace('/', '_')}{struct[2:]}"
            message.symbol += "_message"


def struct_fields(tables, message):
    """(field, is_flat) of each member of the message's C structure. is_flat: the field belongs to a
    message in tables.flat, whose members lie in this structure."""
    for field in message.fields:
        if field is message.wrapper:
            yield from ((inner, True) for inner in tables.messages[field.message].fields
                if inner.member)
        elif field.member:
            yield field, False


def c_layout(tables, field):
    """Return (type of the member, type of one value, name of the value in a map's entry), or None
    if C has no such member. The name is None if the field is not a map."""
    nullable = "nullable" in field.flags
    if field.type == "MESSAGE":
        struct = tables.messages[field.message].struct
        alone = (f"struct {struct}", f"const struct {struct} *") if struct else None
        lists = (f"{struct}_list", f"struct {struct}")
        maps = (f"BT_LIST(struct {struct}_entry)", f"struct {struct}_entry", "value")
    else:
        kind = tables.c_types.get(field.type)
        alone = kind[1:] if kind else None
        lists = kind and ("bt_str_list" if kind[1] == "struct bt_str" else f"BT_LIST({kind[1]})",
            kind[1])
        maps = C_MAPS.get(field.type)
    if alone is None or alone[nullable] is None or (field.shape == "MAP" and not maps):
        return None
    if field.shape == "MAP":
        return maps[0], maps[1], maps[2]
    if field.shape == "LIST":
        return lists[0], lists[1], None
    return alone[nullable], alone[nullable and not alone[1].endswith("*")], None


class Struct:
    """A C structure; several messages may share one."""

    def __init__(self, name):
        self.name = name
        self.comment = []
        self.members = {}  # name: (type, comment)
        self.needs = []  # structures that must be declared before this structure
        self.entries = []  # structures of which this structure has maps
        self.listed = []  # structures of which this structure has lists
        self.imported = False  # the structure is declared in another header

    def alignment(self, structs, kind):
        inner = structs.get(kind.removeprefix("struct "))
        if inner is None:
            return C_ALIGNMENTS.get(kind, 8)
        return max((self.alignment(structs, member) for member, _ in inner.members.values()),
            default=1)


def collect_structs(tables):
    structs = {}
    for message in tables.messages.values():
        if not message.struct:
            continue
        struct = structs.setdefault(message.struct, Struct(message.struct))
        struct.imported = message.imported
        struct.comment = struct.comment or message.comment
        for field, _ in struct_fields(tables, message):
            layout = c_layout(tables, field)
            if layout is None:
                tables.complain(field.place, f"'{field.name}' cannot be a member in C")
                continue
            member = re.sub(r"\[(BT_[A-Z]+)_.*", r"[\1__COUNT]", field.member)
            old = struct.members.get(member)
            if old and old[0] != layout[0]:
                tables.complain(field.place, f"struct {struct.name} has another {field.member}")
            comment = field.comment
            if field.default is not None and not comment:
                comment = f"default: {field.default}"
            struct.members[member] = (layout[0], old and old[1] or comment)
            if field.type == "PLUGIN_ARGS":
                struct.needs.append("bt_plugin_args")
            if field.type == "MESSAGE":
                inner = tables.messages[field.message].struct
                struct.needs.append(inner)
                if field.shape == "MAP":
                    struct.entries.append(inner)
                if field.shape == "LIST":
                    struct.listed.append(inner)
    arguments = [message for message in tables.messages.values() if "pluginArgs" in message.flags]
    if arguments:
        union = structs["bt_plugin_args"] = Struct("bt_plugin_args")
        union.needs = [message.struct for message in arguments]
    return structs


def in_order(structs):
    """The structures, each one after the structures that its members need."""
    done = {}

    def add(name):
        if name in done:
            return
        for inner in structs[name].needs:
            add(inner)
        done[name] = structs[name]
    for name in structs:
        add(name)
    return [struct for struct in done.values() if not struct.imported]


def write_checks(message, field, out):
    """Write the checks of a field's values: struct bt_schema_checks."""
    checks, name = field.checks, f"{message.index}_{field.number}"
    row = [f".{flag} = true" for flag in sorted(field.flags & CHECK_FLAGS)]
    if "enum" in checks:
        values = ", ".join(f'"{value}"' for value in checks["enum"].split("|"))
        out.write(f"static const char *const values_{name}[] = {{{values}, NULL}};\n")
        row.append(f".allowed = values_{name}")
    if "format" in checks:
        row.append(f".format = BT_SCHEMA_FORMAT_{FORMATS[checks['format']]}")
    if "min" in checks:
        row.append(f".has_min = true, .min = {checks['min']}")
    if "range" in checks:
        row.append(".has_range = true, .min = {}, .max = {}".format(*checks["range"].split("-")))
    if "maxItems" in checks:
        row.append(f".items_max = {checks['maxItems']}")
    if "unique" in checks:
        row.append(f'.unique = "{checks["unique"]}"')
    out.write(f"static const struct bt_schema_checks checks_{name} = {{{', '.join(row)}}};\n")


def write_field(tables, message, field, key_lists):
    flags = [f"BT_SCHEMA_{FLAG_NAMES.get(flag, flag.upper())}"
        for flag in FLAGS if flag in field.flags - CHECK_FLAGS]
    row = [f'.name = "{field.name}"', f".name_length = {len(field.name)}",
        f".type = BT_SCHEMA_{field.type}", f".shape = BT_SCHEMA_{field.shape}",
        f".number = {field.number}"]
    if flags:
        row.append(f".flags = {' | '.join(flags)}")
    if field.message:
        row.append(f".message = &messages[{tables.messages[field.message].index}]")
    if field.go_type:
        row.append(f'.go_type = "{message.package.split("/")[1]}.{field.go_type}"')
    if field.merge_key:
        row.append(f'.merge_key = "{field.merge_key}"')
    if field.keys:
        row.append(f".list_keys = keys_{key_lists[tuple(field.keys)]}")
    if field.default is not None:
        row.append(f'.default_text = "{field.default}"')
    if field.description:
        row.append(f'.description = "{field.description}"')
    if field.has_checks():
        row.append(f".checks = &checks_{message.index}_{field.number}")
    return "\t{" + ", ".join(row) + "},\n"


def reaching(tables, holds, enters=lambda field: True):
    """Keys of the messages for which holds() is true, or that contain such a message."""
    found = {message.key for message in tables.messages.values() if holds(message)}
    while True:
        more = found | {key for key, message in tables.messages.items() if any(
            field.message in found and enters(field) for field in message.fields)}
        if more == found:
            return found
        found = more


def count_places(tables, message):
    return len(message.fields) + sum(count_places(tables, tables.messages[field.message])
        for field in message.fields if "inline" in field.flags)


def guess_fields(message, mask):
    """Index of the first field for each value of the hash in schema/schema_private.h."""
    guesses = [0] * (mask + 1)
    for index, field in reversed(list(enumerate(sorted(
            message.fields, key=lambda field: field.number)))):
        name = field.name.encode()
        value = 27 * len(name) + 56 * name[0] + name[len(name) // 2] + 30 * name[-1]
        guesses[value & mask] = index
    return guesses


def write_tables(tables, out):
    messages = sorted(tables.messages.values(), key=lambda message: message.key)
    for index, message in enumerate(messages):
        message.index = index
    key_lists = {}
    for message in messages:
        for field in message.fields:
            if field.keys:
                key_lists.setdefault(tuple(field.keys), len(key_lists))
    out.write("/* Made by tools/gen_types.py. */\n#include <stddef.h>\n\n")
    out.write('#include "schema/schema.h"\n\n')
    for keys, index in key_lists.items():
        names = ", ".join(f'"{key}"' for key in keys)
        out.write(f"static const char *const keys_{index}[] = {{{names}, NULL}};\n")
    out.write(f"static const struct bt_schema_message messages[{len(messages)}];\n\n")
    for message in messages:
        if message.fields:
            out.write(f"/* {message.key} */\n")
            for field in message.fields:
                if field.has_checks():
                    write_checks(message, field, out)
            out.write(f"static const struct bt_schema_field fields_{message.index}[] = {{\n")
            for field in sorted(message.fields, key=lambda field: field.number):
                out.write(write_field(tables, message, field, key_lists))
            out.write("};\n")
    defaulted = reaching(tables, lambda message: any(
        field.default is not None for field in message.fields))
    checked = reaching(tables, lambda message: any(
        gen_rules.kind_of(text) == "rule" for _, text in message.rules) or any(
        field.has_checks() for field in message.fields),
        lambda field: "unchecked" not in field.flags)
    guesses = []
    rows = []
    for message in messages:
        mask = 1
        while mask < 4 * len(message.fields) - 1:
            mask = 2 * mask + 1
        rows.append(f"{count_places(tables, message)}, {mask}, {len(guesses)}")
        guesses += guess_fields(message, mask)
    out.write("\nconst uint8_t bt_schema_guesses[] = {")
    out.write("".join(f"{'' if i % 25 else chr(10) + chr(9)}{guess}, "
        for i, guess in enumerate(guesses)).replace(", \n", ",\n").rstrip())
    out.write("\n};\n")
    out.write(f"\nstatic const struct bt_schema_message messages[{len(messages)}] = {{\n")
    for message, row in zip(messages, rows):
        fields = f"fields_{message.index}" if message.fields else "NULL"
        out.write(f'\t{{"{message.name}", "{message.package}", ')
        out.write(f"{len(message.fields)}, {row}, {str(message.key in defaulted).lower()}, "
            f"{str(message.key in checked).lower()}, {fields}, ")
        out.write(f'"{message.description}"}},\n' if message.description else "NULL},\n")
    out.write("};\n\nconst struct bt_schema_kind bt_schema_kinds[] = {\n")
    rows = []
    for _, key, version, kind in tables.kinds:
        group, _, name = version.rpartition("/")
        rows.append((group, name, kind, tables.messages[key].index))
    for group, version, kind, index in sorted(rows):
        out.write(f'\t{{"{group}", "{version}", "{kind}", &messages[{index}]}},\n')
    out.write("};\n")
    out.write(f"const uint32_t bt_schema_kind_count = {len(rows)};\n")
    out.write("const struct bt_schema_message *const bt_schema_messages = messages;\n")
    out.write(f"const uint32_t bt_schema_message_count = {len(messages)};\n")


def write_struct(struct, structs, out):
    rows = sorted(struct.members.items(),
        key=lambda item: -struct.alignment(structs, item[1][0]))  # no holes
    if struct.comment:
        out.write(f"/** {' '.join(struct.comment)} */\n")
    out.write(f"struct {struct.name} {{\n")
    for name, (kind, comment) in rows:
        space = "" if kind.endswith("*") else " "
        out.write(f"\t{kind}{space}{name};{f' /* {comment} */' if comment else ''}\n")
    out.write("};\n\n" if rows else "\tchar unused;\n};\n\n")


def args_name(message):
    """The C name of plugin arguments: node_affinity for NodeAffinityArgs."""
    return c_name(message.name).removesuffix("_args")


def write_plugin_args(tables, out):
    """Write the enumeration of the kinds of plugin arguments, and the structure that contains the
    arguments of one kind."""
    messages = [message for message in tables.messages.values() if "pluginArgs" in message.flags]
    out.write("enum bt_plugin_args_kind {\n"
        "\tBT_ARGS_NONE,  /* no arguments were given and none exist by default */\n"
        "\tBT_ARGS_OTHER, /* arguments of an out-of-tree plugin: raw holds their JSON */\n")
    for message in messages:
        out.write(f"\tBT_ARGS_{args_name(message).upper()},\n")
    out.write("\tBT_ARGS__COUNT,\n};\n\nstruct bt_plugin_args {\n"
        "\tenum bt_plugin_args_kind kind;\n"
        "\tstruct bt_str raw; /* BT_ARGS_OTHER: JSON text, absent = null */\n"
        "\t/* Only while the document is being loaded, else NULL. */\n"
        "\tconst struct bt_json_value *source;\n\tunion {\n")
    for message in messages:
        out.write(f"\t\tstruct {message.struct} {args_name(message)};\n")
    out.write("\t};\n};\n\n")


def write_header(tables, structs, out):
    out.write(CONFIG_HEADER if tables.c_types is not C_TYPES else HEADER)
    listed = {name for struct in structs.values() for name in struct.listed}
    entries = {name for struct in structs.values() for name in struct.entries}
    for struct in in_order(structs):
        if struct.name == "bt_plugin_args":
            write_plugin_args(tables, out)
            continue
        write_struct(struct, structs, out)
        if struct.name in listed:
            out.write(f"typedef BT_LIST(struct {struct.name}) {struct.name}_list;\n\n")
        if struct.name in entries:
            out.write(f"struct {struct.name}_entry {{\n\tstruct bt_str key;\n"
                f"\tstruct {struct.name} value;\n}};\n\n")
    defaults = {f"{message.struct}_{field.member}".removeprefix("bt_").upper(): field.default
        for message in tables.messages.values() for field in message.fields
        if field.member and field.type == "STRING" and field.default is not None}
    for name, text in defaults.items():
        out.write(f'#define BT_DEFAULT_{name} BT_STR("{text}")\n')
    for message in tables.messages.values():
        if message.struct and tables.c_types is C_TYPES:
            out.write(f"extern const struct bt_message {message.symbol};\n")
    out.write("#endif\n")


def write_row(tables, message, field, is_flat, out):
    kind = C_TYPES[field.type][0] if field.type in C_TYPES else "MESSAGE"
    _, item, value = c_layout(tables, field)
    shape = "NULLABLE" if "nullable" in field.flags else field.shape
    inline = "inline" in field.flags
    # A structure that is all zero is left out unless the flag "empty" asks for {}.
    is_single = kind == "MESSAGE" and field.shape == "SINGLE"
    always = field.empty if is_single else "always" in field.flags
    flags = [f"BT_FIELD_{name}" for name, holds in
        (("INLINE", inline), ("ALWAYS", always), ("WRAPPED", is_flat)) if holds]
    name = "" if inline else field.name
    row = [f'.name = "{name}"', f".name_length = {len(name)}", f".type = BT_FIELD_{kind}",
        f".shape = BT_SHAPE_{shape}", f".flags = {' | '.join(flags) or '0'}",
        f".number = {field.number}", f".offset = offsetof(struct {message.struct}, {field.member})",
        f".item_size = sizeof({item})"]
    if value:
        row.append(f".value_offset = offsetof({item}, {value})")
    if kind == "MESSAGE":
        row.append(f".message = &{tables.messages[field.message].symbol}")
    elif kind == "SCALAR":
        row.append(f".scalar = &bt_{field.type.lower()}_scalar")
    out.write("\t{" + ", ".join(row) + "},\n")


def write_rows(tables, out):
    out.write('/* Made by tools/gen_types.py. */\n#include "api/types.h"\n')
    for message in tables.messages.values():
        if not message.struct:
            continue
        fields = list(struct_fields(tables, message))
        rows = message.symbol.replace("_message", "_rows")
        out.write(f"\n/* {message.key} */\n")
        if fields:
            out.write(f"static const struct bt_field {rows}[] = {{\n")
            for field, is_flat in fields:
                write_row(tables, message, field, is_flat, out)
            out.write("};\n")
        out.write(f'const struct bt_message {message.symbol} = {{\n\t.name = "{message.name}", '
            f".size = sizeof(struct {message.struct}), .field_count = {len(fields)},\n"
            f"\t.fields = {rows if fields else 'NULL'}, "
            f".wrapper = {message.wrapper.number if message.wrapper else 0},\n}};\n")


def config_kind(tables, field):
    if field.shape == "MAP":
        return "STR_MAP"
    if field.shape == "LIST":
        return "LIST" if field.type == "MESSAGE" else "STR_LIST"
    if field.type == "MESSAGE":
        return "POINTER" if "nullable" in field.flags else "STRUCT"
    return tables.c_types[field.type][0]


def write_config_schema(tables, message, out):
    """One table of config/schema.h, sorted by name."""
    rows = []
    version = message.package.rpartition("/")[2]
    if message.flags & {"typeMeta", "pluginArgs"}:
        for name, kind in (("apiVersion", "VERSION"), ("kind", "KIND")):
            rows.append((name, [f".kind = BT_CONFIG_SCHEMA_{kind}",
                ".flags = BT_CONFIG_SCHEMA_ALWAYS"]))
    for field, _ in struct_fields(tables, message):
        if field.hidden:
            continue
        kind, (member, _, _) = config_kind(tables, field), c_layout(tables, field)
        place = f"offsetof(struct {message.struct}, {field.member}"
        optional = member.startswith("struct bt_opt_")
        flags = ["BT_CONFIG_SCHEMA_ALWAYS"] * ("always" in field.flags) + [
            "BT_CONFIG_SCHEMA_PRESENT"] * optional
        row = [f".kind = BT_CONFIG_SCHEMA_{kind}", f".flags = {' | '.join(flags) or '0'}",
            f".offset = {place}{'.value' if optional else ''})"]
        if optional:
            row.append(f".present_offset = {place}.present)")
        if field.go_type:
            row.append(f'.go_type = "{version}.{field.go_type}"')
        if field.type == "MESSAGE":
            row.append(f".schema = &{tables.messages[field.message].struct}_schema")
        rows.append((field.name, row))
    out.write(f"\n/* {message.key} */\n")
    out.write(f"static const struct bt_config_schema_field {message.struct}_fields[] = {{\n")
    for name, row in sorted(rows):
        out.write(f'\t{{.name = "{name}", {", ".join(row)}}},\n')
    out.write(f'}};\nconst struct bt_config_schema {message.struct}_schema = {{\n'
        f'\t.go_type = "{version}.{message.name}", .size = sizeof(struct {message.struct}),\n'
        f"\t.field_count = {len(rows)}, .fields = {message.struct}_fields,\n}};\n")


def write_config_schemas(tables, out):
    reached = {}

    def reach(message):
        if message.key not in reached:
            reached[message.key] = message
            for field, _ in struct_fields(tables, message):
                if field.type == "MESSAGE":
                    reach(tables.messages[field.message])

    own = [message for message in tables.messages.values() if not message.imported]
    for message in own:
        reach(message)
    out.write('/* Made by tools/gen_types.py. */\n#include "config/schema.h"\n\n')
    for message in reached.values():
        out.write(f"extern const struct bt_config_schema {message.struct}_schema;\n")
    for message in reached.values():
        write_config_schema(tables, message, out)
    out.write("\nconst struct bt_config_schema *const bt_config_args_schemas[BT_ARGS__COUNT] = {\n")
    for message in own:
        if "pluginArgs" in message.flags:
            out.write(f"\t[BT_ARGS_{args_name(message).upper()}] = &{message.struct}_schema,\n")
    out.write("};\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--strict", action="store_true",
        help="a reference to a missing package is a mistake")
    parser.add_argument("--header", type=pathlib.Path, help="api/types.h: the structures")
    parser.add_argument("--rows", type=pathlib.Path, help="C file of their field tables")
    parser.add_argument("--tables", type=pathlib.Path, help="C file of schema/schema.h")
    parser.add_argument("--rules", type=pathlib.Path, help="C file of the rules")
    parser.add_argument("--rule-names", type=pathlib.Path, help="header of handwritten checks")
    parser.add_argument("--config", type=pathlib.Path,
        help="C file of config/schema.h; --header is config/types.h then")
    parser.add_argument("--import", type=pathlib.Path, nargs="*", default=[], dest="imports",
        help="files that are only referred to")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    tables = Tables()
    for path in sorted(options.imports):
        read_file(tables, path)
    for message in tables.messages.values():
        message.imported = True
    for path in sorted(options.files):
        read_file(tables, path)
    if options.config:
        tables.c_types = C_TYPES | CONFIG_TYPES
    resolve(tables, options.strict)
    check(tables)
    name_structs(tables)
    structs = collect_structs(tables)
    if tables.errors:
        print("\n".join(tables.errors), file=sys.stderr)
        return 1
    for path, write in ((options.header, lambda out: write_header(tables, structs, out)),
            (options.rows, lambda out: write_rows(tables, out)),
            (options.tables, lambda out: write_tables(tables, out)),
            (options.config, lambda out: write_config_schemas(tables, out)),
            (options.rules, lambda out: gen_rules.write_rules(tables, out)),
            (options.rule_names, lambda out: gen_rules.write_rule_names(tables, out))):
        if path:
            out = io.StringIO()
            write(out)
            if tables.errors:
                print("\n".join(tables.errors), file=sys.stderr)
                return 1
            if not path.exists() or path.read_text(encoding="utf-8") != out.getvalue():
                path.write_text(out.getvalue(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
