/* SPDX-License-Identifier: Apache-2.0 */
/* strchrnul */
#define _GNU_SOURCE
#include "codec/json.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/vec.h"
#include "codec/json_scan.h"

/** Number of values allocated together: FIRST_VALUES at first, then doubled up to the maximum. */
#define FIRST_VALUES 8
#define VALUES_AT_ONCE_MAX 64
/** Room for the stacks of an ordinary object, so that they need not grow. */
#define LEVELS_RESERVED 16
#define ITEMS_RESERVED 64
/** If objects have more members than this, a comparison by text sorts the members. */
#define UNSORTED_MEMBERS_MAX 16

/** An open container. Its items are in the parser's stack, from first_item on. */
struct level {
	bool is_object;
	bool first;
	uint32_t first_item;
	struct bt_json_value *value;
};

/**
 * The parser uses explicit stacks instead of recursion, because the input decides the depth. An
 * array element is pushed to items as a member without a name.
 */
struct parser {
	struct bt_json_reader reader;
	struct bt_arena *arena;
	bool copy_strings;
	struct bt_str raw_name;       /* see bt_json_parse_partly; "": parse all */
	uint32_t value_count;         /* allocated so far */
	struct bt_json_value *values; /* the next preallocated value */
	struct bt_json_value *values_end;
	BT_VEC(struct level) levels;
	BT_VEC(struct bt_json_member) items;
};

BT_ALWAYS_INLINE struct bt_json_value *new_value(struct parser *parser, enum bt_json_type type)
{
	if (parser->values == parser->values_end) {
		uint32_t count = BT_MIN(parser->value_count + FIRST_VALUES, VALUES_AT_ONCE_MAX);
		parser->values = bt_arena_alloc(parser->arena, count * sizeof(*parser->values));
		parser->values_end = parser->values + count;
		parser->value_count += count;
	}
	struct bt_json_value *value = parser->values++;
	*value = (struct bt_json_value){.type = type};
	return value;
}

BT_ALWAYS_INLINE void push_level(struct parser *parser, struct bt_json_value *container)
{
	struct level level = {.is_object = container->type == BT_JSON_OBJECT,
		.first = true,
		.first_item = parser->items.count,
		.value = container};
	bt_vec_push(&parser->levels, level);
}

BT_ALWAYS_INLINE bool is_full(const struct parser *parser)
{
	return BT_UNLIKELY(parser->value_count >= BT_JSON_VALUES_MAX) &&
		parser->value_count - (uint32_t)(parser->values_end - parser->values) >=
		BT_JSON_VALUES_MAX;
}

/** Reads the scalar at p, or enters the container at p and pushes a level. */
BT_ALWAYS_INLINE int begin_value(struct parser *parser, const char *p,
	struct bt_json_value **out_value, struct berth_error *err)
{
	struct bt_json_reader *reader = &parser->reader;
	if (is_full(parser)) {
		return bt_error_set(
			err, BERTH_ERR_TOO_LARGE, "more than %u values", BT_JSON_VALUES_MAX);
	}
	struct bt_str text;
	p = bt_json_skip_space(p, reader->end);
	if (p != reader->end && (*p == '{' || *p == '[') && reader->depth < BT_JSON_DEPTH_MAX) {
		reader->depth++;
		reader->position = p + 1;
		*out_value = new_value(parser, *p == '{' ? BT_JSON_OBJECT : BT_JSON_ARRAY);
		push_level(parser, *out_value);
		return 0;
	}
	if (p != reader->end && *p == '"') {
		const char *behind = bt_json_plain_string(p, reader->end, &text);
		if (behind != NULL) {
			reader->position = behind;
			*out_value = new_value(parser, BT_JSON_STRING);
			(*out_value)->text =
				parser->copy_strings ? bt_arena_str(parser->arena, text) : text;
			return 0;
		}
	}
	enum bt_json_type type;
	reader->position = p;
	int result = bt_json_peek(reader, &type, err);
	if (result != 0) {
		return result;
	}
	struct bt_json_value *value = new_value(parser, type);
	bool borrowed = true;
	*out_value = value;
	switch (type) {
	case BT_JSON_NULL:
		return bt_json_read_null(reader, err);
	case BT_JSON_BOOL:
		return bt_json_read_bool(reader, &value->boolean, err);
	case BT_JSON_NUMBER:
		result = bt_json_read_number(reader, &value->text, err);
		break;
	case BT_JSON_STRING:
		result = bt_json_read_string(reader, parser->arena, &value->text, &borrowed, err);
		break;
	case BT_JSON_ARRAY: /* containers come here only if they are too deep: these calls fail */
		return bt_json_enter_array(reader, err);
	case BT_JSON_OBJECT:
		return bt_json_enter_object(reader, err);
	case BT_JSON__COUNT:
		BT_ASSERT(false);
		break;
	}
	if (result == 0 && parser->copy_strings && borrowed) {
		value->text = bt_arena_str(parser->arena, value->text);
	}
	return result;
}

/** Moves the items of a finished container from the stack into the arena. */
static void end_container(struct parser *parser)
{
	struct level level = parser->levels.items[--parser->levels.count];
	uint32_t count = parser->items.count - level.first_item;
	const struct bt_json_member *items =
		count != 0 ? parser->items.items + level.first_item : NULL;
	level.value->count = count;
	level.value->capacity = count;
	if (count != 0 && level.is_object) {
		level.value->members = bt_arena_alloc(parser->arena, count * sizeof(*items));
		memcpy(level.value->members, items, count * sizeof(*items));
	} else {
		level.value->elements =
			BT_ARENA_NEW_ARRAY(parser->arena, struct bt_json_value *, count);
		for (uint32_t i = 0; i < count; i++) {
			level.value->elements[i] = items[i].value;
		}
	}
	parser->items.count = level.first_item;
}

/** Reads the next item of the innermost container, or closes the container. */
BT_ALWAYS_INLINE int next_item(struct parser *parser, struct berth_error *err)
{
	struct level *level = &parser->levels.items[parser->levels.count - 1];
	struct bt_json_reader *reader = &parser->reader;
	struct bt_str name = {NULL, 0};
	bool more = true;
	int result = 0;
	const char *start = bt_json_skip_space(reader->position, reader->end);
	reader->position = start;
	if (start != reader->end && *start == (level->is_object ? '}' : ']')) {
		reader->depth--;
		reader->position = start + 1;
		end_container(parser);
		return 0;
	}
	const char *p = NULL;
	if (level->is_object) {
		p = bt_json_plain_name(start, reader->end, level->first, &name);
	}
	if (BT_LIKELY(p != NULL)) {
		level->first = false;
	} else if (!level->is_object) {
		result = bt_json_next_element(reader, &level->first, &more, err);
		p = reader->position;
	} else {
		/* Pass &other, because with &name `name` would not stay in registers. */
		struct bt_str other = {NULL, 0};
		result = bt_json_next_member(
			reader, &level->first, parser->arena, &more, &other, err);
		name = other;
		p = reader->position;
	}
	if (result != 0) {
		return result;
	}
	if (parser->copy_strings) {
		/* Names that were unescaped are in the arena already; copying them again is
		 * simpler. */
		name = bt_arena_str(parser->arena, name);
	}
	/* Reserve the slot first: items of a nested container are pushed behind it. */
	bt_vec_reserve(&parser->items, (uint64_t)parser->items.count + 1);
	struct bt_json_member *item = &parser->items.items[parser->items.count++];
	item->name = name;
	if (parser->raw_name.length != 0 && bt_str_equal(name, parser->raw_name)) {
		enum bt_json_type type;
		reader->position = p;
		result = bt_json_peek(reader, &type, err);
		if (result != 0) {
			return result;
		}
		if (type == BT_JSON_OBJECT && !is_full(parser)) {
			item->value = new_value(parser, BT_JSON_NUMBER);
			return bt_json_skip(reader, &item->value->text, err);
		}
	}
	return begin_value(parser, p, &item->value, err);
}

static int parse(struct parser *parser, struct bt_str text, struct bt_json_value **out_value,
	struct berth_error *err)
{
	bt_json_reader_init(&parser->reader, text);
	bt_vec_reserve(&parser->levels, LEVELS_RESERVED);
	bt_vec_reserve(&parser->items, ITEMS_RESERVED);
	struct bt_json_value *value = NULL;
	int result = begin_value(parser, parser->reader.position, &value, err);
	while (result == 0 && parser->levels.count != 0) {
		result = next_item(parser, err);
	}
	if (result == 0) {
		result = bt_json_expect_end(&parser->reader, err);
	}
	if (result == 0) {
		*out_value = value;
	}
	bt_vec_finish(&parser->levels);
	bt_vec_finish(&parser->items);
	return result;
}

int bt_json_parse(struct bt_arena *arena, struct bt_str text, bool copy_strings,
	struct bt_json_value **out_value, struct berth_error *err)
{
	struct parser parser = {.arena = arena, .copy_strings = copy_strings};
	return parse(&parser, text, out_value, err);
}

int bt_json_parse_partly(struct bt_arena *arena, struct bt_str text, struct bt_str raw_name,
	struct bt_json_value **out_value, struct berth_error *err)
{
	struct parser parser = {.arena = arena, .raw_name = raw_name};
	return parse(&parser, text, out_value, err);
}

/** Returns whether two names of this length are equal. Names are short: memcmp takes longer. */
BT_ALWAYS_INLINE bool is_same_name(const char *a, const char *b, uint32_t length)
{
	uint32_t at = 0;
	for (; at + 8 <= length; at += 8) {
		if (bt_json_load8(a + at) != bt_json_load8(b + at)) {
			return false;
		}
	}
	if (at != 0) { /* may overlap the last step */
		return bt_json_load8(a + length - 8) == bt_json_load8(b + length - 8);
	}
	for (; at < length; at++) {
		if (a[at] != b[at]) {
			return false;
		}
	}
	return true;
}

struct bt_json_value *bt_json_get(const struct bt_json_value *object, struct bt_str name)
{
	if (object == NULL || object->type != BT_JSON_OBJECT) {
		return NULL;
	}
	for (uint32_t i = object->count; i > 0; i--) {
		const struct bt_json_member *member = &object->members[i - 1];
		if (member->name.length == name.length &&
			is_same_name(member->name.data, name.data, name.length)) {
			return member->value;
		}
	}
	return NULL;
}

struct bt_json_value *bt_json_find_path(const struct bt_json_value *value, const char *dotted_path)
{
	for (;;) {
		const char *end = strchrnul(dotted_path, '.');
		struct bt_json_value *found = bt_json_get(
			value, (struct bt_str){dotted_path, (uint32_t)(end - dotted_path)});
		if (found == NULL || *end == '\0') {
			return found;
		}
		value = found;
		dotted_path = end + 1;
	}
}

struct bt_str bt_json_find_str(const struct bt_json_value *value, const char *name)
{
	const struct bt_json_value *found = bt_json_find(value, name);
	return found != NULL && found->type == BT_JSON_STRING ? found->text
							      : (struct bt_str){NULL, 0};
}

/* equal names: keep source order (both point into one array) */
BT_COMPARE(compare_members, struct bt_json_member *const,
	BT_ORDER_BY(bt_str_compare((*a)->name, (*b)->name), BT_ORDER(*a, *b)))

/**
 * Returns an array with the last member of each name, sorted by name. *out_count is the number of
 * members in the array. The caller frees the array.
 */
static const struct bt_json_member **sorted_members(
	const struct bt_json_value *value, uint32_t *out_count)
{
	const struct bt_json_member **sorted =
		BT_NEW_ARRAY(const struct bt_json_member *, value->count);
	for (uint32_t i = 0; i < value->count; i++) {
		sorted[i] = &value->members[i];
	}
	if (value->count > 1) {
		qsort(sorted, value->count, sizeof(*sorted), compare_members);
	}
	uint32_t kept = 0;
	for (uint32_t i = 0; i < value->count; i++) {
		bool last = i + 1 == value->count ||
			!bt_str_equal(sorted[i]->name, sorted[i + 1]->name);
		if (last) {
			sorted[kept++] = sorted[i];
		}
	}
	*out_count = kept;
	return sorted;
}

static bool number_of(struct bt_str text, double *out_number)
{
	char copy[64];
	if (text.length >= sizeof(copy)) {
		return false;
	}
	memcpy(copy, text.data, text.length);
	copy[text.length] = '\0';
	*out_number = strtod(copy, NULL);
	return true;
}

static bool has_same_number(struct bt_str a, struct bt_str b)
{
	int64_t integer_a;
	int64_t integer_b;
	double number_a;
	double number_b;
	if (bt_json_number_int64(a, &integer_a) && bt_json_number_int64(b, &integer_b)) {
		return integer_a == integer_b;
	}
	if (!number_of(a, &number_a) || !number_of(b, &number_b)) {
		return false;
	}
	return !(number_a < number_b) && !(number_a > number_b);
}

/** Returns true also for an object with so many members that sorting them is faster. */
static bool may_repeat_name(const struct bt_json_value *object)
{
	if (object->count > UNSORTED_MEMBERS_MAX) {
		return true;
	}
	for (uint32_t i = 0; i < object->count; i++) {
		for (uint32_t k = 0; k < i; k++) {
			if (bt_str_equal(object->members[i].name, object->members[k].name)) {
				return true;
			}
		}
	}
	return false;
}

static bool has_same_names(const struct bt_json_value *a, const struct bt_json_value *b)
{
	for (uint32_t i = 0; i < a->count && i < b->count; i++) {
		if (!bt_str_equal(a->members[i].name, b->members[i].name)) {
			return false;
		}
	}
	return a->count == b->count;
}

/** Compares two trees, numbers by their value or by their text. */
static bool compare(const struct bt_json_value *a, const struct bt_json_value *b, bool by_value);

/** Whether two objects have the same names, and for each name the last values are equal. */
static bool has_same_last_members(
	const struct bt_json_value *a, const struct bt_json_value *b, bool by_value)
{
	uint32_t a_count;
	uint32_t b_count;
	const struct bt_json_member **a_members = sorted_members(a, &a_count);
	const struct bt_json_member **b_members = sorted_members(b, &b_count);
	bool same = a_count == b_count;
	for (uint32_t i = 0; same && i < a_count; i++) {
		same = bt_str_equal(a_members[i]->name, b_members[i]->name) &&
			compare(a_members[i]->value, b_members[i]->value, by_value);
	}
	bt_free(a_members);
	bt_free(b_members);
	return same;
}

static bool compare(const struct bt_json_value *a, const struct bt_json_value *b, bool by_value)
{
	if (a == b) {
		return true;
	}
	if (a->type != b->type) {
		return false;
	}
	switch (a->type) {
	case BT_JSON_NULL:
		return true;
	case BT_JSON_BOOL:
		return a->boolean == b->boolean;
	case BT_JSON_NUMBER:
		return bt_str_equal(a->text, b->text) ||
			(by_value && has_same_number(a->text, b->text));
	case BT_JSON_STRING:
		return bt_str_equal(a->text, b->text);
	case BT_JSON_ARRAY:
		if (a->count != b->count) {
			return false;
		}
		for (uint32_t i = 0; i < a->count; i++) {
			if (!compare(a->elements[i], b->elements[i], by_value)) {
				return false;
			}
		}
		return true;
	case BT_JSON_OBJECT:
		/*
		 * Compare values once only: comparing them twice on each level would take
		 * exponential time. If numbers are compared by text, objects with repeated names
		 * need has_same_last_members (see bt_json_equal).
		 */
		if (a->count != b->count && !may_repeat_name(a) && !may_repeat_name(b)) {
			return false;
		}
		if (!has_same_names(a, b) || (!by_value && may_repeat_name(a))) {
			return has_same_last_members(a, b, by_value);
		}
		for (uint32_t i = 0; i < a->count; i++) {
			if (!compare(a->members[i].value, b->members[i].value, by_value)) {
				return false;
			}
		}
		return true;
	case BT_JSON__COUNT:
		break;
	}
	BT_ASSERT(false);
	return false;
}

bool bt_json_equal(const struct bt_json_value *a, const struct bt_json_value *b)
{
	return compare(a, b, false);
}

bool bt_json_same(const struct bt_json_value *a, const struct bt_json_value *b)
{
	return compare(a, b, true);
}

bool bt_json_number_int64(struct bt_str number_text, int64_t *out_value)
{
	/* to Go a JSON number is an integer if it has only digits and an optional minus */
	return number_text.length != 0 && number_text.data[0] != '+' &&
		bt_str_parse_int64(number_text, out_value);
}
