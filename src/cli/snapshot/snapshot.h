/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_SNAPSHOT_H
#define BT_CLI_SNAPSHOT_H
/**
 * Snapshots: the objects of a cluster as one JSON List, with those members alone that are read
 * here, and on request with neutral names. What happens to each text is in snapshot_fields.def.
 */
#include "cli/manifests.h"
#include "cli/snapshot/neutral_names.h"
#include "codec/message_visit.h"

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
