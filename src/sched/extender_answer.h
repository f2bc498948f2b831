/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_EXTENDER_ANSWER_H
#define BT_SCHED_EXTENDER_ANSWER_H
/**
 * The grammar of answers, as Go's decoder reads them: names in any case, null for nothing, errors
 * in its words. Shared by extender_answer.c and extender_wire_read.c only.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "codec/json.h"

/** All lists and maps of an answer together have this many entries at most. */
#define BT_ANSWER_ENTRIES_MAX (UINT32_C(1) << 20)

struct bt_answer {
	struct bt_json_reader reader;
	struct bt_arena *arena;
	uint32_t entries; /* read so far */
	struct berth_error *err;
};

/** Where a value belongs, as Go's messages put it. field NULL: the whole answer. */
struct bt_answer_place {
	const char *field; /* "ExtenderFilterResult.NodeNames" */
	const char *type;  /* "[]string" */
};

/** Start at the first value of the text. Nothing: "EOF"; broken off: "unexpected EOF". */
int bt_answer_begin(struct bt_answer *answer, struct bt_str json, struct bt_arena *arena,
	struct berth_error *err);
/** One more entry of a list or map; too many are an error. */
int bt_answer_count(struct bt_answer *answer);
/** null leaves *out_text alone. */
int bt_answer_text(struct bt_answer *answer, struct bt_answer_place place, struct bt_str *out_text);
/** An int64; null leaves *out_value alone. */
int bt_answer_number(struct bt_answer *answer, struct bt_answer_place place, int64_t *out_value);
/** The same but for case. wanted: in lower case. */
bool bt_answer_is_named(struct bt_str name, const char *wanted);
/**
 * The members of an object; the function gets each name with the reader at its value, which it must
 * consume. *out_present (may be NULL) false: null.
 */
int bt_answer_object(struct bt_answer *answer, struct bt_answer_place place,
	int (*read_member)(struct bt_answer *answer, struct bt_str name, void *out), void *out,
	bool *out_present);
/** The same for an array; elements are counted. */
int bt_answer_array(struct bt_answer *answer, struct bt_answer_place place,
	int (*read_element)(struct bt_answer *answer, void *out), void *out, bool *out_present);
int bt_answer_skip(struct bt_answer *answer);

/** The vector's content as a list in the arena. */
#define bt_answer_take(answer, vec, list) \
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
#endif
