/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench_template.h"

#include <string.h>

#include "api/defaulting.h"
#include "api/resource_claim.h"
#include "base/alloc.h"
#include "cluster/file.h"
#include "lib/document.h"

#define FILE_BYTES_MAX ((size_t)4 << 20)
/** The stored form of actions, however they were written. */
#define INDEX_ACTION "{{.Index}}"
#define COUNT_ACTION "{{.Count}}"

struct bt_bench_template {
	char *path;
	struct bt_strbuf text; /* the manifest; its only actions are the two above */
	bool has_actions;
	bool has_exact_names;  /* field names are known to be spelt as in the API */
	struct bt_strbuf json; /* the last object; without actions all objects are equal */
	struct bt_arena arena; /* memory for one object */
};

/**
 * Appends the stored form of an action to the text. The stored form of a comment is empty. `action`
 * is the text between "{{" and "}}" without trim markers.
 */
static int read_action(
	struct bt_bench_template *made, struct bt_str action, struct berth_error *err)
{
	struct bt_str word = bt_str_trim(action, BT_STR_SPACE);
	if (bt_str_equal_c(word, ".Index") || bt_str_equal_c(word, ".Count")) {
		bt_strbuf_append_c(
			&made->text, bt_str_equal_c(word, ".Index") ? INDEX_ACTION : COUNT_ACTION);
		made->has_actions = true;
		return 0;
	}
	if (bt_str_has_prefix(word, BT_STR("/*")) && bt_str_has_suffix(word, BT_STR("*/"))) {
		return 0;
	}
	return bt_error_set(err, BERTH_ERR_INVALID,
		"template action {{%.*s}} is not known, only {{.Index}} and {{.Count}}",
		BT_STR_ARG(action));
}

static void trim_end(struct bt_strbuf *text)
{
	struct bt_str rest = bt_strbuf_str(text);
	while (rest.length != 0 && memchr(" \t\r\n", rest.data[rest.length - 1], 4) != NULL) {
		rest.length--;
	}
	text->length = rest.length;
}

/** Copy the text, with the known actions in their stored form; any other action is an error. */
static int read_actions(struct bt_bench_template *made, struct bt_str text, struct berth_error *err)
{
	int64_t start;
	int result = 0;
	while (result == 0 && (start = bt_str_find(text, BT_STR("{{"))) >= 0) {
		struct bt_str rest = bt_str_sub(text, (uint32_t)start + 2, UINT32_MAX);
		int64_t end = bt_str_find(rest, BT_STR("}}"));
		if (end < 0) {
			return bt_error_set(
				err, BERTH_ERR_INVALID, "template action without its end");
		}
		struct bt_str action = bt_str_sub(rest, 0, (uint32_t)end);
		bool trims_after = bt_str_has_suffix(action, BT_STR(" -"));
		bt_strbuf_append_str(&made->text, bt_str_sub(text, 0, (uint32_t)start));
		if (bt_str_has_prefix(action, BT_STR("- "))) {
			trim_end(&made->text);
			action = bt_str_sub(action, 2, UINT32_MAX);
		}
		if (trims_after && action.length >= 2) {
			action = bt_str_sub(action, 0, action.length - 2);
		}
		result = read_action(made, action, err);
		text = bt_str_sub(rest, (uint32_t)end + 2, UINT32_MAX);
		while (trims_after && text.length != 0 &&
			memchr(" \t\r\n", text.data[0], 4) != NULL) {
			text = bt_str_sub(text, 1, UINT32_MAX);
		}
	}
	bt_strbuf_append_str(&made->text, text);
	return result;
}

/** --- names of fields --- */

static const struct bt_field *find_field(const struct bt_message *message, struct bt_str name)
{
	const struct bt_field *found = NULL;
	for (uint32_t i = 0; i < message->field_count; i++) {
		struct bt_str known = {message->fields[i].name, message->fields[i].name_length};
		if (bt_str_equal(known, name)) {
			return &message->fields[i];
		}
		if (bt_str_equal_without_case(known, name)) {
			found = &message->fields[i];
		}
	}
	return found;
}

/** Changes field names to the spelling of the API. Returns whether any field name was changed. */
static bool spell_fields(struct bt_json_value *value, const struct bt_message *message)
{
	bool changed = false;
	if (value->type == BT_JSON_ARRAY) {
		for (uint32_t i = 0; i < value->count; i++) {
			changed = spell_fields(value->elements[i], message) || changed;
		}
		return changed;
	}
	for (uint32_t i = 0; value->type == BT_JSON_OBJECT && i < value->count; i++) {
		struct bt_json_member *member = &value->members[i];
		const struct bt_field *field = find_field(message, member->name);
		if (field == NULL) {
			continue;
		}
		struct bt_str known = {field->name, field->name_length};
		changed = changed || !bt_str_equal(known, member->name);
		member->name = known;
		if (field->message == NULL) {
			continue;
		}
		if (field->shape != BT_SHAPE_MAP) {
			changed = spell_fields(member->value, field->message) || changed;
			continue;
		}
		for (uint32_t k = 0;
			member->value->type == BT_JSON_OBJECT && k < member->value->count; k++) {
			changed = spell_fields(member->value->members[k].value, field->message) ||
				changed;
		}
	}
	return changed;
}

/**
 * Corrects the spelling of a member that the tables do not have (apiVersion, kind). Returns the
 * member's text, or "" if the object has no such member with a text.
 */
static struct bt_str spell_member(struct bt_json_value *object, struct bt_str known, bool *changed)
{
	for (uint32_t i = 0; i < object->count; i++) {
		struct bt_json_member *member = &object->members[i];
		if (bt_str_equal_without_case(member->name, known)) {
			*changed = *changed || !bt_str_equal(member->name, known);
			member->name = known;
			return member->value->type == BT_JSON_STRING ? member->value->text
								     : BT_STR("");
		}
	}
	return BT_STR("");
}

/** Correct the field names in made->json to the API's spelling. */
static int spell_names(struct bt_bench_template *made, struct berth_error *err)
{
	struct bt_json_value *object;
	enum bt_kind kind;
	int result = made->has_exact_names
		? 0
		: bt_json_parse(&made->arena, bt_strbuf_str(&made->json), true, &object, err);
	if (made->has_exact_names || result < 0 || object->type != BT_JSON_OBJECT) {
		return result;
	}
	bool changed = false;
	struct bt_str api_version = spell_member(object, BT_STR("apiVersion"), &changed);
	struct bt_str name = spell_member(object, BT_STR("kind"), &changed);
	if (bt_kind_find(api_version, name, &kind)) {
		changed = spell_fields(object, bt_kind_info(kind)->message) || changed;
	}
	made->has_exact_names = !changed;
	if (changed) {
		struct bt_json_writer writer;
		bt_strbuf_reset(&made->json);
		bt_json_writer_init(&writer, &made->json, 0);
		bt_json_write_value(&writer, object);
	}
	return 0;
}

/** --- objects --- */

static int to_json(struct bt_bench_template *made, struct bt_str text, struct berth_error *err)
{
	bt_strbuf_reset(&made->json);
	if (bt_document_is_json(text)) {
		bt_strbuf_append_str(&made->json, text);
		return 0;
	}
	return bt_document_from_yaml(text, NULL, &made->json, err);
}

/** Sets made->json to the manifest as JSON, with numbers in place of its actions. */
static int render(
	struct bt_bench_template *made, const struct bt_bench_stamp *stamp, struct berth_error *err)
{
	struct bt_strbuf text = {0};
	struct bt_str rest = bt_strbuf_str(&made->text);
	int64_t at;
	if (!made->has_actions && made->json.length != 0) {
		return 0;
	}
	while (made->has_actions && (at = bt_str_find(rest, BT_STR("{{"))) >= 0) {
		struct bt_str action = bt_str_sub(rest, (uint32_t)at, sizeof(INDEX_ACTION) - 1);
		bt_strbuf_append_str(&text, bt_str_sub(rest, 0, (uint32_t)at));
		bt_strbuf_printf(&text, "%llu",
			(unsigned long long)(bt_str_equal_c(action, INDEX_ACTION) ? stamp->index
										  : stamp->count));
		rest = bt_str_sub(rest, (uint32_t)at + sizeof(INDEX_ACTION) - 1, UINT32_MAX);
	}
	bt_strbuf_append_str(&text, rest);
	int result = to_json(made, bt_strbuf_str(&text), err);
	bt_strbuf_finish(&text);
	return result == 0 ? spell_names(made, err) : result;
}

int bt_bench_template_from_text(const char *name, struct bt_str text,
	struct bt_bench_template **out_template, struct berth_error *err)
{
	struct bt_bench_template *made = BT_NEW(struct bt_bench_template);
	made->path = bt_strndup(name, strlen(name));
	int result = read_actions(made, text, err);
	if (result < 0) {
		bt_bench_template_destroy(made);
		return bt_error_wrap(err, result, "%s", name);
	}
	*out_template = made;
	return 0;
}

int bt_bench_template_read(
	const char *path, struct bt_bench_template **out_template, struct berth_error *err)
{
	struct bt_file bytes;
	int result = bt_file_read(path, FILE_BYTES_MAX, &bytes, err);
	if (result < 0) {
		return bt_error_wrap(err, result, "%s", path);
	}
	struct bt_str text = {bytes.data, (uint32_t)bytes.length};
	result = bt_bench_template_from_text(path, text, out_template, err);
	bt_file_finish(&bytes);
	return result;
}

void bt_bench_template_destroy(struct bt_bench_template *template_)
{
	if (template_ == NULL) {
		return;
	}
	bt_free(template_->path);
	bt_strbuf_finish(&template_->text);
	bt_strbuf_finish(&template_->json);
	bt_arena_finish(&template_->arena);
	bt_free(template_);
}

const char *bt_bench_template_path(const struct bt_bench_template *template_)
{
	return template_->path;
}

static int stamp_meta(struct bt_arena *arena, const struct bt_bench_stamp *stamp, bool namespaced,
	struct bt_object_meta *meta, struct berth_error *err)
{
	unsigned long long serial = stamp->serial;
	if (stamp->name.length != 0) {
		meta->name = stamp->name;
	} else if (meta->name.length == 0) {
		if (meta->generate_name.length == 0) {
			return bt_error_set(
				err, BERTH_ERR_INVALID, "metadata: neither name nor generateName");
		}
		meta->name = bt_arena_printf(
			arena, "%.*s%05llu", BT_STR_ARG(meta->generate_name), serial);
	}
	if (namespaced && meta->namespace_.length == 0) {
		meta->namespace_ = stamp->namespace_;
	}
	meta->uid = bt_arena_printf(arena, "00000000-0000-4000-8000-%012llx", serial);
	meta->resource_version = bt_arena_printf(arena, "%llu", serial);
	return 0;
}

static bool speaks_of(const struct bt_toleration *toleration, struct bt_str key)
{
	return (toleration->key.length == 0 || bt_str_equal(toleration->key, key)) &&
		(toleration->effect.length == 0 || bt_str_equal_c(toleration->effect, "NoExecute"));
}

/** Adds the tolerations that admission gives to every pod, unless it has them. */
static void add_default_tolerations(struct bt_pod_spec *spec, struct bt_arena *arena)
{
	static const struct bt_str keys[] = {
		BT_STR_INIT("node.kubernetes.io/not-ready"),
		BT_STR_INIT("node.kubernetes.io/unreachable"),
	};
	const bt_toleration_list *old = &spec->tolerations;
	bool missing[BT_ARRAY_LENGTH(keys)];
	uint32_t missing_count = 0;

	for (uint32_t k = 0; k < BT_ARRAY_LENGTH(keys); k++) {
		missing[k] = true;
		for (uint32_t i = 0; i < old->count; i++) {
			missing[k] = missing[k] && !speaks_of(&old->items[i], keys[k]);
		}
		missing_count += missing[k];
	}
	if (missing_count == 0) {
		return;
	}
	struct bt_toleration *items = BT_ARENA_NEW_ARRAY(
		arena, struct bt_toleration, (size_t)old->count + (size_t)missing_count);
	uint32_t count = old->count;

	if (count != 0) {
		memcpy(items, old->items, count * sizeof(items[0]));
	}
	for (uint32_t k = 0; k < BT_ARRAY_LENGTH(keys); k++) {
		if (missing[k]) {
			items[count++] = (struct bt_toleration){
				.key = keys[k],
				.operator_ = BT_STR("Exists"),
				.effect = BT_STR("NoExecute"),
				.toleration_seconds = {true, 300},
			};
		}
	}
	spec->tolerations.items = items;
	spec->tolerations.count = count;
	spec->tolerations.present = true;
}

static void fill_in(enum bt_kind kind, void *value, struct bt_arena *arena)
{
	if (kind == BT_KIND_POD) {
		struct bt_pod *pod = value;
		bt_pod_spec_default(&pod->spec, true, arena);
		add_default_tolerations(&pod->spec, arena);
		bt_pod_default_affinity(pod, arena);
		if (!pod->spec.priority.present) {
			pod->spec.priority = (struct bt_opt_i32){.present = true};
		}
	} else if (kind == BT_KIND_NODE) {
		bt_node_default(value, arena);
	} else if (kind == BT_KIND_RESOURCE_CLAIM) {
		struct bt_resource_claim *claim = value;
		bt_device_claim_default(&claim->spec.devices, arena);
	}
}

int bt_bench_template_make(struct bt_bench_template *template_, const struct bt_bench_stamp *stamp,
	struct bt_object **out_object, struct berth_error *err)
{
	struct bt_object *plain = NULL;
	struct bt_arena *arena = &template_->arena;
	int result = render(template_, stamp, err);
	if (result == 0) {
		result = bt_object_decode(bt_strbuf_str(&template_->json), &plain, err);
	}
	if (result < 0) {
		return bt_error_wrap(err, result, "%s", template_->path);
	}
	const struct bt_kind_info *info = bt_kind_info(plain->kind);
	void *value = bt_arena_alloc(arena, info->size);
	memcpy(value, plain->value, info->size); /* metadata is the first member of all kinds */
	result = stamp_meta(arena, stamp, info->namespaced, value, err);
	if (result == 0) {
		fill_in(plain->kind, value, arena);
		*out_object = bt_object_create(plain->kind, value);
	}
	bt_object_release(plain);
	bt_arena_reset(arena);
	return result < 0 ? bt_error_wrap(err, result, "%s", template_->path) : 0;
}
