/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/kustomize.h"

#include <errno.h>
#include <regex.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/meta.h"
#include "base/unicode.h"
#include "base/vec.h"
#include "cluster/file.h"
#include "cluster/tree.h"
#include "codec/json_patch.h"
#include "codec/yaml.h"
#include "schema/strategic_merge.h"

#define FILE_BYTES_MAX ((size_t)16 << 20)
#define OUTPUT_BYTES_MAX ((size_t)256 << 20)
/** Limits for all kustomizations together. */
#define RESOURCES_MAX 10000
#define FOLDERS_MAX 10000
/** Longest regular expression of a patch's target. Longer patterns could take very long to match.
 */
#define PATTERN_BYTES_MAX 256

typedef BT_VEC(struct bt_kustomized) resource_vec;

struct folder {
	struct bt_arena *arena;
	const char *path;
	const struct bt_json_value *file; /* the parsed kustomization */
	resource_vec resources;
	bool is_component; /* a component, which changes the objects of the folder that lists it */
	uint32_t depth;
	uint32_t *folder_count; /* folders read so far */
	struct berth_error *err;
};

/* --- files --- */

static int set_kustomize_error(const struct folder *folder, const char *field, const char *what)
{
	return bt_error_set(folder->err, BERTH_ERR_INVALID, "-k %s: %s%s%s", folder->path, field,
		field[0] != '\0' ? ": " : "", what);
}

static struct bt_str path_of(const struct folder *folder, struct bt_str name)
{
	return bt_arena_printf(folder->arena, "%s/%.*s", folder->path, BT_STR_ARG(name));
}

static int read_text(
	const struct folder *folder, const char *field, struct bt_str name, struct bt_str *out_text)
{
	struct berth_error why = BERTH_ERROR_INIT;
	struct bt_str path = path_of(folder, name);
	struct bt_file file;
	/* Like kubectl, refuse files outside of the folder. */
	if (name.length == 0 || name.data[0] == '/' || bt_str_equal_c(name, "..") ||
		bt_str_has_prefix(name, BT_STR("../")) || bt_str_find(name, BT_STR("/../")) >= 0) {
		return bt_error_set(folder->err, BERTH_ERR_INVALID,
			"-k %s: %s: %.*s is not in this folder", folder->path, field,
			BT_STR_ARG(name));
	}
	if (bt_file_read(path.data, FILE_BYTES_MAX, &file, &why) < 0) {
		int result = bt_error_set(folder->err, BERTH_ERR_IO, "-k %s: %s: %.*s: %s",
			folder->path, field, BT_STR_ARG(path), berth_error_message(&why));
		berth_error_finish(&why);
		return result;
	}
	*out_text = bt_arena_str(folder->arena, (struct bt_str){file.data, (uint32_t)file.length});
	bt_file_finish(&file);
	return 0;
}

/**
 * Parses YAML or JSON documents into an array; empty documents are left out. is_object: kustomize
 * reads objects and strategic merge patches as YAML 1.2, everything else as YAML 1.1.
 */
static int parse_documents(const struct folder *folder, const char *where, struct bt_str text,
	bool is_object, struct bt_json_value **out_documents)
{
	struct berth_error why = BERTH_ERROR_INIT;
	const struct bt_yaml_limits limits = {.words_are_text = is_object};
	struct bt_yaml_reader *reader = bt_yaml_reader_create(text, &limits);
	struct bt_strbuf json = {0};
	bool more = true;
	int result = 0;
	*out_documents = bt_json_new(folder->arena, BT_JSON_ARRAY);
	while (result == 0 && more) {
		struct bt_json_value *document;
		bt_strbuf_reset(&json);
		result = bt_yaml_next_document(reader, &json, &more, &why);
		if (result == 0 && more) {
			result = bt_json_parse(
				folder->arena, bt_strbuf_str(&json), true, &document, &why);
		}
		if (result == 0 && more && document->type != BT_JSON_NULL) {
			bt_json_append(folder->arena, *out_documents, document);
		}
	}
	bt_strbuf_finish(&json);
	bt_yaml_reader_destroy(reader);
	if (result < 0) {
		(void)bt_error_set(folder->err, result, "-k %s: %s: %s", folder->path, where,
			berth_error_message(&why));
		berth_error_finish(&why);
	}
	return result;
}

/* --- resources --- */

static int add_object(struct folder *folder, const char *where, struct bt_json_value *object)
{
	const struct bt_json_value *items = bt_json_find(object, "items");
	struct bt_str kind = bt_json_text_at(object, "kind");
	struct bt_kustomized resource = {.object = object};
	int result = 0;
	if (bt_str_has_suffix(kind, BT_STR("List")) && items != NULL &&
		items->type == BT_JSON_ARRAY) {
		for (uint32_t i = 0; i < items->count && result == 0; i++) {
			result = add_object(folder, where, items->elements[i]);
		}
		return result;
	}
	if (kind.length == 0 || bt_json_text_at(object, "apiVersion").length == 0 ||
		bt_json_text_at(object, "metadata.name").length == 0) {
		return set_kustomize_error(
			folder, where, "an object needs apiVersion, kind and metadata.name");
	}
	if (folder->resources.count >= RESOURCES_MAX) {
		return set_kustomize_error(folder, where, "there are too many objects");
	}
	bt_kustomized_record_name(&resource);
	bt_vec_push(&folder->resources, resource);
	return 0;
}

static int read_folder(struct folder *folder);

/** Adds the objects of another folder. A component changes the objects of this folder as well. */
static int add_folder(struct folder *folder, struct bt_str path, bool is_component)
{
	struct folder inner = {.arena = folder->arena,
		.path = path.data,
		.is_component = is_component,
		.depth = folder->depth + 1,
		.folder_count = folder->folder_count,
		.err = folder->err};
	if (inner.depth > BT_KUSTOMIZE_DEPTH_MAX) {
		return set_kustomize_error(folder, is_component ? "components" : "resources",
			"folders name each other too deeply, or in a circle");
	}
	if (is_component) {
		inner.resources = folder->resources;
		int result = read_folder(&inner);
		folder->resources = inner.resources;
		return result;
	}
	int result = read_folder(&inner);
	for (uint32_t i = 0; i < inner.resources.count && result == 0; i++) {
		bt_vec_push(&folder->resources, inner.resources.items[i]);
	}
	bt_vec_finish(&inner.resources);
	return result;
}

static int add_resource(struct folder *folder, const char *field, struct bt_str name)
{
	struct bt_str path = path_of(folder, name);
	struct bt_json_value *documents;
	struct bt_str text;
	struct stat status;
	if (bt_str_find(name, BT_STR("://")) >= 0 || bt_str_has_prefix(name, BT_STR("git@")) ||
		bt_str_has_prefix(name, BT_STR("github.com/"))) {
		return set_kustomize_error(folder, field, "URLs are not supported");
	}
	if (name.length != 0 && name.data[0] != '/' && stat(path.data, &status) == 0 &&
		S_ISDIR(status.st_mode)) {
		return add_folder(folder, path, false);
	}
	int result = read_text(folder, field, name, &text);
	if (result == 0) {
		result = parse_documents(folder, path.data, text, true, &documents);
	}
	for (uint32_t i = 0; result == 0 && i < documents->count; i++) {
		result = add_object(folder, path.data, documents->elements[i]);
	}
	return result;
}

/* --- patches --- */

/**
 * Returns whether the target's pattern for this member matches the whole text. Without a pattern
 * every text matches; a pattern that is too long or contains { matches no text.
 */
static bool matches(const struct bt_json_value *target, const char *member, struct bt_str text)
{
	struct bt_str pattern = bt_json_text_at(target, member);
	struct bt_strbuf whole = {0};
	char *copy = bt_strndup(text.data != NULL ? text.data : "", text.length);
	regex_t compiled;
	bool found = pattern.length == 0;
	bool is_simple = pattern.length <= PATTERN_BYTES_MAX && bt_str_find_char(pattern, '{') < 0;
	bt_strbuf_printf(&whole, "^(%.*s)$", BT_STR_ARG(pattern));
	if (!found && is_simple &&
		regcomp(&compiled, bt_strbuf_c(&whole), REG_EXTENDED | REG_NOSUB) == 0) {
		found = regexec(&compiled, copy, 0, NULL, 0) == 0;
		regfree(&compiled);
	}
	bt_free(copy);
	bt_strbuf_finish(&whole);
	return found;
}

static bool selects(struct folder *folder, const struct bt_json_value *target, const char *member,
	const struct bt_json_value *texts)
{
	struct bt_selector selector;
	struct bt_str query = bt_json_text_at(target, member);
	return query.length == 0 ||
		(bt_selector_parse(query, folder->arena, &selector, NULL) == 0 &&
			bt_tree_matches(folder->arena, &selector, texts));
}

static bool is_target(struct folder *folder, const struct bt_json_value *target,
	const struct bt_kustomized *resource)
{
	const struct bt_json_value *object = resource->object;
	struct bt_str group;
	struct bt_str version;
	bool named = false;
	(void)bt_api_version_split(bt_json_text_at(object, "apiVersion"), &group, &version);
	for (uint32_t i = 0; i < resource->name_count; i++) {
		named = named ||
			(matches(target, "name", resource->names[i].name) &&
				matches(target, "namespace", resource->names[i].namespace_));
	}
	return named && matches(target, "group", group) && matches(target, "version", version) &&
		matches(target, "kind", bt_json_text_at(object, "kind")) &&
		selects(folder, target, "labelSelector",
			bt_json_object_at(object, "metadata.labels")) &&
		selects(folder, target, "annotationSelector",
			bt_json_object_at(object, "metadata.annotations"));
}

static int patch_resource(struct folder *folder, const char *field,
	const struct bt_json_value *patch, struct bt_kustomized *resource)
{
	struct bt_arena *arena = folder->arena;
	struct berth_error why = BERTH_ERROR_INIT;
	struct bt_json_value *before = bt_json_clone(arena, resource->object, false);
	struct bt_json_value *changes = bt_json_clone(arena, patch, false);
	const struct bt_schema_message *message = bt_schema_find(
		bt_json_text_at(before, "apiVersion"), bt_json_text_at(before, "kind"));
	int result = 0;
	if (patch->type == BT_JSON_ARRAY) {
		result = bt_json_patch(arena, resource->object, changes, &resource->object, &why);
	} else if (bt_str_equal_c(bt_json_text_at(patch, "$patch"), "delete")) {
		resource->object = NULL;
		return 0;
	} else if (message != NULL) {
		result = bt_strategic_merge(
			arena, message, resource->object, changes, &resource->object, &why);
	} else {
		resource->object = bt_json_merge_patch(arena, resource->object, changes);
	}
	if (result == 0 && resource->object->type != BT_JSON_OBJECT) {
		result = bt_error_set(&why, BERTH_ERR_INVALID, "the patch leaves no object");
	}
	if (result < 0) {
		(void)bt_error_set(folder->err, BERTH_ERR_INVALID, "-k %s: %s: %.*s %.*s: %s",
			folder->path, field, BT_STR_ARG(bt_json_text_at(before, "kind")),
			BT_STR_ARG(bt_json_text_at(before, "metadata.name")),
			berth_error_message(&why));
		berth_error_finish(&why);
		return BERTH_ERR_INVALID;
	}
	/* A patch cannot change apiVersion, kind, name and namespace: restore them. */
	struct bt_json_value *metadata = bt_json_ensure_object(arena, resource->object, "metadata");
	struct bt_str namespace_ = bt_json_text_at(before, "metadata.namespace");
	bt_json_set_str(
		arena, resource->object, "apiVersion", bt_json_text_at(before, "apiVersion"));
	bt_json_set_str(arena, resource->object, "kind", bt_json_text_at(before, "kind"));
	bt_json_set_str(arena, metadata, "name", bt_json_text_at(before, "metadata.name"));
	if (namespace_.length != 0) {
		bt_json_set_str(arena, metadata, "namespace", namespace_);
	} else {
		(void)bt_json_remove_c(metadata, "namespace");
	}
	return 0;
}

/** Applies one patch. target NULL: the patch itself names its object. */
static int apply_patch(struct folder *folder, const char *field, const struct bt_json_value *patch,
	const struct bt_json_value *target)
{
	uint32_t kept = 0;
	bool any = false;
	int result = 0;
	if (target == NULL && patch->type != BT_JSON_OBJECT) {
		return set_kustomize_error(folder, field, "a JSON patch needs a target");
	}
	for (uint32_t i = 0; i < folder->resources.count && result == 0; i++) {
		struct bt_kustomized *resource = &folder->resources.items[i];
		if (target != NULL ? is_target(folder, target, resource)
				   : bt_kustomized_is_named(resource, patch) &&
					bt_str_equal(bt_json_text_at(patch, "apiVersion"),
						bt_json_text_at(resource->object, "apiVersion"))) {
			any = true;
			result = patch_resource(folder, field, patch, resource);
		}
	}
	for (uint32_t i = 0; i < folder->resources.count && result == 0; i++) {
		if (folder->resources.items[i].object != NULL) {
			folder->resources.items[kept++] = folder->resources.items[i];
		}
	}
	if (result == 0) {
		folder->resources.count = kept;
	}
	if (result == 0 && !any && target == NULL) {
		struct bt_str name = bt_json_text_at(patch, "metadata.name");
		return bt_error_set(folder->err, BERTH_ERR_INVALID,
			"-k %s: %s: there is no resource %.*s %.*s to patch", folder->path, field,
			BT_STR_ARG(bt_json_text_at(patch, "kind")), BT_STR_ARG(name));
	}
	return result;
}

/** Applies patches. text: YAML or JSON documents; each is a patch. target: as in apply_patch. */
static int apply_patches(struct folder *folder, const char *field, struct bt_str text,
	const struct bt_json_value *target)
{
	struct bt_json_value *objects;
	struct bt_json_value *json_patches = NULL; /* the same documents as YAML 1.1 */
	int result = parse_documents(folder, field, text, true, &objects);
	for (uint32_t i = 0; result == 0 && i < objects->count; i++) {
		bool is_json_patch = objects->elements[i]->type == BT_JSON_ARRAY;
		if (is_json_patch && json_patches == NULL) {
			result = parse_documents(folder, field, text, false, &json_patches);
		}
		result = result < 0
			? result
			: apply_patch(folder, field,
				  (is_json_patch ? json_patches : objects)->elements[i], target);
	}
	return result;
}

/**
 * Applies the entries of patches and patchesJson6902, {patch or path, target}, or of
 * patchesStrategicMerge: texts with a line break or brace are patches, others are names of files.
 */
static int apply_patch_list(struct folder *folder, const char *field, bool is_texts)
{
	const struct bt_json_value *list = bt_json_array_at(folder->file, field);
	int result = 0;
	for (uint32_t i = 0; i < list->count && result == 0; i++) {
		const struct bt_json_value *entry = list->elements[i];
		struct bt_str text = is_texts ? entry->text : bt_json_text_at(entry, "patch");
		struct bt_str path = is_texts ? entry->text : bt_json_text_at(entry, "path");
		if (!is_texts && bt_json_object_at(entry, "options")->count != 0) {
			return set_kustomize_error(folder, field, "options are not supported");
		}
		if (is_texts ? bt_str_find_char(text, '\n') < 0 && bt_str_find_char(text, '{') < 0
			     : text.length == 0) {
			result = read_text(folder, field, path, &text);
		}
		if (result == 0) {
			result = apply_patches(folder, field, text,
				is_texts ? NULL : bt_json_find(entry, "target"));
		}
	}
	return result;
}

/* --- generators --- */

static int add_value(struct folder *folder, const char *field, struct bt_json_value *data,
	struct bt_str key, struct bt_str value)
{
	if (bt_json_get(data, key) != NULL) {
		return bt_error_set(folder->err, BERTH_ERR_INVALID, "-k %s: %s: %.*s comes twice",
			folder->path, field, BT_STR_ARG(key));
	}
	bt_json_set(folder->arena, data, key, bt_json_new_str(folder->arena, value));
	return 0;
}

/** Adds "KEY=VALUE" to data. unquote: removes quotes around the value. */
static int add_pair(struct folder *folder, const char *field, struct bt_json_value *data,
	struct bt_str pair, bool unquote)
{
	struct bt_str value = pair;
	struct bt_str key = bt_str_cut(&value, '=');
	char first = value.length >= 2 ? value.data[0] : '\0';
	if (value.data == NULL || key.length == 0) {
		return bt_error_set(folder->err, BERTH_ERR_INVALID,
			"-k %s: %s: %.*s is not KEY=VALUE", folder->path, field, BT_STR_ARG(pair));
	}
	if (unquote && (first == '"' || first == '\'') && value.data[value.length - 1] == first) {
		value = bt_str_sub(value, 1, value.length - 2);
	}
	return add_value(folder, field, data, key, value);
}

static int add_environment(
	struct folder *folder, const char *field, struct bt_json_value *data, struct bt_str path)
{
	struct bt_str text;
	int result = read_text(folder, field, path, &text);
	if (result == 0 && !bt_utf8_is_valid(text.data, text.length)) {
		return bt_error_set(folder->err, BERTH_ERR_INVALID, "-k %s: %s: %.*s is not UTF-8",
			folder->path, field, BT_STR_ARG(path));
	}
	if (result == 0 && bt_str_has_prefix(text, BT_STR("\xef\xbb\xbf"))) {
		text = bt_str_sub(text, 3, BT_STR_MAX); /* a byte order mark */
	}
	while (result == 0 && text.length != 0) {
		struct bt_str line = bt_str_cut(&text, '\n');
		while (line.length != 0 && (line.data[0] == ' ' || line.data[0] == '\t')) {
			line = bt_str_sub(line, 1, BT_STR_MAX);
		}
		if (line.length != 0 && line.data[line.length - 1] == '\r') {
			line.length--;
		}
		if (line.length == 0 || line.data[0] == '#' || line.data[0] == '=') {
			continue;
		}
		/* A key without "=" has the value "". */
		result = bt_str_find_char(line, '=') < 0
			? add_value(folder, field, data, line, BT_STR(""))
			: add_pair(folder, field, data, line, false);
	}
	return result;
}

static int fill_data(struct folder *folder, const char *field, const struct bt_json_value *entry,
	struct bt_json_value *data)
{
	const struct bt_json_value *literals = bt_json_array_at(entry, "literals");
	const struct bt_json_value *files = bt_json_array_at(entry, "files");
	const struct bt_json_value *environments = bt_json_array_at(entry, "envs");
	struct bt_str environment = bt_json_text_at(entry, "env");
	int result = 0;
	if (environment.length != 0) {
		result = add_environment(folder, field, data, environment);
	}
	for (uint32_t i = 0; i < environments->count && result == 0; i++) {
		result = add_environment(folder, field, data, environments->elements[i]->text);
	}
	for (uint32_t i = 0; i < files->count && result == 0; i++) {
		/* "key=path", or "path" if the key is the file's name */
		struct bt_str file = files->elements[i]->text;
		int64_t equals = bt_str_find_char(file, '=');
		struct bt_str path = bt_str_sub(file, (uint32_t)(equals + 1), BT_STR_MAX);
		int64_t slash = bt_str_find_last_char(path, '/');
		struct bt_str key = equals < 0 ? bt_str_sub(path, (uint32_t)(slash + 1), BT_STR_MAX)
					       : bt_str_sub(file, 0, (uint32_t)equals);
		struct bt_str text;
		result = read_text(folder, field, path, &text);
		if (result == 0) {
			result = add_value(folder, field, data, key, text);
		}
	}
	for (uint32_t i = 0; i < literals->count && result == 0; i++) {
		result = add_pair(folder, field, data, literals->elements[i]->text, true);
	}
	return result;
}

/**
 * Changes an object that a generator of another folder made. resource: the new content. merges:
 * behavior merge; false: behavior replace.
 */
static int regenerate(
	struct folder *folder, const char *field, const struct bt_kustomized *resource, bool merges)
{
	static const char *const parts[] = {"labels", "annotations"};
	struct bt_arena *arena = folder->arena;
	const struct bt_json_value *metadata = bt_json_find(resource->object, "metadata");
	static const char *const contents[] = {"data", "binaryData"};
	struct bt_str name = bt_json_text_at(metadata, "name");
	struct bt_kustomized *found = NULL;
	for (uint32_t i = 0; i < folder->resources.count && found == NULL; i++) {
		struct bt_kustomized *other = &folder->resources.items[i];
		found = bt_kustomized_is_named(other, resource->object) ? other : NULL;
	}
	if (found == NULL) {
		return bt_error_set(folder->err, BERTH_ERR_INVALID,
			"-k %s: %s: there is no %.*s to be %s", folder->path, field,
			BT_STR_ARG(name), merges ? "merged with" : "replaced");
	}
	struct bt_json_value *object = found->object;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(parts); i++) {
		bt_kustomize_add_texts(arena, bt_json_ensure_object(arena, object, "metadata"),
			parts[i], bt_json_object_at(metadata, parts[i]));
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(contents); i++) {
		if (!merges) {
			(void)bt_json_remove_c(object, contents[i]);
		}
		bt_kustomize_add_texts(arena, object, contents[i],
			bt_json_object_at(resource->object, contents[i]));
	}
	found->hashed = found->hashed && resource->hashed;
	return 0;
}

static int generate(struct folder *folder, const char *field, bool is_secret)
{
	static const char *const options[] = {"generatorOptions", "options"};
	const struct bt_json_value *list = bt_json_array_at(folder->file, field);
	struct bt_arena *arena = folder->arena;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_json_value *entry = list->elements[i];
		struct bt_json_value *object = bt_json_put(arena, NULL,
			"{metadata: {name: %s, namespace?: %s}, apiVersion: 'v1', kind: %c}",
			bt_json_text_at(entry, "name"), bt_json_text_at(entry, "namespace"),
			is_secret ? "Secret" : "ConfigMap");
		struct bt_json_value *metadata = bt_json_find(object, "metadata");
		struct bt_json_value *data = bt_json_new(arena, BT_JSON_OBJECT);
		struct bt_str behavior = bt_json_text_at(entry, "behavior");
		struct bt_str type = bt_json_text_at(entry, "type");
		struct bt_kustomized resource = {.object = object, .hashed = true};
		bool merges = bt_str_equal_c(behavior, "merge");
		bool replaces = bt_str_equal_c(behavior, "replace");
		if (behavior.length != 0 && !merges && !replaces &&
			!bt_str_equal_c(behavior, "create")) {
			return set_kustomize_error(
				folder, field, "behavior is create, merge or replace");
		}
		int result = fill_data(folder, field, entry, data);
		if (result < 0) {
			return result;
		}
		if (!is_secret) {
			/* Move values that are not UTF-8 from data to binaryData. */
			struct bt_json_value *binary = bt_json_new(arena, BT_JSON_OBJECT);
			for (uint32_t k = data->count; k > 0; k--) {
				struct bt_json_member member = data->members[k - 1];
				if (!bt_utf8_is_valid(
					    member.value->text.data, member.value->text.length)) {
					(void)bt_json_remove(data, member.name);
					bt_json_set(arena, binary, member.name, member.value);
				}
			}
			if (binary->count != 0) {
				bt_kustomize_encode(arena, binary);
				bt_json_set_value(arena, object, "binaryData", binary);
			}
		}
		if (data->count != 0) {
			bt_json_set_value(arena, object, "data", data);
		}
		if (is_secret) {
			bt_kustomize_encode(arena, data);
			bt_json_set_str(
				arena, object, "type", type.length != 0 ? type : BT_STR("Opaque"));
		}
		for (size_t k = 0; k < BT_ARRAY_LENGTH(options); k++) {
			const struct bt_json_value *given =
				bt_json_object_at(k == 0 ? folder->file : entry, options[k]);
			bt_kustomize_add_texts(
				arena, metadata, "labels", bt_json_object_at(given, "labels"));
			bt_kustomize_add_texts(arena, metadata, "annotations",
				bt_json_object_at(given, "annotations"));
			if (bt_json_bool_at(given, "immutable", false)) {
				bt_json_set_bool(arena, object, "immutable", true);
			}
			resource.hashed = resource.hashed &&
				!bt_json_bool_at(given, "disableNameSuffixHash", false);
		}
		if (bt_json_text_at(metadata, "name").length == 0) {
			return set_kustomize_error(folder, field, "an entry needs a name");
		}
		if (merges || replaces) {
			result = regenerate(folder, field, &resource, merges);
			if (result < 0) {
				return result;
			}
			continue;
		}
		bt_kustomized_record_name(&resource);
		bt_vec_push(&folder->resources, resource);
	}
	return 0;
}

/* --- a folder --- */

static const char *const known_fields[] = {"apiVersion", "kind", "metadata", "resources", "bases",
	"namespace", "namePrefix", "nameSuffix", "labels", "commonLabels", "commonAnnotations",
	"images", "replicas", "patches", "patchesStrategicMerge", "patchesJson6902",
	"configMapGenerator", "secretGenerator", "generatorOptions", "components", "replacements"};

static int read_kustomization(struct folder *folder)
{
	static const char *const names[] = {
		"kustomization.yaml", "kustomization.yml", "Kustomization"};
	struct bt_json_value *documents;
	struct bt_str text;
	const char *name = NULL;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(names) && name == NULL; i++) {
		name = access(path_of(folder, bt_str_from(names[i])).data, R_OK) == 0 ? names[i]
										      : NULL;
	}
	if (name == NULL) {
		return set_kustomize_error(folder, "",
			"there is no kustomization.yaml, kustomization.yml or Kustomization");
	}
	int result = read_text(folder, name, bt_str_from(name), &text);
	if (result == 0) {
		result = parse_documents(folder, name, text, false, &documents);
	}
	if (result < 0) {
		return result;
	}
	folder->file = documents->count == 1 ? documents->elements[0] : NULL;
	if (folder->file == NULL || folder->file->type != BT_JSON_OBJECT) {
		return set_kustomize_error(folder, name, "one object is expected");
	}
	for (uint32_t i = 0; i < folder->file->count; i++) {
		if (!bt_str_is_one_of(folder->file->members[i].name, known_fields,
			    BT_ARRAY_LENGTH(known_fields))) {
			return bt_error_set(folder->err, BERTH_ERR_INVALID,
				"-k %s: %s: the field %.*s is not supported", folder->path, name,
				BT_STR_ARG(folder->file->members[i].name));
		}
	}
	bool is_component = bt_str_equal_c(bt_json_text_at(folder->file, "kind"), "Component");
	if (is_component != folder->is_component) {
		return set_kustomize_error(folder, name,
			is_component ? "a Component is named in components, not in resources"
				     : "a folder that components names must have kind Component");
	}
	return 0;
}

static int set_images(struct folder *folder)
{
	const struct bt_json_value *list = bt_json_array_at(folder->file, "images");
	for (uint32_t i = 0; i < list->count; i++) {
		if (bt_json_find(list->elements[i], "tagSuffix") != NULL) {
			return set_kustomize_error(folder, "images", "tagSuffix is not supported");
		}
	}
	for (uint32_t i = 0; i < folder->resources.count; i++) {
		bt_kustomize_set_images(folder->arena, folder->resources.items[i].object, list);
	}
	return 0;
}

static int set_replicas(struct folder *folder)
{
	static const char *const kinds[] = {
		"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"};
	const struct bt_json_value *list = bt_json_array_at(folder->file, "replicas");
	for (uint32_t i = 0; i < list->count; i++) {
		struct bt_str name = bt_json_text_at(list->elements[i], "name");
		bool any = false;
		for (uint32_t k = 0; k < folder->resources.count; k++) {
			struct bt_kustomized *resource = &folder->resources.items[k];
			if (BT_STR_INDEX(resource->names, resource->name_count, name, name) <
					resource->name_count &&
				bt_str_is_one_of(bt_json_text_at(resource->object, "kind"), kinds,
					BT_ARRAY_LENGTH(kinds))) {
				bt_json_put(folder->arena, resource->object,
					"{spec: {replicas: %d}}",
					bt_json_int64_at(list->elements[i], "count", 0));
				any = true;
			}
		}
		if (!any) {
			return bt_error_set(folder->err, BERTH_ERR_INVALID,
				"-k %s: replicas: there is no workload %.*s to scale", folder->path,
				BT_STR_ARG(name));
		}
	}
	return 0;
}

static int add_labels(struct folder *folder)
{
	const struct bt_json_value *common = bt_json_object_at(folder->file, "commonLabels");
	const struct bt_json_value *list = bt_json_array_at(folder->file, "labels");
	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_json_value *entry = list->elements[i];
		bool selectors = bt_json_bool_at(entry, "includeSelectors", false);
		if (bt_json_find(entry, "fields") != NULL) {
			return set_kustomize_error(folder, "labels", "fields are not supported");
		}
		for (uint32_t k = 0; k < folder->resources.count; k++) {
			bt_kustomize_label(folder->arena, folder->resources.items[k].object,
				bt_json_object_at(entry, "pairs"), selectors,
				selectors || bt_json_bool_at(entry, "includeTemplates", false));
		}
	}
	for (uint32_t k = 0; k < folder->resources.count; k++) {
		bt_kustomize_label(
			folder->arena, folder->resources.items[k].object, common, true, true);
		bt_kustomize_annotate(folder->arena, folder->resources.items[k].object,
			bt_json_object_at(folder->file, "commonAnnotations"));
	}
	return 0;
}

/**
 * Applies the field replacements. An entry is {source, targets}, or {path}: the name of a file that
 * contains entries {source, targets}.
 */
static int replace_fields(struct folder *folder)
{
	const char *field = "replacements";
	const struct bt_json_value *list = bt_json_array_at(folder->file, field);
	struct berth_error why = BERTH_ERROR_INIT;
	int result = 0;
	for (uint32_t i = 0; i < list->count && result == 0; i++) {
		struct bt_str path = bt_json_text_at(list->elements[i], "path");
		struct bt_json_value *entries = bt_json_new(folder->arena, BT_JSON_ARRAY);
		struct bt_str text;
		if (path.length == 0) {
			bt_json_append(folder->arena, entries, list->elements[i]);
		} else {
			result = read_text(folder, field, path, &text);
			if (result == 0) {
				result = parse_documents(folder, path.data, text, false, &entries);
			}
			if (result == 0 && entries->count == 1 &&
				entries->elements[0]->type == BT_JSON_ARRAY) {
				entries = entries->elements[0];
			}
		}
		for (uint32_t k = 0; result == 0 && k < entries->count; k++) {
			result = bt_kustomize_replace(folder->arena, folder->resources.items,
				folder->resources.count, entries->elements[k], &why);
			if (result < 0) {
				result = set_kustomize_error(
					folder, field, berth_error_message(&why));
				berth_error_finish(&why);
			}
		}
	}
	return result;
}

/** Reads the folder's objects and applies the changes of its kustomization in kustomize's order. */
static int read_folder(struct folder *folder)
{
	static const char *const lists[] = {"resources", "bases"};
	struct bt_arena *arena = folder->arena;
	int result = ++*folder->folder_count > FOLDERS_MAX
		? set_kustomize_error(folder, "", "there are too many folders")
		: read_kustomization(folder);
	for (size_t n = 0; n < BT_ARRAY_LENGTH(lists); n++) {
		const struct bt_json_value *list =
			result == 0 ? bt_json_array_at(folder->file, lists[n]) : NULL;
		for (uint32_t i = 0; result == 0 && i < list->count; i++) {
			result = add_resource(folder, lists[n], list->elements[i]->text);
		}
	}
	result = result < 0 ? result : generate(folder, "configMapGenerator", false);
	result = result < 0 ? result : generate(folder, "secretGenerator", true);
	const struct bt_json_value *components = bt_json_array_at(folder->file, "components");
	for (uint32_t i = 0; result == 0 && i < components->count; i++) {
		result = add_folder(folder, path_of(folder, components->elements[i]->text), true);
	}
	result = result < 0 ? result : apply_patch_list(folder, "patchesStrategicMerge", true);
	result = result < 0 ? result : apply_patch_list(folder, "patches", false);
	if (result < 0) {
		return result;
	}
	struct bt_str namespace_ = bt_json_text_at(folder->file, "namespace");
	struct bt_str prefix = bt_json_text_at(folder->file, "namePrefix");
	struct bt_str suffix = bt_json_text_at(folder->file, "nameSuffix");
	for (uint32_t i = 0; i < folder->resources.count; i++) {
		bt_kustomize_rename(arena, &folder->resources.items[i], namespace_, prefix, suffix);
	}
	result = add_labels(folder);
	result = result < 0 ? result : apply_patch_list(folder, "patchesJson6902", false);
	result = result < 0 ? result : set_replicas(folder);
	result = result < 0 ? result : set_images(folder);
	result = result < 0 ? result : replace_fields(folder);
	if (result == 0) {
		bt_kustomize_update_references(
			arena, folder->resources.items, folder->resources.count, namespace_);
	}
	return result;
}

int bt_kustomize_here(const char *path, struct bt_strbuf *out, struct berth_error *err)
{
	struct bt_arena arena = {0};
	uint32_t folder_count = 0;
	struct folder folder = {
		.arena = &arena, .path = path, .folder_count = &folder_count, .err = err};
	int result = read_folder(&folder);
	if (result == 0) {
		bt_kustomize_finish_names(&arena, folder.resources.items, folder.resources.count);
		for (uint32_t i = 0; i < folder.resources.count; i++) {
			bt_json_format(folder.resources.items[i].object, out);
			bt_strbuf_append_char(out, '\n');
		}
	}
	bt_vec_finish(&folder.resources);
	bt_arena_finish(&arena);
	return result;
}

/* --- kubectl --- */

extern char **environ;

/** Reads the output of kubectl up to its end. Returns 0 or an errno value. */
static int read_output(int descriptor, struct bt_strbuf *out)
{
	char buffer[65536];
	for (;;) {
		ssize_t count = read(descriptor, buffer, sizeof(buffer));
		if (count < 0 && errno == EINTR) {
			continue;
		}
		if (count <= 0) {
			return count < 0 ? errno : 0;
		}
		bt_strbuf_append(out, buffer, (size_t)count);
		if (out->length > OUTPUT_BYTES_MAX) {
			return EFBIG;
		}
	}
}

int bt_kustomize(const char *folder, struct bt_strbuf *out, struct berth_error *err)
{
	char program[] = "kubectl";
	char verb[] = "kustomize";
	char end_of_flags[] = "--";
	char *arguments[] = {program, verb, end_of_flags, (char *)(uintptr_t)folder, NULL};
	posix_spawn_file_actions_t actions;
	int ends[2];
	pid_t child = 0;
	int status = 0;
	if (pipe(ends) != 0) {
		return bt_error_set(err, BERTH_ERR_IO, "-k %s: %s", folder, strerror(errno));
	}
	int number = posix_spawn_file_actions_init(&actions);
	number = number != 0 ? number : posix_spawn_file_actions_addclose(&actions, ends[0]);
	number = number != 0 ? number
			     : posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	number = number != 0 ? number : posix_spawn_file_actions_addclose(&actions, ends[1]);
	number = number != 0 ? number
			     : posix_spawnp(&child, program, &actions, NULL, arguments, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)close(ends[1]);
	bool is_missing = number == ENOENT;
	if (number == 0) {
		number = read_output(ends[0], out);
		(void)close(ends[0]); /* a kubectl that still writes ends with SIGPIPE */
		while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
		}
	} else {
		(void)close(ends[0]);
	}
	int result = 0;
	if (is_missing) {
		struct berth_error why = BERTH_ERROR_INIT;
		result = bt_kustomize_here(folder, out, &why);
		if (result < 0) {
			(void)bt_error_set(err, result,
				"%s (there is no kubectl on the PATH, which supports more)",
				berth_error_message(&why));
		}
		berth_error_finish(&why);
	} else if (number != 0) {
		result = bt_error_set(err, BERTH_ERR_IO, "-k %s: kubectl kustomize: %s", folder,
			strerror(number));
	} else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		result = bt_error_set(
			err, BERTH_ERR_INVALID, "-k %s: kubectl kustomize failed", folder);
	}
	return result;
}
