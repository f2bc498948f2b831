/* SPDX-License-Identifier: Apache-2.0 */
/** Answers of extenders. Spec 11b sections 9.1 and 9.2. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "codec/json.h"
#include "sched/extender_wire.h"

/**
 * The grammar of answers, as Go's decoder reads them: names in any case, null for nothing, errors
 * in its words.
 */

/** All lists and maps of an answer together have this many entries at most. */
#define ANSWER_ENTRIES_MAX (UINT32_C(1) << 20)

struct extender_answer {
	struct bt_json_reader reader;
	struct bt_arena *arena;
	uint32_t entries; /* read so far */
	struct berth_error *err;
};

/** Where a value belongs, as Go's messages put it. field NULL: the whole answer. */
struct extender_answer_place {
	const char *field; /* "ExtenderFilterResult.NodeNames" */
	const char *type;  /* "[]string" */
};

/** The vector's content as a list in the arena. */
#define take_list(answer, vec, list) \
	do { \
		(list)->count = (vec)->count; \
		(list)->items = bt_arena_alloc( \
			(answer)->arena, (size_t)(vec)->count * sizeof(*(list)->items)); \
		if ((vec)->count != 0) { \
			memcpy((list)->items, (vec)->items, \
				(size_t)(vec)->count * sizeof(*(list)->items)); \
		} \
		bt_vec_finish(vec); \
	} while (0)

/** The bytes of the first value. What comes after it is not looked at. */
static int first_value(struct bt_str json, struct bt_str *out_value, struct berth_error *err)
{
	struct bt_json_reader reader;
	struct berth_error fault = BERTH_ERROR_INIT;
	uint32_t blank = 0;

	while (blank < json.length &&
		(json.data[blank] == ' ' || json.data[blank] == '\t' || json.data[blank] == '\n' ||
			json.data[blank] == '\r')) {
		blank++;
	}
	if (blank == json.length) {
		return bt_error_set(err, BERTH_ERR_SYNTAX, "EOF");
	}
	bt_json_reader_init(&reader, json);
	int result = bt_json_skip(&reader, out_value, &fault);
	if (result < 0 &&
		strcmp(berth_error_message(&fault), "unexpected end of JSON input") == 0) {
		result = bt_error_set(err, BERTH_ERR_SYNTAX, "unexpected EOF");
		berth_error_finish(&fault);
	} else if (result < 0) {
		result = bt_error_move(err, &fault);
	}
	return result;
}

/** Start at the first value of the text. Nothing: "EOF"; broken off: "unexpected EOF". */
static int answer_begin(struct extender_answer *answer, struct bt_str json, struct bt_arena *arena,
	struct berth_error *err)
{
	struct bt_str value = BT_STR("null");
	*answer = (struct extender_answer){.arena = arena, .err = err};
	if (json.length > BT_EXTENDER_ANSWER_BYTES_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE,
			"answer of %u bytes is longer than %u", json.length,
			BT_EXTENDER_ANSWER_BYTES_MAX);
	}
	int result = first_value(json, &value, err);
	if (result == 0) {
		bt_json_reader_init(&answer->reader, value);
	}
	return result;
}

static int mismatch(
	struct extender_answer *answer, const char *what, struct extender_answer_place place)
{
	if (place.field == NULL) {
		return bt_error_set(answer->err, BERTH_ERR_INVALID,
			"json: cannot unmarshal %s into Go value of type %s", what, place.type);
	}
	return bt_error_set(answer->err, BERTH_ERR_INVALID,
		"json: cannot unmarshal %s into Go struct field %s of type %s", what, place.field,
		place.type);
}

/** *out_present false: null, which is consumed. A value of another type is the error. */
static int expect(struct extender_answer *answer, enum bt_json_type type,
	struct extender_answer_place place, bool *out_present)
{
	enum bt_json_type got = BT_JSON_NULL;
	int result = bt_json_peek(&answer->reader, &got, answer->err);
	if (result < 0) {
		return result;
	}
	*out_present = got != BT_JSON_NULL;
	if (got == BT_JSON_NULL) {
		return bt_json_read_null(&answer->reader, answer->err);
	}
	return got == type ? 0 : mismatch(answer, bt_json_type_name(got), place);
}

/** One more entry of a list or map; too many are an error. */
static int answer_count(struct extender_answer *answer)
{
	if (answer->entries == ANSWER_ENTRIES_MAX) {
		return bt_error_set(answer->err, BERTH_ERR_TOO_LARGE,
			"answer has more than %u entries", ANSWER_ENTRIES_MAX);
	}
	answer->entries++;
	return 0;
}

/** null leaves *out_text alone. */
static int answer_text(
	struct extender_answer *answer, struct extender_answer_place place, struct bt_str *out_text)
{
	bool present;
	int result = expect(answer, BT_JSON_STRING, place, &present);
	if (result < 0 || !present) {
		return result;
	}
	return bt_json_read_string(&answer->reader, answer->arena, out_text, NULL, answer->err);
}

/** An int64; null leaves *out_value alone. */
static int answer_number(
	struct extender_answer *answer, struct extender_answer_place place, int64_t *out_value)
{
	bool present;
	struct bt_str text;
	int result = expect(answer, BT_JSON_NUMBER, place, &present);
	if (result < 0 || !present) {
		return result;
	}
	result = bt_json_read_number(&answer->reader, &text, answer->err);
	if (result == 0 && !bt_json_number_int64(text, out_value)) {
		struct bt_strbuf what = {0};
		bt_strbuf_append_c(&what, "number ");
		bt_strbuf_append_str(&what, text);
		result = mismatch(answer, bt_strbuf_c(&what), place);
		bt_strbuf_finish(&what);
	}
	return result;
}

/** Bytes of the name's first character when it is the letter, whatever its case; else 0. Beyond
 * ASCII, two letters fold to k and s. */
static uint32_t folded_length(struct bt_str name, char letter)
{
	unsigned char first = (unsigned char)name.data[0];
	unsigned char lower = (unsigned char)(first >= 'A' && first <= 'Z' ? first + 32 : first);
	if (lower == (unsigned char)letter) {
		return 1;
	}
	if (letter == 's' && name.length >= 2 && memcmp(name.data, "\xc5\xbf", 2) == 0) {
		return 2;
	}
	if (letter == 'k' && name.length >= 3 && memcmp(name.data, "\xe2\x84\xaa", 3) == 0) {
		return 3;
	}
	return 0;
}

/** wanted: in lower case. */
static bool answer_is_named(struct bt_str name, const char *wanted)
{
	for (; *wanted != '\0'; wanted++) {
		uint32_t length = name.length == 0 ? 0 : folded_length(name, *wanted);
		if (length == 0) {
			return false;
		}
		name.data += length;
		name.length -= length;
	}
	return name.length == 0;
}

/** Reads the members of an object; the function gets each name with the reader at its value. */
static int answer_object(struct extender_answer *answer, struct extender_answer_place place,
	int (*read_member)(struct extender_answer *answer, struct bt_str name, void *out),
	void *out, bool *out_present)
{
	bool first = true;
	bool present = false;
	int result = expect(answer, BT_JSON_OBJECT, place, &present);
	if (out_present != NULL) {
		*out_present = present;
	}
	if (result < 0 || !present) {
		return result;
	}
	result = bt_json_enter_object(&answer->reader, answer->err);
	while (result == 0) {
		bool more = false;
		struct bt_str name = {0};
		result = bt_json_next_member(
			&answer->reader, &first, answer->arena, &more, &name, answer->err);
		if (result < 0 || !more) {
			break;
		}
		result = read_member(answer, name, out);
	}
	return result;
}

/** The same for an array; elements are counted. */
static int answer_array(struct extender_answer *answer, struct extender_answer_place place,
	int (*read_element)(struct extender_answer *answer, void *out), void *out,
	bool *out_present)
{
	bool first = true;
	*out_present = false;
	int result = expect(answer, BT_JSON_ARRAY, place, out_present);
	if (result < 0 || !*out_present) {
		return result;
	}
	result = bt_json_enter_array(&answer->reader, answer->err);
	while (result == 0) {
		bool more = false;
		result = bt_json_next_element(&answer->reader, &first, &more, answer->err);
		if (result < 0 || !more) {
			break;
		}
		result = answer_count(answer);
		if (result == 0) {
			result = read_element(answer, out);
		}
	}
	return result;
}

static int answer_skip(struct extender_answer *answer)
{
	return bt_json_skip(&answer->reader, NULL, answer->err);
}

/** --- filter --- */

struct text_vec {
	struct extender_answer_place place;
	BT_VEC(struct bt_str) items;
};

static int read_text_element(struct extender_answer *answer, void *out)
{
	struct text_vec *texts = out;
	struct bt_str text = BT_STR("");
	int result = answer_text(answer, texts->place, &text);
	if (result == 0) {
		bt_vec_push(&texts->items, text);
	}
	return result;
}

static int read_node_names(struct extender_answer *answer, bt_str_list *out)
{
	struct text_vec texts = {.place = {"ExtenderFilterResult.NodeNames", "string"}};
	bool present = false;
	int result = answer_array(answer,
		(struct extender_answer_place){"ExtenderFilterResult.NodeNames", "[]string"},
		read_text_element, &texts, &present);
	take_list(answer, &texts.items, out);
	out->present = present;
	return result;
}

static int read_node_metadata(struct extender_answer *answer, struct bt_str name, void *out)
{
	struct bt_extender_node *node = out;
	if (answer_is_named(name, "name")) {
		return answer_text(answer,
			(struct extender_answer_place){
				"ExtenderFilterResult.Nodes.items.metadata.name", "string"},
			&node->name);
	}
	return answer_skip(answer);
}

static int read_node_member(struct extender_answer *answer, struct bt_str name, void *out)
{
	if (answer_is_named(name, "metadata")) {
		return answer_object(answer,
			(struct extender_answer_place){
				"ExtenderFilterResult.Nodes.items.metadata", "v1.ObjectMeta"},
			read_node_metadata, out, NULL);
	}
	return answer_skip(answer);
}

struct node_vec {
	BT_VEC(struct bt_extender_node) items;
};

static int read_node(struct extender_answer *answer, void *out)
{
	struct node_vec *nodes = out;
	struct bt_extender_node node = {.name = BT_STR("")};
	struct bt_json_reader start = answer->reader;
	int result = answer_object(answer,
		(struct extender_answer_place){"ExtenderFilterResult.Nodes.items", "v1.Node"},
		read_node_member, &node, NULL);
	if (result == 0) {
		result = bt_json_skip(&start, &node.json, answer->err);
	}
	if (result == 0) {
		bt_vec_push(&nodes->items, node);
	}
	return result;
}

static int read_node_list_member(struct extender_answer *answer, struct bt_str name, void *out)
{
	bt_extender_node_list *list = out;
	struct node_vec nodes = {0};
	bool present;
	if (!answer_is_named(name, "items")) {
		return answer_skip(answer);
	}
	int result = answer_array(answer,
		(struct extender_answer_place){"ExtenderFilterResult.Nodes.items", "[]v1.Node"},
		read_node, &nodes, &present);
	take_list(answer, &nodes.items, list);
	return result;
}

static int read_nodes(struct extender_answer *answer, bt_extender_node_list *out)
{
	bool present = false;
	int result = answer_object(answer,
		(struct extender_answer_place){"ExtenderFilterResult.Nodes", "v1.NodeList"},
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
	struct extender_answer_place place; /* of values */
	BT_VEC(struct map_entry) items;
};

static int compare_map_entries(const void *a, const void *b)
{
	const struct map_entry *first = a;
	const struct map_entry *second = b;
	int order = bt_str_compare(first->pair.key, second->pair.key);
	return order != 0 ? order : (first->order > second->order) - (first->order < second->order);
}

static int read_map_member(struct extender_answer *answer, struct bt_str name, void *out)
{
	struct map_vec *map = out;
	struct map_entry entry = {{name, BT_STR("")}, map->items.count};
	int result = answer_count(answer);
	if (result == 0) {
		result = answer_text(answer, map->place, &entry.pair.value);
	}
	if (result == 0) {
		bt_vec_push(&map->items, entry);
	}
	return result;
}

/** A second object of the same name adds to the first, null takes it away. */
static int read_failed(struct extender_answer *answer, const char *field, struct bt_str_map *out)
{
	struct map_vec map = {.place = {field, "string"}};
	bool present = false;
	/* Repeating a long map costs as much as its entries. */
	if (out->count > ANSWER_ENTRIES_MAX - answer->entries) {
		return bt_error_set(answer->err, BERTH_ERR_TOO_LARGE,
			"answer has more than %u entries", ANSWER_ENTRIES_MAX);
	}
	answer->entries += out->count;
	for (uint32_t i = 0; i < out->count; i++) {
		struct map_entry entry = {out->items[i], i};
		bt_vec_push(&map.items, entry);
	}
	int result =
		answer_object(answer, (struct extender_answer_place){field, "v1.FailedNodesMap"},
			read_map_member, &map, &present);
	if (!present) {
		map.items.count = 0;
	}
	if (map.items.count != 0) {
		qsort(map.items.items, map.items.count, sizeof(struct map_entry),
			compare_map_entries);
	}
	out->items = BT_ARENA_NEW_ARRAY(answer->arena, struct bt_str_pair, map.items.count);
	out->count = 0;
	for (uint32_t i = 0; i < map.items.count; i++) {
		const struct bt_str_pair *pair = &map.items.items[i].pair;
		if (out->count != 0 && bt_str_equal(out->items[out->count - 1].key, pair->key)) {
			out->count--;
		}
		out->items[out->count++] = *pair;
	}
	bt_vec_finish(&map.items);
	out->present = present;
	return result;
}

static int read_filter_member(struct extender_answer *answer, struct bt_str name, void *out)
{
	struct bt_extender_filter_result *result = out;
	if (answer_is_named(name, "nodes")) {
		return read_nodes(answer, &result->nodes);
	}
	if (answer_is_named(name, "nodenames")) {
		return read_node_names(answer, &result->node_names);
	}
	if (answer_is_named(name, "failednodes")) {
		return read_failed(
			answer, "ExtenderFilterResult.FailedNodes", &result->failed_nodes);
	}
	if (answer_is_named(name, "failedandunresolvablenodes")) {
		return read_failed(answer, "ExtenderFilterResult.FailedAndUnresolvableNodes",
			&result->failed_and_unresolvable_nodes);
	}
	if (answer_is_named(name, "error")) {
		return answer_text(answer,
			(struct extender_answer_place){"ExtenderFilterResult.Error", "string"},
			&result->error);
	}
	return answer_skip(answer);
}

int bt_extender_decode_filter_result(struct bt_str json, struct bt_arena *arena,
	struct bt_extender_filter_result *out_result, struct berth_error *err)
{
	struct extender_answer answer;
	struct bt_extender_filter_result found = {.error = BT_STR("")};
	int result = answer_begin(&answer, json, arena, err);
	if (result == 0) {
		result = answer_object(&answer,
			(struct extender_answer_place){NULL, "v1.ExtenderFilterResult"},
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

static int read_priority_member(struct extender_answer *answer, struct bt_str name, void *out)
{
	struct bt_host_priority *priority = out;
	if (answer_is_named(name, "host")) {
		return answer_text(answer,
			(struct extender_answer_place){"HostPriority.Host", "string"},
			&priority->host);
	}
	if (answer_is_named(name, "score")) {
		return answer_number(answer,
			(struct extender_answer_place){"HostPriority.Score", "int64"},
			&priority->score);
	}
	return answer_skip(answer);
}

static int read_priority(struct extender_answer *answer, void *out)
{
	struct priority_vec *priorities = out;
	struct bt_host_priority priority = {.host = BT_STR("")};
	int result = answer_object(answer, (struct extender_answer_place){NULL, "v1.HostPriority"},
		read_priority_member, &priority, NULL);
	if (result == 0) {
		bt_vec_push(&priorities->items, priority);
	}
	return result;
}

int bt_extender_decode_priorities(struct bt_str json, struct bt_arena *arena,
	bt_host_priority_list *out_priorities, struct berth_error *err)
{
	struct extender_answer answer;
	struct priority_vec priorities = {0};
	bool present = false;
	int result = answer_begin(&answer, json, arena, err);
	if (result == 0) {
		result = answer_array(&answer,
			(struct extender_answer_place){NULL, "v1.HostPriorityList"}, read_priority,
			&priorities, &present);
	}
	if (result == 0) {
		take_list(&answer, &priorities.items, out_priorities);
		out_priorities->present = present;
	}
	bt_vec_finish(&priorities.items);
	return result;
}

/** --- preempt --- */

#define VICTIMS_FIELD "ExtenderPreemptionResult.NodeNameToMetaVictims"

static int read_meta_pod_member(struct extender_answer *answer, struct bt_str name, void *out)
{
	if (answer_is_named(name, "uid")) {
		return answer_text(answer,
			(struct extender_answer_place){VICTIMS_FIELD ".Pods.UID", "string"}, out);
	}
	return answer_skip(answer);
}

static int read_meta_pod(struct extender_answer *answer, void *out)
{
	struct text_vec *uids = out;
	struct bt_str uid = BT_STR("");
	int result = answer_object(answer,
		(struct extender_answer_place){VICTIMS_FIELD ".Pods", "v1.MetaPod"},
		read_meta_pod_member, &uid, NULL);
	if (result == 0) {
		bt_vec_push(&uids->items, uid);
	}
	return result;
}

static int read_meta_victims_member(struct extender_answer *answer, struct bt_str name, void *out)
{
	struct bt_preemption_opinion *opinion = out;
	if (answer_is_named(name, "pods")) {
		struct text_vec uids = {0};
		struct {
			struct bt_str *items;
			uint32_t count;
		} list;
		bool present;
		int result = answer_array(answer,
			(struct extender_answer_place){VICTIMS_FIELD ".Pods", "[]*v1.MetaPod"},
			read_meta_pod, &uids, &present);
		take_list(answer, &uids.items, &list);
		opinion->victim_uids = list.items;
		opinion->victim_count = list.count;
		return result;
	}
	if (answer_is_named(name, "numpdbviolations")) {
		return answer_number(answer,
			(struct extender_answer_place){VICTIMS_FIELD ".NumPDBViolations", "int64"},
			&opinion->pdb_violations);
	}
	return answer_skip(answer);
}

struct opinion_entry {
	struct bt_preemption_opinion opinion;
	uint32_t order;
};

struct opinion_vec {
	BT_VEC(struct opinion_entry) items;
};

static int read_meta_victims(struct extender_answer *answer, struct bt_str name, void *out)
{
	struct opinion_vec *opinions = out;
	struct opinion_entry entry = {{.node_name = name}, opinions->items.count};
	int result = answer_count(answer);
	if (result == 0) {
		result = answer_object(answer,
			(struct extender_answer_place){VICTIMS_FIELD, "v1.MetaVictims"},
			read_meta_victims_member, &entry.opinion, NULL);
	}
	if (result == 0) {
		bt_vec_push(&opinions->items, entry);
	}
	return result;
}

static int read_preemption_member(struct extender_answer *answer, struct bt_str name, void *out)
{
	struct opinion_vec *opinions = out;
	bool present = false;
	if (!answer_is_named(name, "nodenametometavictims")) {
		return answer_skip(answer);
	}
	int result = answer_object(answer,
		(struct extender_answer_place){VICTIMS_FIELD, "map[string]*v1.MetaVictims"},
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
	struct extender_answer answer;
	struct opinion_vec opinions = {0};
	int result = answer_begin(&answer, json, arena, err);
	if (result == 0) {
		result = answer_object(&answer,
			(struct extender_answer_place){NULL, "v1.ExtenderPreemptionResult"},
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

static int read_binding_member(struct extender_answer *answer, struct bt_str name, void *out)
{
	if (answer_is_named(name, "error")) {
		return answer_text(answer,
			(struct extender_answer_place){"ExtenderBindingResult.Error", "string"},
			out);
	}
	return answer_skip(answer);
}

int bt_extender_decode_binding_result(struct bt_str json, struct bt_arena *arena,
	struct bt_extender_binding_result *out_result, struct berth_error *err)
{
	struct extender_answer answer;
	struct bt_str error = BT_STR("");
	int result = answer_begin(&answer, json, arena, err);
	if (result == 0) {
		result = answer_object(&answer,
			(struct extender_answer_place){NULL, "v1.ExtenderBindingResult"},
			read_binding_member, &error, NULL);
	}
	if (result == 0) {
		out_result->error = error;
	}
	return result;
}
