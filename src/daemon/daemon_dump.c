/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "daemon/daemon_dump.h"

#include "base/log.h"
#include "base/vec.h"
#include "state/node_info.h"

struct texts {
	BT_VEC(struct bt_str) list;
	struct bt_arena arena; /* for texts of objects that exist only during the visit */
};

static bool add_name(void *context, void *item)
{
	struct texts *texts = context;
	const struct bt_object *object = item;
	bt_vec_push(&texts->list, bt_arena_str(&texts->arena, object->meta->name));
	return true;
}

static bool add_uid(void *context, void *item)
{
	struct texts *texts = context;
	const struct bt_object *object = item;
	bt_vec_push(&texts->list, bt_arena_str(&texts->arena, object->meta->uid));
	return true;
}

static bool add_queued(void *context, const struct bt_queue_entry *entry)
{
	struct texts *texts = context;
	bt_vec_push(&texts->list, entry->pod.uid);
	return true;
}

static void sort(struct texts *texts)
{
	if (texts->list.count != 0) {
		qsort(texts->list.items, texts->list.count, sizeof(*texts->list.items),
			bt_str_compare_qsort);
	}
}

/**
 * out_rest: the texts of `from` without those of `what`, both sorted. A text that occurs m times in
 * `from` and n < m times in `what` is there m - n times.
 */
static void subtract(const struct texts *from, const struct texts *what, struct texts *out_rest)
{
	uint32_t other = 0;
	for (uint32_t i = 0; i < from->list.count; i++) {
		struct bt_str text = from->list.items[i];
		while (other < what->list.count &&
			bt_str_compare(what->list.items[other], text) < 0) {
			other++;
		}
		if (other < what->list.count && bt_str_equal(what->list.items[other], text)) {
			other++;
		} else {
			bt_vec_push(&out_rest->list, text);
		}
	}
}

/** api and cache are emptied. */
static void report(
	struct texts *api, struct texts *cache, const char *missed_key, const char *redundant_key)
{
	struct texts missed = {0};
	struct texts redundant = {0};
	sort(api);
	sort(cache);
	subtract(api, cache, &missed);
	subtract(cache, api, &redundant);
	if (missed.list.count != 0 || redundant.list.count != 0) {
		BT_LOG_INFO(0, "Cache mismatch",
			BT_LOG_STRS(missed_key, missed.list.items, missed.list.count),
			BT_LOG_STRS(redundant_key, redundant.list.items, redundant.list.count));
	}
	bt_vec_finish(&missed.list);
	bt_vec_finish(&redundant.list);
	bt_vec_finish(&api->list);
	bt_vec_finish(&cache->list);
	bt_arena_finish(&api->arena);
	bt_arena_finish(&cache->arena);
}

static void list_known(const struct bt_reflector *reflector,
	bool (*visit)(void *context, void *item), struct texts *texts)
{
	if (reflector != NULL) {
		bt_reflector_for_each(reflector, visit, texts);
	}
}

static void compare_pods(
	const struct bt_state *state, struct bt_queue *queue, const struct bt_reflector *known)
{
	struct texts api = {0};
	struct texts cache = {0};
	list_known(known, add_uid, &api);
	for (uint32_t id = 0; id < state->pods.records.count; id++) {
		const struct bt_pod_record *pod = bt_state_pod_at(state, id);
		if (pod->in_use && !pod->snapshot_only) {
			bt_vec_push(&cache.list, bt_pod_record_uid(pod));
		}
	}
	for (enum bt_queue_place place = 0; place < BT_QUEUE__PLACES; place++) {
		bt_queue_for_each(queue, place, add_queued, &cache);
	}
	report(&api, &cache, "missedPods", "redundantPods");
}

void bt_daemon_compare_cache(struct bt_scheduler *scheduler, const struct bt_reflector *nodes,
	const struct bt_reflector *pods)
{
	const struct bt_state *state = bt_scheduler_engine(scheduler)->state;
	BT_LOG_INFO_PLAIN(3, "Cache comparer started");
	struct texts api = {0};
	struct texts cache = {0};
	list_known(nodes, add_name, &api);
	for (uint32_t slot = 0; slot < state->nodes.slot_count; slot++) {
		if (state->nodes.rows[slot].in_cache) {
			bt_vec_push(&cache.list, bt_node_table_name(&state->nodes, slot));
		}
	}
	report(&api, &cache, "missedNodes", "redundantNodes");
	compare_pods(state, bt_scheduler_queue(scheduler), pods);
	BT_LOG_INFO_PLAIN(3, "Cache comparer finished");
}

struct dump {
	struct bt_scheduler *scheduler;
	struct bt_strbuf *out;
	struct bt_strbuf lines;
	uint32_t count;
};

static void write_pod(struct bt_strbuf *out, const struct bt_pod_info *pod, struct bt_str phase)
{
	bt_strbuf_printf(out,
		"name: %.*s, namespace: %.*s, uid: %.*s, phase: %.*s, nominated node: %.*s\n",
		BT_STR_ARG(pod->name), BT_STR_ARG(pod->namespace_), BT_STR_ARG(pod->uid),
		BT_STR_ARG(phase), BT_STR_ARG(pod->nominated_node_name));
}

static struct bt_str phase_of(struct bt_scheduler *scheduler, const struct bt_pod_info *pod)
{
	const struct bt_pod *known =
		bt_scheduler_find_same_pod(scheduler, pod->namespace_, pod->name, pod->uid);
	return known != NULL ? known->status.phase : BT_STR("");
}

static bool write_nominated(void *context, const struct bt_pod_info *pod)
{
	struct dump *dump = context;
	write_pod(&dump->lines, pod, phase_of(dump->scheduler, pod));
	dump->count++;
	return true;
}

static bool write_queued(void *context, const struct bt_queue_entry *entry)
{
	struct dump *dump = context;
	write_pod(dump->out, &entry->pod, phase_of(dump->scheduler, &entry->pod));
	return true;
}

/** As Go prints the resource: "&{MilliCPU:1 ... ScalarResources:map[a:1 b:2]}". */
static void write_record(struct bt_strbuf *out, const struct bt_node_info *info, bool requested)
{
	const struct bt_node_table *nodes = &info->state->nodes;
	BT_VEC(struct bt_scalar_resource) scalars = {0};
	for (uint32_t i = 0; i < nodes->scalars.count; i++) {
		int64_t value = requested ? bt_node_info_scalar_requested(info, i)
					  : bt_node_info_scalar_allocatable(info, i);
		if (value != 0) {
			struct bt_scalar_resource scalar = {
				bt_symbol_text(nodes->symbols, nodes->scalars.items[i].name),
				value};
			bt_vec_push(&scalars, scalar);
		}
	}
	if (scalars.count != 0) {
		qsort(scalars.items, scalars.count, sizeof(*scalars.items), bt_str_compare_qsort);
	}
	bt_strbuf_printf(out,
		"&{MilliCPU:%lld Memory:%lld EphemeralStorage:%lld AllowedPodNumber:%lld "
		"ScalarResources:map[",
		(long long)(requested ? info->requested_cpu_milli : info->allocatable_cpu_milli),
		(long long)(requested ? info->requested_memory_bytes
				      : info->allocatable_memory_bytes),
		(long long)(requested ? info->requested_ephemeral_bytes
				      : info->allocatable_ephemeral_bytes),
		(long long)(requested ? 0 : info->allocatable_pods));
	for (uint32_t i = 0; i < scalars.count; i++) {
		bt_strbuf_printf(out, "%s%.*s:%lld", i != 0 ? " " : "",
			BT_STR_ARG(scalars.items[i].name), (long long)scalars.items[i].value);
	}
	bt_strbuf_append_c(out, "]}");
	bt_vec_finish(&scalars);
}

static void write_node(struct bt_scheduler *scheduler, uint32_t slot, struct bt_strbuf *out)
{
	const struct bt_engine *engine = bt_scheduler_engine(scheduler);
	struct dump nominated = {.scheduler = scheduler};
	struct bt_node_info info;
	bt_node_info_init(&info, engine->state, slot);
	uint32_t count = bt_node_info_pod_count(&info);
	bt_strbuf_printf(out, "Node name: %.*s\nDeleted: %s\nRequested Resources: ",
		BT_STR_ARG(bt_node_info_name(&info)),
		engine->state->nodes.rows[slot].has_node ? "false" : "true");
	write_record(out, &info, true);
	bt_strbuf_append_c(out, "\nAllocatable Resources:");
	write_record(out, &info, false);
	bt_strbuf_printf(out, "\nScheduled Pods(number: %u):\n", count);
	for (uint32_t i = 0; i < count; i++) {
		struct bt_pod_info pod;
		bt_node_info_pod_at(&info, i, &pod);
		write_pod(out, &pod, phase_of(scheduler, &pod));
	}
	bt_nominator_for_node(
		&engine->nominator, bt_node_info_name(&info), write_nominated, &nominated);
	if (nominated.count != 0) {
		bt_strbuf_printf(out, "Nominated Pods(number: %u):\n%s", nominated.count,
			bt_strbuf_c(&nominated.lines));
	}
	bt_strbuf_finish(&nominated.lines);
}

/** One text per cached node, separated by empty lines. */
static void write_nodes(struct bt_scheduler *scheduler, struct bt_strbuf *out)
{
	const struct bt_node_table *nodes = &bt_scheduler_engine(scheduler)->state->nodes;
	bool first = true;
	for (uint32_t slot = 0; slot < nodes->slot_count; slot++) {
		if (nodes->rows[slot].in_cache) {
			bt_strbuf_append_c(out, first ? "" : "\n\n");
			write_node(scheduler, slot, out);
			first = false;
		}
	}
}

void bt_daemon_dump_cache(struct bt_scheduler *scheduler)
{
	struct bt_strbuf nodes = {0};
	struct bt_strbuf summary = {0};
	struct bt_strbuf pods = {0};
	write_nodes(scheduler, &nodes);
	bt_queue_summary(bt_scheduler_queue(scheduler), &summary);
	/* Writes a line per queued pod. */
	struct dump dump = {.scheduler = scheduler, .out = &pods};
	for (enum bt_queue_place place = 0; place < BT_QUEUE__PLACES; place++) {
		bt_queue_for_each(bt_scheduler_queue(scheduler), place, write_queued, &dump);
	}
	BT_LOG_INFO(0, "Dump of cached NodeInfo", BT_LOG_STR("nodes", bt_strbuf_str(&nodes)));
	BT_LOG_INFO(0, "Dump of scheduling queue", BT_LOG_STR("summary", bt_strbuf_str(&summary)),
		BT_LOG_STR("pods", bt_strbuf_str(&pods)));
	bt_strbuf_finish(&nodes);
	bt_strbuf_finish(&summary);
	bt_strbuf_finish(&pods);
}
