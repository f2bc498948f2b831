/* SPDX-License-Identifier: Apache-2.0 */
#include "server/openapi.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "codec/json_edit.h"
#include "codec/wire.h"
#include "server/discovery.h"

enum {
	REACHED = 1,
	REACHED_LIST = 2,
};

#define TITLE "berth"
#define API_VERSION "v1.36.2" /* version of the described API */
#define META_PREFIX "io.k8s.apimachinery.pkg.apis."
#define QUANTITY_NAME "io.k8s.apimachinery.pkg.api.resource.Quantity"
#define INT_OR_STRING_NAME "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
#define TIME_NAME META_PREFIX "meta.v1.Time"
#define MICRO_TIME_NAME META_PREFIX "meta.v1.MicroTime"
#define DURATION_NAME META_PREFIX "meta.v1.Duration"
#define RAW_JSON_NAME "io.k8s.apimachinery.pkg.runtime.RawExtension"
/** Begins the schema of an object that has apiVersion and kind. */
#define TYPED_OBJECT \
	"type: 'object', properties: {apiVersion: {type: 'string'}, kind: {type: 'string'}"

/** State of writing one document. */
struct document {
	bool version2;    /* OpenAPI 2: schemas in another place, no allOf */
	uint8_t *reached; /* REACHED flags of each message */
	struct bt_arena arena;
	struct bt_json_writer writer;
};

/** A resource or subresource that a document describes. */
struct target {
	const struct bt_api_resource *resource;
	enum bt_subresource subresource;
	uint32_t verbs; /* 1 << enum bt_verb */
	/** The kind of its objects; a subresource may have a kind of another group. */
	struct bt_discovery_kind kind;
	const struct bt_schema_message *message; /* of that kind; NULL: a custom resource */
};

static struct target target_of(struct bt_arena *arena, const struct bt_api_resource *resource,
	enum bt_subresource subresource)
{
	struct bt_discovery_kind kind = bt_discovery_kind_of(resource, subresource);
	return (struct target){
		.resource = resource,
		.subresource = subresource,
		.verbs = bt_api_verbs(resource, subresource),
		.kind = kind,
		.message = bt_schema_find(bt_arena_printf(arena, "%s%s%s", kind.group,
						  kind.group[0] != '\0' ? "/" : "", kind.version),
			bt_str_from(kind.kind)),
	};
}

static bool has_verb(const struct target *target, enum bt_verb verb)
{
	return (target->verbs & 1u << verb) != 0;
}

/** --- schemas --- */

static void add_schemas(
	struct document *document, const struct bt_schema_message *message, bool listed)
{
	uint8_t *reached = &document->reached[message - bt_schema_messages];

	if (listed && (*reached & REACHED_LIST) == 0) {
		*reached |= REACHED_LIST;
		add_schemas(document,
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
			add_schemas(document, message->fields[i].message, false);
		}
	}
}

/** Returns the name of a schema, e.g. io.k8s.api.core.v1.Pod for "core/v1" and "Pod". */
static struct bt_str name_of(
	struct document *document, const struct bt_schema_message *message, bool list)
{
	const char *slash = strchr(message->package, '/');
	const char *prefix = "io.k8s.api.";

	if (strcmp(message->package, "meta/v1") == 0) {
		prefix = META_PREFIX;
	} else if (strcmp(message->package, "apiextensions/v1") == 0) {
		prefix = "io.k8s.apiextensions-apiserver.pkg.apis.";
	}
	BT_ASSERT(slash != NULL);
	return bt_arena_printf(&document->arena, "%s%.*s.%s.%s%s", prefix,
		(int)(slash - message->package), message->package, slash + 1, message->name,
		list ? "List" : "");
}

static struct bt_str ref_to(struct document *document, struct bt_str name)
{
	return bt_arena_printf(&document->arena, "%s%.*s",
		document->version2 ? "#/definitions/" : "#/components/schemas/", BT_STR_ARG(name));
}

/**
 * Writes a reference that has other members next to it. OpenAPI 3 requires allOf around such a
 * reference.
 */
static void write_wrapped_ref(struct document *document, struct bt_str name)
{
	bt_json_write(&document->writer, document->version2 ? "$ref: %s" : "allOf: [{$ref: %s}]",
		ref_to(document, name));
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

/**
 * Writes the members of the schema of a single value. with_default: also writes the type's zero
 * value as `default`.
 */
static void write_one(
	struct document *document, const struct bt_schema_field *field, bool with_default)
{
	struct bt_json_writer *writer = &document->writer;

	if (field->type == BT_SCHEMA_MESSAGE) {
		write_wrapped_ref(document, name_of(document, field->message, false));
	} else if (types[field->type].schema != NULL) {
		write_wrapped_ref(document, bt_str_from(types[field->type].schema));
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

static void write_field(struct document *document, const struct bt_schema_field *field)
{
	struct bt_json_writer *writer = &document->writer;
	/* the strategies of a strategic merge patch */
	bool retains = (field->flags & BT_SCHEMA_RETAIN_KEYS) != 0;
	const char *strategy = retains ? "retainKeys" : NULL;

	if ((field->flags & BT_SCHEMA_MERGE) != 0) {
		strategy = retains ? "merge,retainKeys" : "merge";
	} else if ((field->flags & BT_SCHEMA_REPLACE) != 0) {
		strategy = retains ? "replace,retainKeys" : "replace";
	}
	bt_json_write(writer, "%s: {", (struct bt_str){field->name, field->name_length});
	switch ((enum bt_schema_shape)field->shape) {
	case BT_SCHEMA_SINGLE:
		write_one(document, field, (field->flags & BT_SCHEMA_ALWAYS) != 0);
		break;
	case BT_SCHEMA_LIST:
		bt_json_write(writer, "type: 'array', items: {");
		write_one(document, field, true);
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
		write_one(document, field, true);
		bt_json_end_object(writer);
		break;
	}
	if (field->shape != BT_SCHEMA_LIST && (field->flags & BT_SCHEMA_ATOMIC) != 0) {
		bt_json_write_member_c(writer, "x-kubernetes-map-type", "atomic");
	}
	bt_json_write(writer,
		"x-kubernetes-patch-merge-key: %c, x-kubernetes-patch-strategy: %c, "
		"description: %c}",
		field->merge_key, strategy, field->description);
}

static void write_fields(struct document *document, const struct bt_schema_message *message)
{
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_schema_field *field = &message->fields[i];
		if ((field->flags & BT_SCHEMA_INLINE) != 0) {
			write_fields(document, field->message);
		} else {
			write_field(document, field);
		}
	}
}

/** Collects the names of the required fields. */
static void collect_required(struct document *document, const struct bt_schema_message *message,
	struct bt_json_value *names)
{
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_schema_field *field = &message->fields[i];
		if ((field->flags & BT_SCHEMA_INLINE) != 0) {
			collect_required(document, field->message, names);
		} else if ((field->flags & BT_SCHEMA_REQUIRED) != 0) {
			bt_json_append(&document->arena, names,
				bt_json_new_c(&document->arena, field->name));
		}
	}
}

/** Writes one element of x-kubernetes-group-version-kind. list: with kind <kind>List. */
static void write_kind(struct document *document, const char *group, const char *version,
	const char *kind, bool list)
{
	bt_json_write(&document->writer, "{group: %c, kind: %s, version: %c}", group,
		bt_arena_printf(&document->arena, "%s%s", kind, list ? "List" : ""), version);
}

static void write_kinds(
	struct document *document, const struct bt_schema_message *message, bool list)
{
	bt_json_begin_member_array(&document->writer, "x-kubernetes-group-version-kind");
	for (uint32_t i = 0; i < bt_schema_kind_count; i++) {
		const struct bt_schema_kind *kind = &bt_schema_kinds[i];

		if (kind->message == message) {
			write_kind(document, kind->group, kind->version, kind->kind, list);
		}
	}
	bt_json_end_array(&document->writer);
}

/** Writes the end of a list's schema: the property metadata, and "required": ["items"]. */
static void end_list_properties(struct document *document)
{
	bt_json_begin_member_object(&document->writer, "metadata");
	write_wrapped_ref(document, BT_STR(META_PREFIX "meta.v1.ListMeta"));
	bt_json_write(&document->writer, "}}, required: ['items']");
}

static void write_schemas(struct document *document)
{
	struct bt_json_writer *writer = &document->writer;

	for (uint32_t i = 0; i < bt_schema_message_count; i++) {
		const struct bt_schema_message *message = &bt_schema_messages[i];

		if ((document->reached[i] & REACHED) != 0) {
			struct bt_json_value *required =
				bt_json_new(&document->arena, BT_JSON_ARRAY);
			bool root = bt_schema_is_root(message);

			bt_json_write(writer, "%s: {description: %c",
				name_of(document, message, false), message->description);
			if (message->field_count != 0 || root) {
				bt_json_write(writer,
					root ? TYPED_OBJECT : "type: 'object', properties: {");
				write_fields(document, message);
				bt_json_end_object(writer);
			} else {
				bt_json_write(writer, "type: 'object'");
			}
			collect_required(document, message, required);
			bt_json_write(writer, "required?: %t", required);
			if (root) {
				write_kinds(document, message, false);
			}
			bt_json_end_object(writer);
		}
		if ((document->reached[i] & REACHED_LIST) != 0) {
			const struct bt_schema_field items = {.name = "items",
				.name_length = 5,
				.type = BT_SCHEMA_MESSAGE,
				.shape = BT_SCHEMA_LIST,
				.message = message};

			bt_json_write(
				writer, "%s: {" TYPED_OBJECT, name_of(document, message, true));
			write_field(document, &items);
			end_list_properties(document);
			write_kinds(document, message, true);
			bt_json_end_object(writer);
		}
	}
	/* OpenAPI 2 cannot express a choice of types. */
	bt_json_write(writer,
		document->version2 ? QUANTITY_NAME ": {type: 'string'}, " INT_OR_STRING_NAME
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

/** --- schemas of custom kinds --- */

/** Returns the name of a custom kind's schema, e.g. com.example.v1.Widget of example.com/v1. */
static struct bt_str custom_name(
	struct document *document, const struct bt_api_resource *resource, const char *suffix)
{
	struct bt_strbuf name = {0};
	struct bt_str rest = bt_str_from(resource->group);

	while (rest.length != 0) {
		int64_t dot = bt_str_find_last_char(rest, '.');
		bt_strbuf_append_str(&name, bt_str_sub(rest, (uint32_t)(dot + 1), rest.length));
		bt_strbuf_append_char(&name, '.');
		rest = bt_str_sub(rest, 0, dot > 0 ? (uint32_t)dot : 0);
	}
	bt_strbuf_printf(&name, "%s.%s%s", resource->version, resource->kind, suffix);
	return bt_arena_take_strbuf(&document->arena, &name);
}

static void end_custom(struct document *document, const struct bt_api_resource *resource, bool list)
{
	bt_json_begin_member_array(&document->writer, "x-kubernetes-group-version-kind");
	write_kind(document, resource->group, resource->version, resource->kind, list);
	bt_json_write(&document->writer, "]}");
}

/**
 * Writes the schema of a CustomResourceDefinition. For OpenAPI 2, leaves out the parts that
 * OpenAPI 2 cannot express, and the type, properties and items of a value that may have several
 * types. Recursion is bounded by the nesting of the schema.
 */
static void write_custom_schema(struct document *document, const struct bt_json_value *schema)
{
	struct bt_json_writer *writer = &document->writer;
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
		if (document->version2 && is_dropped) {
			continue;
		}
		bt_json_write_name(writer, member->name);
		if (bt_str_equal_c(member->name, "properties") &&
			member->value->type == BT_JSON_OBJECT) {
			bt_json_begin_object(writer);
			for (uint32_t k = 0; k < member->value->count; k++) {
				bt_json_write_name(writer, member->value->members[k].name);
				write_custom_schema(document, member->value->members[k].value);
			}
			bt_json_end_object(writer);
		} else if (member->value->type == BT_JSON_OBJECT &&
			(bt_str_equal_c(member->name, "items") ||
				bt_str_equal_c(member->name, "additionalProperties"))) {
			write_custom_schema(document, member->value);
		} else {
			bt_json_write_value(writer, member->value);
		}
	}
	bt_json_end_object(writer);
}

/** Writes the schemas of a custom kind and of its list. */
static void write_custom(struct document *document, const struct bt_api_resource *resource)
{
	struct bt_json_writer *writer = &document->writer;
	const struct bt_json_value *schema =
		bt_json_object_at(resource->definition_version, "schema.openAPIV3Schema");
	const struct bt_json_value *properties = bt_json_object_at(schema, "properties");
	struct bt_str name = custom_name(document, resource, "");

	bt_json_write(writer, "%s: {", name);
	for (uint32_t i = 0; i < schema->count; i++) {
		const struct bt_json_member *member = &schema->members[i];
		if (bt_str_has_word(
			    BT_STR("description required x-kubernetes-preserve-unknown-fields"),
			    member->name)) {
			bt_json_write(writer, "%s: %t", member->name, member->value);
		}
	}
	bt_json_write(writer, TYPED_OBJECT ", metadata: {");
	write_wrapped_ref(document, BT_STR(META_PREFIX "meta.v1.ObjectMeta"));
	bt_json_end_object(writer);
	for (uint32_t i = 0; i < properties->count; i++) {
		const struct bt_json_member *member = &properties->members[i];
		if (!bt_str_has_word(BT_STR("apiVersion kind metadata"), member->name)) {
			bt_json_write_name(writer, member->name);
			write_custom_schema(document, member->value);
		}
	}
	bt_json_end_object(writer);
	end_custom(document, resource, false);
	bt_json_write(writer, "%s: {" TYPED_OBJECT ", items: {type: 'array', items: {$ref: %s}}",
		custom_name(document, resource, "List"), ref_to(document, name));
	end_list_properties(document);
	end_custom(document, resource, true);
}

/** --- paths --- */

enum scope {
	SCOPE_ALL,        /* /api/v1/pods */
	SCOPE_COLLECTION, /* /api/v1/namespaces/{namespace}/pods */
	SCOPE_ITEM,       /* .../pods/{name} and .../pods/{name}/status */
};

static const struct operation {
	enum scope scope;
	enum bt_verb verb;
	const char *method;
	bool write; /* has the query parameters of writes */
	bool body;
} operations[] = {
	{SCOPE_ALL, BT_VERB_LIST, "get", false, false},
	{SCOPE_COLLECTION, BT_VERB_LIST, "get", false, false},
	{SCOPE_COLLECTION, BT_VERB_CREATE, "post", true, true},
	{SCOPE_COLLECTION, BT_VERB_DELETE_COLLECTION, "delete", false, false},
	{SCOPE_ITEM, BT_VERB_GET, "get", false, false},
	{SCOPE_ITEM, BT_VERB_CREATE, "post", true, true},
	{SCOPE_ITEM, BT_VERB_UPDATE, "put", true, true},
	{SCOPE_ITEM, BT_VERB_PATCH, "patch", true, false},
	{SCOPE_ITEM, BT_VERB_DELETE, "delete", false, false},
};
static const char *const write_options[] = {"dryRun", "fieldManager", "fieldValidation", "force"};

void bt_openapi_hash(struct bt_str document, char out_hash[BT_OPENAPI_HASH_BYTES])
{
	(void)snprintf(out_hash, BT_OPENAPI_HASH_BYTES, "%016" PRIX64, bt_stable_hash(document));
}

/** Returns "api/v1", or for example "apis/apps/v1". */
static struct bt_str group_path(struct bt_arena *arena, const char *group, const char *version)
{
	return bt_arena_printf(
		arena, "%s%s/%s", group[0] == '\0' ? "api" : "apis/", group, version);
}

static struct bt_str path_of(struct bt_arena *arena, const struct target *target, enum scope scope)
{
	const struct bt_api_resource *resource = target->resource;
	bool is_part = target->subresource != BT_SUBRESOURCE_NONE;

	return bt_arena_printf(arena, "/%s%s/%s%s%s%s",
		group_path(arena, resource->group, resource->version).data,
		resource->namespaced && scope != SCOPE_ALL ? "/namespaces/{namespace}" : "",
		resource->name, scope == SCOPE_ITEM ? "/{name}" : "", is_part ? "/" : "",
		bt_subresource_name(target->subresource));
}

static void write_parameter(struct document *document, const char *name, const char *in)
{
	bt_json_write(&document->writer,
		document->version2 ? "{name: %c, in: %c, required?: %b, type: 'string', "
				     "uniqueItems: true}"
				   : "{name: %c, in: %c, required?: %b, "
				     "schema: {type: 'string', uniqueItems: true}}",
		name, in, strcmp(in, "path") == 0);
}

static void write_operation(
	struct document *document, const struct target *target, const struct operation *operation)
{
	struct bt_json_writer *writer = &document->writer;
	bool has_force = operation->verb == BT_VERB_PATCH;
	bool is_list = operation->verb == BT_VERB_LIST;

	bt_json_begin_member_object(writer, operation->method);
	if (operation->write) {
		bt_json_begin_member_array(writer, "parameters");
		for (size_t i = 0; i < (has_force ? 4 : 3); i++) {
			write_parameter(document, write_options[i], "query");
		}
		bt_json_end_array(writer);
	}
	if (operation->body && target->message != NULL && !document->version2) {
		bt_json_write(writer, "requestBody: {content: {'*/*': {schema: {$ref: %s}}}}",
			ref_to(document, name_of(document, target->message, false)));
	}
	bt_json_write(writer, "responses: {200: {description: 'OK'");
	if (target->message != NULL) {
		bt_json_write(writer,
			document->version2 ? "schema: {$ref: %s}"
					   : "content: {'application/json': {schema: {$ref: %s}}}",
			ref_to(document, name_of(document, target->message, is_list)));
	}
	bt_json_write(writer, "}}, x-kubernetes-group-version-kind:");
	write_kind(document, target->kind.group, target->kind.version, target->kind.kind, false);
	bt_json_end_object(writer);
}

static void write_path(struct document *document, const struct target *target, enum scope scope)
{
	struct bt_json_writer *writer = &document->writer;
	bool is_part = target->subresource != BT_SUBRESOURCE_NONE;
	bool opened = false;

	for (size_t i = 0; i < BT_ARRAY_LENGTH(operations); i++) {
		enum bt_verb verb = operations[i].verb;
		/* Objects are created at the collection, subresources at the object. */
		if (operations[i].scope != scope || !has_verb(target, verb) ||
			(scope == SCOPE_ITEM && verb == BT_VERB_CREATE && !is_part)) {
			continue;
		}
		if (!opened) {
			bt_json_write(writer, "%s: {", path_of(&document->arena, target, scope));
			opened = true;
		}
		write_operation(document, target, &operations[i]);
	}
	if (opened) {
		bt_json_begin_member_array(writer, "parameters");
		if (scope == SCOPE_ITEM) {
			write_parameter(document, "name", "path");
		}
		if (target->resource->namespaced && scope != SCOPE_ALL) {
			write_parameter(document, "namespace", "path");
		}
		bt_json_write(writer, "]}");
	}
}

/** Writes the paths of a resource and of its subresources. */
static void write_resource(struct document *document, const struct bt_api_resource *resource)
{
	if ((resource->flags & BT_RESOURCE_CUSTOM) != 0) {
		/* adds ObjectMeta and ListMeta, to which the schemas of custom kinds refer */
		add_schemas(document,
			bt_schema_find(
				BT_STR("meta.k8s.io/v1"), BT_STR("PartialObjectMetadataList")),
			false);
	}
	for (int i = 0; i < BT_SUBRESOURCE__COUNT; i++) {
		/* proxied paths are not described */
		if (i != BT_SUBRESOURCE_NONE &&
			((resource->subresources & 1u << i) == 0 || i == BT_SUBRESOURCE_PROXY)) {
			continue;
		}
		struct target target =
			target_of(&document->arena, resource, (enum bt_subresource)i);
		if (target.message != NULL) {
			add_schemas(document, target.message, has_verb(&target, BT_VERB_LIST));
		}
		if (i == BT_SUBRESOURCE_NONE) {
			if (resource->namespaced) {
				write_path(document, &target, SCOPE_ALL);
			}
			write_path(document, &target, SCOPE_COLLECTION);
		}
		write_path(document, &target, SCOPE_ITEM);
	}
}

/** --- documents --- */

/**
 * Returns the next resource that the documents describe, of this version (NULL: of any version).
 * *index: where to begin. NULL: no more.
 */
static const struct bt_api_resource *next_resource(const struct bt_resources *resources,
	const struct bt_served_version *version, uint32_t *index)
{
	*index = version != NULL ? BT_MAX(*index, version->begin) : *index;
	while (*index < (version != NULL ? version->end : bt_resources_count(resources))) {
		const struct bt_api_resource *resource = bt_resources_at(resources, (*index)++);
		if ((resource->flags & BT_RESOURCE_HIDDEN) == 0 &&
			(version == NULL ||
				(strcmp(resource->group, version->group) == 0 &&
					strcmp(resource->version, version->version) == 0))) {
			return resource;
		}
	}
	return NULL;
}

/** Writes the resources of one version in OpenAPI 3, or of all versions (NULL) in OpenAPI 2. */
static void write_document(const struct bt_resources *resources,
	const struct bt_served_version *version, struct bt_strbuf *out)
{
	struct document document = {.version2 = version == NULL};
	struct bt_json_writer *writer = &document.writer;
	const struct bt_api_resource *resource;

	document.reached = BT_ARENA_NEW_ARRAY(&document.arena, uint8_t, bt_schema_message_count);
	bt_json_writer_init(writer, out, 0);
	bt_json_write(writer, "{%c: %c, info: {title: %c, version: %c}, paths: {",
		document.version2 ? "swagger" : "openapi", document.version2 ? "2.0" : "3.0.0",
		TITLE, API_VERSION);
	for (uint32_t i = 0; (resource = next_resource(resources, version, &i)) != NULL;) {
		write_resource(&document, resource);
	}
	if (!document.version2) {
		/* Schemas of deletion bodies and of error responses. */
		add_schemas(
			&document, bt_schema_find(BT_STR("v1"), BT_STR("DeleteOptions")), false);
		add_schemas(&document, bt_schema_find(BT_STR("v1"), BT_STR("Status")), false);
	}
	bt_json_write(
		writer, document.version2 ? "}, definitions: {" : "}, components: {schemas: {");
	write_schemas(&document);
	for (uint32_t i = 0; (resource = next_resource(resources, version, &i)) != NULL;) {
		if ((resource->flags & BT_RESOURCE_CUSTOM) != 0) {
			write_custom(&document, resource);
		}
	}
	bt_json_write(writer, document.version2 ? "}}" : "}}}");
	bt_arena_finish(&document.arena);
}

bool bt_openapi_v3_document(
	const struct bt_resources *resources, struct bt_str path, struct bt_strbuf *out)
{
	struct bt_arena arena = {0};
	uint32_t count;
	const struct bt_served_version *versions = bt_served_versions(resources, &arena, &count);
	uint32_t i = 0;

	while (i < count &&
		!(versions[i].has_resources &&
			bt_str_equal(path,
				group_path(&arena, versions[i].group, versions[i].version)))) {
		i++;
	}
	if (i < count) {
		write_document(resources, &versions[i], out);
	}
	bt_arena_finish(&arena);
	return i < count;
}

void bt_openapi_v2_document(const struct bt_resources *resources, struct bt_strbuf *out)
{
	write_document(resources, NULL, out);
}

void bt_openapi_v3_index(const struct bt_resources *resources, struct bt_strbuf *out)
{
	struct bt_arena arena = {0};
	struct bt_json_writer writer;
	struct bt_strbuf text = {0};
	uint32_t count;
	const struct bt_served_version *versions = bt_served_versions(resources, &arena, &count);

	bt_json_writer_init(&writer, out, 0);
	bt_json_write(&writer, "{paths: {");
	for (uint32_t i = 0; i < count && versions[i].has_resources; i++) {
		struct bt_str path = group_path(&arena, versions[i].group, versions[i].version);
		char hash[BT_OPENAPI_HASH_BYTES];

		bt_strbuf_reset(&text);
		write_document(resources, &versions[i], &text);
		bt_openapi_hash(bt_strbuf_str(&text), hash);
		bt_json_write(&writer, "%s: {serverRelativeURL: %s}", path,
			bt_arena_printf(&arena, "/openapi/v3/%s?hash=%s", path.data, hash));
	}
	bt_json_write(&writer, "}}");
	bt_strbuf_finish(&text);
	bt_arena_finish(&arena);
}

/** --- OpenAPI 2 in protobuf --- */

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

void bt_openapi_v2_protobuf(const struct bt_resources *resources, struct bt_strbuf *out)
{
	struct bt_arena arena = {0};
	const struct bt_api_resource *resource;

	bt_wire_write_bytes(out, DOCUMENT_SWAGGER, BT_STR("2.0"));
	size_t opened = bt_wire_open(out, DOCUMENT_INFO);
	bt_wire_write_bytes(out, INFO_TITLE, BT_STR(TITLE));
	bt_wire_write_bytes(out, INFO_VERSION, BT_STR(API_VERSION));
	bt_wire_close(out, opened);
	opened = bt_wire_open(out, DOCUMENT_PATHS);
	for (uint32_t i = 0; (resource = next_resource(resources, NULL, &i)) != NULL;) {
		struct target target = target_of(&arena, resource, BT_SUBRESOURCE_NONE);
		if (has_verb(&target, BT_VERB_PATCH)) {
			size_t named = bt_wire_open(out, PATHS_PATH);

			bt_wire_write_bytes(out, NAMED_NAME, path_of(&arena, &target, SCOPE_ITEM));
			size_t item = bt_wire_open(out, NAMED_VALUE);
			size_t operation = bt_wire_open(out, PATH_ITEM_PATCH);
			for (size_t n = 0; n < BT_ARRAY_LENGTH(write_options); n++) {
				static const uint32_t shells[] = {OPERATION_PARAMETERS,
					ITEM_PARAMETER, PARAMETER_NON_BODY, NON_BODY_QUERY};
				size_t shell_starts[BT_ARRAY_LENGTH(shells)];
				size_t count = BT_ARRAY_LENGTH(shells);

				for (size_t k = 0; k < count; k++) {
					shell_starts[k] = bt_wire_open(out, shells[k]);
				}
				bt_wire_write_bytes(out, QUERY_IN, BT_STR("query"));
				bt_wire_write_bytes(out, QUERY_NAME, bt_str_from(write_options[n]));
				bt_wire_write_bytes(out, QUERY_TYPE, BT_STR("string"));
				while (count > 0) {
					bt_wire_close(out, shell_starts[--count]);
				}
			}
			bt_wire_write_bytes(out, OPERATION_RESPONSES, BT_STR(""));
			size_t extension = bt_wire_open(out, OPERATION_EXTENSION);
			bt_wire_write_bytes(
				out, NAMED_NAME, BT_STR("x-kubernetes-group-version-kind"));
			size_t value = bt_wire_open(out, NAMED_VALUE);
			bt_wire_write_bytes(out, ANY_YAML,
				bt_arena_printf(&arena,
					"group: \"%s\"\nkind: \"%s\"\nversion: \"%s\"\n",
					target.kind.group, target.kind.kind, target.kind.version));
			bt_wire_close(out, value);
			bt_wire_close(out, extension);
			bt_wire_close(out, operation);
			bt_wire_close(out, item);
			bt_wire_close(out, named);
		}
	}
	bt_wire_close(out, opened);
	bt_arena_finish(&arena);
}
