/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_SNAPSHOT_H
#define BT_CLUSTER_SNAPSHOT_H
/**
 * Snapshots: the objects of a cluster as one JSON List, reduced to the members that berth reads,
 * and optionally with neutral names. snapshot_fields.def has the action for each text.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/text_set.h"
#include "base/vec.h"
#include "cluster/manifests.h"

/**
 * Replaces names by neutral names that leave decisions unchanged, even where a decision compares or
 * composes names. A text is split into words (runs of letters and digits), and each word has one
 * neutral word wherever it occurs. So equal texts stay equal, composed names (claims of pods,
 * "domain/name") stay composed, and the order of names is kept. Well-known names ("default",
 * kubernetes.io/hostname) and short numbers stay; long numbers are replaced by numbers in the same
 * order; a UUID or an IPv4 address counts as one word.
 *
 * First all texts are collected, then bt_neutral_names_sort orders their words, then texts are
 * renamed. Words that were not collected come after all others.
 */

struct bt_neutral_word {
	struct bt_str original; /* in the arena */
	uint32_t code;          /* place among the words or numbers */
	bool is_number;
};

/** All-zero memory is an empty set of names. */
struct bt_neutral_names {
	BT_VEC(struct bt_neutral_word) words;
	struct bt_map map; /* original -> words */
	struct bt_arena arena;
	uint32_t number_count; /* number of entries of `words` with is_number */
	struct bt_str prefix;  /* of the neutral words; "": not chosen yet */
	uint32_t width;        /* digits after the prefix */
};

void bt_neutral_names_finish(struct bt_neutral_names *names);
/** Returns whether the text is a word of the API, which is not renamed. */
bool bt_neutral_names_is_term(struct bt_str text);
/**
 * Collects the words of a text. is_term: the field may contain words of the API (cpu, ReplicaSet),
 * which stay.
 */
void bt_neutral_names_collect(struct bt_neutral_names *names, struct bt_str text, bool is_term);
/** Orders the collected words. Call it once, before renaming. */
void bt_neutral_names_sort(struct bt_neutral_names *names);
/** Returns the neutral text, in the arena, for a text. is_term: as when it was collected. */
struct bt_str bt_neutral_names_rename(
	struct bt_neutral_names *names, struct bt_str text, bool is_term, struct bt_arena *arena);
/** Appends a JSON object that maps neutral words to original words, and a newline. */
void bt_neutral_names_append_map(const struct bt_neutral_names *names, struct bt_strbuf *out);

#define BT_SNAPSHOT_KNOWN_FIELDS 1024

/** The action of a snapshot for a text; see snapshot_fields.def. */
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

/** Returns false if the field has no row; such a field is dropped. */
bool bt_snapshot_find_action(
	const char *message, const char *field, enum bt_snapshot_action *out_action);

/** Writes the objects of one cluster in the form of snapshots. */
struct bt_snapshot_stream {
	bool strips_names;
	bool renames; /* strips_names, and all names are collected */
	struct bt_neutral_names names;
	/** Texts of devices: drivers, and the strings, names and domains of attributes. */
	struct bt_text_set device_texts;
	struct bt_arena text_arena;   /* of device_texts */
	struct bt_arena arena;        /* of one object */
	enum bt_snapshot_action note; /* how to handle the next annotation's value */
	/**
	 * Number of CEL expressions of the appended objects that read parts of texts. With neutral
	 * names such an expression may give another result.
	 */
	uint32_t by_parts;
	struct {
		const struct bt_field *field; /* NULL: free */
		enum bt_snapshot_action action;
	} known[BT_SNAPSHOT_KNOWN_FIELDS]; /* cache of actions, by the field's address */
};

/**
 * strip_names: before appending, call bt_snapshot_stream_collect_names for every object and then
 * bt_snapshot_stream_sort_names, so that neutral names keep the order of names.
 */
BT_MUST_USE struct bt_snapshot_stream *bt_snapshot_stream_create(bool strip_names);
void bt_snapshot_stream_collect_names(
	struct bt_snapshot_stream *stream, const struct bt_object *object);
/** Call it once, after the last bt_snapshot_stream_collect_names. */
void bt_snapshot_stream_sort_names(struct bt_snapshot_stream *stream);
/**
 * Appends the object as JSON, without resourceVersion, which also changes when no other member
 * does. Returns the object's metadata as written, with neutral names if strip_names, borrowed until
 * the next call.
 */
const struct bt_object_meta *bt_snapshot_stream_append(
	struct bt_snapshot_stream *stream, const struct bt_object *object, struct bt_strbuf *out);
/** NULL accepted. */
void bt_snapshot_stream_destroy(struct bt_snapshot_stream *stream);

/**
 * Writes all objects as JSON, piece by piece. stream: newly created. With neutral names, warns of
 * expressions whose result may change, because they read parts of names. Objects are released on
 * the way. Stops at the first write that does not return 0, and returns its result.
 */
BT_MUST_USE int bt_snapshot_write(struct bt_manifests *cluster, struct bt_snapshot_stream *stream,
	int (*write)(void *context, struct bt_str text, struct berth_error *err), void *context,
	struct berth_error *err);
#endif
