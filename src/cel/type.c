/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/type.h"

#include <stddef.h>

const struct bt_cel_type bt_cel_types[BT_CEL_KIND__COUNT] = {
#define SIMPLE(kind_) [kind_] = {.kind = (kind_)}
	SIMPLE(BT_CEL_NULL),
	SIMPLE(BT_CEL_BOOL),
	SIMPLE(BT_CEL_INT),
	SIMPLE(BT_CEL_UINT),
	SIMPLE(BT_CEL_DOUBLE),
	SIMPLE(BT_CEL_STRING),
	SIMPLE(BT_CEL_BYTES),
	SIMPLE(BT_CEL_LIST),
	SIMPLE(BT_CEL_MAP),
	SIMPLE(BT_CEL_DURATION),
	SIMPLE(BT_CEL_TIMESTAMP),
	SIMPLE(BT_CEL_TYPE),
	SIMPLE(BT_CEL_OPTIONAL),
	SIMPLE(BT_CEL_QUANTITY),
	SIMPLE(BT_CEL_SEMVER),
	SIMPLE(BT_CEL_URL),
	SIMPLE(BT_CEL_FORMAT),
	SIMPLE(BT_CEL_IP),
	SIMPLE(BT_CEL_CIDR),
	SIMPLE(BT_CEL_DEVICE),
	SIMPLE(BT_CEL_ERROR),
	SIMPLE(BT_CEL_ANY),
	SIMPLE(BT_CEL_DYN),
	SIMPLE(BT_CEL_OBJECT),
	SIMPLE(BT_CEL_AUTHORIZER),
	SIMPLE(BT_CEL_PATH_CHECK),
	SIMPLE(BT_CEL_GROUP_CHECK),
	SIMPLE(BT_CEL_RESOURCE_CHECK),
	SIMPLE(BT_CEL_DECISION),
#undef SIMPLE
};

#define AUTHORIZATION(name_) \
	{ \
		"kubernetes.authorization." name_, "kubernetes.authorization." name_ \
	}

/** Name of a kind in messages of the checker, and at run time. Spec: 12b section 3. */
static const struct {
	const char *checked;
	const char *other;
} names[BT_CEL_KIND__COUNT] = {
	[BT_CEL_NULL] = {"null", "null_type"},
	[BT_CEL_BOOL] = {"bool", "bool"},
	[BT_CEL_INT] = {"int", "int"},
	[BT_CEL_UINT] = {"uint", "uint"},
	[BT_CEL_DOUBLE] = {"double", "double"},
	[BT_CEL_STRING] = {"string", "string"},
	[BT_CEL_BYTES] = {"bytes", "bytes"},
	[BT_CEL_LIST] = {"list", "list"},
	[BT_CEL_MAP] = {"map", "map"},
	[BT_CEL_DURATION] = {"duration", "google.protobuf.Duration"},
	[BT_CEL_TIMESTAMP] = {"timestamp", "google.protobuf.Timestamp"},
	[BT_CEL_TYPE] = {"type", "type"},
	[BT_CEL_OPTIONAL] = {"optional_type", "optional_type"},
	[BT_CEL_QUANTITY] = {"kubernetes.Quantity", "kubernetes.Quantity"},
	[BT_CEL_SEMVER] = {"kubernetes.Semver", "kubernetes.Semver"},
	[BT_CEL_URL] = {"kubernetes.URL", "kubernetes.URL"},
	[BT_CEL_FORMAT] = {"kubernetes.NamedFormat", "kubernetes.NamedFormat"},
	[BT_CEL_IP] = {"net.IP", "net.IP"},
	[BT_CEL_CIDR] = {"net.CIDR", "net.CIDR"},
	[BT_CEL_DEVICE] = {"kubernetes.DRADevice", "kubernetes.DRADevice"},
	[BT_CEL_ERROR] = {"!error!", "!error!"},
	[BT_CEL_ANY] = {"any", "google.protobuf.Any"},
	[BT_CEL_DYN] = {"dyn", "dyn"},
	[BT_CEL_OBJECT] = {"object", "object"},
	[BT_CEL_AUTHORIZER] = AUTHORIZATION("Authorizer"),
	[BT_CEL_PATH_CHECK] = AUTHORIZATION("PathCheck"),
	[BT_CEL_GROUP_CHECK] = AUTHORIZATION("GroupCheck"),
	[BT_CEL_RESOURCE_CHECK] = AUTHORIZATION("ResourceCheck"),
	[BT_CEL_DECISION] = AUTHORIZATION("Decision"),
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
	bt_strbuf_append_c(out, is_checker ? names[type->kind].checked : names[type->kind].other);
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
	return kind == BT_CEL_DEVICE ? "map" : names[kind].other;
}
