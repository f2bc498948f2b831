/* SPDX-License-Identifier: Apache-2.0 */
/** Decoder of extenders' answers. Spec 11b sections 9.1 and 9.2. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "codec/json.h"
#include "sched/extender_wire.h"

/**
 * Answers are read as Go's decoder reads them: names match in any case, and errors have Go's texts.
 */

/** Maximum number of entries in all lists and maps of one answer together. */
#define ANSWER_ENTRIES_MAX (UINT32_C(1) << 20)

struct extender_answer {
	struct bt_json_reader reader;
	struct bt_arena *arena;
	uint32_t entries; /* number of entries read so far */
	struct berth_error *err;
};

/** Common layout of bt_str_list, bt_extender_node_list and bt_host_priority_list. */
typedef BT_LIST(char) any_list;

/**
 * Entries of a map in the order of the text, each beginning with its key. If keys repeat, the last
 * entry counts.
 */
struct entries {
	BT_VEC(char) bytes;
	uint32_t count;
	bool present;
};

/**
 * Schema of a JSON value: a string, number, list, object, or map (an object with arbitrary names).
 * The value is read into, respectively: struct bt_str, int64_t, any_list, a structure, struct
 * entries.
 */
struct part {
	const char *field; /* name in Go's messages; NULL: the whole answer */
	const char *type;
	enum bt_json_type json;
	const struct member *members; /* of an object; ends with a NULL name */
	const struct part *value;     /* of a list's elements or a map's values */
	uint32_t value_size;   /* size of an element or map entry, which begins with a bt_str */
	uint32_t value_offset; /* offset of the value in a map entry */
	uint32_t json_offset;  /* where an element's JSON text is stored; 0: not stored */
	bool null_clears;      /* JSON null resets the value, which is a struct node_list */
};

#define TEXT(where) \
	{ \
		.field = (where), .type = "string", .json = BT_JSON_STRING \
	}
#define NUMBER(where) \
	{ \
		.field = (where), .type = "int64", .json = BT_JSON_NUMBER \
	}

struct member {
	const char *name; /* in lower case */
	const struct part *part;
	uint32_t offset;
};

struct node_list {
	any_list items;
	bool present;
};

static int set_type_error(struct extender_answer *answer, const char *what, const struct part *part)
{
	if (part->field == NULL) {
		return bt_error_set(answer->err, BERTH_ERR_INVALID,
			"json: cannot unmarshal %s into Go value of type %s", what, part->type);
	}
	return bt_error_set(answer->err, BERTH_ERR_INVALID,
		"json: cannot unmarshal %s into Go struct field %s of type %s", what, part->field,
		part->type);
}

/** Count an entry of a list or map; fails beyond the limit. */
static int answer_count(struct extender_answer *answer)
{
	if (answer->entries == ANSWER_ENTRIES_MAX) {
		return bt_error_set(answer->err, BERTH_ERR_TOO_LARGE,
			"answer has more than %u entries", ANSWER_ENTRIES_MAX);
	}
	answer->entries++;
	return 0;
}

/**
 * Number of bytes of the name's first character if that character is this letter in any case,
 * otherwise 0. Two non-ASCII characters fold to k and s.
 */
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

/** Whether the names are equal, ignoring case as Go does. `wanted` is in lower case. */
static bool is_named(struct bt_str name, const char *wanted)
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

static int read_part(struct extender_answer *answer, const struct part *part, void *out);

static int read_number(struct extender_answer *answer, const struct part *part, int64_t *out_value)
{
	struct bt_str text;
	int result = bt_json_read_number(&answer->reader, &text, answer->err);

	if (result == 0 && !bt_json_number_int64(text, out_value)) {
		struct bt_strbuf what = {0};
		bt_strbuf_append_c(&what, "number ");
		bt_strbuf_append_str(&what, text);
		result = set_type_error(answer, bt_strbuf_c(&what), part);
		bt_strbuf_finish(&what);
	}
	return result;
}

/**
 * Append an element or map entry of `size` bytes, which begins with the struct bt_str `text` and is
 * otherwise zero. Returns the element, borrowed until the next append.
 */
static char *add_value(struct entries *entries, uint32_t size, struct bt_str text)
{
	bt_vec_reserve(&entries->bytes, (uint64_t)entries->bytes.count + size);
	char *value = entries->bytes.items + entries->bytes.count;
	memset(value, 0, size);
	memcpy(value, &text, sizeof(text));
	entries->bytes.count += size;
	entries->count++;
	return value;
}

static int read_list(struct extender_answer *answer, const struct part *part, any_list *out)
{
	struct entries values = {0};
	int result;

	BT_JSON_EACH_ELEMENT (&answer->reader, result, answer->err) {
		result = answer_count(answer);
		if (result == 0) {
			char *value = add_value(&values, part->value_size, BT_STR(""));
			struct bt_json_reader start = answer->reader;
			result = read_part(answer, part->value, value);
			if (result == 0 && part->json_offset != 0) {
				result = bt_json_skip(
					&start, (void *)(value + part->json_offset), answer->err);
			}
		}
	}
	out->count = values.count;
	out->items = bt_arena_alloc(answer->arena, values.bytes.count);
	if (values.count != 0) {
		memcpy(out->items, values.bytes.items, values.bytes.count);
	}
	bt_vec_finish(&values.bytes);
	return result;
}

static int read_object(struct extender_answer *answer, const struct part *part, void *out)
{
	struct entries *entries = part->value != NULL ? out : NULL;
	struct bt_str name;
	int result;

	BT_JSON_EACH_MEMBER (&answer->reader, answer->arena, name, result, answer->err) {
		const struct member *member = part->members;
		if (entries != NULL) {
			result = answer_count(answer);
			if (result == 0) {
				char *entry = add_value(entries, part->value_size, name);
				result = read_part(answer, part->value, entry + part->value_offset);
			}
			continue;
		}
		while (member->name != NULL && !is_named(name, member->name)) {
			member++;
		}
		result = member->name != NULL
			? read_part(answer, member->part, (char *)out + member->offset)
			: bt_json_skip(&answer->reader, NULL, answer->err);
	}
	return result;
}

/**
 * Read one value into out. JSON null makes lists, maps and node lists empty, and leaves all other
 * values unchanged. A value of another type is an error. A repeated list replaces the earlier one;
 * a repeated map adds to the earlier map.
 */
static int read_part(struct extender_answer *answer, const struct part *part, void *out)
{
	enum bt_json_type got = BT_JSON_NULL;
	int result = bt_json_peek(&answer->reader, &got, answer->err);
	bool present = got != BT_JSON_NULL;

	if (result < 0) {
		return result;
	}
	if (present && got != part->json) {
		return set_type_error(answer, bt_json_type_name(got), part);
	}
	if (part->json == BT_JSON_ARRAY) {
		*(any_list *)out = (any_list){.present = present};
	} else if (part->null_clears) {
		struct node_list *nodes = out;
		nodes->items = present ? nodes->items : (any_list){0};
		nodes->present = present;
	} else if (part->json == BT_JSON_OBJECT && part->value != NULL) {
		struct entries *entries = out;
		/*
		 * Charge the earlier entries again when a map repeats, so that many repetitions
		 * cannot cost too much time.
		 */
		if (entries->count > ANSWER_ENTRIES_MAX - answer->entries) {
			answer->entries = ANSWER_ENTRIES_MAX;
			return answer_count(answer);
		}
		answer->entries += entries->count;
		entries->present = present;
		entries->count = present ? entries->count : 0;
		entries->bytes.count = present ? entries->bytes.count : 0;
	}
	switch (got) {
	case BT_JSON_STRING:
		return bt_json_read_string(&answer->reader, answer->arena, out, NULL, answer->err);
	case BT_JSON_NUMBER:
		return read_number(answer, part, out);
	case BT_JSON_ARRAY:
		return read_list(answer, part, out);
	case BT_JSON_OBJECT:
		return read_object(answer, part, out);
	default:
		return bt_json_read_null(&answer->reader, answer->err);
	}
}

BT_COMPARE(compare_addresses, char *const, BT_ORDER(*a, *b))

static int compare_keys(const void *a, const void *b)
{
	int order = bt_str_compare(
		**(const struct bt_str *const *)a, **(const struct bt_str *const *)b);

	return order != 0 ? order : compare_addresses(a, b);
}

/** The last entry of each key, sorted by key. The caller frees the array. */
static const struct bt_str **sort_entries(
	const struct entries *entries, uint32_t size, uint32_t *out_count)
{
	const struct bt_str **sorted = BT_NEW_ARRAY(const struct bt_str *, entries->count);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < entries->count; i++) {
		sorted[i] = (const void *)(entries->bytes.items + (size_t)i * size);
	}
	if (entries->count > 1) {
		qsort(sorted, entries->count, sizeof(sorted[0]), compare_keys);
	}
	for (uint32_t i = 0; i < entries->count; i++) {
		if (i + 1 == entries->count || !bt_str_equal(*sorted[i], *sorted[i + 1])) {
			sorted[kept++] = sorted[i];
		}
	}
	*out_count = kept;
	return sorted;
}

/**
 * Read the first value of the text; anything after the value is skipped. Errors: "EOF" if there
 * is no value, "unexpected EOF" if the value is truncated.
 */
static int read_answer(struct bt_str json, const struct part *part, void *out,
	struct bt_arena *arena, struct berth_error *err)
{
	struct extender_answer answer = {.arena = arena, .err = err};
	struct bt_json_reader reader;
	struct berth_error fault = BERTH_ERROR_INIT;
	struct bt_str value = BT_STR("null");
	uint32_t blank = 0;

	if (json.length > BT_EXTENDER_ANSWER_BYTES_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE,
			"answer of %u bytes is longer than %u", json.length,
			BT_EXTENDER_ANSWER_BYTES_MAX);
	}
	while (blank < json.length &&
		(json.data[blank] == ' ' || json.data[blank] == '\t' || json.data[blank] == '\n' ||
			json.data[blank] == '\r')) {
		blank++;
	}
	if (blank == json.length) {
		return bt_error_set(err, BERTH_ERR_SYNTAX, "EOF");
	}
	bt_json_reader_init(&reader, json);
	int result = bt_json_skip(&reader, &value, &fault);
	if (result == 0) {
		bt_json_reader_init(&answer.reader, value);
		result = read_part(&answer, part, out);
	} else if (strcmp(berth_error_message(&fault), "unexpected end of JSON input") == 0) {
		result = bt_error_set(err, BERTH_ERR_SYNTAX, "unexpected EOF");
		berth_error_finish(&fault);
	} else {
		result = bt_error_move(err, &fault);
	}
	return result;
}

/** --- filter --- */

struct filter_answer {
	struct node_list nodes;
	any_list node_names;
	struct entries failed;
	struct entries unresolvable;
	struct bt_str error;
};

#define NODES "ExtenderFilterResult.Nodes"
#define NODE_NAMES "ExtenderFilterResult.NodeNames"
#define FAILED_NODES "ExtenderFilterResult.FailedNodes"
#define UNRESOLVABLE "ExtenderFilterResult.FailedAndUnresolvableNodes"

static const struct part node_name = TEXT(NODES ".items.metadata.name");
static const struct part node_metadata = {NODES ".items.metadata", "v1.ObjectMeta", BT_JSON_OBJECT,
	.members = (const struct member[]){
		{"name", &node_name, offsetof(struct bt_extender_node, name)}, {0}}};
static const struct part node = {NODES ".items", "v1.Node", BT_JSON_OBJECT,
	.members = (const struct member[]){{"metadata", &node_metadata, 0}, {0}}};
static const struct part node_items = {NODES ".items", "[]v1.Node", BT_JSON_ARRAY, .value = &node,
	.value_size = sizeof(struct bt_extender_node),
	.json_offset = offsetof(struct bt_extender_node, json)};
static const struct part nodes = {NODES, "v1.NodeList", BT_JSON_OBJECT, .null_clears = true,
	.members = (const struct member[]){
		{"items", &node_items, offsetof(struct node_list, items)}, {0}}};
static const struct part node_names_item = TEXT(NODE_NAMES);
static const struct part node_names = {NODE_NAMES, "[]string", BT_JSON_ARRAY,
	.value = &node_names_item, .value_size = sizeof(struct bt_str)};
static const struct part failed_text = TEXT(FAILED_NODES);
static const struct part failed_nodes = {FAILED_NODES, "v1.FailedNodesMap", BT_JSON_OBJECT,
	.value = &failed_text, .value_size = sizeof(struct bt_str_pair),
	.value_offset = offsetof(struct bt_str_pair, value)};
static const struct part unresolvable_text = TEXT(UNRESOLVABLE);
static const struct part unresolvable_nodes = {UNRESOLVABLE, "v1.FailedNodesMap", BT_JSON_OBJECT,
	.value = &unresolvable_text, .value_size = sizeof(struct bt_str_pair),
	.value_offset = offsetof(struct bt_str_pair, value)};
static const struct part filter_error = TEXT("ExtenderFilterResult.Error");
static const struct part filter_result = {NULL, "v1.ExtenderFilterResult", BT_JSON_OBJECT,
	.members = (const struct member[]){{"nodes", &nodes, offsetof(struct filter_answer, nodes)},
		{"nodenames", &node_names, offsetof(struct filter_answer, node_names)},
		{"failednodes", &failed_nodes, offsetof(struct filter_answer, failed)},
		{"failedandunresolvablenodes", &unresolvable_nodes,
			offsetof(struct filter_answer, unresolvable)},
		{"error", &filter_error, offsetof(struct filter_answer, error)}, {0}}};

static struct bt_str_map take_map(struct bt_arena *arena, const struct entries *entries)
{
	struct bt_str_map map = {.present = entries->present};
	const struct bt_str **sorted =
		sort_entries(entries, sizeof(struct bt_str_pair), &map.count);

	map.items = BT_ARENA_NEW_ARRAY(arena, struct bt_str_pair, map.count);
	for (uint32_t i = 0; i < map.count; i++) {
		map.items[i] = *(const struct bt_str_pair *)sorted[i];
	}
	bt_free(sorted);
	return map;
}

int bt_extender_decode_filter_result(struct bt_str json, struct bt_arena *arena,
	struct bt_extender_filter_result *out_result, struct berth_error *err)
{
	struct filter_answer found = {.error = BT_STR("")};
	int result = read_answer(json, &filter_result, &found, arena, err);

	if (result == 0) {
		*out_result = (struct bt_extender_filter_result){
			.nodes = {(void *)found.nodes.items.items, found.nodes.items.count,
				found.nodes.present},
			.node_names = {(void *)found.node_names.items, found.node_names.count,
				found.node_names.present},
			.failed_nodes = take_map(arena, &found.failed),
			.failed_and_unresolvable_nodes = take_map(arena, &found.unresolvable),
			.error = found.error,
		};
	}
	bt_vec_finish(&found.failed.bytes);
	bt_vec_finish(&found.unresolvable.bytes);
	return result;
}

/** --- prioritize --- */

static const struct part host = TEXT("HostPriority.Host");
static const struct part score = NUMBER("HostPriority.Score");
static const struct part priority = {NULL, "v1.HostPriority", BT_JSON_OBJECT,
	.members = (const struct member[]){{"host", &host, offsetof(struct bt_host_priority, host)},
		{"score", &score, offsetof(struct bt_host_priority, score)}, {0}}};
static const struct part priorities = {NULL, "v1.HostPriorityList", BT_JSON_ARRAY,
	.value = &priority, .value_size = sizeof(struct bt_host_priority)};

int bt_extender_decode_priorities(struct bt_str json, struct bt_arena *arena,
	bt_host_priority_list *out_priorities, struct berth_error *err)
{
	any_list found = {0};
	int result = read_answer(json, &priorities, &found, arena, err);

	if (result == 0) {
		*out_priorities =
			(bt_host_priority_list){(void *)found.items, found.count, found.present};
	}
	return result;
}

/** --- preempt --- */

#define VICTIMS "ExtenderPreemptionResult.NodeNameToMetaVictims"

struct victims_entry {
	struct bt_str node_name;
	any_list uids;
	int64_t pdb_violations;
};

static const struct part uid = TEXT(VICTIMS ".Pods.UID");
static const struct part meta_pod = {VICTIMS ".Pods", "v1.MetaPod", BT_JSON_OBJECT,
	.members = (const struct member[]){{"uid", &uid, 0}, {0}}};
static const struct part meta_pods = {VICTIMS ".Pods", "[]*v1.MetaPod", BT_JSON_ARRAY,
	.value = &meta_pod, .value_size = sizeof(struct bt_str)};
static const struct part violations = NUMBER(VICTIMS ".NumPDBViolations");
static const struct part meta_victims = {VICTIMS, "v1.MetaVictims", BT_JSON_OBJECT,
	.members = (const struct member[]){
		{"pods", &meta_pods, offsetof(struct victims_entry, uids)},
		{"numpdbviolations", &violations, offsetof(struct victims_entry, pdb_violations)},
		{0}}};
static const struct part victims = {VICTIMS, "map[string]*v1.MetaVictims", BT_JSON_OBJECT,
	.value = &meta_victims, .value_size = sizeof(struct victims_entry)};
static const struct part preemption_result = {NULL, "v1.ExtenderPreemptionResult", BT_JSON_OBJECT,
	.members = (const struct member[]){{"nodenametometavictims", &victims, 0}, {0}}};

int bt_extender_decode_preemption_result(struct bt_str json, struct bt_arena *arena,
	struct bt_node_victims_list *out_answer, struct berth_error *err)
{
	struct entries found = {0};
	int result = read_answer(json, &preemption_result, &found, arena, err);

	if (result == 0) {
		/* Keep the last entry of each node, in the answer's order. */
		uint32_t count;
		const struct bt_str **sorted =
			sort_entries(&found, sizeof(struct victims_entry), &count);
		struct bt_node_victims *items =
			BT_ARENA_NEW_ARRAY(arena, struct bt_node_victims, count);
		if (count > 1) {
			qsort(sorted, count, sizeof(sorted[0]), compare_addresses);
		}
		for (uint32_t i = 0; i < count; i++) {
			const struct victims_entry *entry = (const void *)sorted[i];
			items[i] = (struct bt_node_victims){entry->node_name,
				(const void *)entry->uids.items, entry->uids.count,
				entry->pdb_violations};
		}
		*out_answer = (struct bt_node_victims_list){items, count};
		bt_free(sorted);
	}
	bt_vec_finish(&found.bytes);
	return result;
}

/** --- bind --- */

static const struct part binding_error = TEXT("ExtenderBindingResult.Error");
static const struct part binding_result = {NULL, "v1.ExtenderBindingResult", BT_JSON_OBJECT,
	.members = (const struct member[]){{"error", &binding_error, 0}, {0}}};

int bt_extender_decode_binding_result(struct bt_str json, struct bt_arena *arena,
	struct bt_extender_binding_result *out_result, struct berth_error *err)
{
	struct bt_str error = BT_STR("");
	int result = read_answer(json, &binding_result, &error, arena, err);

	if (result == 0) {
		out_result->error = error;
	}
	return result;
}
