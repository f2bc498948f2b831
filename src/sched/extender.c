/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/extender.h"

#include "base/alloc.h"
#include "base/wrap.h"

/** --- the observer --- */

static void observe_call(const struct bt_extenders *extenders, const struct bt_extender *extender,
	enum bt_extender_verb verb)
{
	const struct bt_extender_observer *observer = &extenders->observer;
	if (observer->called != NULL) {
		observer->called(observer->context, extender->config, verb);
	}
}

/** Report the end of a call to the observer. error "": the call succeeded. */
static void observe_end(const struct bt_extenders *extenders, const struct bt_extender *extender,
	enum bt_extender_verb verb, struct bt_str error)
{
	const struct bt_extender_observer *observer = &extenders->observer;
	if (observer->answered != NULL) {
		observer->answered(observer->context, extender->config, verb, error);
	}
}

static void observe_error(const struct bt_extenders *extenders, const struct bt_extender *extender,
	const char *message, int verbosity, struct bt_str error)
{
	const struct bt_extender_observer *observer = &extenders->observer;
	if (observer->ignored != NULL) {
		observer->ignored(observer->context, extender->config, message, verbosity, error);
	}
}

/** --- create and destroy --- */

struct bt_extender_preemption {
	const struct bt_extenders *extenders;
	const struct bt_extender *extender;
};

static int process_preemption(void *context, const struct bt_pod_info *pod,
	const struct bt_node_victims_list *candidates, struct bt_arena *arena,
	struct bt_node_victims_list *out_answer, struct berth_error *err)
{
	const struct bt_extender_preemption *call = context;
	const struct bt_extender *extender = call->extender;
	struct bt_extender_preemption_args args = {
		.state = call->extenders->state, .pod = pod, .candidates = candidates};

	observe_call(call->extenders, extender, BT_EXTENDER_PREEMPT);
	int result = extender->ops->preempt(extender->context, &args, arena, out_answer, err);
	observe_end(call->extenders, extender, BT_EXTENDER_PREEMPT,
		result < 0 ? bt_str_from(berth_error_message(err)) : BT_STR(""));
	return result;
}

static void report_preemption_ignored(
	void *context, const char *message, int verbosity, struct bt_str error)
{
	const struct bt_extender_preemption *call = context;
	observe_error(call->extenders, call->extender, message, verbosity, error);
}

int bt_extenders_create(const struct bt_config *config, const struct bt_extender_factory *factory,
	const struct bt_state *state, struct bt_extenders *out_extenders, struct berth_error *err)
{
	uint32_t count = config->document.extenders.count;
	struct bt_extenders extenders = {.state = state};

	if (factory == NULL || count == 0) {
		*out_extenders = extenders;
		return 0;
	}
	extenders.items = BT_NEW_ARRAY(struct bt_extender, count);
	/*
	 * Extenders that are not ignorable come first; apart from this, the configured order stays.
	 * Spec 10 section 7.2.
	 */
	struct bt_extender *items = extenders.items;
	uint32_t firm_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct bt_extender extender = {.config = &config->document.extenders.items[i]};
		int result = factory->create(
			factory->context, extender.config, &extender.ops, &extender.context, err);
		if (result < 0) {
			bt_extenders_finish(&extenders);
			return bt_error_wrap(err, result, "couldn't build extenders");
		}
		uint32_t at = extender.config->ignorable ? i : firm_count++;
		memmove(&items[at + 1], &items[at], (i - at) * sizeof(*items));
		items[at] = extender;
		extenders.count++;
	}
	extenders.preemption = BT_NEW_ARRAY(struct bt_preemption_extender, count);
	extenders.preemption_contexts = BT_NEW_ARRAY(struct bt_extender_preemption, count);
	for (uint32_t i = 0; i < count; i++) {
		/* Point to out_extenders, which holds the list from now on. */
		extenders.preemption_contexts[i] =
			(struct bt_extender_preemption){out_extenders, &extenders.items[i]};
		extenders.preemption[i] = (struct bt_preemption_extender){
			.config = extenders.items[i].config,
			.process = process_preemption,
			.ignored = report_preemption_ignored,
			.context = &extenders.preemption_contexts[i],
		};
	}
	*out_extenders = extenders;
	return 0;
}

void bt_extenders_finish(struct bt_extenders *extenders)
{
	for (uint32_t i = 0; i < extenders->count; i++) {
		const struct bt_extender *extender = &extenders->items[i];
		if (extender->ops->destroy != NULL) {
			extender->ops->destroy(extender->context);
		}
	}
	bt_free(extenders->items);
	bt_free(extenders->preemption);
	bt_free(extenders->preemption_contexts);
	*extenders = (struct bt_extenders){0};
}

/** --- interest --- */

bool bt_extenders_match(const struct bt_extenders *extenders, const struct bt_pod_info *pod)
{
	for (uint32_t i = 0; i < extenders->count; i++) {
		if (bt_extender_is_interested(extenders->items[i].config, pod)) {
			return true;
		}
	}
	return false;
}

bool bt_extenders_filter_or_score(const struct bt_extenders *extenders)
{
	for (uint32_t i = 0; i < extenders->count; i++) {
		const struct bt_config_extender *config = extenders->items[i].config;
		if (config->filter_verb.length != 0 || config->prioritize_verb.length != 0) {
			return true;
		}
	}
	return false;
}

/** --- score --- */

static bool scores_pod(const struct bt_extender *extender, const struct bt_pod_info *pod)
{
	return extender->config->prioritize_verb.length != 0 &&
		bt_extender_is_interested(extender->config, pod);
}

void bt_extenders_prioritize(const struct bt_extenders *extenders, const struct bt_pod_info *pod,
	struct bt_arena *arena, const struct bt_extender_candidates *candidates, int64_t *totals,
	bool *scored)
{
	struct bt_extender_args args = {
		extenders->state, pod, candidates->nodes, candidates->count};
	const struct bt_state *state = extenders->state;
	/*
	 * Lists of the candidates with the same slot: first[slot] and next[candidate] are the index
	 * of a candidate + 1; 0 ends a list.
	 */
	uint32_t *first = BT_ARENA_NEW_ARRAY(arena, uint32_t, state->nodes.slot_count);
	uint32_t *next = BT_ARENA_NEW_ARRAY(arena, uint32_t, candidates->count);
	for (uint32_t j = candidates->count; j > 0; j--) {
		uint32_t slot = candidates->slots[j - 1];
		next[j - 1] = first[slot];
		first[slot] = j;
	}
	/* Start the calls that can run in parallel. */
	void **calls = BT_ARENA_NEW_ARRAY(arena, void *, extenders->count);
	for (uint32_t i = 0; i < extenders->count; i++) {
		const struct bt_extender *extender = &extenders->items[i];
		if (extender->ops->begin_prioritize != NULL && scores_pod(extender, pod)) {
			observe_call(extenders, extender, BT_EXTENDER_PRIORITIZE);
			calls[i] = extender->ops->begin_prioritize(extender->context, &args, arena);
		}
	}

	/* End the started calls and make the other calls. */
	for (uint32_t i = 0; i < extenders->count; i++) {
		const struct bt_extender *extender = &extenders->items[i];
		bt_host_priority_list priorities = {0};
		if (!scores_pod(extender, pod)) {
			if (bt_extender_is_interested(extender->config, pod)) {
				/*
				 * An extender without a prioritize verb gives every node the score
				 * 0, which counts as a score.
				 */
				for (uint32_t k = 0; k < candidates->count; k++) {
					scored[k] = true;
				}
			}
			continue;
		}
		struct berth_error err = BERTH_ERROR_INIT;
		int result;
		if (calls[i] != NULL) {
			result = extender->ops->end_prioritize(
				extender->context, calls[i], arena, &priorities, &err);
		} else {
			observe_call(extenders, extender, BT_EXTENDER_PRIORITIZE);
			result = extender->ops->prioritize(
				extender->context, &args, arena, &priorities, &err);
		}
		struct bt_str error = bt_str_from(berth_error_message(&err));
		observe_end(extenders, extender, BT_EXTENDER_PRIORITIZE, error);
		if (result < 0) {
			observe_error(extenders, extender,
				"Failed to run extender's priority function. No score given by "
				"this extender.",
				5, error);
			berth_error_finish(&err);
			continue;
		}
		for (uint32_t k = 0; k < priorities.count; k++) {
			const struct bt_host_priority *priority = &priorities.items[k];
			uint32_t slot = bt_state_snapshot_find(state, priority->host);
			int64_t score =
				bt_wrap_mul(bt_wrap_mul(priority->score, extender->config->weight),
					BT_EXTENDER_SCORE_FACTOR);
			uint32_t at = slot != BT_SLOT_NONE ? first[slot] : 0;
			for (; at != 0; at = next[at - 1]) {
				totals[at - 1] = bt_wrap_add(totals[at - 1], score);
				scored[at - 1] = true;
			}
		}
	}
}

/** --- bind --- */

struct bt_status bt_extenders_bind(const struct bt_extenders *extenders,
	const struct bt_pod_info *pod, struct bt_str node_name, struct bt_arena *arena,
	bool *out_taken)
{
	struct bt_extender_binding_args args = {pod->name, pod->namespace_, pod->uid, node_name};

	*out_taken = false;
	for (uint32_t i = 0; i < extenders->count; i++) {
		const struct bt_extender *extender = &extenders->items[i];
		struct berth_error err = BERTH_ERROR_INIT;
		if (extender->config->bind_verb.length == 0 ||
			!bt_extender_is_interested(extender->config, pod)) {
			continue;
		}
		struct bt_extender_binding_result answer = {0};
		observe_call(extenders, extender, BT_EXTENDER_BIND);
		int result = extender->ops->bind(extender->context, &args, arena, &answer, &err);
		if (result == 0 && answer.error.length != 0) {
			result = bt_error_set(
				&err, BERTH_ERR_INTERNAL, "%.*s", BT_STR_ARG(answer.error));
		}
		observe_end(extenders, extender, BT_EXTENDER_BIND,
			bt_str_from(berth_error_message(&err)));
		*out_taken = result == 0 || !extender->config->ignorable;
		if (*out_taken) {
			return result == 0 ? BT_STATUS_OK : bt_status_from_error(arena, &err);
		}
		observe_error(extenders, extender,
			"Skipping extender in bind as it returned error and has ignorable flag "
			"set",
			0, bt_str_from(berth_error_message(&err)));
		berth_error_finish(&err);
	}
	return BT_STATUS_OK;
}

/** --- filter: spec 11b section 9.4, 03 section 3.6 --- */

/** State shared by the calls of one filter step. */
struct filtering {
	const struct bt_extenders *extenders;
	const struct bt_extender *extender; /* the extender of the current call */
	struct bt_arena *arena;
	const struct bt_extender_sink *sink;
	/* Index + 1 of the node in the request; 0: not sent; UINT32_MAX: read from the answer. */
	uint32_t *position_by_slot;
};

/**
 * Read the answer's nodes in their order. A name that was not sent is an error. An object that was
 * not sent counts as feasible if the snapshot has its node; otherwise the object is skipped,
 * because the pod could not be bound to the node. Repeated names and objects count once.
 */
static int read_nodes(struct filtering *filtering, struct bt_extender_candidates *candidates,
	const struct bt_extender_filter_result *answer, struct berth_error *err)
{
	bool by_name =
		filtering->extender->config->node_cache_capable && answer->node_names.present;
	uint32_t count = by_name ? answer->node_names.count : answer->nodes.count;
	struct bt_extender_candidates left = {.without_pods = candidates->without_pods};

	left.nodes = BT_ARENA_NEW_ARRAY(filtering->arena, struct bt_extender_node, count);
	left.slots = BT_ARENA_NEW_ARRAY(filtering->arena, uint32_t, count);
	uint32_t slot_count = filtering->extenders->state->nodes.slot_count;

	if (filtering->position_by_slot == NULL) {
		filtering->position_by_slot =
			BT_ARENA_NEW_ARRAY(filtering->arena, uint32_t, slot_count);
	}
	memset(filtering->position_by_slot, 0, slot_count * sizeof(uint32_t));
	for (uint32_t j = 0; j < candidates->count; j++) {
		filtering->position_by_slot[candidates->slots[j]] = j + 1;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct bt_str name =
			by_name ? answer->node_names.items[i] : answer->nodes.items[i].name;
		uint32_t slot = bt_state_snapshot_find(filtering->extenders->state, name);
		uint32_t *position =
			slot == BT_SLOT_NONE ? NULL : &filtering->position_by_slot[slot];
		if (by_name) {
			if (position == NULL || *position == 0) {
				struct bt_strbuf text = {0};
				bt_strbuf_append_c(&text, "extender ");
				bt_strbuf_append_quoted(
					&text, filtering->extender->config->url_prefix);
				bt_strbuf_append_c(&text, " claims a filtered node ");
				bt_strbuf_append_quoted(&text, name);
				bt_strbuf_append_c(
					&text, " which is not found in the input node list");
				return bt_error_take(err, BERTH_ERR_NOT_FOUND, &text);
			}
			if (*position != UINT32_MAX) {
				left.nodes[left.count] = candidates->nodes[*position - 1];
				left.slots[left.count++] = slot;
				*position = UINT32_MAX; /* already read */
			}
		} else if (position != NULL && *position != UINT32_MAX) {
			if (left.without_pods == NULL) {
				left.without_pods = BT_ARENA_NEW_ARRAY(filtering->arena, uint8_t,
					filtering->extenders->state->nodes.slot_count);
			}
			left.without_pods[slot] = 1;
			left.nodes[left.count] = answer->nodes.items[i];
			left.slots[left.count++] = slot;
			*position = UINT32_MAX; /* already read */
		}
	}
	*candidates = left;
	return 0;
}

static void report(const struct filtering *filtering, const struct bt_str_map *failed,
	enum bt_status_code code, const struct bt_str_map *but)
{
	for (uint32_t i = 0; i < failed->count; i++) {
		const struct bt_str_pair *entry = &failed->items[i];
		if (but != NULL && bt_str_map_find(but, entry->key) != NULL) {
			continue;
		}
		filtering->sink->reject(filtering->sink->context,
			bt_state_snapshot_find(filtering->extenders->state, entry->key), entry->key,
			code, entry->value);
	}
}

struct bt_status bt_extenders_filter(const struct bt_extenders *extenders,
	const struct bt_pod_info *pod, struct bt_arena *arena,
	struct bt_extender_candidates *candidates, const struct bt_extender_sink *sink)
{
	struct filtering filtering = {.extenders = extenders, .arena = arena, .sink = sink};

	for (uint32_t i = 0; i < extenders->count && candidates->count != 0; i++) {
		struct berth_error err = BERTH_ERROR_INIT;
		const struct bt_extender *extender = &extenders->items[i];
		const struct bt_config_extender *config = extender->config;
		if (config->filter_verb.length == 0 || !bt_extender_is_interested(config, pod)) {
			continue;
		}
		struct bt_extender_args args = {
			extenders->state, pod, candidates->nodes, candidates->count};
		struct bt_extender_filter_result answer = {0};

		filtering.extender = extender;
		observe_call(extenders, extender, BT_EXTENDER_FILTER);
		int result = extender->ops->filter(extender->context, &args, arena, &answer, &err);
		if (result == 0 && answer.error.length != 0) {
			result = bt_error_set(
				&err, BERTH_ERR_INTERNAL, "%.*s", BT_STR_ARG(answer.error));
		}
		if (result == 0) {
			result = read_nodes(&filtering, candidates, &answer, &err);
		}
		observe_end(extenders, extender, BT_EXTENDER_FILTER,
			bt_str_from(berth_error_message(&err)));
		if (result == 0) {
			const struct bt_str_map *unresolvable =
				&answer.failed_and_unresolvable_nodes;
			report(&filtering, unresolvable, BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
				NULL);
			report(&filtering, &answer.failed_nodes, BT_STATUS_UNSCHEDULABLE,
				unresolvable);
			continue;
		}
		if (!config->ignorable) {
			return bt_status_from_error(arena, &err);
		}
		observe_error(extenders, extender,
			"Skipping extender as it returned error and has ignorable flag set", 0,
			bt_str_from(berth_error_message(&err)));
		berth_error_finish(&err);
	}
	return BT_STATUS_OK;
}
