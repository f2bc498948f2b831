/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SOAK_WATCH_H
#define BT_SOAK_WATCH_H
/**
 * List and watch, with one stream for each kind. Events come late: in order within a kind, in any
 * order between kinds. A stream may break, and then loses its events in flight. The next list
 * reports only the differences between the mirror and the API: deletions are inferred, states in
 * between are never seen, and the object with a known name may have another uid. Spec 13
 * section 13.4, 11b section 5.
 *
 * The mirror has the objects that the client knows, like an informer's store. The watch does not
 * select terminal pods, so a pod that becomes terminal looks deleted.
 */
#include "base/prng.h"
#include "soak/clock.h"
#include "state/object_store.h"

struct bt_sim_watch_event {
	struct bt_object *object; /* reference held; the last state if deleted */
	bool deleted;
	int64_t due_ns;
};

struct bt_sim_stream {
	BT_VEC(struct bt_sim_watch_event) events;
	uint32_t first;
	int64_t last_due_ns;
	bool broken; /* until the next list */
};

struct bt_sim_watch {
	struct bt_sim_clock *clock;
	struct bt_object_store *objects; /* what the API has */
	struct bt_prng prng;
	/**
	 * On average, one of late_one_in events is late by seconds, and one of break_one_in events
	 * breaks its stream; 0: no event.
	 */
	uint32_t late_one_in;
	uint32_t break_one_in;
	struct bt_sim_stream streams[BT_KIND__COUNT];
	struct bt_object_store mirror;
	/** Like bt_scheduler_observe; called after the mirror has changed. */
	void (*observe)(void *context, struct bt_object *old_object, struct bt_object *new_object);
	/** Called for an object that a list no longer contains: the watch missed the deletion. */
	void (*lost)(void *context, struct bt_object *last_known);
	/** Writes a line to the log. */
	void (*note)(void *context, enum bt_kind kind, const char *what);
	void *context;
	uint64_t relist_count;
};

void bt_sim_watch_init(struct bt_sim_watch *watch, struct bt_sim_clock *clock,
	struct bt_object_store *objects, uint64_t seed);
void bt_sim_watch_finish(struct bt_sim_watch *watch);
/**
 * Tells the watch about a change of the store: an object was added (old_object NULL), changed, or
 * deleted (new_object NULL).
 */
void bt_sim_watch_changed(
	struct bt_sim_watch *watch, struct bt_object *old_object, struct bt_object *new_object);
/** Whether all events were delivered. */
bool bt_sim_watch_is_quiet(const struct bt_sim_watch *watch);
#endif
