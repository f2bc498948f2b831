/* SPDX-License-Identifier: Apache-2.0 */
/** Compares the scheduler's cache, queue and memory with the store. */
#include "api/identity.h"
#include "soak/check.h"
#include "state/domain_counter.h"
#include "state/pod_groups.h"
#include "validate/validate.h"

static const struct bt_str everywhere = {NULL, 0};

/** --- cache --- */

static bool check_amount(struct bt_strbuf *complaint, struct bt_str node_name, const char *what,
	int64_t cached, int64_t real)
{
	if (cached == real) {
		return true;
	}
	bt_strbuf_printf(complaint, "cache: node %.*s: %s is %lld, should be %lld",
		BT_STR_ARG(node_name), what, (long long)cached, (long long)real);
	return false;
}

static bool same_map(const struct bt_str_map *a, const struct bt_str_map *b)
{
	bool same = a->count == b->count;
	for (uint32_t i = 0; same && i < a->count; i++) {
		same = bt_str_equal(a->items[i].key, b->items[i].key) &&
			bt_str_equal(a->items[i].value, b->items[i].value);
	}
	return same;
}

static bool check_node(const struct bt_state *state, const struct bt_sim_view *view,
	const struct bt_node *node, struct bt_strbuf *complaint)
{
	const struct bt_node_table *nodes = &state->nodes;
	struct bt_str name = node->metadata.name;
	uint32_t slot = bt_node_table_find(nodes, name);
	if (slot == BT_SLOT_NONE || !nodes->rows[slot].has_node) {
		bt_strbuf_printf(complaint, "cache: node %.*s is missing", BT_STR_ARG(name));
		return false;
	}
	if (!same_map(&nodes->rows[slot].labels, &node->metadata.labels)) {
		bt_strbuf_printf(complaint, "cache: node %.*s has other labels", BT_STR_ARG(name));
		return false;
	}
	struct bt_str pods = BT_STR("pods");
	struct bt_str cpu = BT_STR("cpu");
	struct bt_str memory = BT_STR("memory");
	return check_amount(complaint, name, "unschedulable", nodes->unschedulable[slot] != 0,
		       node->spec.unschedulable) &&
		check_amount(complaint, name, "number of taints",
			bt_node_table_taints(nodes, slot)->count, node->spec.taints.count) &&
		check_amount(complaint, name, "allocatable cpu",
			nodes->allocatable[BT_CPU_MILLI][slot], bt_sim_node_amount(node, cpu)) &&
		check_amount(complaint, name, "allocatable memory",
			nodes->allocatable[BT_MEMORY_BYTES][slot],
			bt_sim_node_amount(node, memory)) &&
		check_amount(complaint, name, "number of pods", nodes->pod_count[slot],
			bt_sim_view_used(view, name, pods)) &&
		check_amount(complaint, name, "requested cpu", nodes->requested[BT_CPU_MILLI][slot],
			bt_sim_view_used(view, name, cpu)) &&
		check_amount(complaint, name, "requested memory",
			nodes->requested[BT_MEMORY_BYTES][slot],
			bt_sim_view_used(view, name, memory));
}

static bool check_pod(
	const struct bt_state *state, const struct bt_pod *pod, struct bt_strbuf *complaint)
{
	uint32_t id = bt_state_find_pod(state, pod->metadata.uid);
	const char *problem = NULL;
	if (id == BT_POD_NONE) {
		problem = "is missing";
	} else {
		const struct bt_pod_record *record = bt_state_pod_at(state, id);
		if (record->assumed) {
			problem = "is only assumed";
		} else if (!bt_str_equal(bt_node_table_name(&state->nodes, record->node),
				   pod->spec.node_name)) {
			problem = "is on another node";
		} else if (!bt_str_equal(bt_pod_record_name(record), pod->metadata.name) ||
			record->priority != bt_pod_priority(pod) ||
			record->terminating != (pod->metadata.deletion_timestamp != NULL) ||
			!same_map(&state->label_sets.sets.items[record->label_set].labels,
				&pod->metadata.labels)) {
			problem = "has another name, priority, end or labels";
		}
	}
	if (problem == NULL) {
		return true;
	}
	bt_strbuf_printf(complaint, "cache: pod %.*s/%.*s (uid %.*s) %s",
		BT_STR_ARG(pod->metadata.namespace_), BT_STR_ARG(pod->metadata.name),
		BT_STR_ARG(pod->metadata.uid), problem);
	return false;
}

static bool check_others(const struct bt_state *state, struct bt_object_store *objects,
	enum bt_kind kind, struct bt_strbuf *complaint)
{
	const struct bt_object_meta *meta;
	uint32_t cursor = 0;
	uint32_t count = bt_object_store_count(objects, kind);
	if (count != bt_object_store_count(&state->objects, kind)) {
		bt_strbuf_printf(complaint, "cache: %u objects of kind %s, should be %u",
			bt_object_store_count(&state->objects, kind), bt_kind_info(kind)->name,
			count);
		return false;
	}
	while ((meta = bt_object_store_next(objects, kind, everywhere, &cursor)) != NULL) {
		const struct bt_object_meta *cached =
			bt_object_store_find(&state->objects, kind, meta->namespace_, meta->name);
		if (cached == NULL ||
			!bt_str_equal(cached->resource_version, meta->resource_version)) {
			bt_strbuf_printf(complaint, "cache: %s %.*s is missing or stale",
				bt_kind_info(kind)->name, BT_STR_ARG(meta->name));
			return false;
		}
	}
	return true;
}

static bool check_counts(const struct bt_state *state, const struct bt_sim_view *view,
	struct bt_object_store *objects, struct bt_strbuf *complaint)
{
	uint32_t nodes = 0;
	for (uint32_t slot = 0; slot < state->nodes.slot_count; slot++) {
		nodes += state->nodes.rows[slot].has_node;
	}
	if (nodes != bt_object_store_count(objects, BT_KIND_NODE)) {
		bt_strbuf_printf(complaint, "cache: %u nodes, should be %u", nodes,
			bt_object_store_count(objects, BT_KIND_NODE));
		return false;
	}
	if (state->pods.count != view->placed.count) {
		bt_strbuf_printf(complaint, "cache: %u pods, should be %u", state->pods.count,
			view->placed.count);
		return false;
	}
	return true;
}

static bool check_all(const struct bt_state *state, const struct bt_sim_view *view,
	struct bt_object_store *objects, struct bt_strbuf *complaint)
{
	const struct bt_node *node;
	uint32_t cursor = 0;
	for (uint32_t i = 0; i < view->placed.count; i++) {
		if (!check_pod(state, view->placed.items[i].pod, complaint)) {
			return false;
		}
	}
	if (!check_counts(state, view, objects, complaint)) {
		return false;
	}
	while ((node = bt_object_store_next(objects, BT_KIND_NODE, everywhere, &cursor)) != NULL) {
		if (!check_node(state, view, node, complaint)) {
			return false;
		}
	}
	for (uint32_t kind = 0; kind < BT_KIND__COUNT; kind++) {
		if (kind != BT_KIND_POD && kind != BT_KIND_NODE &&
			!check_others(state, objects, (enum bt_kind)kind, complaint)) {
			return false;
		}
	}
	return bt_state_validate(state, complaint);
}

bool bt_sim_check_cache(
	const struct bt_state *state, struct bt_object_store *objects, struct bt_strbuf *complaint)
{
	struct bt_sim_view view;
	bt_sim_view_init(&view, objects);
	bool good = check_all(state, &view, objects, complaint);
	bt_sim_view_finish(&view);
	return good;
}

/** --- queue and nominations --- */

struct queue_check {
	struct bt_object_store *objects;
	struct bt_strbuf *complaint;
	bool good;
};

static const struct bt_pod *find_waiting(struct bt_object_store *objects, struct bt_str namespace_,
	struct bt_str name, struct bt_str uid)
{
	const struct bt_pod *pod = bt_object_store_find(objects, BT_KIND_POD, namespace_, name);
	return pod != NULL && bt_str_equal(pod->metadata.uid, uid) &&
			pod->spec.node_name.length == 0 && !bt_pod_is_terminal(pod)
		? pod
		: NULL;
}

static bool check_entry(void *context, const struct bt_queue_entry *entry)
{
	struct queue_check *check = context;
	const struct bt_pod *pod = find_waiting(
		check->objects, entry->pod.namespace_, entry->pod.name, entry->pod.uid);
	if (pod == NULL ||
		!bt_str_equal(
			pod->metadata.resource_version, entry->object->meta->resource_version)) {
		bt_strbuf_printf(check->complaint, "queue: pod %.*s/%.*s (uid %.*s) is %s",
			BT_STR_ARG(entry->pod.namespace_), BT_STR_ARG(entry->pod.name),
			BT_STR_ARG(entry->pod.uid), pod == NULL ? "not pending" : "stale");
		check->good = false;
	}
	return check->good;
}

static bool check_nominations(const struct bt_nominator *nominator, struct bt_object_store *objects,
	struct bt_strbuf *complaint)
{
	const struct bt_symbol_table *symbols = &nominator->state->symbols;
	for (uint32_t i = 0; i < nominator->nominations.count; i++) {
		const struct bt_nomination *nomination = &nominator->nominations.items[i];
		if (bt_sym_is_none(nomination->uid)) {
			continue;
		}
		struct bt_str name = bt_symbol_text(symbols, nomination->name);
		if (find_waiting(objects, bt_symbol_text(symbols, nomination->namespace_), name,
			    bt_symbol_text(symbols, nomination->uid)) == NULL) {
			bt_strbuf_printf(complaint,
				"nominations: pod %.*s is nominated, but not pending",
				BT_STR_ARG(name));
			return false;
		}
	}
	return true;
}

bool bt_sim_check_queue(struct bt_queue *queue, const struct bt_nominator *nominator,
	struct bt_object_store *objects, struct bt_strbuf *complaint)
{
	struct queue_check check = {objects, complaint, true};
	for (uint32_t place = 0; check.good && place < BT_QUEUE__PLACES; place++) {
		bt_queue_for_each(queue, (enum bt_queue_place)place, check_entry, &check);
	}
	if (check.good && bt_queue_in_flight_count(queue) != 0) {
		bt_strbuf_printf(complaint, "queue: %u pods are in flight, should be none",
			bt_queue_in_flight_count(queue));
		check.good = false;
	}
	const char *reason;
	if (check.good && !bt_queue_validate(queue, &reason)) {
		bt_strbuf_printf(complaint, "queue: %s", reason);
		check.good = false;
	}
	return check.good && check_nominations(nominator, objects, complaint);
}

/** --- time --- */

struct age_check {
	int64_t now_ns;
	struct bt_strbuf *complaint;
	bool good;
};

static bool check_age(void *context, const struct bt_queue_entry *entry)
{
	struct age_check *check = context;
	int64_t waited_ns = check->now_ns - entry->timestamp_ns;
	if (!bt_queue_entry_is_gated(entry) && waited_ns > BT_SIM_PATIENCE_NS) {
		bt_strbuf_printf(check->complaint,
			"queue: pod %.*s/%.*s (uid %.*s) was not tried for %lld seconds",
			BT_STR_ARG(entry->pod.namespace_), BT_STR_ARG(entry->pod.name),
			BT_STR_ARG(entry->pod.uid), (long long)(waited_ns / 1000000000));
		check->good = false;
	}
	return check->good;
}

bool bt_sim_check_ages(struct bt_queue *queue, int64_t now_ns, struct bt_strbuf *complaint)
{
	struct age_check check = {now_ns, complaint, true};
	for (uint32_t place = 0; check.good && place < BT_QUEUE__PLACES; place++) {
		bt_queue_for_each(queue, (enum bt_queue_place)place, check_age, &check);
	}
	return check.good;
}

/** --- memory --- */

/** The limits of state/domain_counter.h and dra/allocation_columns.c, and a little more. */
#define CACHE_BYTES_MAX ((size_t)(64 + 16 + 1) << 20)

struct bt_sim_memory bt_sim_memory_of(const struct bt_state *state)
{
	struct bt_sim_memory memory = {
		.state_bytes = bt_state_memory_bytes(state) - bt_state_cache_bytes(state),
		.cache_bytes = bt_state_cache_bytes(state),
		.symbols = state->symbols.entries.count - state->symbols.free_ids.count,
		.shapes = state->shapes.shapes.count - state->shapes.shapes.free_ids.count,
		.label_sets = state->label_sets.sets.count - state->label_sets.sets.free_ids.count,
	};
	return memory;
}

bool bt_sim_check_empty(const struct bt_state *state, struct bt_queue *queue,
	const struct bt_nominator *nominator, struct bt_strbuf *complaint)
{
	uint32_t queued = bt_queue_in_flight_count(queue);
	for (uint32_t place = 0; place < BT_QUEUE__PLACES; place++) {
		queued += bt_queue_count(queue, (enum bt_queue_place)place);
	}
	uint32_t groups = state->pod_groups == NULL
		? 0
		: state->pod_groups->groups.count - state->pod_groups->groups.free_ids.count;
	if (state->pods.count == 0 && state->node_entry_count == 0 && queued == 0 &&
		nominator->nominations.map.count == 0 && groups == 0) {
		return true;
	}
	bt_strbuf_printf(complaint,
		"memory: every object is gone, but there are %u pods, %u node entries, %u queued "
		"pods, %u nominations, %u groups",
		state->pods.count, state->node_entry_count, queued,
		nominator->nominations.map.count, groups);
	return false;
}

static bool grows(const char *what, size_t before, size_t after, struct bt_strbuf *complaint)
{
	if (after <= before + before / 2 + 256) {
		return false;
	}
	bt_strbuf_printf(complaint, "memory: %s of an empty cluster grew from %zu to %zu", what,
		before, after);
	return true;
}

bool bt_sim_check_memory(
	const struct bt_sim_memory *rounds, uint32_t count, struct bt_strbuf *complaint)
{
	struct bt_sim_memory halves[2] = {0};
	if (count != 0 && rounds[count - 1].cache_bytes > CACHE_BYTES_MAX) {
		bt_strbuf_printf(complaint, "memory: the caches hold %zu bytes",
			rounds[count - 1].cache_bytes);
		return false;
	}
	if (count < 4) {
		return true;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct bt_sim_memory *half = &halves[i >= count / 2];
		const struct bt_sim_memory *round = &rounds[i];
		half->state_bytes = round->state_bytes > half->state_bytes ? round->state_bytes
									   : half->state_bytes;
		half->symbols = round->symbols > half->symbols ? round->symbols : half->symbols;
		half->shapes = round->shapes > half->shapes ? round->shapes : half->shapes;
		half->label_sets =
			round->label_sets > half->label_sets ? round->label_sets : half->label_sets;
	}
	return !grows("bytes", halves[0].state_bytes, halves[1].state_bytes, complaint) &&
		!grows("symbols", halves[0].symbols, halves[1].symbols, complaint) &&
		!grows("shapes", halves[0].shapes, halves[1].shapes, complaint) &&
		!grows("label sets", halves[0].label_sets, halves[1].label_sets, complaint);
}
