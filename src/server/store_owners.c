/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores metadata.managedFields apart from the texts of objects. The owners of similar objects
 * differ only in times, and in uids and addresses in the keys of list elements. So the store keeps
 * each list of owners once, without these values, and keeps the values with each object.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/strbuf.h"
#include "codec/json.h"
#include "server/store_private.h"

static const char head[] = "{\"metadata\":{";
static const char member[] = "\"managedFields\":";
static const char time_member[] = "\"time\":\"";
/**
 * Texts before and behind a value in a key, as in "k:{\"ip\":\"10.0.0.1\"}" or "v:\"10.0.0.1\"".
 */
static const char opening[] = ":\\\"";
static const char closing[] = "\\\"";

/** The text that remains where a time was cut out. */
#define EMPTY_TIME "\"time\":\"\""
/** Stands for a value that was cut out of a key. JSON text cannot contain this byte. */
#define PLACE '\x01'
/** Longest value that is cut out: an IPv6 address with an embedded IPv4 address. */
#define VALUE_BYTES_MAX 45
#define LENGTH(text_) ((uint32_t)(sizeof(text_) - 1))

struct bt_owner_pool *bt_owner_pool_create(void)
{
	struct bt_owner_pool *pool = BT_NEW(struct bt_owner_pool);
	pool->reference_count = 1;
	return pool;
}

void bt_owner_pool_release(struct bt_owner_pool *pool)
{
	if (pool == NULL || --pool->reference_count != 0) {
		return;
	}
	bt_vec_finish(&pool->items);
	bt_vec_finish(&pool->free_items);
	bt_map_finish(&pool->by_text);
	bt_vec_finish(&pool->unused);
	bt_strbuf_finish(&pool->text);
	bt_strbuf_finish(&pool->values);
	bt_strbuf_finish(&pool->scratch);
	bt_free(pool);
}

struct bt_owners *bt_owners_share(struct bt_owners *owners)
{
	if (owners != NULL) {
		owners->reference_count++;
	}
	return owners;
}

void bt_owners_unref(struct bt_owners *owners)
{
	if (owners == NULL || --owners->reference_count != 0) {
		return;
	}
	struct bt_owner_pool *pool = owners->pool;
	BT_ASSERT(bt_map_remove(&pool->by_text, owners->hash, owners->index));
	pool->items.items[owners->index] = NULL;
	bt_vec_push(&pool->free_items, owners->index);
	if (owners->row != 0) {
		bt_vec_push(&pool->unused, owners->row);
	}
	bt_free(owners);
	bt_owner_pool_release(pool);
}

uint32_t bt_owners_values_bytes(const struct bt_owners *owners, const char *values)
{
	if (owners == NULL) {
		return 0;
	}
	const char *end = values + (size_t)owners->time_count * BT_OWNERS_TIME_BYTES;
	for (uint32_t i = 0; i < owners->value_count; i++) {
		end = strchr(end, ' ') + 1;
	}
	return (uint32_t)(end - values);
}

static uint32_t count_of(struct bt_str text, const char *needle)
{
	uint32_t count = 0;
	for (int64_t at; (at = bt_str_find(text, bt_str_from(needle))) >= 0; count++) {
		text = bt_str_sub(text, (uint32_t)at + (uint32_t)strlen(needle), BT_STR_MAX);
	}
	return count;
}

/** Finds or adds the owners whose text is in the pool's buffer; returns a reference. */
static struct bt_owners *find_or_add(struct bt_owner_pool *pool)
{
	struct bt_str text = bt_strbuf_str(&pool->text);
	uint64_t hash = bt_str_hash(text);
	BT_MAP_EACH (&pool->by_text, hash, index) {
		struct bt_owners *known = pool->items.items[index];
		if (bt_str_equal(text, (struct bt_str){known->bytes, known->length})) {
			return bt_owners_share(known);
		}
	}
	struct bt_owners *owners = bt_malloc(sizeof(*owners) + text.length);
	*owners = (struct bt_owners){.pool = pool,
		.hash = hash,
		.reference_count = 1,
		.length = text.length,
		.time_count = count_of(text, EMPTY_TIME),
		.value_count = count_of(text, (const char[]){PLACE, '\0'})};
	memcpy(owners->bytes, text.data, text.length);
	bt_vec_store(&pool->items, &pool->free_items, owners, owners->index);
	bt_map_insert(&pool->by_text, hash, owners->index);
	pool->reference_count++;
	return owners;
}

/** Splits the list. Its times replace the pool's values, and the rest replaces the pool's text. */
static void cut_times(struct bt_owner_pool *pool, struct bt_str list)
{
	bt_strbuf_reset(&pool->text);
	bt_strbuf_reset(&pool->values);
	/* time_member cannot match inside a JSON string, where quotes are escaped */
	for (int64_t at; (at = bt_str_find(list, bt_str_from(time_member))) >= 0;) {
		uint32_t value = (uint32_t)at + LENGTH(time_member);
		bt_strbuf_append_str(&pool->text, bt_str_sub(list, 0, value));
		if (list.length - value > BT_OWNERS_TIME_BYTES &&
			bt_str_find_char(bt_str_sub(list, value, BT_OWNERS_TIME_BYTES + 1), '"') ==
				BT_OWNERS_TIME_BYTES) {
			bt_strbuf_append_str(
				&pool->values, bt_str_sub(list, value, BT_OWNERS_TIME_BYTES));
			value += BT_OWNERS_TIME_BYTES;
		} else if (list.length > value && list.data[value] == '"') {
			/* a client's empty time must differ from a time that was cut out */
			bt_strbuf_append_char(&pool->text, ' ');
		}
		list = bt_str_sub(list, value, list.length);
	}
	bt_strbuf_append_str(&pool->text, list);
}

/** Returns the length of the uid or address at the start of the text, or 0. */
static uint32_t value_length(struct bt_str text)
{
	static const char digits[] = "0123456789abcdefABCDEF.:/-";
	uint32_t length = 0;
	while (length < text.length && strchr(digits, text.data[length]) != NULL &&
		text.data[length] != '\0') {
		length++;
	}
	return length <= VALUE_BYTES_MAX ? length : 0;
}

/** Moves the uids and addresses in keys from the pool's text to the end of the pool's values. */
static void cut_keys(struct bt_owner_pool *pool)
{
	/* texts before a uid or ip in the key of a list element, and before an element of a set */
	static const char *const names[] = {"{\\\"uid\\\"", "{\\\"ip\\\"", "\"v"};
	struct bt_str list = bt_strbuf_str(&pool->text);
	bt_strbuf_reset(&pool->scratch);
	for (int64_t at; (at = bt_str_find(list, bt_str_from(opening))) >= 0;) {
		uint32_t value = (uint32_t)at + LENGTH(opening);
		bool is_unique = false;
		for (uint32_t i = 0; i < BT_ARRAY_LENGTH(names) && !is_unique; i++) {
			is_unique = bt_str_has_suffix(
				bt_str_sub(list, 0, (uint32_t)at), bt_str_from(names[i]));
		}
		bt_strbuf_append_str(&pool->scratch, bt_str_sub(list, 0, value));
		list = bt_str_sub(list, value, BT_STR_MAX);
		uint32_t length = is_unique ? value_length(list) : 0;
		struct bt_str rest = bt_str_sub(list, length, BT_STR_MAX);
		if (length != 0 && bt_str_has_prefix(rest, bt_str_from(closing))) {
			bt_strbuf_append_str(&pool->values, bt_str_sub(list, 0, length));
			bt_strbuf_append_char(&pool->values, ' ');
			bt_strbuf_append_char(&pool->scratch, PLACE);
			list = rest;
		}
	}
	bt_strbuf_append_str(&pool->scratch, list);
	struct bt_strbuf text = pool->text;
	pool->text = pool->scratch;
	pool->scratch = text;
}

struct bt_owners *bt_owners_cut(struct bt_owner_pool *pool, struct bt_str *text,
	struct bt_str *out_rest, struct bt_str *out_values)
{
	uint32_t start = LENGTH(head) + LENGTH(member);
	if (!bt_str_has_prefix(*text, bt_str_from(head)) ||
		!bt_str_has_prefix(
			bt_str_sub(*text, LENGTH(head), BT_STR_MAX), bt_str_from(member))) {
		return NULL;
	}
	struct bt_str list = bt_str_sub(*text, start, BT_STR_MAX);
	struct bt_json_reader reader;
	bt_json_reader_init(&reader, list);
	if (bt_json_skip(&reader, NULL, NULL) != 0 || reader.position == reader.end) {
		return NULL;
	}
	list = bt_str_sub(list, 0, (uint32_t)(reader.position - list.data));
	start += list.length + (*reader.position == ',' ? 1 : 0);
	*out_rest = bt_str_sub(*text, start, BT_STR_MAX);
	*text = bt_str_sub(*text, 0, LENGTH(head));
	cut_times(pool, list);
	cut_keys(pool);
	*out_values = bt_strbuf_str(&pool->values);
	return find_or_add(pool);
}

/** --- the file --- */

/** Returns whether text is a JSON array in which PLACE occurs only between escaped quotes. */
static bool is_list(struct bt_owner_pool *pool, struct bt_str text)
{
	bool is_valid = text.length != 0 && text.data[0] == '[';
	bt_strbuf_reset(&pool->scratch);
	for (int64_t at; is_valid && (at = bt_str_find_char(text, PLACE)) >= 0;) {
		bt_strbuf_append_str(&pool->scratch, bt_str_sub(text, 0, (uint32_t)at));
		text = bt_str_sub(text, (uint32_t)at + 1, BT_STR_MAX);
		is_valid = bt_str_has_suffix(bt_strbuf_str(&pool->scratch), bt_str_from(closing)) &&
			bt_str_has_prefix(text, bt_str_from(closing));
	}
	bt_strbuf_append_str(&pool->scratch, text);
	struct bt_json_reader reader;
	bt_json_reader_init(&reader, bt_strbuf_str(&pool->scratch));
	return is_valid && bt_json_skip(&reader, NULL, NULL) == 0 && reader.position == reader.end;
}

struct bt_owners *bt_owners_restore(struct bt_owner_pool *pool, struct bt_str text, int64_t row)
{
	if (row <= 0 || !is_list(pool, text)) {
		return NULL;
	}
	bt_strbuf_set(&pool->text, text);
	struct bt_owners *owners = find_or_add(pool);
	if (owners->row != 0) {
		bt_owners_unref(owners);
		return NULL;
	}
	owners->row = row;
	return owners;
}

bool bt_owners_fit(const struct bt_owners *owners, struct bt_str values, struct bt_str text)
{
	if (owners == NULL) {
		return values.length == 0;
	}
	uint64_t time_bytes = (uint64_t)owners->time_count * BT_OWNERS_TIME_BYTES;
	bool fits = values.length >= time_bytes;
	values = bt_str_sub(values, fits ? (uint32_t)time_bytes : 0, BT_STR_MAX);
	for (uint32_t i = 0; fits && i < owners->value_count; i++) {
		uint32_t length = value_length(values);
		fits = length != 0 && length < values.length && values.data[length] == ' ';
		values = bt_str_sub(values, length + 1, BT_STR_MAX);
	}
	return fits && values.length == 0 && bt_str_has_prefix(text, bt_str_from(head)) &&
		!bt_str_has_prefix(bt_str_sub(text, LENGTH(head), BT_STR_MAX), bt_str_from(member));
}

void bt_owner_pool_clear_rows(struct bt_owner_pool *pool, int64_t last)
{
	for (uint32_t i = 0; i < pool->items.count; i++) {
		struct bt_owners *owners = pool->items.items[i];
		if (owners != NULL && owners->row > last) {
			owners->row = 0;
		}
	}
}

struct bt_owned bt_stored_owned(const struct bt_stored *stored)
{
	if (stored == NULL || stored->owners == NULL) {
		return (struct bt_owned){NULL, BT_STR("")};
	}
	const char *values = stored->bytes + stored->key_length + stored->text_length + 1;
	return (struct bt_owned){
		stored->owners, {values, bt_owners_values_bytes(stored->owners, values)}};
}

/** --- texts --- */

void bt_stored_append_owners(const struct bt_stored *stored, struct bt_strbuf *out)
{
	struct bt_owned owned = bt_stored_owned(stored);
	if (owned.owners == NULL) {
		return;
	}
	struct bt_str text = {owned.owners->bytes, owned.owners->length};
	uint32_t times_left = owned.owners->time_count;
	uint32_t values_left = owned.owners->value_count;
	const char *time = owned.values.data;
	const char *value = time + (size_t)times_left * BT_OWNERS_TIME_BYTES;
	while (times_left + values_left != 0) {
		int64_t time_at =
			times_left != 0 ? bt_str_find(text, BT_STR(EMPTY_TIME)) : INT64_MAX;
		int64_t place = values_left != 0 ? bt_str_find_char(text, PLACE) : INT64_MAX;
		if (time_at < place) {
			uint32_t end = (uint32_t)time_at + LENGTH(EMPTY_TIME) - 1;
			bt_strbuf_append_str(out, bt_str_sub(text, 0, end));
			bt_strbuf_append_str(out, (struct bt_str){time, BT_OWNERS_TIME_BYTES});
			time += BT_OWNERS_TIME_BYTES;
			times_left--;
			text = bt_str_sub(text, end, BT_STR_MAX);
		} else {
			uint32_t length = (uint32_t)(strchr(value, ' ') - value);
			bt_strbuf_append_str(out, bt_str_sub(text, 0, (uint32_t)place));
			bt_strbuf_append_str(out, (struct bt_str){value, length});
			value += length + 1;
			values_left--;
			text = bt_str_sub(text, (uint32_t)place + 1, BT_STR_MAX);
		}
	}
	bt_strbuf_append_str(out, text);
}

void bt_stored_append_complete(const struct bt_stored *stored, struct bt_strbuf *out)
{
	struct bt_str rest = bt_stored_text(stored);
	if (stored->owners == NULL) {
		bt_strbuf_append_str(out, rest);
		return;
	}
	bt_strbuf_append_c(out, head);
	bt_strbuf_append_c(out, member);
	bt_stored_append_owners(stored, out);
	rest = bt_str_sub(rest, LENGTH(head), BT_STR_MAX);
	bt_strbuf_append_c(out, rest.data[0] == '}' ? "" : ",");
	bt_strbuf_append_str(out, rest);
}
