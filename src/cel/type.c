/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/type.h"

#include <stddef.h>

const struct bt_cel_kind_info bt_cel_kinds[BT_CEL_KIND__COUNT] = {
	[BT_CEL_NULL] = {"null_type", .checked = "null", .word = "null", .go_type = "types.Null",
		.is_identifier = true},
	[BT_CEL_BOOL] = {"bool", .word = "bool", .go_type = "types.Bool", .is_identifier = true},
	[BT_CEL_INT] = {"int", .word = "int", .go_type = "types.Int", .is_identifier = true},
	[BT_CEL_UINT] = {"uint", .word = "uint", .go_type = "types.Uint", .is_identifier = true},
	[BT_CEL_DOUBLE] = {"double", .word = "double", .go_type = "types.Double",
		.is_identifier = true},
	[BT_CEL_STRING] = {"string", .word = "string", .go_type = "types.String",
		.is_identifier = true},
	[BT_CEL_BYTES] = {"bytes", .word = "bytes", .go_type = "types.Bytes",
		.is_identifier = true},
	[BT_CEL_LIST] = {"list", .word = "list", .is_identifier = true},
	[BT_CEL_MAP] = {"map", .word = "map", .is_identifier = true},
	[BT_CEL_DURATION] = {"google.protobuf.Duration", .checked = "duration", .word = "duration",
		.go_type = "types.Duration", .is_identifier = true, .takes_null = true},
	[BT_CEL_TIMESTAMP] = {"google.protobuf.Timestamp", .checked = "timestamp",
		.word = "timestamp", .go_type = "types.Timestamp", .is_identifier = true,
		.takes_null = true},
	[BT_CEL_TYPE] = {"type", .word = "type", .go_type = "*types.Type", .is_identifier = true},
	[BT_CEL_OPTIONAL] = {"optional_type", .word = "optional", .go_type = "*types.Optional",
		.is_identifier = true, .takes_null = true},
	[BT_CEL_QUANTITY] = {"kubernetes.Quantity", .word = "quantity", .go_type = "cel.Quantity",
		.takes_null = true},
	[BT_CEL_SEMVER] = {"kubernetes.Semver", .word = "semver", .go_type = "cel.Semver",
		.takes_null = true},
	[BT_CEL_URL] = {"kubernetes.URL", .word = "url", .go_type = "cel.URL", .takes_null = true},
	[BT_CEL_FORMAT] = {"kubernetes.NamedFormat", .word = "format", .go_type = "*cel.Format",
		.takes_null = true},
	[BT_CEL_IP] = {"net.IP", .word = "ip", .go_type = "cel.IP", .is_identifier = true,
		.takes_null = true},
	[BT_CEL_CIDR] = {"net.CIDR", .word = "cidr", .go_type = "cel.CIDR", .is_identifier = true,
		.takes_null = true},
	[BT_CEL_DEVICE] = {"kubernetes.DRADevice", .takes_null = true},
	[BT_CEL_ERROR] = {.name = "!error!"},
	[BT_CEL_ANY] = {"google.protobuf.Any", .checked = "any", .word = "any"},
	[BT_CEL_DYN] = {"dyn", .word = "dyn"},
	[BT_CEL_OBJECT] = {"object", .takes_null = true},
	[BT_CEL_AUTHORIZER] = {"kubernetes.authorization.Authorizer", .word = "authorizer",
		.takes_null = true},
	[BT_CEL_PATH_CHECK] = {"kubernetes.authorization.PathCheck", .word = "path_check",
		.takes_null = true},
	[BT_CEL_GROUP_CHECK] = {"kubernetes.authorization.GroupCheck", .word = "group_check",
		.takes_null = true},
	[BT_CEL_RESOURCE_CHECK] = {"kubernetes.authorization.ResourceCheck",
		.word = "resource_check", .takes_null = true},
	[BT_CEL_DECISION] = {"kubernetes.authorization.Decision", .word = "decision",
		.takes_null = true},
};

const struct bt_cel_type bt_cel_types[BT_CEL_KIND__COUNT] = {
#define SIMPLE(kind_) [BT_CEL_##kind_] = {.kind = BT_CEL_##kind_}
	SIMPLE(NULL),
	SIMPLE(BOOL),
	SIMPLE(INT),
	SIMPLE(UINT),
	SIMPLE(DOUBLE),
	SIMPLE(STRING),
	SIMPLE(BYTES),
	SIMPLE(LIST),
	SIMPLE(MAP),
	SIMPLE(DURATION),
	SIMPLE(TIMESTAMP),
	SIMPLE(TYPE),
	SIMPLE(OPTIONAL),
	SIMPLE(QUANTITY),
	SIMPLE(SEMVER),
	SIMPLE(URL),
	SIMPLE(FORMAT),
	SIMPLE(IP),
	SIMPLE(CIDR),
	SIMPLE(DEVICE),
	SIMPLE(ERROR),
	SIMPLE(ANY),
	SIMPLE(DYN),
	SIMPLE(OBJECT),
	SIMPLE(AUTHORIZER),
	SIMPLE(PATH_CHECK),
	SIMPLE(GROUP_CHECK),
	SIMPLE(RESOURCE_CHECK),
	SIMPLE(DECISION),
#undef SIMPLE
};

static void print(const struct bt_cel_type *type, bool is_checker, struct bt_strbuf *out)
{
	if (type->kind == BT_CEL_PARAMETER) {
		bt_strbuf_printf(out, "_var%u", type->parameter);
		return;
	}
	if (type->object != NULL) {
		bt_strbuf_append_str(out, type->object->name);
		return;
	}
	const struct bt_cel_kind_info *info = &bt_cel_kinds[type->kind];
	bt_strbuf_append_c(out, is_checker && info->checked != NULL ? info->checked : info->name);
	for (uint32_t i = 0; i < 2 && type->of[i] != NULL; i++) {
		bt_strbuf_append_c(out, i == 0 ? "(" : ", ");
		print(type->of[i], is_checker, out);
	}
	if (type->of[0] != NULL) {
		bt_strbuf_append_c(out, ")");
	}
}

void bt_cel_type_print(const struct bt_cel_type *type, struct bt_strbuf *out)
{
	print(type, true, out);
}

void bt_cel_type_print_output(const struct bt_cel_type *type, struct bt_strbuf *out)
{
	print(type, false, out);
}

const char *bt_cel_kind_name(enum bt_cel_kind kind)
{
	/* At run time the device object has type map. */
	return kind == BT_CEL_DEVICE ? "map" : bt_cel_kinds[kind].name;
}
