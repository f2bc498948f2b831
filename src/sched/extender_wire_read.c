/* SPDX-License-Identifier: Apache-2.0 */
/** Answers of extenders. Spec 11b sections 9.1 and 9.2. */
#include <stdlib.h>

#include "sched/extender_answer.h"
#include "sched/extender_wire.h"

/** --- filter --- */

struct text_vec {
	struct bt_answer_place place;
	BT_VEC(struct bt_str) items;
};

static int read_text_element(struct bt_answer *answer, void *out)
{
	struct text_vec *texts = out;
	struct bt_str text = BT_STR("");
	int result = bt_answer_text(answer, texts->place, &text);
	if (result == 0) {
		bt_vec_push(&texts->items, text);
	}
	return result;
}

static int read_node_names(struct bt_answer *answer, bt_str_list *out)
{
	struct text_vec texts = {.place = {"ExtenderFilterResult.NodeNames", "string"}};
	bool present = false;
	int result = bt_answer_array(answer,
		(struct bt_answer_place){"ExtenderFilterResult.NodeNames", "[]string"},
		read_text_element, &texts, &present);
	bt_answer_take(answer, &texts.items, out);
	out->present = present;
	return result;
}

static int read_node_metadata(struct bt_answer *answer, struct bt_str name, void *out)
{
	struct bt_extender_node *node = out;
	if (bt_answer_is_named(name, "name")) {
		return bt_answer_text(answer,
			(struct bt_answer_place){
				"ExtenderFilterResult.Nodes.items.metadata.name", "string"},
			&node->name);
	}
	return bt_answer_skip(answer);
}

static int read_node_member(struct bt_answer *answer, struct bt_str name, void *out)
{
	if (bt_answer_is_named(name, "metadata")) {
		return bt_answer_object(answer,
			(struct bt_answer_place){
				"ExtenderFilterResult.Nodes.items.metadata", "v1.ObjectMeta"},
			read_node_metadata, out, NULL);
	}
	return bt_answer_skip(answer);
}

struct node_vec {
	BT_VEC(struct bt_extender_node) items;
};

static int read_node(struct bt_answer *answer, void *out)
{
	struct node_vec *nodes = out;
	struct bt_extender_node node = {.name = BT_STR("")};
	struct bt_json_reader start = answer->reader;
	int result = bt_answer_object(answer,
		(struct bt_answer_place){"ExtenderFilterResult.Nodes.items", "v1.Node"},
		read_node_member, &node, NULL);
	if (result == 0) {
		result = bt_json_skip(&start, &node.json, answer->err);
	}
	if (result == 0) {
		bt_vec_push(&nodes->items, node);
	}
	return result;
}

static int read_node_list_member(struct bt_answer *answer, struct bt_str name, void *out)
{
	bt_extender_node_list *list = out;
	struct node_vec nodes = {0};
	bool present;
	if (!bt_answer_is_named(name, "items")) {
		return bt_answer_skip(answer);
	}
	int result = bt_answer_array(answer,
		(struct bt_answer_place){"ExtenderFilterResult.Nodes.items", "[]v1.Node"},
		read_node, &nodes, &present);
	bt_answer_take(answer, &nodes.items, list);
	return result;
}

static int read_nodes(struct bt_answer *answer, bt_extender_node_list *out)
{
	bool present = false;
	int result = bt_answer_object(answer,
		(struct bt_answer_place){"ExtenderFilterResult.Nodes", "v1.NodeList"},
		read_node_list_member, out, &present);
	if (!present) {
		*out = (bt_extender_node_list){0};
	}
	out->present = present;
	return result;
}

/** An entry of a map, with its place in the input: of equal keys the last one stays. */
struct map_entry {
	struct bt_str_pair pair;
	uint32_t order;
};

struct map_vec {
	struct bt_answer_place place; /* of values */
	BT_VEC(struct map_entry) items;
};

static int compare_map_entries(const void *a, const void *b)
{
	const struct map_entry *first = a;
	const struct map_entry *second = b;
	int order = bt_str_compare(first->pair.key, second->pair.key);
	return order != 0 ? order : (first->order > second->order) - (first->order < second->order);
}

static int read_map_member(struct bt_answer *answer, struct bt_str name, void *out)
{
	struct map_vec *map = out;
	struct map_entry entry = {{name, BT_STR("")}, map->items.count};
	int result = bt_answer_count(answer);
	if (result == 0) {
		result = bt_answer_text(answer, map->place, &entry.pair.value);
	}
	if (result == 0) {
		bt_vec_push(&map->items, entry);
	}
	return result;
}

static void take_map(struct bt_answer *answer, struct map_vec *vec, struct bt_str_map *out)
{
	if (vec->items.count != 0) {
		qsort(vec->items.items, vec->items.count, sizeof(struct map_entry),
			compare_map_entries);
	}
	out->items = BT_ARENA_NEW_ARRAY(answer->arena, struct bt_str_pair, vec->items.count);
	out->count = 0;
	for (uint32_t i = 0; i < vec->items.count; i++) {
		const struct bt_str_pair *pair = &vec->items.items[i].pair;
		if (out->count != 0 && bt_str_equal(out->items[out->count - 1].key, pair->key)) {
			out->count--;
		}
		out->items[out->count++] = *pair;
	}
	bt_vec_finish(&vec->items);
}

/** A second object of the same name adds to the first, null takes it away. */
static int read_failed(struct bt_answer *answer, const char *field, struct bt_str_map *out)
{
	struct map_vec map = {.place = {field, "string"}};
	bool present = false;
	/* Repeating a long map costs as much as its entries. */
	if (out->count > BT_ANSWER_ENTRIES_MAX - answer->entries) {
		return bt_error_set(answer->err, BERTH_ERR_TOO_LARGE,
			"answer has more than %u entries", BT_ANSWER_ENTRIES_MAX);
	}
	answer->entries += out->count;
	for (uint32_t i = 0; i < out->count; i++) {
		struct map_entry entry = {out->items[i], i};
		bt_vec_push(&map.items, entry);
	}
	int result = bt_answer_object(answer, (struct bt_answer_place){field, "v1.FailedNodesMap"},
		read_map_member, &map, &present);
	if (!present) {
		map.items.count = 0;
	}
	take_map(answer, &map, out);
	out->present = present;
	return result;
}

static int read_filter_member(struct bt_answer *answer, struct bt_str name, void *out)
{
	struct bt_extender_filter_result *result = out;
	if (bt_answer_is_named(name, "nodes")) {
		return read_nodes(answer, &result->nodes);
	}
	if (bt_answer_is_named(name, "nodenames")) {
		return read_node_names(answer, &result->node_names);
	}
	if (bt_answer_is_named(name, "failednodes")) {
		return read_failed(
			answer, "ExtenderFilterResult.FailedNodes", &result->failed_nodes);
	}
	if (bt_answer_is_named(name, "failedandunresolvablenodes")) {
		return read_failed(answer, "ExtenderFilterResult.FailedAndUnresolvableNodes",
			&result->failed_and_unresolvable_nodes);
	}
	if (bt_answer_is_named(name, "error")) {
		return bt_answer_text(answer,
			(struct bt_answer_place){"ExtenderFilterResult.Error", "string"},
			&result->error);
	}
	return bt_answer_skip(answer);
}

int bt_extender_decode_filter_result(struct bt_str json, struct bt_arena *arena,
	struct bt_extender_filter_result *out_result, struct berth_error *err)
{
	struct bt_answer answer;
	struct bt_extender_filter_result found = {.error = BT_STR("")};
	int result = bt_answer_begin(&answer, json, arena, err);
	if (result == 0) {
		result = bt_answer_object(&answer,
			(struct bt_answer_place){NULL, "v1.ExtenderFilterResult"},
			read_filter_member, &found, NULL);
	}
	if (result == 0) {
		*out_result = found;
	}
	return result;
}

/** --- prioritize --- */

struct priority_vec {
	BT_VEC(struct bt_host_priority) items;
};

static int read_priority_member(struct bt_answer *answer, struct bt_str name, void *out)
{
	struct bt_host_priority *priority = out;
	if (bt_answer_is_named(name, "host")) {
		return bt_answer_text(answer,
			(struct bt_answer_place){"HostPriority.Host", "string"}, &priority->host);
	}
	if (bt_answer_is_named(name, "score")) {
		return bt_answer_number(answer,
			(struct bt_answer_place){"HostPriority.Score", "int64"}, &priority->score);
	}
	return bt_answer_skip(answer);
}

static int read_priority(struct bt_answer *answer, void *out)
{
	struct priority_vec *priorities = out;
	struct bt_host_priority priority = {.host = BT_STR("")};
	int result = bt_answer_object(answer, (struct bt_answer_place){NULL, "v1.HostPriority"},
		read_priority_member, &priority, NULL);
	if (result == 0) {
		bt_vec_push(&priorities->items, priority);
	}
	return result;
}

int bt_extender_decode_priorities(struct bt_str json, struct bt_arena *arena,
	bt_host_priority_list *out_priorities, struct berth_error *err)
{
	struct bt_answer answer;
	struct priority_vec priorities = {0};
	bool present = false;
	int result = bt_answer_begin(&answer, json, arena, err);
	if (result == 0) {
		result = bt_answer_array(&answer,
			(struct bt_answer_place){NULL, "v1.HostPriorityList"}, read_priority,
			&priorities, &present);
	}
	if (result == 0) {
		bt_answer_take(&answer, &priorities.items, out_priorities);
		out_priorities->present = present;
	}
	bt_vec_finish(&priorities.items);
	return result;
}

/** --- preempt --- */

#define VICTIMS_FIELD "ExtenderPreemptionResult.NodeNameToMetaVictims"

static int read_meta_pod_member(struct bt_answer *answer, struct bt_str name, void *out)
{
	if (bt_answer_is_named(name, "uid")) {
		return bt_answer_text(
			answer, (struct bt_answer_place){VICTIMS_FIELD ".Pods.UID", "string"}, out);
	}
	return bt_answer_skip(answer);
}

static int read_meta_pod(struct bt_answer *answer, void *out)
{
	struct text_vec *uids = out;
	struct bt_str uid = BT_STR("");
	int result = bt_answer_object(answer,
		(struct bt_answer_place){VICTIMS_FIELD ".Pods", "v1.MetaPod"}, read_meta_pod_member,
		&uid, NULL);
	if (result == 0) {
		bt_vec_push(&uids->items, uid);
	}
	return result;
}

static int read_meta_victims_member(struct bt_answer *answer, struct bt_str name, void *out)
{
	struct bt_preemption_opinion *opinion = out;
	if (bt_answer_is_named(name, "pods")) {
		struct text_vec uids = {0};
		struct {
			struct bt_str *items;
			uint32_t count;
		} list;
		bool present;
		int result = bt_answer_array(answer,
			(struct bt_answer_place){VICTIMS_FIELD ".Pods", "[]*v1.MetaPod"},
			read_meta_pod, &uids, &present);
		bt_answer_take(answer, &uids.items, &list);
		opinion->victim_uids = list.items;
		opinion->victim_count = list.count;
		return result;
	}
	if (bt_answer_is_named(name, "numpdbviolations")) {
		return bt_answer_number(answer,
			(struct bt_answer_place){VICTIMS_FIELD ".NumPDBViolations", "int64"},
			&opinion->pdb_violations);
	}
	return bt_answer_skip(answer);
}

struct opinion_entry {
	struct bt_preemption_opinion opinion;
	uint32_t order;
};

struct opinion_vec {
	BT_VEC(struct opinion_entry) items;
};

static int read_meta_victims(struct bt_answer *answer, struct bt_str name, void *out)
{
	struct opinion_vec *opinions = out;
	struct opinion_entry entry = {{.node_name = name}, opinions->items.count};
	int result = bt_answer_count(answer);
	if (result == 0) {
		result = bt_answer_object(answer,
			(struct bt_answer_place){VICTIMS_FIELD, "v1.MetaVictims"},
			read_meta_victims_member, &entry.opinion, NULL);
	}
	if (result == 0) {
		bt_vec_push(&opinions->items, entry);
	}
	return result;
}

static int read_preemption_member(struct bt_answer *answer, struct bt_str name, void *out)
{
	struct opinion_vec *opinions = out;
	bool present = false;
	if (!bt_answer_is_named(name, "nodenametometavictims")) {
		return bt_answer_skip(answer);
	}
	int result = bt_answer_object(answer,
		(struct bt_answer_place){VICTIMS_FIELD, "map[string]*v1.MetaVictims"},
		read_meta_victims, opinions, &present);
	if (!present) {
		opinions->items.count = 0;
	}
	return result;
}

static int compare_opinion_names(const void *a, const void *b)
{
	const struct opinion_entry *first = a;
	const struct opinion_entry *second = b;
	int order = bt_str_compare(first->opinion.node_name, second->opinion.node_name);
	return order != 0 ? order : (first->order > second->order) - (first->order < second->order);
}

static int compare_opinion_orders(const void *a, const void *b)
{
	uint32_t first = ((const struct opinion_entry *)a)->order;
	uint32_t second = ((const struct opinion_entry *)b)->order;
	return (first > second) - (first < second);
}

/** Of one node's entries the last stays, where it stands. */
static uint32_t drop_repeated(struct opinion_entry *entries, uint32_t count)
{
	uint32_t kept = 0;
	if (count == 0) {
		return 0;
	}
	qsort(entries, count, sizeof(*entries), compare_opinion_names);
	for (uint32_t i = 0; i < count; i++) {
		if (i + 1 == count ||
			!bt_str_equal(
				entries[i].opinion.node_name, entries[i + 1].opinion.node_name)) {
			entries[kept++] = entries[i];
		}
	}
	qsort(entries, kept, sizeof(*entries), compare_opinion_orders);
	return kept;
}

int bt_extender_decode_preemption_result(struct bt_str json, struct bt_arena *arena,
	struct bt_preemption_opinions *out_answer, struct berth_error *err)
{
	struct bt_answer answer;
	struct opinion_vec opinions = {0};
	int result = bt_answer_begin(&answer, json, arena, err);
	if (result == 0) {
		result = bt_answer_object(&answer,
			(struct bt_answer_place){NULL, "v1.ExtenderPreemptionResult"},
			read_preemption_member, &opinions, NULL);
	}
	if (result == 0) {
		uint32_t count = drop_repeated(opinions.items.items, opinions.items.count);
		struct bt_preemption_opinion *items =
			BT_ARENA_NEW_ARRAY(arena, struct bt_preemption_opinion, count);
		for (uint32_t i = 0; i < count; i++) {
			items[i] = opinions.items.items[i].opinion;
		}
		*out_answer = (struct bt_preemption_opinions){items, count};
	}
	bt_vec_finish(&opinions.items);
	return result;
}

/** --- bind --- */

static int read_binding_member(struct bt_answer *answer, struct bt_str name, void *out)
{
	if (bt_answer_is_named(name, "error")) {
		return bt_answer_text(answer,
			(struct bt_answer_place){"ExtenderBindingResult.Error", "string"}, out);
	}
	return bt_answer_skip(answer);
}

int bt_extender_decode_binding_result(struct bt_str json, struct bt_arena *arena,
	struct bt_extender_binding_result *out_result, struct berth_error *err)
{
	struct bt_answer answer;
	struct bt_str error = BT_STR("");
	int result = bt_answer_begin(&answer, json, arena, err);
	if (result == 0) {
		result = bt_answer_object(&answer,
			(struct bt_answer_place){NULL, "v1.ExtenderBindingResult"},
			read_binding_member, &error, NULL);
	}
	if (result == 0) {
		out_result->error = error;
	}
	return result;
}
