/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/message.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/strbuf.h"
#include "codec/json_scan.h"
#include "codec/message_layout.h"

/** Longest field name a table can hold, and the longest source text that can spell it. */
#define NAME_BYTES_MAX 255
#define RAW_NAME_BYTES_MAX (6 * NAME_BYTES_MAX)
/** Bytes of a map key or member name that a message shows. */
#define NAME_SHOWN_MAX 64

/* --- scratch: a stack of items whose number is not known yet --- */

struct scratch_block {
	struct scratch_block *previous;
	size_t used;
	size_t size;
	_Alignas(max_align_t) char bytes[];
};

/** Large enough for the lists of an ordinary pod. */
#define FIRST_BLOCK_BYTES 16384

struct scratch {
	struct scratch_block *top;
};

static struct scratch_block *scratch_block_init(void *memory, size_t size, struct scratch_block *previous)
{
	struct scratch_block *block = memory;
	block->previous = previous;
	block->used = 0;
	block->size = size - sizeof(*block);
	return block;
}

static void *scratch_push(struct scratch *scratch, size_t size)
{
	size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	struct scratch_block *top = scratch->top;
	if (top->size - top->used < size) {
		size_t block_size = sizeof(*top) + (size > 2 * top->size ? size : 2 * top->size);
		top = scratch_block_init(bt_malloc(block_size), block_size, top);
		scratch->top = top;
	}
	void *memory = top->bytes + top->used;
	top->used += size;
	return memory;
}

/** Back to a state remembered earlier; the first block belongs to the caller of decode. */
static void scratch_pop(struct scratch *scratch, struct scratch_block *block, size_t used)
{
	while (scratch->top != block) {
		struct scratch_block *above = scratch->top;
		scratch->top = above->previous;
		bt_free(above);
	}
	block->used = used;
}

/** Items of one list, in runs that double: what an item's own lists push lies between the runs. */
struct run {
	struct run *next;
	uint32_t count;
	uint32_t capacity;
	_Alignas(max_align_t) char items[];
};

struct collector {
	struct scratch *scratch;
	struct scratch_block *mark_block;
	size_t mark_used;
	struct run *first;
	struct run *last;
	size_t item_size;
	uint32_t count;
};

static void collector_init(struct collector *collector, struct scratch *scratch, size_t item_size)
{
	*collector = (struct collector){.scratch = scratch, .mark_block = scratch->top,
		.mark_used = scratch->top->used, .item_size = item_size};
}

/** A zeroed item; stays where it is until the collector is released. */
static void *collector_add(struct collector *collector)
{
	struct run *last = collector->last;
	if (last == NULL || last->count == last->capacity) {
		uint32_t capacity = last == NULL ? 4 : 2 * last->capacity;
		struct run *run = scratch_push(collector->scratch, sizeof(*run) + capacity * collector->item_size);
		*run = (struct run){.capacity = capacity};
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

/** All items in order in the arena; the scratch is released. NULL when there are none. */
static void *collector_finish(struct collector *collector, struct bt_arena *arena)
{
	char *items = NULL;
	if (collector->count != 0) {
		items = bt_arena_alloc(arena, collector->count * collector->item_size);
		char *at = items;
		for (const struct run *run = collector->first; run != NULL; run = run->next) {
			size_t bytes = run->count * collector->item_size;
			memcpy(at, run->items, bytes);
			at += bytes;
		}
	}
	scratch_pop(collector->scratch, collector->mark_block, collector->mark_used);
	return items;
}

/* --- where we are, for messages --- */

enum frame_kind {
	FRAME_FIELD,
	FRAME_INDEX,
	FRAME_KEY,
};

struct frame {
	const struct frame *parent;
	enum frame_kind kind;
	uint32_t index;
	struct bt_str name; /* field name or map key */
};

struct decoder {
	struct bt_json_reader *reader;
	struct bt_arena *arena;
	struct scratch scratch;
	size_t item_bytes_left; /* of BT_MESSAGE_ITEM_BYTES_MAX */
	struct berth_error *err;
};

/** Names and keys from the input: shortened, nothing that a terminal or a log would act upon. */
static void append_shown(struct bt_strbuf *path, struct bt_str name)
{
	uint32_t shown = name.length <= NAME_SHOWN_MAX ? name.length : NAME_SHOWN_MAX;
	for (uint32_t i = 0; i < shown; i++) {
		unsigned char c = (unsigned char)name.data[i];
		bt_strbuf_append_char(path, c < 0x20 || c >= 0x7f ? '?' : (char)c);
	}
	if (shown < name.length) {
		bt_strbuf_append_c(path, "...");
	}
}

static void append_path(struct bt_strbuf *path, const struct frame *frame)
{
	if (frame->parent != NULL) {
		append_path(path, frame->parent);
	}
	switch (frame->kind) {
	case FRAME_FIELD:
		if (path->length != 0) {
			bt_strbuf_append_char(path, '.');
		}
		append_shown(path, frame->name);
		break;
	case FRAME_INDEX:
		bt_strbuf_printf(path, "[%u]", frame->index);
		break;
	case FRAME_KEY:
		bt_strbuf_append_char(path, '[');
		append_shown(path, frame->name);
		bt_strbuf_append_char(path, ']');
		break;
	}
}

/** Put the path before the message that was just set; returns code. Called once, where the error arose. */
BT_COLD static int fail_at(struct decoder *decoder, const struct frame *frame, int code)
{
	if (frame == NULL || decoder->err == NULL) {
		return code;
	}
	struct bt_strbuf path = {0};
	append_path(&path, frame);
	(void)bt_error_wrap(decoder->err, code, "%s", bt_strbuf_c(&path));
	bt_strbuf_finish(&path);
	return code;
}

/* --- values --- */

static int decode_members(struct decoder *decoder, const struct bt_message *message, void *out,
	const struct frame *frame);

static int read_kept_string(struct decoder *decoder, struct bt_str *out)
{
	struct bt_str text;
	bool borrowed;
	int result = bt_json_read_string(decoder->reader, decoder->arena, &text, &borrowed, decoder->err);
	if (result == 0) {
		*out = borrowed ? bt_arena_str(decoder->arena, text) : text;
	}
	return result;
}

static int decode_str(struct decoder *decoder, void *out)
{
	struct bt_str text;
	int result = read_kept_string(decoder, &text);
	if (result == 0) {
		bt_store_str(out, text);
	}
	return result;
}

static int decode_raw(struct decoder *decoder, void *out)
{
	struct bt_str text;
	int result = bt_json_skip(decoder->reader, &text, decoder->err);
	if (result != 0) {
		return result;
	}
	if (text.length > BT_JSON_STRING_BYTES_MAX) {
		return bt_error_set(decoder->err, BERTH_ERR_TOO_LARGE, "value of %u bytes is longer than %u",
			text.length, BT_JSON_STRING_BYTES_MAX);
	}
	bt_store_str(out, bt_arena_str(decoder->arena, text));
	return 0;
}

static int decode_integer(struct decoder *decoder, const char *type_name, int64_t min, int64_t max,
	int64_t *out_value)
{
	struct bt_str text;
	enum bt_json_type type;
	int result = bt_json_peek(decoder->reader, &type, decoder->err);
	if (result != 0) {
		return result;
	}
	if (type != BT_JSON_NUMBER) {
		return bt_error_set(decoder->err, BERTH_ERR_INVALID, "expected %s, got %s", type_name,
			bt_json_type_name(type));
	}
	result = bt_json_read_number(decoder->reader, &text, decoder->err);
	if (result != 0) {
		return result;
	}
	int64_t value;
	if (!bt_json_number_int64(text, &value) || value < min || value > max) {
		return bt_error_set(decoder->err, BERTH_ERR_INVALID, "expected %s, got number %.*s%s", type_name,
			text.length > 40 ? 40 : (int)text.length, text.data, text.length > 40 ? "..." : "");
	}
	*out_value = value;
	return 0;
}

static int decode_i32(struct decoder *decoder, int32_t *out)
{
	int64_t value;
	int result = decode_integer(decoder, "int32", INT32_MIN, INT32_MAX, &value);
	if (result == 0) {
		*out = (int32_t)value;
	}
	return result;
}

static int decode_i64(struct decoder *decoder, int64_t *out)
{
	return decode_integer(decoder, "int64", INT64_MIN, INT64_MAX, out);
}

/** A T that is not null. out is zeroed or holds an earlier duplicate. */
static int decode_value(struct decoder *decoder, const struct bt_field *field, void *out, const struct frame *frame)
{
	int result = 0;
	switch ((enum bt_field_type)field->type) {
	case BT_FIELD_STR:
		result = decode_str(decoder, out);
		break;
	case BT_FIELD_BOOL:
		result = bt_json_read_bool(decoder->reader, out, decoder->err);
		break;
	case BT_FIELD_I32:
		result = decode_i32(decoder, out);
		break;
	case BT_FIELD_I64:
		result = decode_i64(decoder, out);
		break;
	case BT_FIELD_MESSAGE:
		/* names the place of its errors itself */
		return decode_members(decoder, field->message, out, frame);
	case BT_FIELD_SCALAR:
		result = field->scalar->decode_json(decoder->reader, decoder->arena, out, decoder->err);
		break;
	case BT_FIELD_RAW_JSON:
		result = decode_raw(decoder, out);
		break;
	}
	return result == 0 ? 0 : fail_at(decoder, frame, result);
}

/** As decode_value for an item of a list or map, whose T may be null: then it stays zero. */
static int decode_item(struct decoder *decoder, const struct bt_field *field, void *out, const struct frame *frame)
{
	enum bt_json_type type;
	int result = bt_json_peek(decoder->reader, &type, decoder->err);
	if (result == 0 && type == BT_JSON_NULL) {
		result = bt_json_read_null(decoder->reader, decoder->err);
	} else if (result == 0) {
		return decode_value(decoder, field, out, frame);
	}
	return result == 0 ? 0 : fail_at(decoder, frame, result);
}

static int decode_nullable(struct decoder *decoder, const struct bt_field *field, void *out,
	const struct frame *frame)
{
	int result = 0;
	switch ((enum bt_field_type)field->type) {
	case BT_FIELD_STR:
	case BT_FIELD_RAW_JSON:
		return decode_value(decoder, field, out, frame);
	case BT_FIELD_BOOL: {
		struct bt_opt_bool optional = {.present = true};
		result = bt_json_read_bool(decoder->reader, &optional.value, decoder->err);
		memcpy(out, &optional, sizeof(optional));
		break;
	}
	case BT_FIELD_I32: {
		struct bt_opt_i32 optional = {.present = true};
		result = decode_i32(decoder, &optional.value);
		memcpy(out, &optional, sizeof(optional));
		break;
	}
	case BT_FIELD_I64: {
		struct bt_opt_i64 optional = {.present = true};
		result = decode_i64(decoder, &optional.value);
		memcpy(out, &optional, sizeof(optional));
		break;
	}
	case BT_FIELD_MESSAGE:
	case BT_FIELD_SCALAR: {
		void *value;
		memcpy(&value, out, sizeof(value));
		if (value == NULL) {
			value = bt_arena_calloc(decoder->arena, 1, bt_pointee_size(field));
			bt_store_pointer(out, value);
		}
		return decode_value(decoder, field, value, frame);
	}
	}
	return result == 0 ? 0 : fail_at(decoder, frame, result);
}

/** A new zeroed item in *out_item, if there may be one more. */
static int add_item(struct decoder *decoder, struct collector *collector, void **out_item)
{
	if (decoder->item_bytes_left < collector->item_size) {
		return bt_error_set(decoder->err, BERTH_ERR_TOO_LARGE,
			"list elements and map entries need more than %u bytes", BT_MESSAGE_ITEM_BYTES_MAX);
	}
	decoder->item_bytes_left -= collector->item_size;
	*out_item = collector_add(collector);
	return 0;
}

static int decode_list(struct decoder *decoder, const struct bt_field *field, void *out, const struct frame *frame)
{
	int result = bt_json_enter_array(decoder->reader, decoder->err);
	if (result != 0) {
		return fail_at(decoder, frame, result);
	}
	struct collector collector;
	collector_init(&collector, &decoder->scratch, field->item_size);
	struct frame item_frame = {.parent = frame, .kind = FRAME_INDEX};
	bool first = true;
	for (;;) {
		bool more = false;
		void *item = NULL;
		result = bt_json_next_element(decoder->reader, &first, &more, decoder->err);
		if (result == 0 && more) {
			item_frame.index = collector.count;
			result = add_item(decoder, &collector, &item);
		}
		if (result != 0) {
			return fail_at(decoder, frame, result);
		}
		if (!more) {
			break;
		}
		result = decode_item(decoder, field, item, &item_frame);
		if (result != 0) {
			return result;
		}
	}
	struct bt_any_list list = {.count = collector.count, .present = true};
	list.items = collector_finish(&collector, decoder->arena);
	bt_store_list(out, list);
	return 0;
}

/* --- maps --- */

static struct bt_str entry_key(const struct bt_any_list *list, size_t entry_size, uint32_t i)
{
	return bt_load_str((const char *)list->items + i * entry_size);
}

static bool is_sorted(const struct bt_any_list *list, size_t entry_size)
{
	for (uint32_t i = 1; i < list->count; i++) {
		if (bt_str_compare(entry_key(list, entry_size, i - 1), entry_key(list, entry_size, i)) >= 0) {
			return false;
		}
	}
	return true;
}

struct sort_row {
	struct bt_str key;
	uint32_t position;
};

static int compare_rows(const void *a, const void *b)
{
	const struct sort_row *x = a;
	const struct sort_row *y = b;
	int order = bt_str_compare(x->key, y->key);
	return order != 0 ? order : (x->position > y->position) - (x->position < y->position);
}

/** Sort by key; of equal keys the last one stays. */
static void sort_entries(struct bt_any_list *list, size_t entry_size)
{
	if (is_sorted(list, entry_size)) {
		return;
	}
	struct sort_row *rows = BT_NEW_ARRAY(struct sort_row, list->count);
	char *unsorted = bt_malloc(list->count * entry_size);
	memcpy(unsorted, list->items, list->count * entry_size);
	for (uint32_t i = 0; i < list->count; i++) {
		rows[i] = (struct sort_row){.key = entry_key(list, entry_size, i), .position = i};
	}
	qsort(rows, list->count, sizeof(*rows), compare_rows);
	char *out = list->items;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < list->count; i++) {
		if (i + 1 < list->count && bt_str_equal(rows[i].key, rows[i + 1].key)) {
			continue;
		}
		memcpy(out + kept * entry_size, unsorted + rows[i].position * entry_size, entry_size);
		kept++;
	}
	list->count = kept;
	bt_free(unsorted);
	bt_free(rows);
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
		return bt_error_set(decoder->err, BERTH_ERR_TOO_LARGE, "key of %zu bytes is longer than %u",
			raw.length, BT_JSON_STRING_BYTES_MAX / 3);
	}
	if (raw.plain) {
		*out_key = bt_arena_str(decoder->arena, (struct bt_str){raw.data, (uint32_t)raw.length});
		return 0;
	}
	size_t length = bt_json_unescape(raw.data, raw.length, NULL);
	char *text = bt_arena_alloc_bytes(decoder->arena, length + 1);
	(void)bt_json_unescape(raw.data, raw.length, text); /* same length as measured */
	text[length] = '\0';
	*out_key = (struct bt_str){text, (uint32_t)length};
	return 0;
}

static int decode_map(struct decoder *decoder, const struct bt_field *field, void *out, const struct frame *frame)
{
	int result = bt_json_enter_object(decoder->reader, decoder->err);
	if (result != 0) {
		return fail_at(decoder, frame, result);
	}
	struct collector collector;
	collector_init(&collector, &decoder->scratch, field->item_size);
	struct bt_any_list earlier = bt_load_list(out);
	for (uint32_t i = 0; i < earlier.count; i++) {
		/* counted again, or a name repeated n times would cost n squared */
		void *entry = NULL;
		result = add_item(decoder, &collector, &entry);
		if (result != 0) {
			return fail_at(decoder, frame, result);
		}
		memcpy(entry, bt_list_item(field, &earlier, i), field->item_size);
	}
	struct frame item_frame = {.parent = frame, .kind = FRAME_KEY};
	bool first = true;
	for (;;) {
		bool more = false;
		void *entry = NULL;
		result = next_key(decoder, &first, &more, &item_frame.name);
		if (result == 0 && more) {
			result = add_item(decoder, &collector, &entry);
		}
		if (result != 0) {
			return fail_at(decoder, frame, result);
		}
		if (!more) {
			break;
		}
		bt_store_str(entry, item_frame.name);
		result = decode_item(decoder, field, bt_field_at(entry, field->value_offset), &item_frame);
		if (result != 0) {
			return result;
		}
	}
	struct bt_any_list map = {.count = collector.count, .present = true};
	map.items = collector_finish(&collector, decoder->arena);
	sort_entries(&map, field->item_size);
	bt_store_list(out, map);
	return 0;
}

/* --- messages --- */

static int decode_null(struct decoder *decoder, const struct bt_field *field, void *out, const struct frame *frame)
{
	int result = bt_json_read_null(decoder->reader, decoder->err);
	if (result != 0) {
		return fail_at(decoder, frame, result);
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

static int decode_field(struct decoder *decoder, const struct bt_field *field, void *out, const struct frame *parent)
{
	struct frame frame = {.parent = parent, .kind = FRAME_FIELD, .name = {field->name, field->name_length}};
	enum bt_json_type type;
	int result = bt_json_peek(decoder->reader, &type, decoder->err);
	if (result != 0) {
		return fail_at(decoder, &frame, result);
	}
	if (type == BT_JSON_NULL) {
		return decode_null(decoder, field, out, &frame);
	}
	switch ((enum bt_field_shape)field->shape) {
	case BT_SHAPE_SINGLE:
		return decode_value(decoder, field, out, &frame);
	case BT_SHAPE_NULLABLE:
		return decode_nullable(decoder, field, out, &frame);
	case BT_SHAPE_LIST:
		return decode_list(decoder, field, out, &frame);
	case BT_SHAPE_MAP:
		return decode_map(decoder, field, out, &frame);
	}
	return 0;
}

static bool has_name(const struct bt_field *field, struct bt_str name)
{
	return field->name_length == name.length && memcmp(field->name, name.data, name.length) == 0;
}

static bool is_inline(const struct bt_field *field)
{
	return (field->flags & BT_FIELD_INLINE) != 0;
}

/**
 * The row called name, or the inlined message's row that leads to it. Tables are short and their rows compact: a scan
 * beats a hash. *hint is where the previous member was found: writers keep the order of the table mostly.
 */
static const struct bt_field *find_row(const struct bt_message *message, struct bt_str name, uint32_t *hint)
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
			found = has_name(&fields[i], name);
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

/** The inlined message in structure; made if it is nullable and absent. */
static void *inlined_structure(struct decoder *decoder, const struct bt_field *field, void *structure)
{
	void *member = bt_field_at(structure, field->offset);
	if (field->shape == BT_SHAPE_SINGLE) {
		return member;
	}
	void *inner;
	memcpy(&inner, member, sizeof(inner));
	if (inner == NULL) {
		inner = bt_arena_calloc(decoder->arena, 1, field->message->size);
		bt_store_pointer(member, inner);
	}
	return inner;
}

static int decode_member(struct decoder *decoder, const struct bt_message *message, struct bt_str name,
	uint32_t *hint, void *out, const struct frame *frame)
{
	const struct bt_field *field = find_row(message, name, hint);
	while (field != NULL && is_inline(field)) {
		uint32_t inner_hint = 0;
		out = inlined_structure(decoder, field, out);
		field = find_row(field->message, name, &inner_hint);
	}
	if (field != NULL) {
		return decode_field(decoder, field, bt_field_at(out, field->offset), frame);
	}
	int result = bt_json_skip(decoder->reader, NULL, decoder->err);
	if (result == 0) {
		return 0;
	}
	struct frame unknown = {.parent = frame, .kind = FRAME_FIELD, .name = name};
	return fail_at(decoder, &unknown, result);
}

/** A name written with escapes. Apart, so that the buffer is not in every frame of nested messages. */
BT_COLD static int decode_escaped_member(struct decoder *decoder, const struct bt_message *message,
	const struct bt_json_raw_string *raw, uint32_t *hint, void *out, const struct frame *frame)
{
	char buffer[3 * RAW_NAME_BYTES_MAX]; /* a byte of invalid UTF-8 becomes three */
	/* text too long to spell a field's name is taken as it stands: it matches nothing */
	struct bt_str name = {raw->data, (uint32_t)raw->length};
	if (raw->length <= RAW_NAME_BYTES_MAX) {
		name = (struct bt_str){buffer, (uint32_t)bt_json_unescape(raw->data, raw->length, buffer)};
	}
	return decode_member(decoder, message, name, hint, out, frame);
}

static int decode_members(struct decoder *decoder, const struct bt_message *message, void *out,
	const struct frame *frame)
{
	int result = bt_json_enter_object(decoder->reader, decoder->err);
	if (result != 0) {
		return fail_at(decoder, frame, result);
	}
	bool first = true;
	uint32_t hint = 0;
	for (;;) {
		bool more = false;
		struct bt_json_raw_string raw;
		result = bt_json_next_raw_member(decoder->reader, &first, &more, &raw, decoder->err);
		if (result != 0) {
			return fail_at(decoder, frame, result);
		}
		if (!more) {
			return 0;
		}
		if (BT_LIKELY(raw.plain)) {
			struct bt_str name = {raw.data, (uint32_t)raw.length};
			result = decode_member(decoder, message, name, &hint, out, frame);
		} else {
			result = decode_escaped_member(decoder, message, &raw, &hint, out, frame);
		}
		if (result != 0) {
			return result;
		}
	}
}

int bt_message_decode_json(const struct bt_message *message, struct bt_json_reader *reader, struct bt_arena *arena,
	void *out, struct berth_error *err)
{
	_Alignas(max_align_t) char first_block[FIRST_BLOCK_BYTES];
	struct scratch_block *bottom = scratch_block_init(first_block, sizeof(first_block), NULL);
	struct decoder decoder = {.reader = reader, .arena = arena, .scratch = {.top = bottom},
		.item_bytes_left = BT_MESSAGE_ITEM_BYTES_MAX, .err = err};
	enum bt_json_type type;
	int result = bt_json_peek(reader, &type, err);
	if (result == 0 && type == BT_JSON_NULL) {
		result = bt_json_read_null(reader, err);
	} else if (result == 0) {
		result = decode_members(&decoder, message, out, NULL);
	}
	scratch_pop(&decoder.scratch, bottom, 0);
	return result;
}
