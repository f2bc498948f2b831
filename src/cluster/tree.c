/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/tree.h"

#include "api/int_or_string.h"
#include "api/meta.h"
#include "api/time.h"
#include "codec/json_edit.h"
#include "codec/message.h"
#include "server/condition.h"

struct bt_str bt_tree_key(struct bt_arena *arena, const struct bt_json_value *object)
{
	return bt_api_key(arena, bt_json_text_at(object, "metadata.namespace"),
		bt_json_text_at(object, "metadata.name"));
}

bool bt_tree_is_deleting(const struct bt_json_value *object)
{
	return bt_json_text_at(object, "metadata.deletionTimestamp").length != 0;
}

int64_t bt_tree_seconds(const struct bt_json_value *object, const char *dotted_path)
{
	return bt_time_or_zero(bt_json_text_at(object, dotted_path)).seconds;
}

struct bt_str bt_tree_text(const struct bt_json_value *texts, const char *name)
{
	const struct bt_json_value *value = bt_json_get(texts, bt_str_from(name));
	return value != NULL && value->type == BT_JSON_STRING ? value->text : BT_STR("");
}

struct bt_str bt_tree_label(const struct bt_json_value *object, const char *name)
{
	return bt_tree_text(bt_json_object_at(object, "metadata.labels"), name);
}

struct bt_str bt_tree_annotation(const struct bt_json_value *object, const char *name)
{
	return bt_tree_text(bt_json_object_at(object, "metadata.annotations"), name);
}

/* --- selectors --- */

bool bt_tree_decode(struct bt_arena *arena, const struct bt_json_value *tree,
	const struct bt_message *message, void *out)
{
	struct bt_strbuf text = {0};
	struct bt_json_reader reader;

	bt_json_format(tree, &text);
	bt_json_reader_init(&reader, bt_arena_take_strbuf(arena, &text));
	return bt_message_decode_json(message, &reader, arena, out, NULL) == 0;
}

bool bt_tree_selector(struct bt_arena *arena, const struct bt_json_value *selector, bool is_map,
	struct bt_selector *out_selector)
{
	struct bt_label_selector decoded = {.match_labels = {0}};

	if (selector == NULL || selector->type != BT_JSON_OBJECT) {
		return false;
	}
	if (is_map) {
		struct bt_str_map *map = BT_ARENA_NEW(arena, struct bt_str_map);
		*map = bt_str_map_from_json(arena, selector);
		*out_selector = bt_selector_from_map(map, arena);
	} else if (!bt_tree_decode(arena, selector, &bt_label_selector_message, &decoded) ||
		bt_selector_from_label_selector(&decoded, arena, out_selector, NULL) != 0) {
		return false;
	}
	return !out_selector->nothing && !bt_selector_is_empty(out_selector);
}

bool bt_tree_matches(struct bt_arena *arena, const struct bt_selector *selector,
	const struct bt_json_value *labels)
{
	struct bt_str_map map = bt_str_map_from_json(arena, labels);
	return bt_selector_matches(selector, &map);
}

int bt_tree_compare_ordered(const void *left, const void *right)
{
	const struct bt_tree_order *a = left;
	const struct bt_tree_order *b = right;

	return BT_ORDER_BY(BT_ORDER(a->number, b->number), bt_str_compare(a->name, b->name));
}

/* --- conditions --- */

bool bt_tree_set_condition(struct bt_arena *arena, struct bt_json_value *conditions,
	const struct bt_tree_condition *condition, bool update_time, int64_t now_ns)
{
	struct bt_json_value *entry = bt_condition_find(conditions, condition->type);
	struct bt_str now = bt_time_text(arena, now_ns);
	bool same_status = bt_str_equal_c(bt_json_text_at(entry, "status"), condition->status);

	if (same_status && bt_str_equal_c(bt_json_text_at(entry, "reason"), condition->reason)) {
		return false;
	}
	if (entry == NULL) {
		entry = bt_json_put(arena, NULL, "{type: %c}", condition->type);
		bt_json_append(arena, conditions, entry);
	}
	bt_json_put(arena, entry,
		"{status: %c, lastUpdateTime?: %s, lastTransitionTime?: %s, reason: %c, "
		"message: %s}",
		condition->status, update_time ? now : BT_STR(""), same_status ? BT_STR("") : now,
		condition->reason, condition->message);
	return true;
}

/* --- writes --- */

bool bt_tree_covers(const struct bt_json_value *stored, const struct bt_json_value *wanted)
{
	for (uint32_t i = 0; i < wanted->count; i++) {
		const struct bt_json_value *value = wanted->members[i].value;
		const struct bt_json_value *old = bt_json_get(stored, wanted->members[i].name);

		if (bt_json_is_zero(value) && bt_json_is_zero(old)) {
			continue;
		}
		if (old == NULL || !bt_json_equal(value, old)) {
			return false;
		}
	}
	return true;
}

bool bt_tree_write_status(struct bt_hub *hub, const struct bt_api_resource *resource,
	const struct bt_json_value *object, struct bt_json_value *status, struct bt_arena *arena)
{
	return bt_tree_covers(bt_json_object_at(object, "status"), status) ||
		bt_hub_is_done(bt_hub_patch(hub, resource, BT_SUBRESOURCE_STATUS,
			bt_tree_key(arena, object),
			bt_json_put(arena, NULL, "{status: %v}", status), arena));
}

struct bt_json_value *bt_tree_from_template(struct bt_arena *arena,
	const struct bt_json_value *template_, struct bt_json_value *owner_reference,
	struct bt_str name, bool generated)
{
	const struct bt_json_value *from = bt_json_object_at(template_, "metadata");

	return bt_json_put(arena, NULL,
		"{metadata: {%c: %s, labels: %t, annotations: %t, finalizers: %t, "
		"ownerReferences: [%t]}, spec: %t}",
		generated ? "generateName" : "name", name, bt_json_find(from, "labels"),
		bt_json_find(from, "annotations"), bt_json_find(from, "finalizers"),
		owner_reference, bt_json_object_at(template_, "spec"));
}

/**
 * Patches the owners and (unless NULL) the finalizers. The patch contains the uid, so a new object
 * with the same name stays unchanged. Returns false if the write failed.
 */
static bool write_owners(struct bt_hub *hub, const struct bt_api_resource *resource,
	const struct bt_json_value *object, struct bt_json_value *owners,
	struct bt_json_value *finalizers, struct bt_arena *arena)
{
	struct bt_json_value *patch = bt_json_put(arena, NULL,
		"{metadata: {uid: %s, ownerReferences: %v, finalizers: %v}}",
		bt_json_text_at(object, "metadata.uid"), owners, finalizers);

	return bt_hub_patch(hub, resource, BT_SUBRESOURCE_NONE, bt_tree_key(arena, object), patch,
		       arena) == 200;
}

bool bt_tree_adopt(struct bt_sync *sync, enum bt_hub_kind kind, const struct bt_json_value *object,
	const char *finalizer)
{
	struct bt_arena *arena = sync->arena;
	struct bt_json_value *owners =
		bt_tree_copy_array(arena, object, "metadata.ownerReferences");
	struct bt_json_value *finalizers = NULL;

	bt_json_append(arena, owners, bt_sync_owner_reference(sync, arena));
	if (finalizer != NULL) {
		finalizers = bt_tree_copy_array(arena, object, "metadata.finalizers");
		bt_json_remove_text(finalizers, bt_str_from(finalizer));
		bt_json_append(arena, finalizers, bt_json_new_c(arena, finalizer));
	}
	if (!write_owners(sync->hub, sync->hub->kinds[kind], object, owners, finalizers, arena)) {
		sync->failed = true;
		return false;
	}
	return true;
}

bool bt_tree_release(struct bt_hub *hub, const struct bt_api_resource *resource,
	const struct bt_json_value *object, struct bt_str owner_uid, const char *finalizer,
	struct bt_arena *arena)
{
	struct bt_json_value *owners =
		bt_tree_copy_array(arena, object, "metadata.ownerReferences");
	struct bt_json_value *finalizers = NULL;

	bt_json_remove_with(owners, "uid", owner_uid);
	if (finalizer != NULL) {
		finalizers = bt_tree_copy_array(arena, object, "metadata.finalizers");
		bt_json_remove_text(finalizers, bt_str_from(finalizer));
	}
	return write_owners(hub, resource, object, owners, finalizers, arena);
}

/* --- templates --- */

static struct bt_json_value *without_label(
	struct bt_arena *arena, const struct bt_json_value *template_, const char *ignored_label)
{
	struct bt_json_value *copy = bt_json_clone(arena, template_, false);

	if (ignored_label != NULL) {
		(void)bt_json_remove_c(bt_json_find_path(copy, "metadata.labels"), ignored_label);
	}
	return copy;
}

struct bt_str bt_tree_template_hash(struct bt_arena *arena, const struct bt_json_value *template_,
	const char *ignored_label, int64_t collisions)
{
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	char *name = bt_arena_alloc_bytes(arena, 10);

	bt_json_writer_init(&writer, &text, 0);
	bt_json_write_value(&writer, without_label(arena, template_, ignored_label));
	bt_json_write_int64(&writer, collisions);
	bt_name_letters(bt_stable_hash(bt_strbuf_str(&text)), 10, name);
	bt_strbuf_finish(&text);
	return (struct bt_str){name, 10};
}

bool bt_tree_templates_equal(struct bt_arena *arena, const struct bt_json_value *a,
	const struct bt_json_value *b, const char *ignored_label)
{
	return bt_json_equal(
		without_label(arena, a, ignored_label), without_label(arena, b, ignored_label));
}

const struct bt_int_or_string *bt_tree_int_or_string(
	const struct bt_json_value *value, struct bt_int_or_string *out)
{
	int64_t parsed;

	*out = (struct bt_int_or_string){.number = 0};
	if (value == NULL) {
		return NULL;
	}
	if (value->type == BT_JSON_STRING) {
		out->is_string = true;
		out->text = value->text;
	} else if (value->type == BT_JSON_NUMBER && bt_json_number_int64(value->text, &parsed) &&
		parsed >= 0 && parsed <= INT32_MAX) {
		out->number = (int32_t)parsed;
	}
	return out;
}

int32_t bt_tree_scaled(const struct bt_json_value *value, int32_t total, bool round_up)
{
	struct bt_int_or_string number;
	int32_t scaled;

	return bt_tree_int_or_string(value, &number) != NULL &&
			bt_int_or_string_scaled(&number, total, round_up, &scaled, NULL) == 0
		? scaled
		: 0;
}

bool bt_disrupt_pod(struct bt_sync *sync, struct bt_str key, const char *reason,
	struct bt_str message, int64_t grace_seconds)
{
	struct bt_hub *hub = sync->hub;
	struct bt_arena *arena = sync->arena;
	const struct bt_api_resource *pods = hub->kinds[BT_HUB_PODS];
	const struct bt_json_value *pod = bt_api_read(hub->api, pods, key, arena);
	struct bt_tree_condition condition = {"DisruptionTarget", "True", reason, message};
	struct bt_json_value *conditions;
	struct bt_json_value *status;

	if (pod == NULL || (bt_tree_is_deleting(pod) && grace_seconds != 0)) {
		return true;
	}
	conditions = bt_tree_copy_array(arena, pod, "status.conditions");
	if (!bt_tree_is_over(pod) &&
		bt_tree_set_condition(arena, conditions, &condition, false, sync->now_ns)) {
		/*
		 * Without a grace period no node agent sets the final phase of the pod, so set the
		 * phase here: controllers that have a finalizer on the pod wait for it.
		 */
		status = bt_json_put(arena, NULL, "{conditions: %v, phase: %c}", conditions,
			grace_seconds == 0 ? "Failed" : NULL);
		if (!bt_tree_write_status(hub, pods, pod, status, arena)) {
			return false;
		}
	}
	uint16_t code = bt_hub_delete(hub, pods, key, grace_seconds, BT_PROPAGATION_BACKGROUND,
		bt_json_text_at(pod, "metadata.uid"), arena);
	return code == 200 || code == 404 || code == 409;
}
