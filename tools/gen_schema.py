#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turn src/schema/types/*.api into the C tables of schema/schema.h.

The format is described in src/schema/types/README.md. Every mistake is reported as file:line: text
and makes the run fail. A reference into a package of which there is no file is a mistake only with
--strict; otherwise an empty message stands in.
"""

import argparse
import pathlib
import re
import sys

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
}
MAP_VALUES = {"string", "quantity", "time", "bytes", "stringList"}
LIST_ELEMENTS = {"string", "bool", "int32", "int64", "quantity", "intOrString"}
FLAGS = ["always", "required", "inline", "merge", "replace", "retainKeys", "set", "atomic",
    "nullable"]
FLAG_NAMES = {"set": "LIST_SET", "retainKeys": "RETAIN_KEYS"}
PACKAGE = re.compile(r"^[a-z]+/v[0-9]+((alpha|beta)[0-9]+)?$")
MESSAGE = re.compile(r"^[A-Z][A-Za-z0-9]*$")
FIELD = re.compile(r"^[A-Za-z][A-Za-z0-9]*$")
TYPE = re.compile(r"^(\[\]|map\[)?([A-Za-z0-9/.]+)(\])?$")
NUMBER_MAX = 10000
FIELDS_MAX = 250  # with those of inline messages: lookups count in a byte


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


class Message:
    def __init__(self, place, package, name, atomic):
        self.place = place
        self.package = package
        self.name = name
        self.atomic = atomic
        self.fields = []
        self.index = 0

    @property
    def key(self):
        return f"{self.package}.{self.name}"


class Tables:
    def __init__(self):
        self.errors = []
        self.packages = {}
        self.messages = {}
        self.kinds = []  # place, message key, apiVersion, kind

    def complain(self, place, text):
        self.errors.append(f"{place}: {text}")


def read_flag(tables, field, word):
    """One flag of a field's line."""
    name, equals, value = word.partition("=")
    if name == "merge" and equals:
        field.merge_key = value
        field.flags.add("merge")
    elif name == "keys" and equals and all(value.split(",")):
        field.keys = value.split(",")
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


def read_field(tables, place, message, words):
    if len(words) < 3 or not words[0].isdigit() or not FIELD.match(words[1]):
        tables.complain(place, "expected '<number> <name> <type> [flags]'")
        return
    field = Field(place, int(words[0]), words[1])
    if not 0 < field.number <= NUMBER_MAX:
        tables.complain(place, f"number {field.number} out of range")
    if message.fields and field.number <= message.fields[-1].number:
        tables.complain(place, f"number {field.number} does not ascend")
    if any(other.name == field.name for other in message.fields):
        tables.complain(place, f"field '{field.name}' named twice")
    read_type(tables, field, message.package, words[2])
    for word in words[3:]:
        read_flag(tables, field, word)
    message.fields.append(field)


def read_line(tables, place, line, state):
    words = line.split("#")[0].split()
    if not words:
        return
    if line[0] in " \t":
        if state["message"] is None:
            tables.complain(place, "a field outside of a message")
        else:
            read_field(tables, place, state["message"], words)
        return
    if words[0] == "package" and len(words) == 2 and PACKAGE.match(words[1]):
        if state["package"] or words[1] in tables.packages:
            tables.complain(place, "package named twice")
        state["package"] = words[1]
        tables.packages[words[1]] = place
    elif not state["package"]:
        tables.complain(place, "expected 'package <group>/<version>' first")
    elif words[0] == "message" and MESSAGE.match((words + [""])[1]) and words[2:] in ([],
            ["atomic"]):
        message = Message(place, state["package"], words[1], len(words) == 3)
        if message.key in tables.messages:
            tables.complain(place, f"message {words[1]} described twice")
        tables.messages[message.key] = message
        state["message"] = message
    elif words[0] == "kind" and len(words) == 5 and words[2] == "=":
        tables.kinds.append((place, f"{state['package']}.{words[1]}", words[3], words[4]))
    else:
        tables.complain(place, f"cannot read '{line.strip()}'")


def read_file(tables, path):
    state = {"package": None, "message": None}
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        read_line(tables, f"{path}:{number}", line, state)
    expected = f"{path.stem.replace('_', '/', 1)}"
    if state["package"] != expected:
        tables.complain(f"{path}:1", f"the package of this file must be {expected}")


def resolve(tables, strict):
    """Every message that is referred to exists."""
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


def member_names(tables, message):
    """JSON names of the fields, those of inline messages included."""
    names = []
    for field in message.fields:
        if "inline" in field.flags:
            names += [inner.name for inner in tables.messages[field.message].fields]
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
    ]
    for wrong, text in rules:
        if wrong:
            tables.complain(field.place, text)
    if message_list and field.message in tables.messages:
        target = tables.messages[field.message]
        known = member_names(tables, target)
        for key in (field.keys or []) + ([field.merge_key] if field.merge_key else []):
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
            if "inline" in field.flags and any("inline" in inner.flags
                    for inner in tables.messages[field.message].fields):
                tables.complain(field.place, "an inline message within an inline message")
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


def write_field(tables, field, key_lists):
    flags = [f"BT_SCHEMA_{FLAG_NAMES.get(flag, flag.upper())}"
        for flag in FLAGS if flag in field.flags]
    row = [f'.name = "{field.name}"', f".name_length = {len(field.name)}",
        f".type = BT_SCHEMA_{field.type}", f".shape = BT_SCHEMA_{field.shape}",
        f".number = {field.number}"]
    if flags:
        row.append(f".flags = {' | '.join(flags)}")
    if field.message:
        row.append(f".message = &messages[{tables.messages[field.message].index}]")
    if field.merge_key:
        row.append(f'.merge_key = "{field.merge_key}"')
    if field.keys:
        row.append(f".list_keys = keys_{key_lists[tuple(field.keys)]}")
    return "\t{" + ", ".join(row) + "},\n"


def write(tables, out):
    messages = sorted(tables.messages.values(), key=lambda message: message.key)
    for index, message in enumerate(messages):
        message.index = index
    key_lists = {}
    for message in messages:
        for field in message.fields:
            if field.keys:
                key_lists.setdefault(tuple(field.keys), len(key_lists))
    out.write("/* Made by tools/gen_schema.py. */\n#include <stddef.h>\n\n")
    out.write('#include "schema/schema.h"\n\n')
    for keys, index in key_lists.items():
        names = ", ".join(f'"{key}"' for key in keys)
        out.write(f"static const char *const keys_{index}[] = {{{names}, NULL}};\n")
    out.write(f"static const struct bt_schema_message messages[{len(messages)}];\n\n")
    for message in messages:
        if message.fields:
            out.write(f"/* {message.key} */\n")
            out.write(f"static const struct bt_schema_field fields_{message.index}[] = {{\n")
            for field in message.fields:
                out.write(write_field(tables, field, key_lists))
            out.write("};\n")
    out.write(f"\nstatic const struct bt_schema_message messages[{len(messages)}] = {{\n")
    for message in messages:
        fields = f"fields_{message.index}" if message.fields else "NULL"
        out.write(f'\t{{"{message.name}", "{message.package}", ')
        out.write(f"{len(message.fields)}, {fields}}},\n")
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--strict", action="store_true",
        help="a reference to a missing package is a mistake")
    parser.add_argument("--output", type=pathlib.Path, help="the C file; none: check only")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    tables = Tables()
    for path in sorted(options.files):
        read_file(tables, path)
    resolve(tables, options.strict)
    check(tables)
    if tables.errors:
        print("\n".join(tables.errors), file=sys.stderr)
        return 1
    if options.output:
        with open(options.output, "w", encoding="utf-8") as out:
            write(tables, out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
