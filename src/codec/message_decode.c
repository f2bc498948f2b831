/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/message.h"

#include <string.h>

#include "codec/message_layout.h"
#include "codec/path.h"

/** Scratch memory on the C stack, enough for the lists of an ordinary pod. */
#define SCRATCH_BYTES 16384

/*
 * The length of a list is known only at its end: items are collected in scratch memory, then copied
 * to the arena in one piece. Items do not move while they are collected, so pointers to them stay
 * valid.
 */

/** Capacity of the first run of items; most lists are shorter. */
#define FIRST_RUN_ITEMS 4

/** A run has consecutive items of one list; each further run has twice the capacity. */
struct collector_run {
	struct collector_run *next;
	uint32_t count;
	uint32_t capacity;
	_Alignas(max_align_t) char items[];
};

struct collector {
	struct collector_run *first;
	struct collector_run *last;
	size_t item_size;
	uint32_t count;
};

/** Returns a copy of all items, in order, in the arena; NULL if there are no items. */
static void *collector_finish(const struct collector *collector, struct bt_arena *arena)
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
	return items;
}

struct decoder {
	struct bt_json_reader *reader;
	struct bt_arena *arena;
	struct bt_arena scratch; /* runs of collectors, and member names with escapes */
	size_t item_bytes_left;  /* remaining part of BT_MESSAGE_ITEM_BYTES_MAX */
	struct berth_error *err; /* the function in which the error occurs adds the path */
};

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
			field->scalar, decoder->reader, decoder->arena, out, decoder->err);
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
	return result == 0 ? 0 : bt_path_fail(path, result, decoder->err);
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
	return result == 0 ? 0 : bt_path_fail(path, result, decoder->err);
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
	struct collector_run *last = collector->last;
	if (last == NULL || last->count == last->capacity) {
		uint32_t capacity = last == NULL ? FIRST_RUN_ITEMS : 2 * last->capacity;
		struct collector_run *run = bt_arena_alloc(
			&decoder->scratch, sizeof(*run) + capacity * collector->item_size);
		*run = (struct collector_run){.capacity = capacity};
		*(last == NULL ? &collector->first : &last->next) = run;
		collector->last = run;
		last = run;
	}
	*out_item = last->items + last->count * collector->item_size;
	memset(*out_item, 0, collector->item_size);
	last->count++;
	collector->count++;
	return 0;
}

/** Decodes a list or a map. */
static int decode_items(struct decoder *decoder, const struct bt_field *field, void *out,
	const struct bt_path *path)
{
	bool is_map = field->shape == BT_SHAPE_MAP;
	int result = is_map ? bt_json_enter_object(decoder->reader, decoder->err)
			    : bt_json_enter_array(decoder->reader, decoder->err);
	if (result != 0) {
		return bt_path_fail(path, result, decoder->err);
	}
	struct collector collector = {.item_size = field->item_size};
	struct bt_any_list earlier = bt_load_list(out);
	for (uint32_t i = 0; is_map && i < earlier.count; i++) {
		/*
		 * The map has entries already if its name repeats in the JSON object. The copies
		 * of these entries count against the memory limit too, because copying them for
		 * every repetition takes quadratic time.
		 */
		void *entry = NULL;
		result = add_item(decoder, &collector, &entry);
		if (result != 0) {
			return bt_path_fail(path, result, decoder->err);
		}
		memcpy(entry, bt_list_item(field, &earlier, i), field->item_size);
	}
	struct bt_path item_path = {.parent = path, .step = is_map ? BT_STEP_KEY : BT_STEP_INDEX};
	bool first = true;
	for (;;) {
		bool more = false;
		void *item = NULL;
		result = is_map
			? bt_json_next_member(decoder->reader, &first, decoder->arena, &more,
				  &item_path.name, decoder->err)
			: bt_json_next_element(decoder->reader, &first, &more, decoder->err);
		if (result == 0 && more) {
			item_path.index = collector.count;
			result = add_item(decoder, &collector, &item);
		}
		if (result != 0) {
			return bt_path_fail(path, result, decoder->err);
		}
		if (!more) {
			break;
		}
		if (is_map) {
			bt_store_str(item, bt_arena_str(decoder->arena, item_path.name));
		}
		result = decode_item(
			decoder, field, bt_field_at(item, bt_value_offset(field)), &item_path);
		if (result != 0) {
			return result;
		}
	}
	struct bt_any_list list = {.count = collector.count, .present = true};
	list.items = collector_finish(&collector, decoder->arena);
	if (is_map) {
		bt_sort_entries(&list, field->item_size);
	}
	bt_store_list(out, list);
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
		return bt_path_fail(&path, result, decoder->err);
	}
	if (type == BT_JSON_NULL) {
		result = bt_json_read_null(decoder->reader, decoder->err);
		if (result != 0) {
			return bt_path_fail(&path, result, decoder->err);
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
	case BT_SHAPE_MAP:
		return decode_items(decoder, field, out, &path);
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

static int decode_members(struct decoder *decoder, const struct bt_message *message, void *out,
	const struct bt_path *path)
{
	int result = bt_json_enter_object(decoder->reader, decoder->err);
	if (result != 0) {
		return bt_path_fail(path, result, decoder->err);
	}
	bool first = true;
	uint32_t hint = 0;
	for (;;) {
		bool more = false;
		struct bt_str name = {NULL, 0};
		result = bt_json_next_member(
			decoder->reader, &first, &decoder->scratch, &more, &name, decoder->err);
		if (result != 0) {
			return bt_path_fail(path, result, decoder->err);
		}
		if (!more) {
			return 0;
		}
		const struct bt_field *field = find_row(message, name, &hint);
		void *parent = out;
		while (field != NULL && is_inline(field)) {
			uint32_t inner_hint = 0;
			parent = bt_field_at(parent, field->offset);
			if (field->shape == BT_SHAPE_NULLABLE) {
				parent = bt_nullable_place(field, parent, decoder->arena);
			}
			field = find_row(field->message, name, &inner_hint);
		}
		if (field != NULL) {
			result = decode_field(
				decoder, field, bt_field_at(parent, field->offset), path);
			if (result != 0) {
				return result;
			}
			continue;
		}
		result = bt_json_skip(decoder->reader, NULL, decoder->err);
		if (result != 0) {
			struct bt_path unknown = {
				.parent = path, .step = BT_STEP_MEMBER, .name = name};
			return bt_path_fail(&unknown, result, decoder->err);
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
	bt_arena_init_with(&decoder.scratch, scratch, sizeof(scratch));
	enum bt_json_type type;
	int result = bt_json_peek(reader, &type, err);
	if (result == 0 && type == BT_JSON_NULL) {
		result = bt_json_read_null(reader, err);
	} else if (result == 0) {
		result = decode_members(&decoder, message, out, NULL);
	}
	bt_arena_finish(&decoder.scratch);
	return result;
}
