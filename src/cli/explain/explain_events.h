/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_EXPLAIN_EVENTS_H
#define BT_CLI_EXPLAIN_EVENTS_H
/** What a live cluster has said about the pod so far. */
#include "cli/live.h"
#include "cli/source.h"
#include "codec/json.h"

struct bt_explain_events {
	bool asked;               /* there is a server, and the pod is there */
	struct bt_strbuf problem; /* why they could not be read; "": they could */
	struct bt_live_events list;
};

/** Events that cannot be read are no error: the explanation does not depend on them. */
void bt_explain_events_read(struct bt_explain_events *events, const struct bt_source *source,
	const struct bt_object_meta *pod);
void bt_explain_events_finish(struct bt_explain_events *events);
/** Part of the table, with a blank line in front, or nothing. */
void bt_explain_write_events(const struct bt_explain_events *events, struct bt_strbuf *out);
/** The list. */
void bt_explain_write_events_json(
	const struct bt_explain_events *events, struct bt_json_writer *writer);
#endif
