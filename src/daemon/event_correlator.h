/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_EVENT_CORRELATOR_H
#define BT_DAEMON_EVENT_CORRELATOR_H
/**
 * What core/v1 events go through before they are sent: equal ones are counted, many that differ in
 * their message only become one, and an object that causes too many is not heard for a while. Spec:
 * 11b section 8.5. No I/O; time is that of the records.
 */
#include "daemon/event_record.h"

#define BT_EVENT_COMBINED_PREFIX "(combined from similar events): "

/** Entries of each of its three memories; those used longest ago go. */
#define BT_EVENT_CORRELATOR_MAX 4096

struct bt_event_correlator;

struct bt_event_correlation {
	bool is_combined;   /* the message gets the prefix */
	uint32_t count;     /* 1: to be posted, else to be patched */
	int64_t first_ns;   /* when the first of them happened */
	struct bt_str name; /* metadata.name; borrowed until the next call */
};

BT_MUST_USE struct bt_event_correlator *bt_event_correlator_create(void);
void bt_event_correlator_destroy(struct bt_event_correlator *correlator);
/** false: it is not to be sent. */
bool bt_event_correlator_add(struct bt_event_correlator *correlator,
	const struct bt_event_record *record, struct bt_event_correlation *out_correlation);
#endif
