/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/change.h"
#include "api/defaulting.h"
#include "api/identity.h"
#include "api/node.h"
#include "api/pod.h"
#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "cli/view/view.h"
#include "cluster/workload.h"
#include "replay/recording.h"

static const char *const fixed_resources[BT_HISTORY_RESOURCES_FIXED] = {
	[BT_HISTORY_CPU] = "cpu",
	[BT_HISTORY_MEMORY] = "memory",
	[BT_HISTORY_EPHEMERAL_STORAGE] = "ephemeral-storage",
	[BT_HISTORY_PODS] = "pods",
};

void bt_history_init(struct bt_history *history, int64_t now_ns)
{
	*history = (struct bt_history){
		.from_ns = now_ns,
		.to_ns = INT64_MAX,
		.revision = 1,
		.nodes_revision = 1, /* a browser page without nodes sends 0 */
	};
	for (uint32_t i = 0; i < BT_HISTORY_RESOURCES_FIXED; i++) {
		bt_text_set_append(&history->resources, bt_str_from(fixed_resources[i]));
	}
}

/** The versions of pods keep packable references (see bt_object_allow_pack). */

static struct bt_object *unpack(struct bt_object *object)
{
	return object->kind == BT_KIND_POD ? bt_object_unpack(object) : object;
}

static void allow_pack(struct bt_object *object)
{
	if (object->kind == BT_KIND_POD) {
		bt_object_allow_pack(object);
	}
}

void bt_history_finish(struct bt_history *history)
{
	for (uint32_t i = 0; i < history->versions.count; i++) {
		bt_object_release(unpack(history->versions.items[i].object));
	}
	for (uint32_t i = 0; i < history->amounts.count; i++) {
		bt_free(history->amounts.items[i].items);
	}
	bt_vec_finish(&history->versions);
	bt_vec_finish(&history->amounts);
	bt_text_set_finish(&history->resources);
	bt_vec_finish(&history->rejected_ns);
	bt_map_finish(&history->current);
	bt_text_set_finish(&history->node_names);
	bt_map_finish(&history->amounts_map);
	bt_arena_finish(&history->names);
}

/** --- amounts --- */

/** Returns amounts that the caller owns. */
static struct bt_amounts read_amounts(
	struct bt_history *history, const struct bt_resource *resource, int64_t pods)
{
	for (uint32_t i = 0; i < resource->scalar_count; i++) {
		if (!bt_text_set_has(&history->resources, resource->scalars[i].name)) {
			bt_text_set_append(&history->resources,
				bt_arena_str(&history->names, resource->scalars[i].name));
		}
	}
	uint32_t count = history->resources.items.count;
	struct bt_amounts amounts = {BT_NEW_ARRAY(int64_t, count), count};
	amounts.items[BT_HISTORY_CPU] = resource->cpu_milli;
	amounts.items[BT_HISTORY_MEMORY] = resource->memory_bytes;
	amounts.items[BT_HISTORY_EPHEMERAL_STORAGE] = resource->ephemeral_storage_bytes;
	amounts.items[BT_HISTORY_PODS] = pods;
	for (uint32_t i = 0; i < resource->scalar_count; i++) {
		const struct bt_scalar_resource *scalar = &resource->scalars[i];
		amounts.items[bt_text_set_find(&history->resources, scalar->name)] = scalar->value;
	}
	return amounts;
}

/**
 * Returns the index of the amounts in history. Equal amounts share an entry, because pods and nodes
 * have few different amounts. amounts: consumed.
 */
static uint32_t share_amounts(struct bt_history *history, struct bt_amounts amounts)
{
	while (amounts.count > 0 && amounts.items[amounts.count - 1] == 0) {
		amounts.count--;
	}
	size_t bytes = amounts.count * sizeof(amounts.items[0]);
	uint64_t hash = bt_hash_bytes(amounts.items, bytes, 0);
	BT_MAP_EACH (&history->amounts_map, hash, id) {
		const struct bt_amounts *known = &history->amounts.items[id];
		if (known->count == amounts.count &&
			memcmp(known->items, amounts.items, bytes) == 0) {
			bt_free(amounts.items);
			return id;
		}
	}
	bt_vec_push(&history->amounts, amounts);
	bt_map_insert(&history->amounts_map, hash, history->amounts.count - 1);
	return history->amounts.count - 1;
}

/** --- nodes and pods --- */

uint32_t bt_history_find_node(const struct bt_history *history, struct bt_str name)
{
	return bt_text_set_find(&history->node_names, name);
}

static uint32_t find_or_add_node(struct bt_history *history, struct bt_str name)
{
	uint32_t id = bt_history_find_node(history, name);
	if (id == BT_HISTORY_NONE) {
		id = history->node_names.items.count;
		bt_text_set_append(&history->node_names, bt_arena_str(&history->names, name));
	}
	return id;
}

static void read_pod(
	struct bt_history *history, const struct bt_pod *pod, struct bt_version *version)
{
	static const struct bt_resource_gates gates = {
		.pod_level_resources = true, .in_place_pod_level_resources = true};
	struct bt_arena arena = {0};
	struct bt_pod_resources resources = bt_pod_resources_compute(pod, &gates, &arena);
	version->amounts = share_amounts(history, read_amounts(history, &resources.requested, 1));
	version->node = pod->spec.node_name.length != 0
		? find_or_add_node(history, pod->spec.node_name)
		: BT_HISTORY_NONE;
	version->is_over = bt_pod_is_terminal(pod) ||
		(version->node == BT_HISTORY_NONE && pod->metadata.deletion_timestamp != NULL);
	version->is_gated = pod->spec.scheduling_gates.count != 0;
	bt_arena_finish(&arena);
}

/**
 * The pod's creation time. Creation timestamps have whole seconds, so seen_ns is more precise if
 * the pod is first seen within that second.
 */
static int64_t created_ns(const struct bt_pod *pod, int64_t seen_ns)
{
	int64_t created_ns = bt_time_ns(&pod->metadata.creation_timestamp);
	bool is_seen_at_once = seen_ns >= created_ns && seen_ns - created_ns < BT_NS_PER_SECOND;
	return pod->metadata.creation_timestamp.set && !is_seen_at_once ? created_ns : seen_ns;
}

/** The scheduler's condition from its last failed attempt; NULL: none. */
static const struct bt_pod_condition *find_rejection(const struct bt_pod *pod)
{
	const struct bt_pod_condition *condition =
		bt_pod_find_condition(pod, BT_STR("PodScheduled"));
	return condition != NULL && bt_str_equal_c(condition->reason, "Unschedulable") ? condition
										       : NULL;
}

/** --- versions --- */

/** The current version of an object; BT_HISTORY_NONE: none. */
static uint32_t find_current(const struct bt_history *history, enum bt_kind kind,
	struct bt_str namespace_, struct bt_str name)
{
	BT_MAP_EACH (&history->current, bt_object_hash(kind, namespace_, name), id) {
		if (bt_object_is(history->versions.items[id].object, kind, namespace_, name)) {
			return id;
		}
	}
	return BT_HISTORY_NONE;
}

/** End the current version. Returns it; BT_HISTORY_NONE: there was none. */
static uint32_t end_version(
	struct bt_history *history, int64_t now_ns, const struct bt_object *object)
{
	struct bt_str namespace_ = bt_object_namespace(object);
	struct bt_str name = bt_object_name(object);
	uint32_t id = find_current(history, object->kind, namespace_, name);
	if (id != BT_HISTORY_NONE) {
		(void)bt_map_remove(
			&history->current, bt_object_hash(object->kind, namespace_, name), id);
		history->versions.items[id].to_ns = now_ns;
		history->ended_count++;
	}
	return id;
}

/**
 * Put the newer object into the pod's current version if the page shows no difference: most changes
 * affect only parts of the status that the page does not show. Returns false if a new version is
 * needed.
 */
static bool renew_version(struct bt_history *history, struct bt_object *object)
{
	struct bt_version next = {.object = object};
	uint32_t id = object->kind == BT_KIND_POD
		? find_current(
			  history, BT_KIND_POD, bt_object_namespace(object), bt_object_name(object))
		: BT_HISTORY_NONE;
	if (id == BT_HISTORY_NONE) {
		return false;
	}
	read_pod(history, bt_object_value(object, BT_KIND_POD), &next);
	struct bt_version *version = &history->versions.items[id];
	const struct bt_pod *pod = bt_object_value(object, BT_KIND_POD);
	const struct bt_pod *known = bt_object_value(unpack(version->object), BT_KIND_POD);
	bool is_same = version->node == next.node && version->amounts == next.amounts &&
		version->is_over == next.is_over && version->is_gated == next.is_gated &&
		bt_str_equal(known->metadata.uid, pod->metadata.uid) &&
		(known->metadata.deletion_timestamp == NULL) ==
			(pod->metadata.deletion_timestamp == NULL) &&
		bt_str_map_equal(&known->metadata.labels, &pod->metadata.labels);
	allow_pack(version->object);
	if (!is_same) {
		return false;
	}
	bt_object_release(unpack(version->object));
	version->object = bt_object_share(object);
	allow_pack(version->object);
	return true;
}

/**
 * Whether the object shows a rejection by the scheduler that the pod's current version does not
 * show: either the pod's first rejection, or one that differs from that of the version.
 */
static bool is_rejected(const struct bt_history *history, const struct bt_object *object)
{
	const struct bt_pod_condition *is = find_rejection(bt_object_value(object, BT_KIND_POD));
	uint32_t id = is != NULL ? find_current(history, BT_KIND_POD, bt_object_namespace(object),
					   bt_object_name(object))
				 : BT_HISTORY_NONE;
	if (id == BT_HISTORY_NONE) {
		return is != NULL;
	}
	struct bt_object *known = unpack(history->versions.items[id].object);
	const struct bt_pod_condition *was = find_rejection(bt_object_value(known, BT_KIND_POD));
	bool differs = was == NULL || !bt_message_equal(&bt_pod_condition_message, was, is);
	allow_pack(known);
	return differs;
}

void bt_history_take(struct bt_history *history, int64_t now_ns, const struct bt_object *old_object,
	struct bt_object *new_object)
{
	uint32_t before = BT_HISTORY_NONE;
	if (now_ns < history->latest_ns) {
		now_ns = history->latest_ns; /* the clock was set back */
	}
	history->latest_ns = now_ns;
	if (new_object != NULL && new_object->kind == BT_KIND_POD && history->files == NULL &&
		is_rejected(history, new_object)) {
		bt_vec_push(&history->rejected_ns, now_ns);
	}
	if (old_object != NULL && new_object != NULL && renew_version(history, new_object)) {
		return;
	}
	history->revision++;
	if (old_object != NULL) {
		before = end_version(history, now_ns, old_object);
	}
	if (new_object != NULL) {
		if (before == BT_HISTORY_NONE) {
			(void)end_version(history, now_ns, new_object);
		}
		struct bt_version version = {.object = bt_object_share(new_object),
			.from_ns = now_ns,
			.to_ns = INT64_MAX,
			.node = BT_HISTORY_NONE,
			.amounts = BT_HISTORY_NONE};
		uint32_t id = history->versions.count;
		if (new_object->kind == BT_KIND_POD) {
			const struct bt_pod *pod = bt_object_value(new_object, BT_KIND_POD);
			read_pod(history, pod, &version);
			version.created_ns = before != BT_HISTORY_NONE
				? history->versions.items[before].created_ns
				: created_ns(pod, now_ns);
			version.is_first = version.node != BT_HISTORY_NONE &&
				(before == BT_HISTORY_NONE ||
					history->versions.items[before].node == BT_HISTORY_NONE);
			allow_pack(version.object);
		} else if (new_object->kind == BT_KIND_NODE) {
			const struct bt_node *node = bt_object_value(new_object, BT_KIND_NODE);
			version.node = find_or_add_node(history, node->metadata.name);
			struct bt_resource allocatable = {0};
			struct bt_arena arena = {0};
			bt_resource_add(&allocatable,
				node->status.allocatable.count != 0 ? &node->status.allocatable
								    : &node->status.capacity,
				&arena);
			version.amounts = share_amounts(history,
				read_amounts(
					history, &allocatable, allocatable.allowed_pod_number));
			bt_arena_finish(&arena);
		}
		bt_vec_push(&history->versions, version);
		bt_map_insert(&history->current,
			bt_object_hash(new_object->kind, bt_object_namespace(new_object),
				bt_object_name(new_object)),
			id);
	}
	enum bt_kind kind = new_object != NULL ? new_object->kind : old_object->kind;
	if (kind == BT_KIND_NODE) {
		history->nodes_revision = history->revision;
	}
}

int bt_history_take_files(
	struct bt_history *history, struct bt_manifests *manifests, struct berth_error *err)
{
	struct bt_expansion expansion = {.cluster = manifests};
	history->files = manifests;
	history->to_ns = history->from_ns;
	int result = bt_expansion_open(&expansion, err);
	for (uint32_t i = 0; i < manifests->objects.count && result == 0; i++) {
		const struct bt_manifests_object *entry = &expansion.cluster->objects.items[i];
		if (entry->kind == BT_KIND_POD) {
			/* A pod that has a node gets the API server's defaults. */
			const struct bt_pod *own = bt_object_value(entry->object, BT_KIND_POD);
			struct bt_pod pod = bt_manifests_pod(entry);
			const struct bt_pod_spec *spec = &own->spec;
			result = bt_pod_is_assigned(own)
				? bt_expansion_admit(&expansion, i, &pod, &spec, err)
				: 0;
			if (result == 0 && spec != &own->spec) {
				pod.spec = *spec;
				pod.spec.node_name = own->spec.node_name;
				bt_manifests_exchange(
					expansion.cluster, i, bt_object_create(BT_KIND_POD, &pod));
			}
		}
		bt_history_take(
			history, history->from_ns, NULL, manifests->objects.items[i].object);
	}
	bt_expansion_finish(&expansion);
	return result;
}

/** --- recordings --- */

static int apply_line(struct bt_history *history, int64_t now_ns,
	const struct bt_recording_line *line, struct berth_error *err)
{
	struct bt_object *object = NULL;
	uint32_t id = find_current(history, line->kind, line->namespace_, line->name);
	struct bt_object *old = id != BT_HISTORY_NONE ? history->versions.items[id].object : NULL;
	int result = 0;
	if (line->event == BT_RECORDING_ADD) {
		result = bt_object_decode(line->json, &object, err);
		if (result == 0 && line->kind == BT_KIND_POD) {
			/* Recordings made by other programs may lack the API server's defaults. */
			struct bt_pod pod =
				*(const struct bt_pod *)bt_object_value(object, BT_KIND_POD);
			struct bt_arena arena = {0};
			bt_pod_spec_default(&pod.spec, true, &arena);
			bt_pod_default_affinity(&pod, &arena);
			struct bt_object *completed = bt_object_create(BT_KIND_POD, &pod);
			bt_object_release(object);
			object = completed;
			bt_arena_finish(&arena);
		}
	} else if (old == NULL) {
		result = bt_error_set(err, BERTH_ERR_INVALID, "%s %.*s: is not there",
			bt_kind_info(line->kind)->name, BT_STR_ARG(line->name));
	} else if (line->event == BT_RECORDING_CHANGE) {
		result = bt_object_merge_patch(
			line->kind, unpack(old)->value, line->json, &object, err);
		allow_pack(old);
	}
	if (result == 0) {
		bt_history_take(history, now_ns, old, object);
	}
	bt_object_release(object);
	return result;
}

static int read_recording(
	struct bt_history *history, const char *path, bool is_first, struct berth_error *err)
{
	struct bt_recording_reader *reader;
	struct bt_recording_line line;
	int result = bt_recording_open(path, &reader, err);
	if (result < 0) {
		return result;
	}
	int64_t start_ns = reader->header.start_ns;
	if (is_first) {
		history->from_ns = start_ns;
	}
	while ((result = bt_recording_next(reader, &line, err)) > 0) {
		/* Objects at the start of a later part are known from the previous part. */
		bool is_known = line.is_start && !is_first;
		history->to_ns = start_ns + line.time_ns;
		if (line.event <= BT_RECORDING_DELETE && !is_known) {
			result = apply_line(history, history->to_ns, &line, err);
			if (result < 0) {
				struct bt_strbuf place = {0};
				bt_recording_describe(reader, &place);
				result = bt_error_wrap(err, result, "%s", bt_strbuf_c(&place));
				bt_strbuf_finish(&place);
				break;
			}
		}
	}
	bt_recording_close(reader);
	return result;
}

int bt_history_read_recordings(
	struct bt_history *history, const struct bt_arguments *paths, struct berth_error *err)
{
	int result = 0;
	for (uint32_t i = 0; i < paths->list.count && result == 0; i++) {
		result = read_recording(history, paths->list.items[i], i == 0, err);
	}
	return result;
}

void bt_history_remove_before(struct bt_history *history, int64_t before_ns)
{
	uint32_t kept = 0;
	uint32_t past = 0;
	if (history->from_ns < before_ns) {
		history->from_ns = before_ns;
	}
	BT_LOWER_BOUND(past, history->rejected_ns.count, middle,
		history->rejected_ns.items[middle] < before_ns);
	if (past > history->rejected_ns.count / 4 + 1000) {
		history->rejected_ns.count -= past;
		memmove(history->rejected_ns.items, &history->rejected_ns.items[past],
			history->rejected_ns.count * sizeof(history->rejected_ns.items[0]));
	}
	/* Each pass visits all versions, so run it only if many have ended. */
	if (history->ended_count < history->versions.count / 4 + 1000) {
		return;
	}
	bt_map_reset(&history->current);
	history->ended_count = 0;
	for (uint32_t i = 0; i < history->versions.count; i++) {
		struct bt_version *version = &history->versions.items[i];
		if (version->to_ns < before_ns) {
			bt_object_release(unpack(version->object));
			continue;
		}
		if (version->to_ns != INT64_MAX) {
			history->ended_count++;
		} else {
			bt_map_insert(&history->current,
				bt_object_hash(version->object->kind,
					bt_object_namespace(version->object),
					bt_object_name(version->object)),
				kept);
		}
		history->versions.items[kept++] = *version;
	}
	history->versions.count = kept;
}

bool bt_version_holds(const struct bt_version *version, int64_t at_ns)
{
	return version->from_ns <= at_ns && at_ns < version->to_ns;
}

int bt_history_fill(const struct bt_history *history, int64_t at_ns, struct bt_manifests *cluster,
	struct berth_error *err)
{
	int result = 0;
	if (history->files != NULL) {
		bt_manifests_copy(history->files, NULL, cluster);
		return 0;
	}
	uint32_t source = bt_manifests_add_source(cluster, "the cluster");
	for (uint32_t i = 0; i < history->versions.count && result == 0; i++) {
		const struct bt_version *version = &history->versions.items[i];
		if (bt_version_holds(version, at_ns)) {
			struct bt_object *object = bt_object_share(unpack(version->object));
			allow_pack(version->object);
			result = bt_manifests_take_live(cluster, source, object, err);
		}
	}
	return result;
}
