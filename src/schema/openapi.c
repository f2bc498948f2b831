/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/openapi.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "codec/wire.h"
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
#define DURATION_NAME META_PREFIX "meta.v1.Duration"
#define RAW_JSON_NAME "io.k8s.apimachinery.pkg.runtime.RawExtension"

/** Options and referenced messages of one document. */
struct schemas {
	bool version2;    /* OpenAPI 2: schemas in another place, no allOf */
	uint8_t *reached; /* REACHED flags of each message; owned */
};

static void add_schemas(
	struct schemas *schemas, const struct bt_schema_message *message, bool listed)
{
	uint8_t *reached = &schemas->reached[message - bt_schema_messages];

	if (listed && (*reached & REACHED_LIST) == 0) {
		*reached |= REACHED_LIST;
		add_schemas(schemas,
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
			add_schemas(schemas, message->fields[i].message, false);
		}
	}
}

/* Appends the name of a schema, e.g. io.k8s.api.core.v1.Pod for "core/v1" and "Pod". */
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
	const struct schemas *schemas, const char *name, struct bt_json_writer *writer)
{
	struct bt_strbuf ref = {NULL, 0, 0};

	bt_strbuf_append_c(&ref, schemas->version2 ? "#/definitions/" : "#/components/schemas/");
	bt_strbuf_append_c(&ref, name);
	bt_json_write(writer, "$ref: %s", bt_strbuf_str(&ref));
	bt_strbuf_finish(&ref);
}

static void write_ref(const struct schemas *schemas, const struct bt_schema_message *message,
	bool list, struct bt_json_writer *writer)
{
	struct bt_strbuf name = {NULL, 0, 0};

	append_name(message, list, &name);
	bt_json_begin_object(writer);
	write_ref_to(schemas, bt_strbuf_c(&name), writer);
	bt_json_end_object(writer);
	bt_strbuf_finish(&name);
}

/*
 * Writes a reference that has other members next to it. OpenAPI 3 requires allOf around such a
 * reference.
 */
static void write_wrapped_ref(
	const struct schemas *schemas, const char *name, struct bt_json_writer *writer)
{
	bt_json_write(writer, schemas->version2 ? "" : "allOf: [{");
	write_ref_to(schemas, name, writer);
	bt_json_write(writer, schemas->version2 ? "" : "}]");
}

/**
 * How OpenAPI describes a value of each enum bt_schema_type. A member is NULL if the description
 * does not have it.
 */
static const struct {
	const char *type;   /* OpenAPI's type, unless the type has a schema */
	const char *format; /* OpenAPI's format */
	const char *schema; /* name of the type's schema */
	const char *zero;   /* JSON of the zero value, for `default` */
} types[] = {
	[BT_SCHEMA_STRING] = {.type = "string", .zero = "\"\""},
	[BT_SCHEMA_BOOL] = {.type = "boolean", .zero = "false"},
	[BT_SCHEMA_INT32] = {.type = "integer", .format = "int32", .zero = "0"},
	[BT_SCHEMA_INT64] = {.type = "integer", .format = "int64", .zero = "0"},
	[BT_SCHEMA_BYTES] = {.type = "string", .format = "byte"},
	[BT_SCHEMA_QUANTITY] = {.schema = QUANTITY_NAME},
	[BT_SCHEMA_INT_OR_STRING] = {.schema = INT_OR_STRING_NAME},
	[BT_SCHEMA_TIME] = {.schema = TIME_NAME},
	[BT_SCHEMA_MICRO_TIME] = {.schema = MICRO_TIME_NAME},
	[BT_SCHEMA_DURATION] = {.schema = DURATION_NAME},
	[BT_SCHEMA_STRING_LIST] = {.type = "array"},
	[BT_SCHEMA_RAW_JSON] = {.schema = RAW_JSON_NAME},
	[BT_SCHEMA_MESSAGE] = {.zero = "{}"},
};

/*
 * Writes the members of the schema of a single value. with_default: also writes the type's zero
 * value as `default`.
 */
static void write_one(const struct schemas *schemas, const struct bt_schema_field *field,
	bool with_default, struct bt_json_writer *writer)
{
	if (field->type == BT_SCHEMA_MESSAGE) {
		struct bt_strbuf name = {0};

		append_name(field->message, false, &name);
		write_wrapped_ref(schemas, bt_strbuf_c(&name), writer);
		bt_strbuf_finish(&name);
	} else if (types[field->type].schema != NULL) {
		write_wrapped_ref(schemas, types[field->type].schema, writer);
	} else {
		bt_json_write(writer, "type: %c, format: %c", types[field->type].type,
			types[field->type].format);
	}
	if (field->type == BT_SCHEMA_STRING_LIST) {
		bt_json_write(writer, "items: {type: 'string'}");
	}
	if (with_default && types[field->type].zero != NULL) {
		bt_json_write_name_c(writer, "default");
		bt_json_write_raw(writer, bt_str_from(types[field->type].zero));
	}
}

static void write_field(const struct schemas *schemas, const struct bt_schema_field *field,
	struct bt_json_writer *writer)
{
	bool always = (field->flags & BT_SCHEMA_ALWAYS) != 0;

	bt_json_write(writer, "%s: {", bt_schema_field_name(field));
	switch ((enum bt_schema_shape)field->shape) {
	case BT_SCHEMA_SINGLE:
		write_one(schemas, field, always, writer);
		break;
	case BT_SCHEMA_LIST:
		bt_json_write(writer, "type: 'array', items: {");
		write_one(schemas, field, true, writer);
		bt_json_end_object(writer);
		if (field->list_keys != NULL) {
			bt_json_begin_member_array(writer, "x-kubernetes-list-map-keys");
			for (uint32_t i = 0; field->list_keys[i] != NULL; i++) {
				bt_json_write_c(writer, field->list_keys[i]);
			}
			bt_json_write(writer, "], x-kubernetes-list-type: 'map'");
		} else {
			bt_json_write_member_c(writer, "x-kubernetes-list-type",
				(field->flags & BT_SCHEMA_LIST_SET) != 0 ? "set" : "atomic");
		}
		break;
	case BT_SCHEMA_MAP:
		bt_json_write(writer, "type: 'object', additionalProperties: {");
		write_one(schemas, field, true, writer);
		bt_json_end_object(writer);
		break;
	}
	if (field->shape != BT_SCHEMA_LIST && (field->flags & BT_SCHEMA_ATOMIC) != 0) {
		bt_json_write_member_c(writer, "x-kubernetes-map-type", "atomic");
	}
	struct bt_strbuf strategy = {NULL, 0, 0};

	if ((field->flags & BT_SCHEMA_MERGE) != 0) {
		bt_strbuf_append_c(&strategy, "merge");
	}
	if ((field->flags & BT_SCHEMA_REPLACE) != 0) {
		bt_strbuf_append_c(&strategy, "replace");
	}
	if ((field->flags & BT_SCHEMA_RETAIN_KEYS) != 0) {
		bt_strbuf_append_c(&strategy, strategy.length != 0 ? ",retainKeys" : "retainKeys");
	}
	bt_json_write(writer,
		"x-kubernetes-patch-merge-key: %c, x-kubernetes-patch-strategy?: %s, "
		"description: %c}",
		field->merge_key, bt_strbuf_str(&strategy), field->description);
	bt_strbuf_finish(&strategy);
}

/* Begins the schema of an object that has apiVersion and kind. */
#define TYPED_OBJECT \
	"type: 'object', properties: {apiVersion: {type: 'string'}, kind: {type: 'string'}"

static void write_fields(const struct schemas *schemas, const struct bt_schema_message *message,
	struct bt_json_writer *writer)
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

/*
 * Writes the names of the required fields. Before the first name, begins the array "required" and
 * sets *opened; the caller ends the array.
 */
static void write_required(
	const struct bt_schema_message *message, bool *opened, struct bt_json_writer *writer)
{
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_schema_field *field = &message->fields[i];
		if ((field->flags & BT_SCHEMA_INLINE) != 0) {
			write_required(field->message, opened, writer);
		} else if ((field->flags & BT_SCHEMA_REQUIRED) != 0) {
			if (!*opened) {
				bt_json_begin_member_array(writer, "required");
				*opened = true;
			}
			bt_json_write_str(writer, bt_schema_field_name(field));
		}
	}
}

/** Writes one element of x-kubernetes-group-version-kind. list: with kind <kind>List. */
static void write_kind(struct bt_json_writer *writer, struct bt_str group, struct bt_str kind,
	bool list, struct bt_str version)
{
	struct bt_strbuf name = {NULL, 0, 0};

	bt_strbuf_printf(&name, "%.*s%s", BT_STR_ARG(kind), list ? "List" : "");
	bt_json_write(
		writer, "{group: %s, kind: %s, version: %s}", group, bt_strbuf_str(&name), version);
	bt_strbuf_finish(&name);
}

static void write_kinds(
	const struct bt_schema_message *message, bool list, struct bt_json_writer *writer)
{
	bt_json_begin_member_array(writer, "x-kubernetes-group-version-kind");
	for (uint32_t i = 0; i < bt_schema_kind_count; i++) {
		const struct bt_schema_kind *kind = &bt_schema_kinds[i];

		if (kind->message == message) {
			write_kind(writer, bt_str_from(kind->group), bt_str_from(kind->kind), list,
				bt_str_from(kind->version));
		}
	}
	bt_json_end_array(writer);
}

static void write_message(const struct schemas *schemas, const struct bt_schema_message *message,
	struct bt_json_writer *writer)
{
	bool root = bt_schema_is_root(message);
	bool required = false;

	bt_json_write(writer, "description: %c", message->description);
	if (message->field_count != 0 || root) {
		bt_json_write(writer, root ? TYPED_OBJECT : "type: 'object', properties: {");
		write_fields(schemas, message, writer);
		bt_json_end_object(writer);
	} else {
		bt_json_write(writer, "type: 'object'");
	}
	write_required(message, &required, writer);
	if (required) {
		bt_json_end_array(writer);
	}
	if (root) {
		write_kinds(message, false, writer);
	}
}

/** Writes the end of a list's schema: the property metadata, and "required": ["items"]. */
static void end_list_properties(const struct schemas *schemas, struct bt_json_writer *writer)
{
	bt_json_begin_member_object(writer, "metadata");
	write_wrapped_ref(schemas, META_PREFIX "meta.v1.ListMeta", writer);
	bt_json_write(writer, "}}, required: ['items']");
}

static void write_schemas(const struct schemas *schemas, struct bt_json_writer *writer)
{
	for (uint32_t i = 0; i < bt_schema_message_count; i++) {
		for (int list = 0; list < 2; list++) {
			const struct bt_schema_message *message = &bt_schema_messages[i];
			struct bt_strbuf name = {NULL, 0, 0};

			if ((schemas->reached[i] & (list != 0 ? REACHED_LIST : REACHED)) == 0) {
				continue;
			}
			append_name(message, list != 0, &name);
			bt_json_write(writer, "%s: {", bt_strbuf_str(&name));
			if (list != 0) {
				struct bt_schema_field items = {.name = "items",
					.name_length = 5,
					.type = BT_SCHEMA_MESSAGE,
					.shape = BT_SCHEMA_LIST,
					.message = message};

				bt_json_write(writer, TYPED_OBJECT);
				write_field(schemas, &items, writer);
				end_list_properties(schemas, writer);
				write_kinds(message, true, writer);
			} else {
				write_message(schemas, message, writer);
			}
			bt_json_end_object(writer);
			bt_strbuf_finish(&name);
		}
	}
	/* OpenAPI 2 cannot express a choice of types. */
	bt_json_write(writer,
		schemas->version2 ? QUANTITY_NAME ": {type: 'string'}, " INT_OR_STRING_NAME
						  ": {type: 'string', format: 'int-or-string'}"
				  : QUANTITY_NAME
			": {oneOf: [{type: 'string'}, {type: 'number'}]}, " INT_OR_STRING_NAME
			": {format: 'int-or-string', oneOf: [{type: 'string'}, {type: "
			"'integer'}]}");
	bt_json_write(writer,
		TIME_NAME ": {type: 'string', format: 'date-time'}, " MICRO_TIME_NAME
			  ": {type: 'string', format: 'date-time'}, " DURATION_NAME
			  ": {type: 'string'}, " RAW_JSON_NAME ": {type: 'object'}");
}

/* Appends the name of a custom kind, e.g. com.example.v1.Widget of example.com/v1. */
static void append_custom_name(
	const struct bt_openapi_resource *resource, bool list, struct bt_strbuf *out)
{
	struct bt_str rest = resource->kind_group;

	while (rest.length != 0) {
		uint32_t start = rest.length;
		while (start > 0 && rest.data[start - 1] != '.') {
			start--;
		}
		bt_strbuf_append_str(out, bt_str_sub(rest, start, rest.length));
		bt_strbuf_append_char(out, '.');
		rest = bt_str_sub(rest, 0, start > 0 ? start - 1 : 0);
	}
	bt_strbuf_printf(out, "%.*s.%.*s%s", BT_STR_ARG(resource->kind_version),
		BT_STR_ARG(resource->kind), list ? "List" : "");
}

static void write_custom_kind(
	const struct bt_openapi_resource *resource, bool list, struct bt_json_writer *writer)
{
	bt_json_begin_member_array(writer, "x-kubernetes-group-version-kind");
	write_kind(writer, resource->kind_group, resource->kind, list, resource->kind_version);
	bt_json_end_array(writer);
}

/*
 * Writes the schema of a CustomResourceDefinition. For OpenAPI 2, leaves out the parts that
 * OpenAPI 2 cannot express, and the type, properties and items of a value that may have several
 * types. Recursion is bounded by the nesting of the schema.
 */
static void write_custom_schema(const struct schemas *schemas, const struct bt_json_value *schema,
	struct bt_json_writer *writer)
{
	const struct bt_str dropped =
		BT_STR("anyOf oneOf allOf not nullable default x-kubernetes-validations");
	bool is_open = bt_json_find(schema, "nullable") != NULL ||
		bt_json_find(schema, "x-kubernetes-int-or-string") != NULL ||
		bt_json_find(schema, "x-kubernetes-preserve-unknown-fields") != NULL;

	bt_json_begin_object(writer);
	for (uint32_t i = 0; schema->type == BT_JSON_OBJECT && i < schema->count; i++) {
		const struct bt_json_member *member = &schema->members[i];
		bool is_dropped = bt_str_has_word(dropped, member->name) ||
			(is_open && bt_str_has_word(BT_STR("type properties items"), member->name));
		if (schemas->version2 && is_dropped) {
			continue;
		}
		bt_json_write_name(writer, member->name);
		if (bt_str_equal_c(member->name, "properties") &&
			member->value->type == BT_JSON_OBJECT) {
			bt_json_begin_object(writer);
			for (uint32_t k = 0; k < member->value->count; k++) {
				bt_json_write_name(writer, member->value->members[k].name);
				write_custom_schema(
					schemas, member->value->members[k].value, writer);
			}
			bt_json_end_object(writer);
		} else if (member->value->type == BT_JSON_OBJECT &&
			(bt_str_equal_c(member->name, "items") ||
				bt_str_equal_c(member->name, "additionalProperties"))) {
			write_custom_schema(schemas, member->value, writer);
		} else {
			bt_json_write_value(writer, member->value);
		}
	}
	bt_json_end_object(writer);
}

/* Writes the schemas of a custom kind and of its list. */
static void write_custom(const struct schemas *schemas, const struct bt_openapi_resource *resource,
	struct bt_json_writer *writer)
{
	const struct bt_json_value *properties = bt_json_find(resource->schema, "properties");
	struct bt_strbuf name = {NULL, 0, 0};

	append_custom_name(resource, false, &name);
	bt_json_begin_member_object(writer, bt_strbuf_c(&name));
	for (uint32_t i = 0; resource->schema != NULL && i < resource->schema->count; i++) {
		const struct bt_json_member *member = &resource->schema->members[i];
		if (bt_str_equal_c(member->name, "description") ||
			bt_str_equal_c(member->name, "required") ||
			bt_str_equal_c(member->name, "x-kubernetes-preserve-unknown-fields")) {
			bt_json_write(writer, "%s: %t", member->name, member->value);
		}
	}
	bt_json_write(writer, TYPED_OBJECT ", metadata: {");
	write_wrapped_ref(schemas, META_PREFIX "meta.v1.ObjectMeta", writer);
	bt_json_end_object(writer);
	for (uint32_t i = 0; properties != NULL && i < properties->count; i++) {
		const struct bt_json_member *member = &properties->members[i];
		if (!bt_str_has_word(BT_STR("apiVersion kind metadata"), member->name)) {
			bt_json_write_name(writer, member->name);
			write_custom_schema(schemas, member->value, writer);
		}
	}
	bt_json_end_object(writer);
	write_custom_kind(resource, false, writer);
	bt_json_end_object(writer);

	struct bt_strbuf list = {NULL, 0, 0};
	append_custom_name(resource, true, &list);
	bt_json_begin_member_object(writer, bt_strbuf_c(&list));
	bt_json_write(writer, TYPED_OBJECT ", items: {type: 'array', items: {");
	write_ref_to(schemas, bt_strbuf_c(&name), writer);
	bt_json_write(writer, "}}");
	end_list_properties(schemas, writer);
	write_custom_kind(resource, true, writer);
	bt_json_end_object(writer);
	bt_strbuf_finish(&list);
	bt_strbuf_finish(&name);
}

#define TITLE "berth"
#define API_VERSION "v1.36.2" /* version of the described API */

/* State of writing one document. */
struct document {
	struct schemas schemas;
	struct bt_json_writer writer;
};

enum scope {
	SCOPE_ALL,        /* /api/v1/pods */
	SCOPE_COLLECTION, /* /api/v1/namespaces/{namespace}/pods */
	SCOPE_ITEM,       /* .../pods/{name} and .../pods/{name}/status */
};

static const struct {
	enum scope scope;
	const char *verb;
	const char *method;
	bool write; /* has the query parameters of writes */
	bool body;
} operations[] = {
	{SCOPE_ALL, "list", "get", false, false},
	{SCOPE_COLLECTION, "list", "get", false, false},
	{SCOPE_COLLECTION, "create", "post", true, true},
	{SCOPE_COLLECTION, "deletecollection", "delete", false, false},
	{SCOPE_ITEM, "get", "get", false, false},
	{SCOPE_ITEM, "create", "post", true, true},
	{SCOPE_ITEM, "update", "put", true, true},
	{SCOPE_ITEM, "patch", "patch", true, false},
	{SCOPE_ITEM, "delete", "delete", false, false},
};
static const char *const write_options[] = {"dryRun", "fieldManager", "fieldValidation", "force"};

void bt_openapi_hash(struct bt_str document, char out_hash[BT_OPENAPI_HASH_BYTES])
{
	(void)snprintf(out_hash, BT_OPENAPI_HASH_BYTES, "%016" PRIX64, bt_stable_hash(document));
}

static bool is_of(
	const struct bt_openapi_resource *resource, struct bt_str group, struct bt_str version)
{
	return bt_str_equal(resource->group, group) && bt_str_equal(resource->version, version);
}

static const struct bt_schema_message *message_of(const struct bt_openapi_resource *resource)
{
	struct bt_strbuf api_version = {NULL, 0, 0};

	if (resource->kind_group.length != 0) {
		bt_strbuf_append_str(&api_version, resource->kind_group);
		bt_strbuf_append_char(&api_version, '/');
	}
	bt_strbuf_append_str(&api_version, resource->kind_version);
	const struct bt_schema_message *message =
		bt_schema_find(bt_strbuf_str(&api_version), resource->kind);
	bt_strbuf_finish(&api_version);
	return message;
}

static bool is_subresource(const struct bt_openapi_resource *resource)
{
	return bt_str_find_char(resource->name, '/') >= 0;
}

/* Appends "api/v1", or for example "apis/apps/v1". */
static void append_group(struct bt_str group, struct bt_str version, struct bt_strbuf *out)
{
	bt_strbuf_append_c(out, group.length == 0 ? "api" : "apis/");
	bt_strbuf_append_str(out, group);
	bt_strbuf_append_char(out, '/');
	bt_strbuf_append_str(out, version);
}

static void append_path(
	const struct bt_openapi_resource *resource, enum scope scope, struct bt_strbuf *out)
{
	struct bt_str rest = resource->name;
	struct bt_str name = bt_str_cut(&rest, '/');

	bt_strbuf_append_char(out, '/');
	append_group(resource->group, resource->version, out);
	if (resource->namespaced && scope != SCOPE_ALL) {
		bt_strbuf_append_c(out, "/namespaces/{namespace}");
	}
	bt_strbuf_append_char(out, '/');
	bt_strbuf_append_str(out, name);
	if (scope == SCOPE_ITEM) {
		bt_strbuf_append_c(out, rest.data != NULL ? "/{name}/" : "/{name}");
		bt_strbuf_append_str(out, rest);
	}
}

static void write_parameter(struct document *document, const char *name, const char *in)
{
	bt_json_write(&document->writer,
		document->schemas.version2
			? "{name: %c, in: %c, required?: %b, type: 'string', uniqueItems: true}"
			: "{name: %c, in: %c, required?: %b, "
			  "schema: {type: 'string', uniqueItems: true}}",
		name, in, strcmp(in, "path") == 0);
}

/* Writes {"content": {<type>: {"schema": <ref>}}} without the outer braces. */
static void write_content(struct document *document, const char *type,
	const struct bt_schema_message *message, bool list)
{
	bt_json_write(&document->writer, "content: {%c: {schema:", type);
	write_ref(&document->schemas, message, list, &document->writer);
	bt_json_write(&document->writer, "}}");
}

static void write_response(
	struct document *document, const struct bt_schema_message *message, bool list)
{
	struct bt_json_writer *writer = &document->writer;

	bt_json_write(writer, "responses: {200: {description: 'OK'");
	if (message != NULL && document->schemas.version2) {
		bt_json_write_name_c(writer, "schema");
		write_ref(&document->schemas, message, list, writer);
	} else if (message != NULL) {
		write_content(document, "application/json", message, list);
	}
	bt_json_write(writer, "}}");
}

static void write_operation(
	struct document *document, const struct bt_openapi_resource *resource, size_t index)
{
	const struct bt_schema_message *message = message_of(resource);
	struct bt_json_writer *writer = &document->writer;
	bool patch = operations[index].method[1] == 'a';

	bt_json_begin_member_object(writer, operations[index].method);
	if (operations[index].write) {
		bt_json_begin_member_array(writer, "parameters");
		for (size_t i = 0; i < (patch ? 4 : 3); i++) {
			write_parameter(document, write_options[i], "query");
		}
		bt_json_end_array(writer);
	}
	if (operations[index].body && message != NULL && !document->schemas.version2) {
		bt_json_begin_member_object(writer, "requestBody");
		write_content(document, "*/*", message, false);
		bt_json_end_object(writer);
	}
	write_response(document, message, operations[index].verb[0] == 'l');
	bt_json_write_name_c(writer, "x-kubernetes-group-version-kind");
	write_kind(writer, resource->kind_group, resource->kind, false, resource->kind_version);
	bt_json_end_object(writer);
}

static bool is_offered(const struct bt_openapi_resource *resource, enum scope scope, size_t index)
{
	if (operations[index].scope != scope ||
		!bt_str_has_word(resource->verbs, bt_str_from(operations[index].verb))) {
		return false;
	}
	/* Objects are created at the collection, subresources at the object. */
	return scope != SCOPE_ITEM || operations[index].verb[0] != 'c' || is_subresource(resource);
}

static void write_path(
	struct document *document, const struct bt_openapi_resource *resource, enum scope scope)
{
	struct bt_json_writer *writer = &document->writer;
	struct bt_strbuf path = {NULL, 0, 0};
	bool opened = false;

	for (size_t i = 0; i < BT_ARRAY_LENGTH(operations); i++) {
		if (!is_offered(resource, scope, i)) {
			continue;
		}
		if (!opened) {
			append_path(resource, scope, &path);
			bt_json_write(writer, "%s: {", bt_strbuf_str(&path));
			opened = true;
		}
		write_operation(document, resource, i);
	}
	if (opened) {
		bt_json_begin_member_array(writer, "parameters");
		if (scope == SCOPE_ITEM) {
			write_parameter(document, "name", "path");
		}
		if (resource->namespaced && scope != SCOPE_ALL) {
			write_parameter(document, "namespace", "path");
		}
		bt_json_write(writer, "]}");
	}
	bt_strbuf_finish(&path);
}

/* Whether the resource holds the objects of a custom kind with a schema. */
static bool is_custom(const struct bt_openapi_resource *resource)
{
	return resource->schema != NULL && !is_subresource(resource);
}

static void write_resource(struct document *document, const struct bt_openapi_resource *resource)
{
	const struct bt_schema_message *message = message_of(resource);

	if (is_custom(resource)) {
		/* adds ObjectMeta and ListMeta, to which the schemas of custom kinds refer */
		add_schemas(&document->schemas,
			bt_schema_find(
				BT_STR("meta.k8s.io/v1"), BT_STR("PartialObjectMetadataList")),
			false);
	}
	if (message != NULL) {
		add_schemas(&document->schemas, message,
			bt_str_has_word(resource->verbs, BT_STR("list")));
	}
	if (!is_subresource(resource)) {
		if (resource->namespaced) {
			write_path(document, resource, SCOPE_ALL);
		}
		write_path(document, resource, SCOPE_COLLECTION);
	}
	write_path(document, resource, SCOPE_ITEM);
}

static void begin_document(struct document *document, bool version2, struct bt_strbuf *out)
{
	struct bt_json_writer *writer = &document->writer;

	document->schemas.version2 = version2;
	document->schemas.reached =
		bt_calloc(bt_schema_message_count, sizeof(*document->schemas.reached));
	bt_json_writer_init(writer, out, 0);
	bt_json_write(writer, "{%c: %c, info: {title: %c, version: %c}, paths: {",
		version2 ? "swagger" : "openapi", version2 ? "2.0" : "3.0.0", TITLE, API_VERSION);
}

/* Writes the schemas and ends the document. group absent: custom kinds of all groups. */
static void end_document(struct document *document, struct bt_str group, struct bt_str version,
	const struct bt_openapi_resource *resources, uint32_t count)
{
	struct bt_json_writer *writer = &document->writer;
	bool version2 = document->schemas.version2;

	bt_json_write(writer, version2 ? "}, definitions: {" : "}, components: {schemas: {");
	write_schemas(&document->schemas, writer);
	for (uint32_t i = 0; i < count; i++) {
		if (is_custom(&resources[i]) &&
			(group.data == NULL || is_of(&resources[i], group, version))) {
			write_custom(&document->schemas, &resources[i], writer);
		}
	}
	bt_json_write(writer, version2 ? "}}" : "}}}");
	bt_free(document->schemas.reached);
}

void bt_openapi_v3_document(struct bt_str group, struct bt_str version,
	const struct bt_openapi_resource *resources, uint32_t count, struct bt_strbuf *out)
{
	struct document document;

	begin_document(&document, false, out);
	for (uint32_t i = 0; i < count; i++) {
		if (is_of(&resources[i], group, version)) {
			write_resource(&document, &resources[i]);
		}
	}
	/* Schemas of deletion bodies and of error responses. */
	add_schemas(
		&document.schemas, bt_schema_find(BT_STR("v1"), BT_STR("DeleteOptions")), false);
	add_schemas(&document.schemas, bt_schema_find(BT_STR("v1"), BT_STR("Status")), false);
	end_document(&document, group, version, resources, count);
}

void bt_openapi_v2_document(
	const struct bt_openapi_resource *resources, uint32_t count, struct bt_strbuf *out)
{
	struct document document;

	begin_document(&document, true, out);
	for (uint32_t i = 0; i < count; i++) {
		write_resource(&document, &resources[i]);
	}
	end_document(
		&document, (struct bt_str){NULL, 0}, (struct bt_str){NULL, 0}, resources, count);
}

void bt_openapi_v3_index(
	const struct bt_openapi_resource *resources, uint32_t count, struct bt_strbuf *out)
{
	struct bt_json_writer writer;

	bt_json_writer_init(&writer, out, 0);
	bt_json_write(&writer, "{paths: {");
	for (uint32_t i = 0; i < count; i++) {
		struct bt_strbuf text = {NULL, 0, 0};
		struct bt_strbuf path = {NULL, 0, 0};
		char hash[BT_OPENAPI_HASH_BYTES];

		bool is_first = true; /* first resource of its group and version */

		for (uint32_t n = 0; n < i && is_first; n++) {
			is_first = !is_of(&resources[n], resources[i].group, resources[i].version);
		}
		if (!is_first) {
			continue;
		}
		bt_openapi_v3_document(
			resources[i].group, resources[i].version, resources, count, &text);
		bt_openapi_hash(bt_strbuf_str(&text), hash);
		append_group(resources[i].group, resources[i].version, &path);
		bt_strbuf_reset(&text);
		bt_strbuf_printf(&text, "/openapi/v3/%s?hash=%s", bt_strbuf_c(&path), hash);
		bt_json_write(&writer, "%s: {serverRelativeURL: %s}", bt_strbuf_str(&path),
			bt_strbuf_str(&text));
		bt_strbuf_finish(&text);
		bt_strbuf_finish(&path);
	}
	bt_json_write(&writer, "}}");
}

enum {
	DOCUMENT_SWAGGER = 1,
	DOCUMENT_INFO = 2,
	DOCUMENT_PATHS = 8,
	INFO_TITLE = 1,
	INFO_VERSION = 2,
	PATHS_PATH = 2,
	NAMED_NAME = 1,
	NAMED_VALUE = 2,
	ANY_YAML = 2,
	PATH_ITEM_PATCH = 8,
	OPERATION_PARAMETERS = 8,
	OPERATION_RESPONSES = 9,
	OPERATION_EXTENSION = 13,
	ITEM_PARAMETER = 1,
	PARAMETER_NON_BODY = 2,
	NON_BODY_QUERY = 3,
	QUERY_IN = 2,
	QUERY_NAME = 4,
	QUERY_TYPE = 6,
};

static void encode_parameter(const char *name, struct bt_strbuf *out)
{
	static const uint32_t shells[] = {
		OPERATION_PARAMETERS, ITEM_PARAMETER, PARAMETER_NON_BODY, NON_BODY_QUERY};
	size_t opened[BT_ARRAY_LENGTH(shells)];
	size_t count = BT_ARRAY_LENGTH(shells);

	for (size_t i = 0; i < count; i++) {
		opened[i] = bt_wire_open(out, shells[i]);
	}
	bt_wire_write_bytes(out, QUERY_IN, BT_STR("query"));
	bt_wire_write_bytes(out, QUERY_NAME, bt_str_from(name));
	bt_wire_write_bytes(out, QUERY_TYPE, BT_STR("string"));
	while (count > 0) {
		bt_wire_close(out, opened[--count]);
	}
}

/*
 * Encodes the path of the resource, and only the patch operation of this path. Old clients read
 * whether patch has the parameter dryRun.
 */
static void encode_patch(const struct bt_openapi_resource *resource, struct bt_strbuf *out)
{
	struct bt_strbuf path = {NULL, 0, 0};
	size_t named = bt_wire_open(out, PATHS_PATH);

	append_path(resource, SCOPE_ITEM, &path);
	bt_wire_write_bytes(out, NAMED_NAME, bt_strbuf_str(&path));
	bt_strbuf_finish(&path);
	size_t item = bt_wire_open(out, NAMED_VALUE);
	size_t operation = bt_wire_open(out, PATH_ITEM_PATCH);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(write_options); i++) {
		encode_parameter(write_options[i], out);
	}
	bt_wire_write_bytes(out, OPERATION_RESPONSES, BT_STR(""));
	struct bt_strbuf yaml = {NULL, 0, 0};
	size_t extension = bt_wire_open(out, OPERATION_EXTENSION);

	bt_wire_write_bytes(out, NAMED_NAME, BT_STR("x-kubernetes-group-version-kind"));
	size_t value = bt_wire_open(out, NAMED_VALUE);
	bt_strbuf_printf(&yaml, "group: \"%.*s\"\nkind: \"%.*s\"\nversion: \"%.*s\"\n",
		BT_STR_ARG(resource->kind_group), BT_STR_ARG(resource->kind),
		BT_STR_ARG(resource->kind_version));
	bt_wire_write_bytes(out, ANY_YAML, bt_strbuf_str(&yaml));
	bt_strbuf_finish(&yaml);
	bt_wire_close(out, value);
	bt_wire_close(out, extension);
	bt_wire_close(out, operation);
	bt_wire_close(out, item);
	bt_wire_close(out, named);
}

void bt_openapi_v2_protobuf(
	const struct bt_openapi_resource *resources, uint32_t count, struct bt_strbuf *out)
{
	bt_wire_write_bytes(out, DOCUMENT_SWAGGER, BT_STR("2.0"));
	size_t opened = bt_wire_open(out, DOCUMENT_INFO);
	bt_wire_write_bytes(out, INFO_TITLE, BT_STR(TITLE));
	bt_wire_write_bytes(out, INFO_VERSION, BT_STR(API_VERSION));
	bt_wire_close(out, opened);
	opened = bt_wire_open(out, DOCUMENT_PATHS);
	for (uint32_t i = 0; i < count; i++) {
		if (bt_str_has_word(resources[i].verbs, BT_STR("patch")) &&
			!is_subresource(&resources[i])) {
			encode_patch(&resources[i], out);
		}
	}
	bt_wire_close(out, opened);
}
