/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/object.h"
#include "api/suggest.h"
#include "api/text_template.h"
#include "base/printable.h"
#include "cluster/manifests.h"
#include "schema/schema.h"

#define NAME_BYTES_MAX 64
#define PATH_BYTES_MAX 256
#define FIELDS_MAX 256
/**
 * Maximum number of messages on the path to a field: spec.template.spec.tolerations has three
 * (spec, template, spec).
 */
#define MESSAGES_DEEP_MAX 4

/** The document that is checked. */
struct checking {
	const struct bt_manifests *cluster;
	struct bt_origin origin;
	const struct bt_schema_message *message; /* schema of the document */
	struct bt_str api_version;
	struct bt_str kind;
	struct bt_str namespace_;
	struct bt_str name;
	uint32_t warning_count;
};

/** --- finding the intended field --- */

/** Returns the name of the message's field that is most similar to this name, or NULL. */
static const char *near_field(const struct bt_schema_message *message, struct bt_str name)
{
	const char *words[FIELDS_MAX];
	size_t count = 0;
	char given[NAME_BYTES_MAX + 1];
	if (name.length == 0 || name.length > NAME_BYTES_MAX ||
		memchr(name.data, '\0', name.length) != NULL) {
		return NULL;
	}
	memcpy(given, name.data, name.length);
	given[name.length] = '\0';
	/* First the message's own fields, then those of its inline messages. */
	for (uint32_t i = 0; i < message->field_count && count < FIELDS_MAX; i++) {
		if ((message->fields[i].flags & BT_SCHEMA_INLINE) == 0) {
			words[count++] = message->fields[i].name;
		}
	}
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_schema_message *part = message->fields[i].message;
		bool is_inline = (message->fields[i].flags & BT_SCHEMA_INLINE) != 0;
		for (uint32_t n = 0; is_inline && n < part->field_count && count < FIELDS_MAX;
			n++) {
			if ((part->fields[n].flags & BT_SCHEMA_INLINE) == 0) {
				words[count++] = part->fields[n].name;
			}
		}
	}
	return bt_suggest(given, words, count);
}

/**
 * Finds a field of this name `deep` levels below the message, and appends the names of the fields
 * on the path to that field, each with a dot. Returns false if there is no such field.
 */
static bool append_way(const struct bt_schema_message *message, struct bt_str name, uint32_t deep,
	struct bt_strbuf *out)
{
	size_t length = out->length;
	if (deep == 0) {
		return bt_schema_field_find(message, name, NULL) != NULL;
	}
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_schema_field *field = &message->fields[i];
		if (field->type == BT_SCHEMA_MESSAGE && field->shape == BT_SCHEMA_SINGLE &&
			(field->flags & BT_SCHEMA_INLINE) == 0 &&
			strcmp(field->name, "status") != 0) {
			bt_strbuf_printf(out, "%s.", field->name);
			if (append_way(field->message, name, deep - 1, out)) {
				return true;
			}
			out->length = length;
		}
	}
	return false;
}

/**
 * Finds the nearest field of this name below the message and appends the path of the field. path:
 * the path of the message, with a dot at the end, or "". Returns false if there is no such field.
 */
static bool append_below(const struct bt_schema_message *message, struct bt_str path,
	struct bt_str name, struct bt_strbuf *out)
{
	size_t length = out->length;
	bt_printable_append(out, path);
	for (uint32_t deep = 1; deep <= MESSAGES_DEEP_MAX; deep++) {
		if (append_way(message, name, deep, out)) {
			bt_strbuf_append_str(out, name);
			return true;
		}
	}
	out->length = length;
	return false;
}

/** --- warnings --- */

static bool take_problem(void *context, const struct bt_schema_problem *problem)
{
	struct checking *checking = context;
	struct bt_strbuf line = {0};
	if (++checking->warning_count > BT_UNKNOWN_FIELD_WARNINGS_MAX) {
		return true;
	}
	enum bt_kind kind;
	bool known = bt_kind_find(checking->api_version, checking->kind, &kind);
	bt_input_describe(&checking->cluster->input, checking->origin, &line);
	bt_text_append(&line, ": %p", checking->kind);
	if (checking->name.length != 0) {
		bool is_namespaced = known && bt_kind_info(kind)->namespaced;
		bt_text_append(&line, " [%p/]%p",
			!is_namespaced                             ? BT_STR("")
				: checking->namespace_.length != 0 ? checking->namespace_
								   : BT_STR("default"),
			checking->name);
	}
	struct bt_str path = problem->path;
	bt_text_append(&line, ": %c \"%p[%?...]\"", problem->kind,
		bt_str_sub(path, 0, PATH_BYTES_MAX), path.length > PATH_BYTES_MAX);
	if (problem->message != NULL &&
		bt_schema_field_find(problem->message, problem->name, NULL) == NULL) {
		struct bt_strbuf place = {0};
		const char *near = near_field(problem->message, problem->name);
		struct bt_str parent = bt_str_sub(path, 0, path.length - problem->name.length);
		if (near != NULL) {
			bt_strbuf_printf(&line, "; did you mean \"%s\"?", near);
		} else if (path.length <= PATH_BYTES_MAX &&
			(append_below(problem->message, parent, problem->name, &place) ||
				append_below(
					checking->message, BT_STR(""), problem->name, &place))) {
			bt_text_append(&line, "; did you mean \"%s\"?", bt_strbuf_str(&place));
		}
		bt_strbuf_finish(&place);
	}
	bt_manifests_warn(checking->cluster, "%s", bt_strbuf_str(&line));
	bt_strbuf_finish(&line);
	return true;
}

static struct bt_str shortened(struct bt_str text)
{
	return bt_str_sub(text, 0, BT_MANIFESTS_NAME_BYTES_MAX);
}

void bt_manifests_check_fields(
	const struct bt_manifests *cluster, struct bt_origin origin, struct bt_str json)
{
	struct checking checking = {.cluster = cluster, .origin = origin};
	struct bt_arena arena = {0};
	struct bt_json_value *object;
	if (cluster->warn == NULL || origin.document > BT_UNKNOWN_FIELD_DOCUMENTS ||
		json.length > BT_UNKNOWN_FIELD_BYTES_MAX) {
		return;
	}
	if (bt_json_parse(&arena, json, false, &object, NULL) == 0 &&
		object->type == BT_JSON_OBJECT) {
		const struct bt_json_value *metadata = bt_json_find(object, "metadata");
		const struct bt_schema_watcher watcher = {&checking, take_problem};
		enum bt_kind kind;
		checking.api_version = bt_json_find_str(object, "apiVersion");
		checking.kind = bt_json_find_str(object, "kind");
		checking.message = bt_schema_find(checking.api_version, checking.kind);
		if (checking.message != NULL &&
			bt_kind_find(checking.api_version, checking.kind, &kind) &&
			bt_json_find(metadata, "uid") == NULL &&
			bt_json_find(metadata, "resourceVersion") == NULL) {
			checking.namespace_ = shortened(bt_json_find_str(metadata, "namespace"));
			checking.name = shortened(bt_json_find_str(metadata, "name"));
			if (checking.name.length == 0) {
				checking.name =
					shortened(bt_json_find_str(metadata, "generateName"));
			}
			int result =
				bt_schema_check(checking.message, object, &arena, &watcher, NULL);
			(void)result; /* a wrong type ends the check; the API server reports it */
		}
	}
	bt_arena_finish(&arena);
}
