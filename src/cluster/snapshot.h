/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_SNAPSHOT_H
#define BT_CLUSTER_SNAPSHOT_H
/**
 * Snapshots: the objects of a cluster as one JSON List, with those members alone that are read
 * here, and on request with neutral names. What happens to each text is in snapshot_fields.def.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "cluster/manifests.h"
#include "codec/message_visit.h"

/**
 * Neutral texts in place of names, such that nothing that is decided by comparing or joining names
 * changes: a text is cut into words (runs of letters and digits), and each word has one neutral
 * word wherever it occurs. So equal texts stay equal, a name that is made of others (claims of
 * pods, "domain/name") still is, and the order of names is kept. What everybody knows ("default",
 * kubernetes.io/hostname) and short numbers stay; long numbers become others of the same order;
 * UUIDs and IPv4 addresses count as one word.
 *
 * First every text is collected, then all are settled, then they are renamed. A text that is
 * collected after that gets neutral words behind all others: where it is in their order is lost.
 */

struct bt_neutral_word {
	struct bt_str original; /* in the arena */
	uint32_t code;          /* once settled: its place among all of its sort */
	bool is_number;
};

struct bt_neutral_names {
	BT_VEC(struct bt_neutral_word) words;
	struct bt_map map; /* original -> words */
	struct bt_arena arena;
	uint32_t number_count; /* of words */
	struct bt_str prefix;  /* of neutral words; "": not settled */
	uint32_t width;        /* digits behind it */
};

void bt_neutral_names_init(struct bt_neutral_names *names);
void bt_neutral_names_finish(struct bt_neutral_names *names);
/** A word of the API. */
bool bt_neutral_names_is_term(struct bt_str text);
/** is_term: where the API has words of its own (cpu, ReplicaSet), which stay. */
void bt_neutral_names_collect(struct bt_neutral_names *names, struct bt_str text, bool is_term);
/** Once. */
void bt_neutral_names_settle(struct bt_neutral_names *names);
/** The neutral text for one that was collected, with the same is_term; lies in the arena. */
struct bt_str bt_neutral_names_rename(const struct bt_neutral_names *names, struct bt_str text,
	bool is_term, struct bt_arena *arena);
/** Append a JSON object: neutral word -> original one, and a newline. */
void bt_neutral_names_append_map(const struct bt_neutral_names *names, struct bt_strbuf *out);

/** What a snapshot does with a text; see snapshot_fields.def. */
enum bt_snapshot_action {
	BT_SNAPSHOT_NAME,
	BT_SNAPSHOT_TERM,
	BT_SNAPSHOT_KEEP,
	BT_SNAPSHOT_WORDS,
	BT_SNAPSHOT_DROP,
	BT_SNAPSHOT_PRIVATE,
	BT_SNAPSHOT_NOTES,
	BT_SNAPSHOT_EXPRESSION,
};

/** false: the field has no row, and is dropped. */
bool bt_snapshot_find_action(
	const char *message, const char *field, enum bt_snapshot_action *out_action);

/**
 * Objects one by one, as snapshots keep them, but without their resource version, which changes
 * when nothing else does.
 */
struct bt_snapshot_stream;

/** strip_names: first every object that is there is learned, for the order of their names. */
BT_MUST_USE struct bt_snapshot_stream *bt_snapshot_stream_create(bool strip_names);
void bt_snapshot_stream_learn(struct bt_snapshot_stream *stream, const struct bt_object *object);
/** Once, behind the last one. */
void bt_snapshot_stream_settle(struct bt_snapshot_stream *stream);
/** Append the JSON. Returns the metadata it shows, borrowed until the next call. */
const struct bt_object_meta *bt_snapshot_stream_append(
	struct bt_snapshot_stream *stream, const struct bt_object *object, struct bt_strbuf *out);
/** Expressions among those appended so far that neutral names may change the answer of. */
uint32_t bt_snapshot_stream_by_parts(const struct bt_snapshot_stream *stream);
/** NULL accepted. */
void bt_snapshot_stream_destroy(struct bt_snapshot_stream *stream);

/** Put the words of all objects in order. Names are initialised. */
void bt_snapshot_collect_names(const struct bt_manifests *cluster, struct bt_neutral_names *names);

/**
 * Hands the JSON of the snapshot on piece by piece. names NULL: as they are; otherwise warns of
 * expressions that look at parts of texts in ways that neutral names do not keep. Objects are
 * released on the way. What write returns ends it, when it is not 0.
 */
BT_MUST_USE int bt_snapshot_write(struct bt_manifests *cluster,
	const struct bt_neutral_names *names,
	int (*write)(void *context, struct bt_str text, struct berth_error *err), void *context,
	struct berth_error *err);
#endif
