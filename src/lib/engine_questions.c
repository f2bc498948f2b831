/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine tells about pods and nodes. */
#include "lib/convert.h"
#include "lib/engine.h"

const char *berth_pod_place_string(enum berth_pod_place place)
{
	switch (place) {
	case BERTH_PLACE_UNKNOWN:
		return "unknown";
	case BERTH_PLACE_ACTIVE:
		return "active";
	case BERTH_PLACE_BACKOFF:
		return "backoff";
	case BERTH_PLACE_UNSCHEDULABLE:
		return "unschedulable";
	case BERTH_PLACE_GATED:
		return "gated";
	case BERTH_PLACE_BINDING:
		return "binding";
	case BERTH_PLACE_BOUND:
		return "bound";
	}
	return "";
}

static enum berth_pod_place place_of(const struct bt_queue_entry *entry)
{
	switch (entry->place) {
	case BT_QUEUE_ACTIVE:
		return BERTH_PLACE_ACTIVE;
	case BT_QUEUE_BACKOFF:
	case BT_QUEUE_ERROR_BACKOFF:
		return BERTH_PLACE_BACKOFF;
	case BT_QUEUE_UNSCHEDULABLE:
		return bt_queue_entry_is_gated(entry) ? BERTH_PLACE_GATED
						      : BERTH_PLACE_UNSCHEDULABLE;
	case BT_QUEUE_OUT:
		break;
	}
	return BERTH_PLACE_UNKNOWN;
}

static void describe_queued(struct berth_engine *engine, const struct bt_queue_entry *entry,
	struct bt_arena *arena, struct berth_pod_wait *out_wait)
{
	const struct bt_queue *queue = bt_scheduler_queue(engine->scheduler);

	out_wait->place = place_of(entry);
	out_wait->attempts = entry->attempts;
	out_wait->timestamp_ns = entry->timestamp_ns;
	if (out_wait->place == BERTH_PLACE_BACKOFF) {
		(void)bt_queue_backoff_until(queue, entry, &out_wait->backoff_until_ns);
	}
	if (out_wait->place == BERTH_PLACE_GATED) {
		out_wait->gated_by = bt_arena_str(
			arena, bt_queue_rejector_name(queue, entry->profile, entry->gating_plugin));
	}
	struct bt_rejectors set = bt_queue_entry_rejectors(entry);
	struct berth_str *names = BT_ARENA_NEW_ARRAY(arena, struct berth_str, BT_REJECTOR__COUNT);
	uint32_t count = 0;

	for (uint32_t i = 0; entry->profile != BT_QUEUE_NONE && i < BT_REJECTOR__COUNT; i++) {
		if (bt_rejectors_has(&set, i)) {
			names[count++] = bt_arena_str(
				arena, bt_queue_rejector_name(queue, entry->profile, i));
		}
	}
	out_wait->rejected_by = names;
	out_wait->rejected_by_count = count;
}

/** Not queued: bound, assumed on its node, or nothing of this scheduler. */
static void describe_placed(struct berth_engine *engine, const struct bt_object *pod,
	struct bt_arena *arena, struct berth_pod_wait *out_wait)
{
	const struct bt_state *state = bt_scheduler_engine(engine->scheduler)->state;
	uint32_t id = bt_state_find_pod(state, pod->meta->uid);

	if (id == BT_POD_NONE) {
		return;
	}
	const struct bt_pod_record *record = bt_state_pod_at(state, id);
	out_wait->place = record->assumed ? BERTH_PLACE_BINDING : BERTH_PLACE_BOUND;
	out_wait->node_name = bt_arena_str(arena, bt_node_table_name(&state->nodes, record->node));
}

void berth_engine_pod_wait(struct berth_engine *engine, struct berth_str pod_namespace,
	struct berth_str pod_name, struct berth_arena *outside, struct berth_pod_wait *out_wait)
{
	struct bt_arena *arena = bt_arena_of(outside);
	const struct bt_object *pod =
		bt_scheduler_find_pod(engine->scheduler, pod_namespace, pod_name);
	const struct bt_queue_entry *entry =
		bt_queue_find(bt_scheduler_queue(engine->scheduler), pod_namespace, pod_name);
	const char *message = bt_lib_failure_message(engine, pod_namespace, pod_name);

	*out_wait = (struct berth_pod_wait){
		.timestamp_ns = BERTH_TIME_UNSET, .backoff_until_ns = BERTH_TIME_UNSET};
	if (entry != NULL) {
		describe_queued(engine, entry, arena, out_wait);
	} else if (pod != NULL) {
		describe_placed(engine, pod, arena, out_wait);
	}
	out_wait->message = bt_arena_str(arena, bt_str_from(message != NULL ? message : ""));
}

/** A walk over the queue. */
struct walk {
	berth_queued_pod_visit_fn visit;
	void *context;
	bool ended;
};

static bool visit_entry(void *context, const struct bt_queue_entry *entry)
{
	struct walk *walk = context;
	struct berth_queued_pod pod = {
		.pod = berth_const_pod_info_of(&entry->pod),
		.timestamp_ns = entry->timestamp_ns,
		.attempts = entry->attempts,
		.initial_attempt_timestamp_ns = entry->initial_attempt_ns,
	};

	walk->ended = !walk->visit(walk->context, &pod, place_of(entry));
	return !walk->ended;
}

void berth_engine_for_each_queued(
	const struct berth_engine *engine, berth_queued_pod_visit_fn visit, void *context)
{
	struct bt_queue *queue = bt_scheduler_queue(engine->scheduler);
	struct walk walk = {visit, context, false};

	for (int place = 0; place < BT_QUEUE__PLACES && !walk.ended; place++) {
		bt_queue_for_each(queue, (enum bt_queue_place)place, visit_entry, &walk);
	}
}

uint32_t berth_engine_queued_count(const struct berth_engine *engine, enum berth_pod_place place)
{
	const struct bt_queue *queue = bt_scheduler_queue(engine->scheduler);

	switch (place) {
	case BERTH_PLACE_ACTIVE:
		return bt_queue_pending(queue, BT_QUEUE_GAUGE_ACTIVE);
	case BERTH_PLACE_BACKOFF:
		return bt_queue_pending(queue, BT_QUEUE_GAUGE_BACKOFF);
	case BERTH_PLACE_UNSCHEDULABLE:
		return bt_queue_pending(queue, BT_QUEUE_GAUGE_UNSCHEDULABLE);
	case BERTH_PLACE_GATED:
		return bt_queue_pending(queue, BT_QUEUE_GAUGE_GATED);
	case BERTH_PLACE_UNKNOWN:
	case BERTH_PLACE_BINDING:
	case BERTH_PLACE_BOUND:
		break;
	}
	return 0;
}

uint32_t berth_engine_node_count(const struct berth_engine *engine)
{
	return bt_object_store_count(&engine->nodes, BT_KIND_NODE);
}

const struct berth_node_info *berth_engine_node_info(
	struct berth_engine *engine, struct berth_str node_name, struct berth_arena *arena)
{
	const struct bt_state *state = bt_scheduler_engine(engine->scheduler)->state;
	uint32_t slot = bt_node_table_find(&state->nodes, node_name);

	if (slot == BT_SLOT_NONE || !state->nodes.rows[slot].has_node) {
		return NULL;
	}
	struct bt_node_info *info = BT_ARENA_NEW(bt_arena_of(arena), struct bt_node_info);
	bt_node_info_init(info, state, slot);
	return berth_const_node_info_of(info);
}
