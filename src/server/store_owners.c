/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores metadata.managedFields apart from the texts of objects. Objects that were created alike
 * have the same owners except for the times, so the store keeps each list of owners once, without
 * its times.
 */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/strbuf.h"
#include "codec/json.h"
#include "server/store_private.h"

static const char head[] = "{\"metadata\":{";
static const char member[] = "\"managedFields\":";
static const char time_member[] = "\"time\":\"";

/** The member that remains of a time that was cut out. */
#define EMPTY_TIME "\"time\":\"\""
#define LENGTH(text_) ((uint32_t)(sizeof(text_) - 1))

struct bt_owners {
	struct bt_owner_pool *pool;
	uint64_t hash;
	int64_t row;    /* of the file; 0: none */
	uint32_t index; /* in the pool */
	uint32_t reference_count;
	uint32_t length;
	uint32_t time_count;
	char bytes[]; /* the JSON array with empty times */
};

struct bt_owner_pool {
	BT_VEC(struct bt_owners *) items; /* NULL: free */
	BT_VEC(uint32_t) free_items;
	struct bt_map by_text;
	BT_VEC(int64_t) unused; /* rows of freed owners, to delete */
	struct bt_strbuf text;  /* list of the current lookup */
	struct bt_strbuf times; /* its times */
	uint32_t reference_count;
};

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
	bt_strbuf_finish(&pool->times);
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

uint32_t bt_owners_times_bytes(const struct bt_owners *owners)
{
	return owners != NULL ? owners->time_count * BT_OWNERS_TIME_BYTES : 0;
}

/** Finds or adds the owners whose text is in the pool's buffer; returns a reference. */
static struct bt_owners *find_or_add(struct bt_owner_pool *pool, uint32_t time_count)
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
		.time_count = time_count};
	memcpy(owners->bytes, text.data, text.length);
	bt_vec_store(&pool->items, &pool->free_items, owners, owners->index);
	bt_map_insert(&pool->by_text, hash, owners->index);
	pool->reference_count++;
	return owners;
}

struct bt_owners *bt_owners_cut(struct bt_owner_pool *pool, struct bt_str *text,
	struct bt_str *out_rest, struct bt_str *out_times)
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
	bt_strbuf_reset(&pool->text);
	bt_strbuf_reset(&pool->times);
	uint32_t time_count = 0;
	/* cannot match inside of a text, where quotes are escaped */
	for (int64_t at; (at = bt_str_find(list, bt_str_from(time_member))) >= 0;) {
		uint32_t value = (uint32_t)at + LENGTH(time_member);
		bt_strbuf_append_str(&pool->text, bt_str_sub(list, 0, value));
		if (list.length - value > BT_OWNERS_TIME_BYTES &&
			bt_str_find_char(bt_str_sub(list, value, BT_OWNERS_TIME_BYTES + 1), '"') ==
				BT_OWNERS_TIME_BYTES) {
			bt_strbuf_append_str(
				&pool->times, bt_str_sub(list, value, BT_OWNERS_TIME_BYTES));
			value += BT_OWNERS_TIME_BYTES;
			time_count++;
		} else if (list.length > value && list.data[value] == '"') {
			/* a client's empty time must differ from a time that was cut out */
			bt_strbuf_append_char(&pool->text, ' ');
		}
		list = bt_str_sub(list, value, list.length);
	}
	bt_strbuf_append_str(&pool->text, list);
	*out_times = bt_strbuf_str(&pool->times);
	return find_or_add(pool, time_count);
}

/** --- the file --- */

struct bt_str bt_owners_text(const struct bt_owners *owners)
{
	return (struct bt_str){owners->bytes, owners->length};
}

int64_t bt_owners_row(const struct bt_owners *owners)
{
	return owners->row;
}

void bt_owners_set_row(struct bt_owners *owners, int64_t row)
{
	owners->row = row;
}

struct bt_owners *bt_owners_restore(struct bt_owner_pool *pool, struct bt_str text, int64_t row)
{
	struct bt_json_reader reader;
	bt_json_reader_init(&reader, text);
	if (text.length == 0 || text.data[0] != '[' || bt_json_skip(&reader, NULL, NULL) != 0 ||
		reader.position != reader.end || row <= 0) {
		return NULL;
	}
	uint32_t time_count = 0;
	struct bt_str rest = text;
	for (int64_t at; (at = bt_str_find(rest, BT_STR(EMPTY_TIME))) >= 0;) {
		rest = bt_str_sub(rest, (uint32_t)at + LENGTH(EMPTY_TIME), BT_STR_MAX);
		time_count++;
	}
	bt_strbuf_set(&pool->text, text);
	struct bt_owners *owners = find_or_add(pool, time_count);
	if (owners->row != 0) {
		bt_owners_unref(owners);
		return NULL;
	}
	owners->row = row;
	return owners;
}

bool bt_owners_fit(const struct bt_owners *owners, struct bt_str times, struct bt_str text)
{
	return times.length == bt_owners_times_bytes(owners) &&
		(owners == NULL ||
			(bt_str_has_prefix(text, bt_str_from(head)) &&
				!bt_str_has_prefix(bt_str_sub(text, LENGTH(head), BT_STR_MAX),
					bt_str_from(member))));
}

const int64_t *bt_owner_pool_unused(const struct bt_owner_pool *pool, uint32_t *out_count)
{
	*out_count = pool->unused.count;
	return pool->unused.items;
}

void bt_owner_pool_clear_unused(struct bt_owner_pool *pool)
{
	pool->unused.count = 0;
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

struct bt_str bt_stored_times(const struct bt_stored *stored)
{
	return (struct bt_str){stored->bytes + stored->key_length + stored->text_length + 1,
		bt_owners_times_bytes(stored->owners)};
}

/** --- texts --- */

/** Appends managedFields, with the object's times in their places. */
static void append_owners(const struct bt_stored *stored, struct bt_strbuf *out)
{
	struct bt_str text = bt_owners_text(stored->owners);
	const char *times = bt_stored_times(stored).data;
	for (uint32_t i = 0; i < stored->owners->time_count; i++) {
		uint32_t value = (uint32_t)bt_str_find(text, BT_STR(EMPTY_TIME)) +
			LENGTH(EMPTY_TIME) - 1;
		bt_strbuf_append_str(out, bt_str_sub(text, 0, value));
		bt_strbuf_append_str(out, (struct bt_str){times, BT_OWNERS_TIME_BYTES});
		times += BT_OWNERS_TIME_BYTES;
		text = bt_str_sub(text, value, text.length);
	}
	bt_strbuf_append_str(out, text);
}

void bt_stored_append_complete(const struct bt_stored *stored, struct bt_strbuf *out)
{
	struct bt_str text = bt_stored_text(stored);
	if (stored->owners == NULL) {
		bt_strbuf_append_str(out, text);
		return;
	}
	bt_strbuf_append_c(out, head);
	bt_strbuf_append_c(out, member);
	append_owners(stored, out);
	text = bt_str_sub(text, LENGTH(head), text.length);
	bt_strbuf_append_c(out, text.data[0] == '}' ? "" : ",");
	bt_strbuf_append_str(out, text);
}
