/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "schema/openapi_private.h"
#include "schema/schema_private.h"

enum {
	REACHED = 1,
	REACHED_LIST = 2,
};

#define META_PREFIX "io.k8s.apimachinery.pkg.apis."
#define QUANTITY_NAME "io.k8s.apimachinery.pkg.api.resource.Quantity"
#define INT_OR_STRING_NAME "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
#define TIME_NAME META_PREFIX "meta.v1.Time"
#define MICRO_TIME_NAME META_PREFIX "meta.v1.MicroTime"
#define RAW_JSON_NAME "io.k8s.apimachinery.pkg.runtime.RawExtension"

/* --- which schemas --- */

void bt_openapi_schemas_init(struct bt_openapi_schemas *schemas, bool version2)
{
	schemas->version2 = version2;
	schemas->reached = bt_calloc(bt_schema_message_count, sizeof(*schemas->reached));
}

void bt_openapi_schemas_finish(struct bt_openapi_schemas *schemas)
{
	bt_free(schemas->reached);
	schemas->reached = NULL;
}

static uint32_t index_of(const struct bt_schema_message *message)
{
	ptrdiff_t index = message - bt_schema_messages;

	BT_ASSERT(index >= 0 && index < (ptrdiff_t)bt_schema_message_count);
	return (uint32_t)index;
}

void bt_openapi_schemas_add(
	struct bt_openapi_schemas *schemas, const struct bt_schema_message *message, bool listed)
{
	uint8_t *reached = &schemas->reached[index_of(message)];

	if (listed && (*reached & REACHED_LIST) == 0) {
		*reached |= REACHED_LIST;
		bt_openapi_schemas_add(schemas,
			bt_schema_find(
				BT_STR("meta.k8s.io/v1"), BT_STR("PartialObjectMetadataList"))
				->fields[0]
				.message,
			false);
	}
	if ((*reached & REACHED) != 0) {
		return;
	}
	*reached |= REACHED;
	for (uint32_t i = 0; i < message->field_count; i++) {
		if (message->fields[i].message != NULL) {
			bt_openapi_schemas_add(schemas, message->fields[i].message, false);
		}
	}
}

/* --- names --- */

/* "core/v1" and "Pod" give io.k8s.api.core.v1.Pod. */
static void append_name(const struct bt_schema_message *message, bool list, struct bt_strbuf *out)
{
	const char *slash = strchr(message->package, '/');
	const char *prefix = "io.k8s.api.";

	if (strcmp(message->package, "meta/v1") == 0) {
		prefix = META_PREFIX;
	} else if (strcmp(message->package, "apiextensions/v1") == 0) {
		prefix = "io.k8s.apiextensions-apiserver.pkg.apis.";
	}
	BT_ASSERT(slash != NULL);
	bt_strbuf_printf(out, "%s%.*s.%s.%s%s", prefix, (int)(slash - message->package),
		message->package, slash + 1, message->name, list ? "List" : "");
}

static void write_ref_to(
	const struct bt_openapi_schemas *schemas, const char *name, struct bt_json_writer *writer)
{
	struct bt_strbuf ref = {NULL, 0, 0};

	bt_strbuf_append_c(&ref, schemas->version2 ? "#/definitions/" : "#/components/schemas/");
	bt_strbuf_append_c(&ref, name);
	bt_json_write_name_c(writer, "$ref");
	bt_json_write_str(writer, bt_strbuf_str(&ref));
	bt_strbuf_finish(&ref);
}

void bt_openapi_write_ref(const struct bt_openapi_schemas *schemas,
	const struct bt_schema_message *message, bool list, struct bt_json_writer *writer)
{
	struct bt_strbuf name = {NULL, 0, 0};

	append_name(message, list, &name);
	bt_json_begin_object(writer);
	write_ref_to(schemas, bt_strbuf_c(&name), writer);
	bt_json_end_object(writer);
	bt_strbuf_finish(&name);
}

/* --- one value --- */

static void write_pair(struct bt_json_writer *writer, const char *name, const char *value)
{
	bt_json_write_name_c(writer, name);
	bt_json_write_c(writer, value);
}

static void write_type(struct bt_json_writer *writer, const char *type, const char *format)
{
	write_pair(writer, "type", type);
	if (format != NULL) {
		write_pair(writer, "format", format);
	}
}

/* A reference among other members: OpenAPI 3 wants it wrapped. */
static void write_wrapped_ref(
	const struct bt_openapi_schemas *schemas, const char *name, struct bt_json_writer *writer)
{
	if (schemas->version2) {
		write_ref_to(schemas, name, writer);
		return;
	}
	bt_json_write_name_c(writer, "allOf");
	bt_json_begin_array(writer);
	bt_json_begin_object(writer);
	write_ref_to(schemas, name, writer);
	bt_json_end_object(writer);
	bt_json_end_array(writer);
}

static void write_message_ref(const struct bt_openapi_schemas *schemas,
	const struct bt_schema_field *field, bool with_default, struct bt_json_writer *writer)
{
	struct bt_strbuf name = {NULL, 0, 0};

	append_name(field->message, false, &name);
	write_wrapped_ref(schemas, bt_strbuf_c(&name), writer);
	if (with_default) {
		bt_json_write_name_c(writer, "default");
		bt_json_begin_object(writer);
		bt_json_end_object(writer);
	}
	bt_strbuf_finish(&name);
}

/* Members of the schema of one value; with_default: a zero value stands for an absent one. */
static void write_one(const struct bt_openapi_schemas *schemas, const struct bt_schema_field *field,
	bool with_default, struct bt_json_writer *writer)
{
	switch ((enum bt_schema_type)field->type) {
	case BT_SCHEMA_STRING:
		write_type(writer, "string", NULL);
		if (with_default) {
			write_pair(writer, "default", "");
		}
		break;
	case BT_SCHEMA_BOOL:
		write_type(writer, "boolean", NULL);
		if (with_default) {
			bt_json_write_name_c(writer, "default");
			bt_json_write_bool(writer, false);
		}
		break;
	case BT_SCHEMA_INT32:
	case BT_SCHEMA_INT64:
		write_type(writer, "integer", field->type == BT_SCHEMA_INT32 ? "int32" : "int64");
		if (with_default) {
			bt_json_write_name_c(writer, "default");
			bt_json_write_int64(writer, 0);
		}
		break;
	case BT_SCHEMA_BYTES:
		write_type(writer, "string", "byte");
		break;
	case BT_SCHEMA_QUANTITY:
		write_wrapped_ref(schemas, QUANTITY_NAME, writer);
		break;
	case BT_SCHEMA_INT_OR_STRING:
		write_wrapped_ref(schemas, INT_OR_STRING_NAME, writer);
		break;
	case BT_SCHEMA_TIME:
		write_wrapped_ref(schemas, TIME_NAME, writer);
		break;
	case BT_SCHEMA_MICRO_TIME:
		write_wrapped_ref(schemas, MICRO_TIME_NAME, writer);
		break;
	case BT_SCHEMA_STRING_LIST:
		write_type(writer, "array", NULL);
		bt_json_write_name_c(writer, "items");
		bt_json_begin_object(writer);
		write_type(writer, "string", NULL);
		bt_json_end_object(writer);
		break;
	case BT_SCHEMA_RAW_JSON:
		write_wrapped_ref(schemas, RAW_JSON_NAME, writer);
		break;
	case BT_SCHEMA_MESSAGE:
		write_message_ref(schemas, field, with_default, writer);
		break;
	}
}

/* --- one field --- */

static void write_list_type(const struct bt_schema_field *field, struct bt_json_writer *writer)
{
	if (field->list_keys != NULL) {
		bt_json_write_name_c(writer, "x-kubernetes-list-map-keys");
		bt_json_begin_array(writer);
		for (uint32_t i = 0; field->list_keys[i] != NULL; i++) {
			bt_json_write_c(writer, field->list_keys[i]);
		}
		bt_json_end_array(writer);
		write_pair(writer, "x-kubernetes-list-type", "map");
	} else {
		write_pair(writer, "x-kubernetes-list-type",
			(field->flags & BT_SCHEMA_LIST_SET) != 0 ? "set" : "atomic");
	}
}

static void write_patch_hints(const struct bt_schema_field *field, struct bt_json_writer *writer)
{
	struct bt_strbuf strategy = {NULL, 0, 0};

	if (field->merge_key != NULL) {
		write_pair(writer, "x-kubernetes-patch-merge-key", field->merge_key);
	}
	if ((field->flags & BT_SCHEMA_MERGE) != 0) {
		bt_strbuf_append_c(&strategy, "merge");
	}
	if ((field->flags & BT_SCHEMA_REPLACE) != 0) {
		bt_strbuf_append_c(&strategy, "replace");
	}
	if ((field->flags & BT_SCHEMA_RETAIN_KEYS) != 0) {
		bt_strbuf_append_c(&strategy, strategy.length != 0 ? ",retainKeys" : "retainKeys");
	}
	if (strategy.length != 0) {
		write_pair(writer, "x-kubernetes-patch-strategy", bt_strbuf_c(&strategy));
	}
	bt_strbuf_finish(&strategy);
}

static void write_field(const struct bt_openapi_schemas *schemas,
	const struct bt_schema_field *field, struct bt_json_writer *writer)
{
	bool always = (field->flags & BT_SCHEMA_ALWAYS) != 0;

	bt_json_write_name(writer, bt_schema_field_name(field));
	bt_json_begin_object(writer);
	switch ((enum bt_schema_shape)field->shape) {
	case BT_SCHEMA_SINGLE:
		write_one(schemas, field, always, writer);
		if ((field->flags & BT_SCHEMA_ATOMIC) != 0) {
			write_pair(writer, "x-kubernetes-map-type", "atomic");
		}
		break;
	case BT_SCHEMA_LIST:
		write_type(writer, "array", NULL);
		bt_json_write_name_c(writer, "items");
		bt_json_begin_object(writer);
		write_one(schemas, field, true, writer);
		bt_json_end_object(writer);
		write_list_type(field, writer);
		break;
	case BT_SCHEMA_MAP:
		write_type(writer, "object", NULL);
		bt_json_write_name_c(writer, "additionalProperties");
		bt_json_begin_object(writer);
		write_one(schemas, field, true, writer);
		bt_json_end_object(writer);
		if ((field->flags & BT_SCHEMA_ATOMIC) != 0) {
			write_pair(writer, "x-kubernetes-map-type", "atomic");
		}
		break;
	}
	write_patch_hints(field, writer);
	bt_json_end_object(writer);
}

/* --- one message --- */

static void write_type_members(struct bt_json_writer *writer)
{
	static const char *const names[] = {"apiVersion", "kind"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bt_json_write_name_c(writer, names[i]);
		bt_json_begin_object(writer);
		write_type(writer, "string", NULL);
		bt_json_end_object(writer);
	}
}

static void write_fields(const struct bt_openapi_schemas *schemas,
	const struct bt_schema_message *message, struct bt_json_writer *writer)
{
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_schema_field *field = &message->fields[i];
		if ((field->flags & BT_SCHEMA_INLINE) != 0) {
			write_fields(schemas, field->message, writer);
		} else {
			write_field(schemas, field, writer);
		}
	}
}

/* "required" is not there when it is empty. */
static void write_required(
	const struct bt_schema_message *message, bool *opened, struct bt_json_writer *writer)
{
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_schema_field *field = &message->fields[i];
		if ((field->flags & BT_SCHEMA_INLINE) != 0) {
			write_required(field->message, opened, writer);
		} else if ((field->flags & BT_SCHEMA_REQUIRED) != 0) {
			if (!*opened) {
				bt_json_write_name_c(writer, "required");
				bt_json_begin_array(writer);
				*opened = true;
			}
			bt_json_write_str(writer, bt_schema_field_name(field));
		}
	}
}

static void write_kinds(
	const struct bt_schema_message *message, bool list, struct bt_json_writer *writer)
{
	bt_json_write_name_c(writer, "x-kubernetes-group-version-kind");
	bt_json_begin_array(writer);
	for (uint32_t i = 0; i < bt_schema_kind_count; i++) {
		const struct bt_schema_kind *kind = &bt_schema_kinds[i];
		struct bt_strbuf name = {NULL, 0, 0};

		if (kind->message != message) {
			continue;
		}
		bt_strbuf_printf(&name, "%s%s", kind->kind, list ? "List" : "");
		bt_json_begin_object(writer);
		write_pair(writer, "group", kind->group);
		write_pair(writer, "kind", bt_strbuf_c(&name));
		write_pair(writer, "version", kind->version);
		bt_json_end_object(writer);
		bt_strbuf_finish(&name);
	}
	bt_json_end_array(writer);
}

static void write_message(const struct bt_openapi_schemas *schemas,
	const struct bt_schema_message *message, struct bt_json_writer *writer)
{
	bool root = bt_schema_is_root(message);
	bool required = false;

	write_type(writer, "object", NULL);
	if (message->field_count != 0 || root) {
		bt_json_write_name_c(writer, "properties");
		bt_json_begin_object(writer);
		if (root) {
			write_type_members(writer);
		}
		write_fields(schemas, message, writer);
		bt_json_end_object(writer);
	}
	write_required(message, &required, writer);
	if (required) {
		bt_json_end_array(writer);
	}
	if (root) {
		write_kinds(message, false, writer);
	}
}

static void write_list_message(const struct bt_openapi_schemas *schemas,
	const struct bt_schema_message *message, struct bt_json_writer *writer)
{
	struct bt_schema_field items = {.name = "items",
		.name_length = 5,
		.type = BT_SCHEMA_MESSAGE,
		.shape = BT_SCHEMA_LIST,
		.message = message};

	write_type(writer, "object", NULL);
	bt_json_write_name_c(writer, "properties");
	bt_json_begin_object(writer);
	write_type_members(writer);
	write_field(schemas, &items, writer);
	bt_json_write_name_c(writer, "metadata");
	bt_json_begin_object(writer);
	write_wrapped_ref(schemas, META_PREFIX "meta.v1.ListMeta", writer);
	bt_json_end_object(writer);
	bt_json_end_object(writer);
	bt_json_write_name_c(writer, "required");
	bt_json_begin_array(writer);
	bt_json_write_c(writer, "items");
	bt_json_end_array(writer);
	write_kinds(message, true, writer);
}

/* --- the schemas of values that are no messages --- */

static void write_scalar(
	struct bt_json_writer *writer, const char *name, const char *type, const char *format)
{
	bt_json_write_name_c(writer, name);
	bt_json_begin_object(writer);
	write_type(writer, type, format);
	bt_json_end_object(writer);
}

static void write_either(const struct bt_openapi_schemas *schemas, struct bt_json_writer *writer,
	const char *name, const char *format, const char *number)
{
	const char *const types[] = {"string", number};

	if (schemas->version2) {
		write_scalar(writer, name, "string", format);
		return;
	}
	bt_json_write_name_c(writer, name);
	bt_json_begin_object(writer);
	if (format != NULL) {
		write_pair(writer, "format", format);
	}
	bt_json_write_name_c(writer, "oneOf");
	bt_json_begin_array(writer);
	for (size_t i = 0; i < 2; i++) {
		bt_json_begin_object(writer);
		write_type(writer, types[i], NULL);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
	bt_json_end_object(writer);
}

void bt_openapi_schemas_write(
	const struct bt_openapi_schemas *schemas, struct bt_json_writer *writer)
{
	for (uint32_t i = 0; i < bt_schema_message_count; i++) {
		for (int list = 0; list < 2; list++) {
			const struct bt_schema_message *message = &bt_schema_messages[i];
			struct bt_strbuf name = {NULL, 0, 0};

			if ((schemas->reached[i] & (list != 0 ? REACHED_LIST : REACHED)) == 0) {
				continue;
			}
			append_name(message, list != 0, &name);
			bt_json_write_name(writer, bt_strbuf_str(&name));
			bt_json_begin_object(writer);
			if (list != 0) {
				write_list_message(schemas, message, writer);
			} else {
				write_message(schemas, message, writer);
			}
			bt_json_end_object(writer);
			bt_strbuf_finish(&name);
		}
	}
	write_either(schemas, writer, QUANTITY_NAME, NULL, "number");
	write_either(schemas, writer, INT_OR_STRING_NAME, "int-or-string", "integer");
	write_scalar(writer, TIME_NAME, "string", "date-time");
	write_scalar(writer, MICRO_TIME_NAME, "string", "date-time");
	write_scalar(writer, RAW_JSON_NAME, "object", NULL);
}
