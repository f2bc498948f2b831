/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/apply.h"

#include <stdlib.h>

#include "api/text_template.h"
#include "schema/field_set.h"

/** --- metadata.managedFields --- */

struct manager {
	struct bt_str name;
	struct bt_str operation; /* "Apply" or "Update" */
	struct bt_str api_version;
	struct bt_str time;
	struct bt_str subresource;
	const struct bt_field_set *fields; /* NULL: the entry is dropped when written */
};

struct managers {
	uint32_t count;
	struct manager *items; /* has room for three more entries than were read */
};

static const struct bt_json_value *entries_of(const struct bt_json_value *object)
{
	return bt_json_array_at(object, "metadata.managedFields");
}

bool bt_apply_is_tracked(const struct bt_json_value *object)
{
	return object != NULL && entries_of(object)->count != 0;
}

/** Reads the managedFields of an object (NULL: no object); skips entries with malformed fields. */
static struct managers *read_managers(struct bt_arena *arena, const struct bt_json_value *object)
{
	const struct bt_json_value *entries = entries_of(object);
	struct managers *managers = BT_ARENA_NEW(arena, struct managers);
	uint32_t most = BT_MIN(entries->count, BT_APPLY_MANAGERS_MAX);
	managers->items = BT_ARENA_NEW_ARRAY(arena, struct manager, most + 3);
	for (uint32_t i = 0; i < entries->count && managers->count < most; i++) {
		const struct bt_json_value *entry = entries->elements[i];
		struct manager manager = {
			.name = bt_json_text_at(entry, "manager"),
			.operation = bt_json_text_at(entry, "operation"),
			.api_version = bt_json_text_at(entry, "apiVersion"),
			.time = bt_json_text_at(entry, "time"),
			.subresource = bt_json_text_at(entry, "subresource"),
		};
		manager.fields = bt_field_set_parse(arena, bt_json_find(entry, "fieldsV1"));
		if (manager.fields != NULL) {
			managers->items[managers->count++] = manager;
		}
	}
	return managers;
}

BT_COMPARE(compare_managers, struct manager,
	BT_ORDER_BY(bt_str_compare(a->operation, b->operation), bt_str_compare(a->time, b->time),
		bt_str_compare(a->name, b->name), bt_str_compare(a->api_version, b->api_version),
		bt_str_compare(a->subresource, b->subresource)))

/**
 * Sorts the entries and writes them to the object; removes managedFields if there are no entries.
 */
static void write_managers(
	struct bt_arena *arena, struct managers *managers, struct bt_json_value *object)
{
	struct bt_json_value *entries = bt_json_new(arena, BT_JSON_ARRAY);
	struct bt_json_value *metadata = bt_json_ensure_object(arena, object, "metadata");
	qsort(managers->items, managers->count, sizeof(managers->items[0]), compare_managers);
	for (uint32_t i = 0; i < managers->count; i++) {
		const struct manager *manager = &managers->items[i];
		if (manager->fields == NULL) {
			continue;
		}
		bt_json_put(arena, entries,
			"[{manager: %s, operation: %s, apiVersion: %s, time?: %s, "
			"fieldsType: 'FieldsV1', fieldsV1: %v, subresource?: %s}]",
			manager->name, manager->operation, manager->api_version, manager->time,
			bt_field_set_format(arena, manager->fields), manager->subresource);
	}
	if (entries->count != 0) {
		bt_json_set_value(arena, metadata, "managedFields", entries);
	} else {
		(void)bt_json_remove_c(metadata, "managedFields");
	}
}

/**
 * Returns the writer's Apply entry if applies is true, otherwise its Update entry. Adds the entry
 * if managers lacks it.
 */
static struct manager *manager_of(
	struct managers *managers, const struct bt_apply_writer *writer, bool applies)
{
	struct bt_str operation = applies ? BT_STR("Apply") : BT_STR("Update");
	for (uint32_t i = 0; i < managers->count; i++) {
		struct manager *manager = &managers->items[i];
		/* an Apply entry matches in any apiVersion */
		if (bt_str_equal(manager->name, writer->manager) &&
			bt_str_equal(manager->operation, operation) &&
			bt_str_equal(manager->subresource, writer->subresource) &&
			(applies || bt_str_equal(manager->api_version, writer->api_version))) {
			return manager;
		}
	}
	struct manager *manager = &managers->items[managers->count++];
	*manager = (struct manager){.name = writer->manager,
		.operation = operation,
		.api_version = writer->api_version,
		.subresource = writer->subresource};
	return manager;
}

/**
 * Merges the oldest Update entries into the entry "ancient-changes" until at most
 * BT_APPLY_UPDATES_MAX Update entries are left.
 */
static void cap_managers(struct bt_arena *arena, struct managers *managers)
{
	const struct bt_str ancient = BT_STR("ancient-changes");
	for (;;) {
		struct manager *oldest = NULL;
		struct manager *bucket = NULL;
		uint32_t updates = 0;
		for (uint32_t i = 0; i < managers->count; i++) {
			struct manager *manager = &managers->items[i];
			if (manager->fields == NULL ||
				!bt_str_equal(manager->operation, BT_STR("Update"))) {
				continue;
			}
			updates++;
			if (bt_str_equal(manager->name, ancient)) {
				bucket = manager;
			} else if (oldest == NULL ||
				bt_str_compare(manager->time, oldest->time) < 0) {
				oldest = manager;
			}
		}
		if (updates <= BT_APPLY_UPDATES_MAX || oldest == NULL) {
			return;
		}
		if (bucket == NULL) {
			oldest->name = ancient;
			oldest->subresource = BT_STR("");
		} else {
			bucket->fields = bt_field_set_union(arena, bucket->fields, oldest->fields);
			bucket->time = oldest->time;
			oldest->fields = NULL;
		}
	}
}

/** --- conflicts --- */

static void add_conflicts(struct bt_arena *arena, const struct manager *manager,
	const struct bt_field_set *fields, struct bt_apply_conflicts *out)
{
	struct bt_json_value *paths = bt_json_new(arena, BT_JSON_ARRAY);
	struct bt_strbuf text = {0};
	bt_strbuf_append_quoted(&text, manager->name);
	if (manager->subresource.length != 0) {
		bt_strbuf_append_c(&text, " with subresource ");
		bt_strbuf_append_quoted(&text, manager->subresource);
	}
	if (bt_str_equal(manager->operation, BT_STR("Update"))) {
		bt_strbuf_append_c(&text, " using ");
		bt_strbuf_append_str(&text, manager->api_version);
	}
	struct bt_str name = bt_arena_take_strbuf(arena, &text);
	bt_strbuf_printf(&text, "%.*s%sconflicts with %.*s:", BT_STR_ARG(out->text),
		out->total != 0 ? "\n" : "", BT_STR_ARG(name));
	out->total += bt_field_set_paths(arena, fields, BT_APPLY_CONFLICTS_MAX - out->count, paths);
	for (uint32_t i = 0; i < paths->count; i++) {
		struct bt_str path = paths->elements[i]->text;
		bt_strbuf_printf(&text, "\n- %.*s", BT_STR_ARG(path));
		out->items[out->count++] = (struct bt_apply_conflict){
			bt_arena_printf(arena, "conflict with %.*s", BT_STR_ARG(name)), path};
	}
	out->text = bt_arena_take_strbuf(arena, &text);
}

/**
 * Removes the changed and removed fields from all managers except self. If conflicts is not NULL, a
 * changed field that another manager owns is added to conflicts, unless the set `excused` contains
 * the field.
 */
static void take_from_others(struct bt_arena *arena, struct managers *managers,
	const struct manager *self, const struct bt_field_changes *changes,
	struct bt_apply_conflicts *conflicts, const struct bt_field_set *excused)
{
	for (uint32_t i = 0; i < managers->count; i++) {
		struct manager *manager = &managers->items[i];
		if (manager == self) {
			continue;
		}
		const struct bt_field_set *lost =
			bt_field_set_intersection(arena, manager->fields, changes->changed);
		const struct bt_field_set *disputed =
			conflicts != NULL ? bt_field_set_difference(arena, lost, excused) : NULL;
		if (disputed != NULL) {
			add_conflicts(arena, manager, disputed, conflicts);
		} else if (lost != NULL) {
			manager->fields = bt_field_set_difference(arena, manager->fields, lost);
		}
		manager->fields = bt_field_set_difference(arena, manager->fields, changes->removed);
	}
}

/** --- configuration of kubectl's client-side apply, kept in an annotation --- */

/* Maximum bytes of all annotations of an object together. */
#define ANNOTATION_BYTES_MAX (256 * 1024)

static const char annotation[] = "kubectl.kubernetes.io/last-applied-configuration";

static struct bt_json_value *annotations_of(const struct bt_json_value *object)
{
	return bt_json_find_path(object, "metadata.annotations");
}

/** Whether the writer is kubectl, which may take over the fields of its client-side apply. */
static bool is_kubectl(const struct bt_apply_writer *writer)
{
	return bt_str_equal(writer->manager, BT_STR("kubectl")) && writer->subresource.length == 0;
}

/**
 * Returns the fields of the configuration that kubectl's annotation holds. NULL: the object has no
 * annotation, or the annotation is invalid.
 */
static const struct bt_field_set *last_applied_fields(struct bt_arena *arena,
	const struct bt_apply_writer *writer, const struct bt_json_value *live)
{
	struct bt_str text = bt_json_find_str(annotations_of(live), annotation);
	struct bt_json_value *object = NULL;
	if (text.length == 0 || bt_json_parse(arena, text, true, &object, NULL) != 0 ||
		bt_schema_normalise(writer->message, object, true, NULL, arena, NULL, NULL) != 0) {
		return NULL; /* not valid: any client may write the annotation */
	}
	struct bt_spot root = bt_spot_root(writer->message, writer->parts);
	return bt_field_set_stripped(
		arena, bt_field_set_of(arena, &root, object), writer->ignored_member);
}

/**
 * Updates the annotation of object so that client-side apply continues to work. Does nothing if the
 * live object has no annotation or if the configuration sets the annotation itself. If the
 * configuration is too large for an annotation, the annotation becomes empty.
 */
static void update_last_applied(struct bt_arena *arena, const struct bt_apply_writer *writer,
	const struct bt_json_value *live, const struct bt_json_value *applied,
	struct bt_json_value *object)
{
	if (bt_json_find_str(annotations_of(live), annotation).length == 0 ||
		bt_json_find(annotations_of(applied), annotation) != NULL ||
		bt_json_find(annotations_of(object), annotation) == NULL) {
		return;
	}
	struct bt_strbuf text = {0};
	struct bt_json_writer json;
	bt_json_writer_init(&json, &text, 0);
	bt_json_write(&json, "{apiVersion: %s, kind: %s", writer->api_version, writer->kind);
	for (uint32_t i = 0; i < applied->count; i++) {
		const struct bt_json_member *member = &applied->members[i];
		if (!bt_str_equal_c(member->name, "apiVersion") &&
			!bt_str_equal_c(member->name, "kind")) {
			bt_json_write(&json, "%s: %t", member->name, member->value);
		}
	}
	bt_json_end_object(&json);
	bt_strbuf_append_char(&text, '\n');
	if (text.length > ANNOTATION_BYTES_MAX) {
		bt_strbuf_reset(&text);
	}
	bt_json_set_str(
		arena, annotations_of(object), annotation, bt_arena_take_strbuf(arena, &text));
}

/** --- apply --- */

/**
 * Returns the changes from old to new_object. old NULL: the object is new. The set `changed` lacks
 * the fields that no manager can own, and lacks the writer's ignored_member.
 */
static struct bt_field_changes changes_of(struct bt_arena *arena,
	const struct bt_apply_writer *writer, const struct bt_json_value *old,
	const struct bt_json_value *new_object)
{
	struct bt_spot root = bt_spot_root(writer->message, writer->parts);
	struct bt_json_value *zero = NULL;
	if (old == NULL) {
		/* Compare with an empty object, which has the members that are always written. */
		zero = bt_json_new(arena, BT_JSON_OBJECT);
		(void)bt_json_ensure_object(arena, zero, "metadata");
		int result =
			bt_schema_normalise(writer->message, zero, false, NULL, arena, NULL, NULL);
		(void)result; /* an empty object has no errors */
	}
	struct bt_field_changes changes =
		bt_field_set_compare(arena, &root, old != NULL ? old : zero, new_object);
	changes.changed = bt_field_set_stripped(arena, changes.changed, writer->ignored_member);
	return changes;
}

/**
 * At the first apply, records owners for all existing fields: kubectl's client-side apply owns the
 * fields in its annotation, and the manager "before-first-apply" owns the rest.
 */
static void record_earlier_owners(struct bt_arena *arena, const struct bt_apply_writer *writer,
	const struct bt_json_value *live, const struct bt_field_set *last_applied,
	struct managers *managers)
{
	struct bt_apply_writer everything = *writer;
	everything.ignored_member = NULL;
	const struct bt_field_set *all = changes_of(arena, &everything, NULL, live).changed;
	const struct bt_field_set *known = bt_field_set_intersection(arena, all, last_applied);
	struct bt_apply_writer before = *writer;
	before.subresource = BT_STR("");
	if (known != NULL) {
		before.manager = BT_STR("kubectl-client-side-apply");
		struct manager *client = manager_of(managers, &before, false);
		client->fields = known;
		client->time = writer->time;
	}
	before.manager = BT_STR("before-first-apply");
	struct manager *manager = manager_of(managers, &before, false);
	manager->fields = bt_field_set_difference(arena, all, known);
	manager->time = writer->time;
}

static int merge_and_own(struct bt_arena *arena, const struct bt_apply_writer *writer, bool force,
	const struct bt_json_value *live, const struct bt_json_value *applied,
	struct bt_json_value **out_object, struct bt_apply_conflicts *conflicts,
	struct berth_error *err)
{
	struct bt_spot root = bt_spot_root(writer->message, writer->parts);
	struct bt_json_value *object = NULL;
	struct bt_json_value *base = live != NULL ? bt_json_clone(arena, live, false)
						  : bt_json_new(arena, BT_JSON_OBJECT);
	int result = bt_apply_merge(arena, &root, base, applied, &object, err);
	if (result != 0) {
		return result;
	}
	struct managers *managers = read_managers(arena, live);
	const struct bt_field_set *client = last_applied_fields(arena, writer, live);
	if (live != NULL && !bt_apply_is_tracked(live)) {
		record_earlier_owners(arena, writer, live, client, managers);
	}
	struct manager *self = manager_of(managers, writer, true);
	const struct bt_field_set *last = self->fields;
	const struct bt_field_set *own = bt_field_set_stripped(
		arena, bt_field_set_of(arena, &root, applied), writer->ignored_member);
	/* Do not use `own` here: it lacks metadata.name, so metadata itself could be pruned. */
	const struct bt_field_set *kept = bt_field_set_of(arena, &root, applied);
	for (uint32_t i = 0; i < managers->count; i++) {
		if (&managers->items[i] != self) {
			kept = bt_field_set_union(arena, kept, managers->items[i].fields);
		}
	}
	bt_apply_prune(arena, &root, object, last, kept);
	struct bt_field_changes changes = changes_of(arena, writer, live, object);
	take_from_others(arena, managers, self, &changes, force ? NULL : conflicts,
		is_kubectl(writer) ? client : NULL);
	if (conflicts->total != 0) {
		return BERTH_ERR_STATE;
	}
	/*
	 * If nothing changed, the entry keeps its time. If the entry is new as well, it has no time
	 * and sorts before other Apply entries.
	 */
	if (changes.changed != NULL || changes.removed != NULL) {
		self->time = writer->time;
	}
	self->fields = own;
	self->api_version = writer->api_version;
	if (is_kubectl(writer)) {
		update_last_applied(arena, writer, live, applied, object);
	}
	write_managers(arena, managers, object);
	*out_object = object;
	return 0;
}

int bt_apply(struct bt_arena *arena, const struct bt_apply_writer *writer, bool force,
	const struct bt_json_value *live, const struct bt_json_value *applied,
	struct bt_json_value **out_object, struct bt_apply_conflicts *out_conflicts,
	struct berth_error *err)
{
	if (bt_apply_is_tracked(applied)) {
		return bt_error_set(err, BERTH_ERR_INVALID, "metadata.managedFields must be nil");
	}
	out_conflicts->text = BT_STR("");
	out_conflicts->total = 0;
	out_conflicts->count = 0;
	int result =
		merge_and_own(arena, writer, force, live, applied, out_object, out_conflicts, err);
	if (result == BERTH_ERR_STATE) {
		const struct bt_apply_conflict *first = &out_conflicts->items[0];
		struct bt_str text = out_conflicts->total != 1
			? out_conflicts->text
			: bt_arena_printf(arena, "%.*s: %.*s", BT_STR_ARG(first->message),
				  BT_STR_ARG(first->field));
		struct bt_strbuf message = {0};
		bt_text_append(&message, "Apply failed with %u {conflict|conflicts}: %s",
			out_conflicts->total, text);
		out_conflicts->text = bt_arena_take_strbuf(arena, &message);
		(void)bt_error_set(err, BERTH_ERR_STATE, "%.*s", BT_STR_ARG(out_conflicts->text));
	}
	return result;
}

/** --- admission policies --- */

/**
 * Finds the first atomic value: a value that apply can only replace as a whole. Appends the path of
 * that value. false: there is no atomic value.
 */
static bool find_atomic(
	const struct bt_spot *spot, const struct bt_json_value *value, struct bt_strbuf *path)
{
	bool is_list = value->type == BT_JSON_ARRAY;
	size_t length = path->length;
	if (!is_list && value->type != BT_JSON_OBJECT) {
		return false;
	}
	if (is_list ? !bt_spot_is_keyed(spot) : bt_spot_has(spot, BT_SCHEMA_ATOMIC)) {
		return true;
	}
	for (uint32_t i = 0; i < value->count; i++) {
		struct bt_spot at;
		if (is_list) {
			at = bt_spot_element(spot);
			bt_strbuf_printf(path, "[%u]", i);
		} else {
			at = bt_spot_member(spot, value->members[i].name);
			bt_strbuf_printf(path, ".%.*s", BT_STR_ARG(value->members[i].name));
		}
		if (find_atomic(
			    &at, is_list ? value->elements[i] : value->members[i].value, path)) {
			return true;
		}
		path->length = length;
	}
	return false;
}

int bt_apply_mutation(struct bt_arena *arena, const struct bt_schema_message *message,
	const struct bt_schema_message *parts, struct bt_json_value *object,
	const struct bt_json_value *applied, struct bt_json_value **out_object,
	struct berth_error *err)
{
	struct bt_spot root = bt_spot_root(message, parts);
	struct bt_strbuf path = {0};
	int result = bt_apply_check(message, parts, applied, err);
	if (result == 0 && find_atomic(&root, applied, &path)) {
		result = bt_error_set(err, BERTH_ERR_INVALID,
			"invalid ApplyConfiguration: may not mutate atomic arrays, maps or "
			"structs: "
			"%s",
			bt_strbuf_c(&path));
	}
	bt_strbuf_finish(&path);
	return result == 0 ? bt_apply_merge(arena, &root, object, applied, out_object, err)
			   : result;
}

/** --- other writes --- */

void bt_apply_record_update(struct bt_arena *arena, const struct bt_apply_writer *writer,
	const struct bt_json_value *old, struct bt_json_value *new_object)
{
	bool given = bt_apply_is_tracked(new_object);
	if (old != NULL && !bt_apply_is_tracked(old) && !given) {
		return;
	}
	struct managers *managers = read_managers(arena, given || old == NULL ? new_object : old);
	if ((given || old != NULL) && managers->count == 0) {
		/* the client sent only invalid entries, such as [{}]: remove all owners */
		write_managers(arena, managers, new_object);
		return;
	}
	struct bt_field_changes changes = changes_of(arena, writer, old, new_object);
	struct manager *self = NULL;
	if (changes.changed != NULL || changes.removed != NULL) {
		self = manager_of(managers, writer, false);
		self->fields = bt_field_set_union(arena,
			bt_field_set_difference(arena, self->fields, changes.removed),
			changes.changed);
		self->time = writer->time;
	}
	take_from_others(arena, managers, self, &changes, NULL, NULL);
	cap_managers(arena, managers);
	write_managers(arena, managers, new_object);
}
