/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_QUEUE_QUEUE_PRIVATE_H
#define BT_QUEUE_QUEUE_PRIVATE_H
/** Internal structures and functions of the queue, for the source files of this folder. */
#include "api/change.h"
#include "base/fifo.h"
#include "base/heap.h"
#include "base/hash_table.h"
#include "framework/events.h"
#include "framework/hint_marks.h"
#include "queue/queue.h"

/**
 * Requeue strategies (spec 04 section 3.3), in ascending order of how soon the pod is tried again.
 */
enum bt_queue_strategy {
	BT_STRATEGY_SKIP,
	BT_STRATEGY_AFTER_BACKOFF,
	BT_STRATEGY_IMMEDIATELY,
};

/** Event labels that the queue itself uses. They are the first entries of bt_queue.events. */
enum bt_queue_known_event {
	BT_EVENT_POD_ADD,
	BT_EVENT_POD_UPDATE,
	BT_EVENT_ATTEMPT_FAILURE,
	BT_EVENT_BACKOFF_COMPLETE,
	BT_EVENT_POP_FROM_BACKOFF,
	BT_EVENT_FORCE_ACTIVATE,
	BT_EVENT_UNSCHEDULABLE_TIMEOUT,
	BT_EVENT__KNOWN,
};

/** A plugin's registration that matches an event. */
struct bt_queue_listener {
	const struct bt_event_hint *hint;
	uint32_t rejector; /* index of the plugin in the profile, or BT_REJECTOR_EXTENDER */
	uint64_t queue_count;
	uint64_t skip_count;
	uint64_t error_count;
	struct bt_metric_cell *durations[3]; /* by result: Queue, Skip, Error; made at first use */
};

/** The listeners of one profile. */
struct bt_queue_listeners {
	BT_VEC(struct bt_queue_listener) items;
	struct bt_rejectors rejectors; /* union over all items */
};

/**
 * One kind of event: (resource, action), or a label without an event (action 0, no listeners).
 * Registrations never change, so the listeners are collected once.
 */
struct bt_queue_event {
	char *resource_text; /* owned; memory of resource */
	struct bt_str resource;
	uint32_t action;
	char *label; /* owned */
	bool is_wildcard;
	bool is_of_interest;
	struct bt_queue_listeners *listeners; /* by profile */
	uint64_t incoming[BT_QUEUE__PLACES];  /* error backoff counts as backoff */
	uint32_t in_flight;
};

/** The rejectors of a pod, its profile, and its gating plugin. */
struct bt_queue_class {
	uint32_t group_count; /* number of groups, including ready groups; 0: free slot */
	uint32_t first_group; /* first group that is not ready */
	uint32_t profile;
	uint32_t gating_plugin;
	struct bt_rejectors unschedulable_plugins;
	struct bt_rejectors pending_plugins;
};

/**
 * Unschedulable pods of one class, shape and namespace. A ready group holds pods that an event
 * moved to the active queue as a whole.
 */
struct bt_queue_group {
	uint32_t count; /* number of entries; 0: free slot */
	uint32_t class_id;
	uint32_t shape_id; /* the members hold the reference */
	bt_sym namespace_; /* reference held while count > 0 */
	uint32_t first;    /* newest entry; next: bt_queue_entry.next_in_group */
	uint32_t last;
	uint32_t previous_in_class;
	uint32_t next_in_class;
	bool is_ordered; /* timestamps never grow from first to last */
	/* All pods are active; the group is in no class list and not in the map of groups. */
	bool is_ready;
	int64_t latest_expiration_ns; /* no member's backoff ends later */
	int64_t ready_since_ns;
	uint64_t shift;          /* added to the sequence of every member */
	uint64_t least_sequence; /* no member's sequence, with the shift, is lower */
	/**
	 * Resource needs of the shape, from hint_needs of the profile's plugin in
	 * bt_queue.measuring.
	 */
	int64_t needs[BT_HINT_NEEDS];
	struct bt_hint_wants wants; /* from all rejectors with hint_wants */
};

/** A pod between pop and Done, with its start position in the event log. */
struct bt_queue_in_flight {
	struct bt_object *pod; /* as popped; NULL: free slot */
	uint64_t log_position;
	uint32_t previous; /* in pop order */
	uint32_t next;
};

struct bt_queue_log_entry {
	uint32_t event;
	struct bt_object *old_object;
	struct bt_object *new_object;
};

/** An unschedulable pod that an event moves. */
struct bt_queue_departure {
	uint64_t sequence;
	uint32_t entry;
	enum bt_queue_strategy strategy;
	bool stays_gated; /* PreEnqueue would reject the pod again */
};

struct bt_queue {
	struct bt_queue_options options;
	struct bt_state *state;
	const struct bt_profiles *profiles;
	struct bt_nominator *nominator;
	struct bt_plugin *sort;
	struct bt_change_gates change_gates;
	bool pops_backoff; /* gate SchedulerPopFromBackoffQ */
	bool holds_back;   /* bt_queue_hold_back was called, and no change since could help a pod */
	bool runs_hints;   /* gate SchedulerQueueingHints */
	bool has_groups;   /* gate GenericWorkload */
	bool has_signatures;

	/*
	 * Records: allocated one by one, so that memory is freed when a pod leaves. Ids are reused.
	 */
	BT_VEC(struct bt_queue_entry *) entries; /* by id; NULL: free id */
	BT_VEC(uint32_t) free_entries;
	BT_VEC(uint32_t) unparked; /* ids that bt_queue_park_all parks if possible */
	struct bt_map by_name;     /* (namespace, name) -> entry in one of the places */

	struct bt_heap active_queue;
	struct bt_heap ready; /* groups that are active as a whole, ordered by their oldest pod */
	uint32_t ready_count; /* number of pods in ready groups */
	struct bt_heap backoff_queue;
	struct bt_heap error_backoff_queue;

	/* Unschedulable pods. */
	BT_HASH_TABLE(struct bt_queue_class) classes;
	BT_HASH_TABLE(struct bt_queue_group) groups;
	uint32_t unschedulable_count;
	uint32_t gated_count; /* number of unschedulable pods that are gated */
	uint64_t next_sequence;

	/* Events. */
	struct bt_event_hints *hints; /* by profile */
	/**
	 * By profile: the first plugin that implements hint_needs; NULL: no plugin implements
	 * hint_needs.
	 */
	struct bt_plugin **measuring;
	BT_VEC(struct bt_queue_event) events;

	/* In flight. */
	BT_HASH_TABLE(struct bt_queue_in_flight) in_flight; /* by uid */
	uint32_t first_in_flight;
	uint32_t last_in_flight;
	BT_FIFO(struct bt_queue_log_entry) log;
	uint64_t log_head_position; /* log position of the first entry */

	uint64_t scheduling_cycle;
	int64_t *unschedulable_gauge; /* [profile * BT_REJECTOR__COUNT + rejector] */
	int64_t next_backoff_flush_ns;
	int64_t next_leftover_flush_ns;

	/* Temporary memory of one operation of the queue. The next operation reuses the memory. */
	struct bt_arena arena;
	struct bt_strbuf text;
	BT_VEC(struct bt_queue_departure) departures;
	BT_VEC(uint32_t) flushed;
	BT_VEC(uint32_t) whole_groups; /* groups to move as a whole */
	BT_VEC(uint32_t) held_groups;  /* groups whose members all stay gated */
};

/* entry.c */

/** Returns the record, which may be parked. */
static inline struct bt_queue_entry *bt_queue_entry_at(const struct bt_queue *queue, uint32_t id)
{
	return queue->entries.items[id];
}

/* unschedulable.c */

/**
 * When more records than this number are unparked, a pass over the unschedulable pods parks the
 * records again. When more pods than this number are active, further ones are parked.
 */
#define BT_QUEUE_UNPARKED_MAX 1024

/**
 * Returns the complete record. A parked record has only the members in front of
 * unschedulable_plugins. Such a record is unparked first, which changes the address of the record.
 * If the pod is in a ready group, this function moves the pod to the active heap.
 */
struct bt_queue_entry *bt_queue_unpark(struct bt_queue *queue, uint32_t id);
/**
 * Parks the records in `unparked` except `held` (NULL: none). Call when no pointer to another
 * record in the queue is in use.
 */
void bt_queue_park_all(struct bt_queue *queue, const struct bt_queue_entry *held);

/* entry.c */

/** Creates a record that is in no queue yet. */
struct bt_queue_entry *bt_queue_entry_create(
	struct bt_queue *queue, struct bt_object *pod, int64_t now_ns);
void bt_queue_entry_destroy(struct bt_queue *queue, struct bt_queue_entry *entry);
/**
 * Replaces the pod by another version; the caller updates the group or heap that depends on the
 * pod.
 */
void bt_queue_entry_set_pod(
	struct bt_queue *queue, struct bt_queue_entry *entry, struct bt_object *pod);
void bt_queue_entry_sign(struct bt_queue *queue, struct bt_queue_entry *entry);
/** Finds a queued record by name and unparks it; NULL: none. */
struct bt_queue_entry *bt_queue_lookup(
	struct bt_queue *queue, struct bt_str namespace_, struct bt_str name);
/** Removes the record from the index by name. */
void bt_queue_remove_from_index(struct bt_queue *queue, const struct bt_queue_entry *entry);
void bt_queue_count_rejectors(
	struct bt_queue *queue, const struct bt_queue_entry *entry, int64_t by);
/** Returns "namespace/name", borrowed until the next use of queue->text. */
const char *bt_queue_pod_text(struct bt_queue *queue, const struct bt_pod_info *pod);
BT_PRINTF(2, 3)
void bt_queue_warn(struct bt_queue *queue, const char *format, ...);

/* queue.c */

int64_t bt_queue_expiration_ns(const struct bt_queue *queue, struct bt_queue_entry *entry);
/**
 * Moves the entry from any place to the active queue; if PreEnqueue rejects the pod, to the
 * unschedulable pods. from_backoff: the entry comes from a backoff queue, so PreEnqueue does not
 * run again if the gate SchedulerPopFromBackoffQ is on. event: index in events, for the label.
 * Returns false if the pod is gated or did not move. Spec 04 section 7.
 */
bool bt_queue_move_to_active_queue(struct bt_queue *queue, struct bt_queue_entry *entry,
	uint32_t event, bool from_backoff, int64_t now_ns);
/**
 * Queues the entry as the strategy says and returns its new place. The entry must be unschedulable
 * or in no queue.
 */
enum bt_queue_place bt_queue_requeue_with_strategy(struct bt_queue *queue,
	struct bt_queue_entry *entry, enum bt_queue_strategy strategy, uint32_t event,
	int64_t now_ns);
/** Removes the entry from its place; the record stays allocated. */
void bt_queue_take_out(struct bt_queue *queue, struct bt_queue_entry *entry);

/* unschedulable.c */

/** Adds the entry to the group of its current rejectors, profile, gate, shape and namespace. */
void bt_queue_link(struct bt_queue *queue, struct bt_queue_entry *entry);
void bt_queue_unlink(struct bt_queue *queue, struct bt_queue_entry *entry);

/* unschedulable.c: groups that are active as a whole */

/**
 * Whether the group can become active as a whole now: the group is large enough and ordered by
 * time, no pod backs off or may be gated, and QueueSort compares priority and time.
 */
bool bt_queue_can_activate_group(const struct bt_queue *queue, const struct bt_queue_group *group,
	enum bt_queue_strategy strategy, int64_t now_ns);
void bt_queue_activate_group(
	struct bt_queue *queue, uint32_t group_id, uint32_t event, int64_t now_ns);
/** If the next pod to pop is in a ready group, moves the pod to the active heap. */
void bt_queue_unpark_next_ready(struct bt_queue *queue);

/* events.c */

void bt_queue_events_init(struct bt_queue *queue);
void bt_queue_events_finish(struct bt_queue *queue);
/** Returns the index in events, adding the event if it is new. */
uint32_t bt_queue_event_index(struct bt_queue *queue, const struct bt_cluster_event *event);

/* move.c */

/**
 * Returns the strategy for a rejected pod after an event, from the hints of the pod's rejectors.
 * old_object and new_object may be NULL. Spec 04 section 8.8.
 */
enum bt_queue_strategy bt_queue_is_pod_worth_requeuing(struct bt_queue *queue,
	const struct bt_queue_entry *entry, uint32_t event, const struct bt_object *old_object,
	const struct bt_object *new_object);
/** Whether no hint can make the strategy of a pod with these pending plugins more eager. */
bool bt_queue_is_final(const struct bt_rejectors *pending, enum bt_queue_strategy strategy);
void bt_queue_add_departure(struct bt_queue *queue, const struct bt_queue_entry *entry,
	enum bt_queue_strategy strategy, bool stays_gated);
/** Sorts departures by order of arrival. */
void bt_queue_sort_departures(struct bt_queue *queue);
/** Requeues the pods in departures, in order of arrival. */
void bt_queue_requeue_departures(struct bt_queue *queue, uint32_t event, int64_t now_ns);

/* events.c: pods in flight and the log of events */

/**
 * Marks the popped pod as in flight. Returns false if a pod of this uid is in flight already; the
 * record is then destroyed, with a warning.
 */
bool bt_queue_add_in_flight(struct bt_queue *queue, struct bt_queue_entry *entry);
bool bt_queue_is_in_flight(const struct bt_queue *queue, struct bt_str uid);
void bt_queue_log_event(struct bt_queue *queue, uint32_t event, struct bt_object *old_object,
	struct bt_object *new_object);
/**
 * Returns the strategy for a popped pod whose attempt failed, from the events since the pop. Spec
 * 04 section 8.6.
 */
enum bt_queue_strategy bt_queue_hint_for_in_flight_pod(
	struct bt_queue *queue, const struct bt_queue_entry *entry);
#endif
