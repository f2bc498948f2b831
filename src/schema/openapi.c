/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/openapi.h"

#include <inttypes.h>
#include <stdio.h>

#include "schema/openapi_private.h"
#include "codec/wire.h"

#define TITLE "berth"
#define API_VERSION "v1.36.2" /* of the API that is described */

/* What one document is about. */
struct document {
	struct bt_openapi_schemas schemas;
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
	bool write; /* takes the options of writes */
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
#define OPERATION_COUNT (sizeof(operations) / sizeof(operations[0]))

void bt_openapi_hash(struct bt_str document, char out_hash[BT_OPENAPI_HASH_BYTES])
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a: the same on every machine */

	for (uint32_t i = 0; i < document.length; i++) {
		hash = (hash ^ (unsigned char)document.data[i]) * UINT64_C(0x100000001b3);
	}
	(void)snprintf(out_hash, BT_OPENAPI_HASH_BYTES, "%016" PRIX64, hash);
}

/* --- resources --- */

static bool is_of(
	const struct bt_openapi_resource *resource, struct bt_str group, struct bt_str version)
{
	return bt_str_equal(resource->group, group) && bt_str_equal(resource->version, version);
}

static const struct bt_schema_message *message_of(const struct bt_openapi_resource *resource)
{
	struct bt_strbuf api_version = {NULL, 0, 0};
	const struct bt_schema_message *message;

	if (resource->kind_group.length != 0) {
		bt_strbuf_append_str(&api_version, resource->kind_group);
		bt_strbuf_append_char(&api_version, '/');
	}
	bt_strbuf_append_str(&api_version, resource->kind_version);
	message = bt_schema_find(bt_strbuf_str(&api_version), resource->kind);
	bt_strbuf_finish(&api_version);
	return message;
}

static bool is_subresource(const struct bt_openapi_resource *resource)
{
	return bt_str_find_char(resource->name, '/') >= 0;
}

/* "api/v1" or "apis/apps/v1". */
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
	int64_t slash = bt_str_find_char(resource->name, '/');
	uint32_t length = slash < 0 ? resource->name.length : (uint32_t)slash;

	bt_strbuf_append_char(out, '/');
	append_group(resource->group, resource->version, out);
	if (resource->namespaced && scope != SCOPE_ALL) {
		bt_strbuf_append_c(out, "/namespaces/{namespace}");
	}
	bt_strbuf_append_char(out, '/');
	bt_strbuf_append_str(out, bt_str_sub(resource->name, 0, length));
	if (scope == SCOPE_ITEM) {
		bt_strbuf_append_c(out, "/{name}");
		bt_strbuf_append_str(
			out, bt_str_sub(resource->name, length, resource->name.length));
	}
}

/* --- operations --- */

static void write_parameter(struct document *document, const char *name, const char *in)
{
	struct bt_json_writer *writer = &document->writer;

	bt_json_begin_object(writer);
	bt_json_write_name_c(writer, "name");
	bt_json_write_c(writer, name);
	bt_json_write_name_c(writer, "in");
	bt_json_write_c(writer, in);
	if (in[0] == 'p') {
		bt_json_write_name_c(writer, "required");
		bt_json_write_bool(writer, true);
	}
	if (!document->schemas.version2) {
		bt_json_write_name_c(writer, "schema");
		bt_json_begin_object(writer);
	}
	bt_json_write_name_c(writer, "type");
	bt_json_write_c(writer, "string");
	bt_json_write_name_c(writer, "uniqueItems");
	bt_json_write_bool(writer, true);
	if (!document->schemas.version2) {
		bt_json_end_object(writer);
	}
	bt_json_end_object(writer);
}

static void write_kind(const struct bt_openapi_resource *resource, struct bt_json_writer *writer)
{
	bt_json_write_name_c(writer, "x-kubernetes-group-version-kind");
	bt_json_begin_object(writer);
	bt_json_write_name_c(writer, "group");
	bt_json_write_str(writer, resource->kind_group);
	bt_json_write_name_c(writer, "kind");
	bt_json_write_str(writer, resource->kind);
	bt_json_write_name_c(writer, "version");
	bt_json_write_str(writer, resource->kind_version);
	bt_json_end_object(writer);
}

/* {"content": {<type>: {"schema": <ref>}}} without the outer braces. */
static void write_content(struct document *document, const char *type,
	const struct bt_schema_message *message, bool list)
{
	struct bt_json_writer *writer = &document->writer;

	bt_json_write_name_c(writer, "content");
	bt_json_begin_object(writer);
	bt_json_write_name_c(writer, type);
	bt_json_begin_object(writer);
	bt_json_write_name_c(writer, "schema");
	bt_openapi_write_ref(&document->schemas, message, list, writer);
	bt_json_end_object(writer);
	bt_json_end_object(writer);
}

static void write_response(
	struct document *document, const struct bt_schema_message *message, bool list)
{
	struct bt_json_writer *writer = &document->writer;

	bt_json_write_name_c(writer, "responses");
	bt_json_begin_object(writer);
	bt_json_write_name_c(writer, "200");
	bt_json_begin_object(writer);
	bt_json_write_name_c(writer, "description");
	bt_json_write_c(writer, "OK");
	if (message != NULL && document->schemas.version2) {
		bt_json_write_name_c(writer, "schema");
		bt_openapi_write_ref(&document->schemas, message, list, writer);
	} else if (message != NULL) {
		write_content(document, "application/json", message, list);
	}
	bt_json_end_object(writer);
	bt_json_end_object(writer);
}

static void write_operation(
	struct document *document, const struct bt_openapi_resource *resource, size_t index)
{
	const struct bt_schema_message *message = message_of(resource);
	struct bt_json_writer *writer = &document->writer;
	bool patch = operations[index].method[1] == 'a';

	bt_json_write_name_c(writer, operations[index].method);
	bt_json_begin_object(writer);
	if (operations[index].write) {
		bt_json_write_name_c(writer, "parameters");
		bt_json_begin_array(writer);
		for (size_t i = 0; i < (patch ? 4 : 3); i++) {
			write_parameter(document, write_options[i], "query");
		}
		bt_json_end_array(writer);
	}
	if (operations[index].body && message != NULL && !document->schemas.version2) {
		bt_json_write_name_c(writer, "requestBody");
		bt_json_begin_object(writer);
		write_content(document, "*/*", message, false);
		bt_json_end_object(writer);
	}
	write_response(document, message, operations[index].verb[0] == 'l');
	write_kind(resource, writer);
	bt_json_end_object(writer);
}

static bool is_offered(const struct bt_openapi_resource *resource, enum scope scope, size_t index)
{
	if (operations[index].scope != scope ||
		!bt_str_has_word(resource->verbs, bt_str_from(operations[index].verb))) {
		return false;
	}
	/* Objects are made at their collection, what subresources take at the object. */
	return scope != SCOPE_ITEM || operations[index].verb[0] != 'c' || is_subresource(resource);
}

static void write_path(
	struct document *document, const struct bt_openapi_resource *resource, enum scope scope)
{
	struct bt_json_writer *writer = &document->writer;
	struct bt_strbuf path = {NULL, 0, 0};
	bool opened = false;

	for (size_t i = 0; i < OPERATION_COUNT; i++) {
		if (!is_offered(resource, scope, i)) {
			continue;
		}
		if (!opened) {
			append_path(resource, scope, &path);
			bt_json_write_name(writer, bt_strbuf_str(&path));
			bt_json_begin_object(writer);
			opened = true;
		}
		write_operation(document, resource, i);
	}
	if (opened) {
		bt_json_write_name_c(writer, "parameters");
		bt_json_begin_array(writer);
		if (scope == SCOPE_ITEM) {
			write_parameter(document, "name", "path");
		}
		if (resource->namespaced && scope != SCOPE_ALL) {
			write_parameter(document, "namespace", "path");
		}
		bt_json_end_array(writer);
		bt_json_end_object(writer);
	}
	bt_strbuf_finish(&path);
}

static void write_resource(struct document *document, const struct bt_openapi_resource *resource)
{
	const struct bt_schema_message *message = message_of(resource);

	if (message != NULL) {
		bt_openapi_schemas_add(&document->schemas, message,
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

/* --- documents --- */

static void begin_document(struct document *document, bool version2, struct bt_strbuf *out)
{
	struct bt_json_writer *writer = &document->writer;

	bt_openapi_schemas_init(&document->schemas, version2);
	bt_json_writer_init(writer, out, 0);
	bt_json_begin_object(writer);
	bt_json_write_name_c(writer, version2 ? "swagger" : "openapi");
	bt_json_write_c(writer, version2 ? "2.0" : "3.0.0");
	bt_json_write_name_c(writer, "info");
	bt_json_begin_object(writer);
	bt_json_write_name_c(writer, "title");
	bt_json_write_c(writer, TITLE);
	bt_json_write_name_c(writer, "version");
	bt_json_write_c(writer, API_VERSION);
	bt_json_end_object(writer);
	bt_json_write_name_c(writer, "paths");
	bt_json_begin_object(writer);
}

static void end_document(struct document *document)
{
	struct bt_json_writer *writer = &document->writer;
	bool version2 = document->schemas.version2;

	bt_json_end_object(writer);
	bt_json_write_name_c(writer, version2 ? "definitions" : "components");
	bt_json_begin_object(writer);
	if (!version2) {
		bt_json_write_name_c(writer, "schemas");
		bt_json_begin_object(writer);
	}
	bt_openapi_schemas_write(&document->schemas, writer);
	if (!version2) {
		bt_json_end_object(writer);
	}
	bt_json_end_object(writer);
	bt_json_end_object(writer);
	bt_openapi_schemas_finish(&document->schemas);
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
	/* What bodies of deletions and answers are. */
	bt_openapi_schemas_add(
		&document.schemas, bt_schema_find(BT_STR("v1"), BT_STR("DeleteOptions")), false);
	bt_openapi_schemas_add(
		&document.schemas, bt_schema_find(BT_STR("v1"), BT_STR("Status")), false);
	end_document(&document);
}

void bt_openapi_v2_document(
	const struct bt_openapi_resource *resources, uint32_t count, struct bt_strbuf *out)
{
	struct document document;

	begin_document(&document, true, out);
	for (uint32_t i = 0; i < count; i++) {
		write_resource(&document, &resources[i]);
	}
	end_document(&document);
}

static bool is_first_of_group(const struct bt_openapi_resource *resources, uint32_t index)
{
	for (uint32_t i = 0; i < index; i++) {
		if (is_of(&resources[i], resources[index].group, resources[index].version)) {
			return false;
		}
	}
	return true;
}

void bt_openapi_v3_index(
	const struct bt_openapi_resource *resources, uint32_t count, struct bt_strbuf *out)
{
	struct bt_json_writer writer;

	bt_json_writer_init(&writer, out, 0);
	bt_json_begin_object(&writer);
	bt_json_write_name_c(&writer, "paths");
	bt_json_begin_object(&writer);
	for (uint32_t i = 0; i < count; i++) {
		struct bt_strbuf text = {NULL, 0, 0};
		struct bt_strbuf path = {NULL, 0, 0};
		char hash[BT_OPENAPI_HASH_BYTES];

		if (!is_first_of_group(resources, i)) {
			continue;
		}
		bt_openapi_v3_document(
			resources[i].group, resources[i].version, resources, count, &text);
		bt_openapi_hash(bt_strbuf_str(&text), hash);
		append_group(resources[i].group, resources[i].version, &path);
		bt_json_write_name(&writer, bt_strbuf_str(&path));
		bt_strbuf_reset(&text);
		bt_strbuf_printf(&text, "/openapi/v3/%s?hash=%s", bt_strbuf_c(&path), hash);
		bt_json_begin_object(&writer);
		bt_json_write_name_c(&writer, "serverRelativeURL");
		bt_json_write_str(&writer, bt_strbuf_str(&text));
		bt_json_end_object(&writer);
		bt_strbuf_finish(&text);
		bt_strbuf_finish(&path);
	}
	bt_json_end_object(&writer);
	bt_json_end_object(&writer);
}

/* --- the protobuf of version 2: numbers of gnostic's OpenAPIv2.proto --- */

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
	size_t opened[sizeof(shells) / sizeof(shells[0])];
	size_t count = sizeof(shells) / sizeof(shells[0]);

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

static void encode_kind(const struct bt_openapi_resource *resource, struct bt_strbuf *out)
{
	struct bt_strbuf yaml = {NULL, 0, 0};
	size_t extension = bt_wire_open(out, OPERATION_EXTENSION);
	size_t value;

	bt_wire_write_bytes(out, NAMED_NAME, BT_STR("x-kubernetes-group-version-kind"));
	value = bt_wire_open(out, NAMED_VALUE);
	bt_strbuf_printf(&yaml, "group: \"%.*s\"\nkind: \"%.*s\"\nversion: \"%.*s\"\n",
		BT_STR_ARG(resource->kind_group), BT_STR_ARG(resource->kind),
		BT_STR_ARG(resource->kind_version));
	bt_wire_write_bytes(out, ANY_YAML, bt_strbuf_str(&yaml));
	bt_strbuf_finish(&yaml);
	bt_wire_close(out, value);
	bt_wire_close(out, extension);
}

/* Only what says that patches can be tried out. */
static void encode_patch(const struct bt_openapi_resource *resource, struct bt_strbuf *out)
{
	struct bt_strbuf path = {NULL, 0, 0};
	size_t named = bt_wire_open(out, PATHS_PATH);
	size_t item;
	size_t operation;

	append_path(resource, SCOPE_ITEM, &path);
	bt_wire_write_bytes(out, NAMED_NAME, bt_strbuf_str(&path));
	bt_strbuf_finish(&path);
	item = bt_wire_open(out, NAMED_VALUE);
	operation = bt_wire_open(out, PATH_ITEM_PATCH);
	for (size_t i = 0; i < sizeof(write_options) / sizeof(write_options[0]); i++) {
		encode_parameter(write_options[i], out);
	}
	bt_wire_write_bytes(out, OPERATION_RESPONSES, BT_STR(""));
	encode_kind(resource, out);
	bt_wire_close(out, operation);
	bt_wire_close(out, item);
	bt_wire_close(out, named);
}

void bt_openapi_v2_protobuf(
	const struct bt_openapi_resource *resources, uint32_t count, struct bt_strbuf *out)
{
	size_t opened;

	bt_wire_write_bytes(out, DOCUMENT_SWAGGER, BT_STR("2.0"));
	opened = bt_wire_open(out, DOCUMENT_INFO);
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
