/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/event_correlator.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/nanoseconds.h"
#include "base/vec.h"

#define NONE UINT32_MAX
#define SIMILAR_MAX 10
#define SIMILAR_WITHIN_NS (600 * BT_NS_PER_SECOND)
#define SPAM_BURST 25
#define SPAM_ONE_IN_NS (300 * BT_NS_PER_SECOND)

/** Two hashes with a secret instead of the texts: equal ones are taken for equal texts. */
struct key {
	uint64_t hash[2];
};

struct entry {
	struct key key;
	uint32_t older;
	uint32_t newer;
	int64_t time_ns; /* similar: last seen; counted: first seen; allowed: last refill */
	uint32_t count;  /* similar: messages; counted: events; allowed: tokens */
	union {
		uint64_t messages[SIMILAR_MAX]; /* similar: hashes, a ring once it is full */
		char *name;                     /* counted: owned */
	};
};

struct memory {
	BT_VEC(struct entry) entries;
	struct bt_map by_key;
	uint32_t oldest;
	uint32_t newest;
};

struct bt_event_correlator {
	struct memory similar; /* by everything but the message */
	struct memory counted; /* by everything */
	struct memory allowed; /* by source and object */
	struct bt_strbuf name;
};

/** --- memories --- */

static uint64_t hash_of(const void *owner, uint32_t index)
{
	const struct memory *memory = owner;
	return memory->entries.items[index].key.hash[0];
}

static void memory_init(struct memory *memory)
{
	bt_map_init(&memory->by_key, hash_of, memory);
	memory->oldest = NONE;
	memory->newest = NONE;
}

static void memory_finish(struct memory *memory)
{
	bt_vec_finish(&memory->entries);
	bt_map_finish(&memory->by_key);
}

static void unlink_entry(struct memory *memory, uint32_t index)
{
	const struct entry *entry = &memory->entries.items[index];
	if (entry->older != NONE) {
		memory->entries.items[entry->older].newer = entry->newer;
	} else {
		memory->oldest = entry->newer;
	}
	if (entry->newer != NONE) {
		memory->entries.items[entry->newer].older = entry->older;
	} else {
		memory->newest = entry->older;
	}
}

static void link_newest(struct memory *memory, uint32_t index)
{
	struct entry *entry = &memory->entries.items[index];
	entry->older = memory->newest;
	entry->newer = NONE;
	if (memory->newest != NONE) {
		memory->entries.items[memory->newest].newer = index;
	} else {
		memory->oldest = index;
	}
	memory->newest = index;
}

static uint32_t find(const struct memory *memory, const struct key *key)
{
	for (uint32_t it = bt_map_first(&memory->by_key, key->hash[0]); it != BT_MAP_NONE;
		it = bt_map_next(&memory->by_key, key->hash[0], it)) {
		uint32_t index = bt_map_value(&memory->by_key, it);
		if (memcmp(&memory->entries.items[index].key, key, sizeof(*key)) == 0) {
			return index;
		}
	}
	return NONE;
}

/** Found, or made: then *out_is_new, and the entry is what was forgotten for it, or zero. */
static struct entry *use(struct memory *memory, const struct key *key, bool *out_is_new)
{
	uint32_t index = find(memory, key);
	*out_is_new = index == NONE;
	if (index != NONE) {
		unlink_entry(memory, index);
	} else if (memory->entries.count < BT_EVENT_CORRELATOR_MAX) {
		struct entry entry = {.time_ns = 0};
		index = memory->entries.count;
		bt_vec_push(&memory->entries, entry);
	} else {
		index = memory->oldest;
		unlink_entry(memory, index);
		(void)bt_map_remove(
			&memory->by_key, memory->entries.items[index].key.hash[0], index);
	}
	if (*out_is_new) {
		memory->entries.items[index].key = *key;
		bt_map_insert(&memory->by_key, key->hash[0], index);
	}
	link_newest(memory, index);
	return &memory->entries.items[index];
}

/** --- keys --- */

static struct key key_of(const struct bt_event_record *record, const enum bt_event_part *parts,
	uint32_t count, uint64_t kind)
{
	struct key key = {{kind, ~kind}};
	for (uint32_t i = 0; i < count; i++) {
		struct bt_str text = bt_event_record_part(record, parts[i]);
		for (uint32_t k = 0; k < BT_ARRAY_LENGTH(key.hash); k++) {
			key.hash[k] = bt_hash_u64(key.hash[k], text.length);
			key.hash[k] = bt_hash_bytes(text.data, text.length, key.hash[k]);
		}
	}
	return key;
}

/* Source and object; then what happened to it; then in which words. */
static const enum bt_event_part parts[] = {BT_EVENT_CONTROLLER, BT_EVENT_KIND, BT_EVENT_API_VERSION,
	BT_EVENT_NAMESPACE, BT_EVENT_NAME, BT_EVENT_UID, BT_EVENT_TYPE, BT_EVENT_REASON,
	BT_EVENT_NOTE};
#define OBJECT_PARTS 6
#define SIMILAR_PARTS 8
#define EQUAL_PARTS 9

/** --- the three steps --- */

/** Is it one too many of those that differ in their message only? */
static bool is_one_too_many(
	struct bt_event_correlator *correlator, const struct bt_event_record *record)
{
	struct key key = key_of(record, parts, SIMILAR_PARTS, 1);
	struct bt_str note = bt_event_record_part(record, BT_EVENT_NOTE);
	uint64_t message = bt_str_hash(note);
	bool is_new;
	struct entry *entry = use(&correlator->similar, &key, &is_new);
	if (is_new || record->time_ns - entry->time_ns > SIMILAR_WITHIN_NS) {
		entry->count = 0;
	}
	entry->time_ns = record->time_ns;
	uint32_t known = entry->count < SIMILAR_MAX ? entry->count : SIMILAR_MAX;
	for (uint32_t i = 0; i < known; i++) {
		if (entry->messages[i] == message) {
			return false;
		}
	}
	bool is_full = known == SIMILAR_MAX;
	entry->messages[entry->count % SIMILAR_MAX] = message;
	entry->count =
		is_full && entry->count + 1 == 2 * SIMILAR_MAX ? SIMILAR_MAX : entry->count + 1;
	return is_full;
}

static struct entry *count(struct bt_event_correlator *correlator,
	const struct bt_event_record *record, bool is_combined)
{
	struct key key = is_combined ? key_of(record, parts, SIMILAR_PARTS, 2)
				     : key_of(record, parts, EQUAL_PARTS, 3);
	bool is_new;
	struct entry *entry = use(&correlator->counted, &key, &is_new);
	if (is_new) {
		bt_strbuf_reset(&correlator->name);
		bt_event_record_append_name(record, &correlator->name);
		bt_free(entry->name);
		entry->name = bt_strndup(correlator->name.data, correlator->name.length);
		entry->time_ns = record->time_ns;
		entry->count = 0;
	}
	if (entry->count < UINT32_MAX) {
		entry->count++;
	}
	return entry;
}

static bool is_spam(struct bt_event_correlator *correlator, const struct bt_event_record *record)
{
	struct key key = key_of(record, parts, OBJECT_PARTS, 4);
	bool is_new;
	struct entry *entry = use(&correlator->allowed, &key, &is_new);
	if (is_new) {
		entry->count = SPAM_BURST;
		entry->time_ns = record->time_ns;
	}
	int64_t refills = (record->time_ns - entry->time_ns) / SPAM_ONE_IN_NS;
	if (refills > 0) {
		entry->time_ns += refills * SPAM_ONE_IN_NS;
		entry->count = refills >= SPAM_BURST - (int64_t)entry->count
			? SPAM_BURST
			: entry->count + (uint32_t)refills;
	}
	if (entry->count == 0) {
		return true;
	}
	entry->count--;
	return false;
}

bool bt_event_correlator_add(struct bt_event_correlator *correlator,
	const struct bt_event_record *record, struct bt_event_correlation *out_correlation)
{
	bool is_combined = is_one_too_many(correlator, record);
	const struct entry *entry = count(correlator, record, is_combined);
	*out_correlation = (struct bt_event_correlation){
		.is_combined = is_combined,
		.count = entry->count,
		.first_ns = entry->time_ns,
		.name = bt_str_from(entry->name),
	};
	return !is_spam(correlator, record);
}

struct bt_event_correlator *bt_event_correlator_create(void)
{
	struct bt_event_correlator *correlator = bt_calloc(1, sizeof(*correlator));
	memory_init(&correlator->similar);
	memory_init(&correlator->counted);
	memory_init(&correlator->allowed);
	return correlator;
}

void bt_event_correlator_destroy(struct bt_event_correlator *correlator)
{
	if (correlator == NULL) {
		return;
	}
	for (uint32_t i = 0; i < correlator->counted.entries.count; i++) {
		bt_free(correlator->counted.entries.items[i].name);
	}
	memory_finish(&correlator->similar);
	memory_finish(&correlator->counted);
	memory_finish(&correlator->allowed);
	bt_strbuf_finish(&correlator->name);
	bt_free(correlator);
}
