/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/message.h"

#include <string.h>

#include "base/alloc.h"
#include "codec/json_scan.h"
#include "codec/message_layout.h"
#include "codec/path.h"

/** Longest field name in a table, and the longest source text that can encode it. */
#define NAME_BYTES_MAX 255
#define RAW_NAME_BYTES_MAX (6 * NAME_BYTES_MAX)
/** Scratch memory on the C stack, enough for the lists of an ordinary pod. */
#define SCRATCH_BYTES 16384

/*
 * The length of a list is known only at its end: items are collected in scratch memory, which is
 * used like a stack, then copied to the arena in one piece. Items do not move while they are
 * collected, so pointers to them stay valid.
 */

struct scratch_block {
	struct scratch_block *previous;
	size_t used;
	size_t size;
	_Alignas(max_align_t) char bytes[];
};

/** A stack of blocks; the bottom block is memory of the caller. */
struct scratch {
	struct scratch_block *top;
	struct scratch_block *bottom;
};

/** Capacity of the first run of items; most lists are shorter. */
#define FIRST_RUN_ITEMS 4

/**
 * A run has consecutive items of one list; each further run of the list has twice the capacity.
 * Runs of lists nested in an item are pushed to the stack between two runs of the outer list.
 */
struct collector_run {
	struct collector_run *next;
	uint32_t count;
	uint32_t capacity;
	_Alignas(max_align_t) char items[];
};

struct collector {
	struct scratch *scratch;
	struct scratch_block *mark_block; /* scratch position to restore */
	size_t mark_used;
	struct collector_run *first;
	struct collector_run *last;
	size_t item_size;
	uint32_t count;
};

static struct scratch_block *init_block(void *memory, size_t size, struct scratch_block *previous)
{
	struct scratch_block *block = memory;
	block->previous = previous;
	block->used = 0;
	block->size = size - sizeof(*block);
	return block;
}

static void *push(struct scratch *scratch, size_t size)
{
	size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	struct scratch_block *top = scratch->top;
	if (top->size - top->used < size) {
		size_t block_size = sizeof(*top) + (size > 2 * top->size ? size : 2 * top->size);
		top = init_block(bt_malloc(block_size), block_size, top);
		scratch->top = top;
	}
	void *memory = top->bytes + top->used;
	top->used += size;
	return memory;
}

static void pop(struct scratch *scratch, struct scratch_block *block, size_t used)
{
	while (scratch->top != block) {
		struct scratch_block *above = scratch->top;
		scratch->top = above->previous;
		bt_free(above);
	}
	block->used = used;
}

static void collector_init(struct collector *collector, struct scratch *scratch, size_t item_size)
{
	*collector = (struct collector){
		.scratch = scratch,
		.mark_block = scratch->top,
		.mark_used = scratch->top->used,
		.item_size = item_size,
	};
}

/** Returns a new zeroed item. */
static void *collector_add(struct collector *collector)
{
	struct collector_run *last = collector->last;
	if (last == NULL || last->count == last->capacity) {
		uint32_t capacity = last == NULL ? FIRST_RUN_ITEMS : 2 * last->capacity;
		struct collector_run *run =
			push(collector->scratch, sizeof(*run) + capacity * collector->item_size);
		*run = (struct collector_run){.capacity = capacity};
		if (last == NULL) {
			collector->first = run;
		} else {
			last->next = run;
		}
		collector->last = run;
		last = run;
	}
	void *item = last->items + last->count * collector->item_size;
	memset(item, 0, collector->item_size);
	last->count++;
	collector->count++;
	return item;
}

/**
 * Copies all items in order to the arena and returns the copy; NULL if there are no items.
 * Collectors must be finished in the reverse order of their initialization. After an error the
 * caller need not finish a collector, because the decoder frees all scratch memory.
 */
static void *collector_finish(struct collector *collector, struct bt_arena *arena)
{
	char *items = NULL;
	if (collector->count != 0) {
		items = bt_arena_alloc(arena, collector->count * collector->item_size);
		char *at = items;
		const struct collector_run *run;
		for (run = collector->first; run != NULL; run = run->next) {
			size_t bytes = run->count * collector->item_size;
			memcpy(at, run->items, bytes);
			at += bytes;
		}
	}
	pop(collector->scratch, collector->mark_block, collector->mark_used);
	return items;
}

struct decoder {
	struct bt_json_reader *reader;
	struct bt_arena *arena;
	struct scratch scratch;
	size_t item_bytes_left; /* remaining part of BT_MESSAGE_ITEM_BYTES_MAX */
	struct berth_error *err;
};

/** Adds the path to an error. Only the function in which the error occurs calls fail_at. */
BT_COLD static int fail_at(struct decoder *decoder, const struct bt_path *path, int code)
{
	return bt_path_fail(path, code, decoder->err);
}

static int decode_members(struct decoder *decoder, const struct bt_message *message, void *out,
	const struct bt_path *path);

/** Decodes an integer. field has type I32 or I64. */
static int decode_integer(struct decoder *decoder, const struct bt_field *field, void *out)
{
	bool is_long = field->type == BT_FIELD_I64;
	const char *type_name = is_long ? "int64" : "int32";
	struct bt_str text;
	enum bt_json_type type;
	int result = bt_json_peek(decoder->reader, &type, decoder->err);
	if (result != 0) {
		return result;
	}
	if (type != BT_JSON_NUMBER) {
		return bt_error_set(decoder->err, BERTH_ERR_INVALID, "expected %s, got %s",
			type_name, bt_json_type_name(type));
	}
	result = bt_json_read_number(decoder->reader, &text, decoder->err);
	if (result != 0) {
		return result;
	}
	int64_t value;
	if (!bt_json_number_int64(text, &value) ||
		(!is_long && (value < INT32_MIN || value > INT32_MAX))) {
		return bt_error_set(decoder->err, BERTH_ERR_INVALID,
			"expected %s, got number %.*s%s", type_name,
			text.length > 40 ? 40 : (int)text.length, text.data,
			text.length > 40 ? "..." : "");
	}
	bt_store_number(field, out, value);
	return 0;
}

/** Decodes a value that is not null. out is zeroed or has the value of an earlier duplicate. */
static int decode_value(struct decoder *decoder, const struct bt_field *field, void *out,
	const struct bt_path *path)
{
	struct bt_str text;
	bool borrowed;
	int result = 0;
	switch ((enum bt_field_type)field->type) {
	case BT_FIELD_STR:
		result = bt_json_read_string(
			decoder->reader, decoder->arena, &text, &borrowed, decoder->err);
		if (result == 0) {
			bt_store_str(out, borrowed ? bt_arena_str(decoder->arena, text) : text);
		}
		break;
	case BT_FIELD_BOOL:
		result = bt_json_read_bool(decoder->reader, out, decoder->err);
		break;
	case BT_FIELD_I32:
	case BT_FIELD_I64:
		result = decode_integer(decoder, field, out);
		break;
	case BT_FIELD_MESSAGE:
		/* decode_members adds the paths to its errors */
		return decode_members(decoder, field->message, out, path);
	case BT_FIELD_SCALAR:
		result = field->scalar->decode_json(
			decoder->reader, decoder->arena, out, decoder->err);
		break;
	case BT_FIELD_RAW_JSON:
		result = bt_json_skip(decoder->reader, &text, decoder->err);
		if (result == 0 && text.length > BT_JSON_STRING_BYTES_MAX) {
			result = bt_error_set(decoder->err, BERTH_ERR_TOO_LARGE,
				"value of %u bytes is longer than %u", text.length,
				BT_JSON_STRING_BYTES_MAX);
		} else if (result == 0) {
			bt_store_str(out, bt_arena_str(decoder->arena, text));
		}
		break;
	}
	return result == 0 ? 0 : fail_at(decoder, path, result);
}

/** Decodes a list element or a map value into out, which must be zeroed; null leaves it zeroed. */
static int decode_item(struct decoder *decoder, const struct bt_field *field, void *out,
	const struct bt_path *path)
{
	enum bt_json_type type;
	int result = bt_json_peek(decoder->reader, &type, decoder->err);
	if (result == 0 && type == BT_JSON_NULL) {
		result = bt_json_read_null(decoder->reader, decoder->err);
	} else if (result == 0) {
		return decode_value(decoder, field, out, path);
	}
	return result == 0 ? 0 : fail_at(decoder, path, result);
}

/** Adds a zeroed item, within the memory limit. */
static int add_item(struct decoder *decoder, struct collector *collector, void **out_item)
{
	if (decoder->item_bytes_left < collector->item_size) {
		return bt_error_set(decoder->err, BERTH_ERR_TOO_LARGE,
			"list elements and map entries need more than %u bytes",
			BT_MESSAGE_ITEM_BYTES_MAX);
	}
	decoder->item_bytes_left -= collector->item_size;
	*out_item = collector_add(collector);
	return 0;
}

static int decode_list(struct decoder *decoder, const struct bt_field *field, void *out,
	const struct bt_path *path)
{
	int result = bt_json_enter_array(decoder->reader, decoder->err);
	if (result != 0) {
		return fail_at(decoder, path, result);
	}
	struct collector collector;
	collector_init(&collector, &decoder->scratch, field->item_size);
	struct bt_path item_path = {.parent = path, .step = BT_STEP_INDEX};
	bool first = true;
	for (;;) {
		bool more = false;
		void *item = NULL;
		result = bt_json_next_element(decoder->reader, &first, &more, decoder->err);
		if (result == 0 && more) {
			item_path.index = collector.count;
			result = add_item(decoder, &collector, &item);
		}
		if (result != 0) {
			return fail_at(decoder, path, result);
		}
		if (!more) {
			break;
		}
		result = decode_item(decoder, field, item, &item_path);
		if (result != 0) {
			return result;
		}
	}
	struct bt_any_list list = {.count = collector.count, .present = true};
	list.items = collector_finish(&collector, decoder->arena);
	bt_store_list(out, list);
	return 0;
}

static int next_key(struct decoder *decoder, bool *first, bool *out_more, struct bt_str *out_key)
{
	struct bt_json_raw_string raw = {0};
	int result = bt_json_next_raw_member(decoder->reader, first, out_more, &raw, decoder->err);
	if (result != 0 || !*out_more) {
		return result;
	}
	if (raw.length > BT_JSON_STRING_BYTES_MAX / 3) {
		/* replacing invalid bytes can triple the length */
		return bt_error_set(decoder->err, BERTH_ERR_TOO_LARGE,
			"key of %zu bytes is longer than %u", raw.length,
			BT_JSON_STRING_BYTES_MAX / 3);
	}
	if (raw.plain) {
		*out_key = bt_arena_str(
			decoder->arena, (struct bt_str){raw.data, (uint32_t)raw.length});
		return 0;
	}
	size_t length = bt_json_unescape(raw.data, raw.length, NULL);
	char *text = bt_arena_alloc_bytes(decoder->arena, length + 1);
	(void)bt_json_unescape(raw.data, raw.length, text); /* returns the measured length */
	text[length] = '\0';
	*out_key = (struct bt_str){text, (uint32_t)length};
	return 0;
}

static int decode_map(struct decoder *decoder, const struct bt_field *field, void *out,
	const struct bt_path *path)
{
	int result = bt_json_enter_object(decoder->reader, decoder->err);
	if (result != 0) {
		return fail_at(decoder, path, result);
	}
	struct collector collector;
	collector_init(&collector, &decoder->scratch, field->item_size);
	struct bt_any_list earlier = bt_load_list(out);
	for (uint32_t i = 0; i < earlier.count; i++) {
		/*
		 * The map has entries already if its name repeats in the JSON object. The copies
		 * of these entries count against the memory limit too, because copying them for
		 * every repetition takes quadratic time.
		 */
		void *entry = NULL;
		result = add_item(decoder, &collector, &entry);
		if (result != 0) {
			return fail_at(decoder, path, result);
		}
		memcpy(entry, bt_list_item(field, &earlier, i), field->item_size);
	}
	struct bt_path item_path = {.parent = path, .step = BT_STEP_KEY};
	bool first = true;
	for (;;) {
		bool more = false;
		void *entry = NULL;
		result = next_key(decoder, &first, &more, &item_path.name);
		if (result == 0 && more) {
			result = add_item(decoder, &collector, &entry);
		}
		if (result != 0) {
			return fail_at(decoder, path, result);
		}
		if (!more) {
			break;
		}
		bt_store_str(entry, item_path.name);
		result = decode_item(
			decoder, field, bt_field_at(entry, field->value_offset), &item_path);
		if (result != 0) {
			return result;
		}
	}
	struct bt_any_list map = {.count = collector.count, .present = true};
	map.items = collector_finish(&collector, decoder->arena);
	bt_sort_entries(&map, field->item_size);
	bt_store_list(out, map);
	return 0;
}

static int decode_field(struct decoder *decoder, const struct bt_field *field, void *out,
	const struct bt_path *parent)
{
	struct bt_path path = {.parent = parent,
		.step = BT_STEP_MEMBER,
		.name = {field->name, field->name_length}};
	enum bt_json_type type;
	int result = bt_json_peek(decoder->reader, &type, decoder->err);
	if (result != 0) {
		return fail_at(decoder, &path, result);
	}
	if (type == BT_JSON_NULL) {
		result = bt_json_read_null(decoder->reader, decoder->err);
		if (result != 0) {
			return fail_at(decoder, &path, result);
		}
		switch ((enum bt_field_shape)field->shape) {
		case BT_SHAPE_SINGLE:
			if (field->type == BT_FIELD_SCALAR) {
				memset(out, 0, field->scalar->size);
			}
			break;
		case BT_SHAPE_NULLABLE:
			memset(out, 0, bt_nullable_size(field));
			break;
		case BT_SHAPE_LIST:
		case BT_SHAPE_MAP:
			bt_store_list(out, (struct bt_any_list){0});
			break;
		}
		return 0;
	}
	switch ((enum bt_field_shape)field->shape) {
	case BT_SHAPE_SINGLE:
		return decode_value(decoder, field, out, &path);
	case BT_SHAPE_NULLABLE:
		return decode_value(
			decoder, field, bt_nullable_place(field, out, decoder->arena), &path);
	case BT_SHAPE_LIST:
		return decode_list(decoder, field, out, &path);
	case BT_SHAPE_MAP:
		return decode_map(decoder, field, out, &path);
	}
	return 0;
}

static bool is_inline(const struct bt_field *field)
{
	return (field->flags & BT_FIELD_INLINE) != 0;
}

/**
 * Finds the row of the field with this name, or the row of the inlined message that has such a
 * field. Returns NULL if there is no such row. The scan begins at index *hint and sets *hint to the
 * index found, because writers mostly write members in the table's order. A linear scan is faster
 * than a hash table, because message tables are short.
 */
static const struct bt_field *find_row(
	const struct bt_message *message, struct bt_str name, uint32_t *hint)
{
	const struct bt_field *fields = message->fields;
	uint32_t count = message->field_count;
	uint32_t i = *hint;
	for (uint32_t left = count; left > 0; left--, i++) {
		if (i >= count) {
			i = 0;
		}
		bool found;
		if (BT_LIKELY(!is_inline(&fields[i]))) {
			found = fields[i].name_length == name.length &&
				memcmp(fields[i].name, name.data, name.length) == 0;
		} else {
			uint32_t inner_hint = 0;
			found = find_row(fields[i].message, name, &inner_hint) != NULL;
		}
		if (found) {
			*hint = i;
			return &fields[i];
		}
	}
	return NULL;
}

static int decode_member(struct decoder *decoder, const struct bt_message *message,
	struct bt_str name, uint32_t *hint, void *out, const struct bt_path *path)
{
	const struct bt_field *field = find_row(message, name, hint);
	while (field != NULL && is_inline(field)) {
		uint32_t inner_hint = 0;
		out = bt_field_at(out, field->offset);
		if (field->shape == BT_SHAPE_NULLABLE) {
			out = bt_nullable_place(field, out, decoder->arena);
		}
		field = find_row(field->message, name, &inner_hint);
	}
	if (field != NULL) {
		return decode_field(decoder, field, bt_field_at(out, field->offset), path);
	}
	int result = bt_json_skip(decoder->reader, NULL, decoder->err);
	if (result == 0) {
		return 0;
	}
	struct bt_path unknown = {.parent = path, .step = BT_STEP_MEMBER, .name = name};
	return fail_at(decoder, &unknown, result);
}

/**
 * Decodes a member whose name has escapes or invalid UTF-8. This is a separate function, so that
 * the buffer does not take stack on each level of nesting.
 */
BT_COLD static int decode_escaped_member(struct decoder *decoder, const struct bt_message *message,
	const struct bt_json_raw_string *raw, uint32_t *hint, void *out, const struct bt_path *path)
{
	char buffer[3 * RAW_NAME_BYTES_MAX]; /* one invalid byte becomes three */
	/* a name too long for any table stays undecoded: it matches no row */
	struct bt_str name = {raw->data, (uint32_t)raw->length};
	if (raw->length <= RAW_NAME_BYTES_MAX) {
		name = (struct bt_str){
			buffer, (uint32_t)bt_json_unescape(raw->data, raw->length, buffer)};
	}
	return decode_member(decoder, message, name, hint, out, path);
}

static int decode_members(struct decoder *decoder, const struct bt_message *message, void *out,
	const struct bt_path *path)
{
	int result = bt_json_enter_object(decoder->reader, decoder->err);
	if (result != 0) {
		return fail_at(decoder, path, result);
	}
	bool first = true;
	uint32_t hint = 0;
	for (;;) {
		bool more = false;
		struct bt_json_raw_string raw;
		result =
			bt_json_next_raw_member(decoder->reader, &first, &more, &raw, decoder->err);
		if (result != 0) {
			return fail_at(decoder, path, result);
		}
		if (!more) {
			return 0;
		}
		if (BT_LIKELY(raw.plain)) {
			struct bt_str name = {raw.data, (uint32_t)raw.length};
			result = decode_member(decoder, message, name, &hint, out, path);
		} else {
			result = decode_escaped_member(decoder, message, &raw, &hint, out, path);
		}
		if (result != 0) {
			return result;
		}
	}
}

int bt_message_decode_json(const struct bt_message *message, struct bt_json_reader *reader,
	struct bt_arena *arena, void *out, struct berth_error *err)
{
	_Alignas(max_align_t) char scratch[SCRATCH_BYTES];
	struct decoder decoder = {
		.reader = reader,
		.arena = arena,
		.item_bytes_left = BT_MESSAGE_ITEM_BYTES_MAX,
		.err = err,
	};
	decoder.scratch.bottom = init_block(scratch, sizeof(scratch), NULL);
	decoder.scratch.top = decoder.scratch.bottom;
	enum bt_json_type type;
	int result = bt_json_peek(reader, &type, err);
	if (result == 0 && type == BT_JSON_NULL) {
		result = bt_json_read_null(reader, err);
	} else if (result == 0) {
		result = decode_members(&decoder, message, out, NULL);
	}
	pop(&decoder.scratch, decoder.scratch.bottom, 0);
	return result;
}
