/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_QUEUE_QUEUE_PRIVATE_H
#define BT_QUEUE_QUEUE_PRIVATE_H
/** The queue's structure, shared by its source files. */
#include "api/change.h"
#include "base/heap.h"
#include "framework/events.h"
#include "queue/queue.h"

/** Requeue strategies (spec 04 section 3.3), ascending by eagerness. */
enum bt_queue_strategy {
	BT_STRATEGY_SKIP,
	BT_STRATEGY_AFTER_BACKOFF,
	BT_STRATEGY_IMMEDIATELY,
};

/** Labels the queue itself uses; the first entries of `events`. */
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

/** A registration that matches an event. */
struct bt_queue_listener {
	const struct bt_event_hint *hint;
	uint32_t rejector; /* in its profile */
	uint64_t queue_count;
	uint64_t skip_count;
	uint64_t error_count;
	struct bt_metric_cell *durations[3]; /* found when first needed: queue, skip, error */
};

/** The listeners of one profile. */
struct bt_queue_listeners {
	BT_VEC(struct bt_queue_listener) items;
	struct bt_rejectors rejectors; /* of all items */
};

/**
 * One kind of event: (resource, action), or a label without an event (action 0, no listeners).
 * Registrations never change, so what listens to it is found out once.
 */
struct bt_queue_event {
	char *resource_text; /* owned; behind resource */
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
	uint32_t group_count; /* ready ones, too; 0: free */
	uint32_t first_group; /* of those that are not */
	uint32_t profile;
	uint32_t gating_plugin;
	struct bt_rejectors unschedulable_plugins;
	struct bt_rejectors pending_plugins;
};

/** Unschedulable pods of one class, one shape and one namespace; or pods that were, until an event
 * sent them all off. */
struct bt_queue_group {
	uint32_t count; /* entries; 0: free */
	uint32_t class_id;
	uint32_t shape_id; /* held by the members */
	bt_sym namespace_; /* reference held while count > 0 */
	uint32_t first;    /* the newest; bt_queue_entry.next_in_group */
	uint32_t last;
	uint32_t previous_in_class;
	uint32_t next_in_class;
	bool is_ordered;              /* timestamps never grow from first to last */
	bool is_ready;                /* its pods are active ones; then in no list and no map */
	int64_t latest_expiration_ns; /* no member's backoff ends later */
	int64_t ready_since_ns;
	/** What its shape needs, as the profile's plugin with such numbers says. */
	int64_t needs[BT_HINT_NEEDS];
};

/** A pod between pop and Done, and where in the event log it was popped. */
struct bt_queue_in_flight {
	struct bt_object *pod; /* as popped; NULL: free */
	uint64_t log_position;
	uint32_t previous; /* in pop order */
	uint32_t next;
};

struct bt_queue_log_entry {
	uint32_t event;
	struct bt_object *old_object;
	struct bt_object *new_object;
};

/** An unschedulable pod that an event sends off. */
struct bt_queue_departure {
	uint64_t sequence;
	uint32_t entry;
	enum bt_queue_strategy strategy;
	bool stays_gated; /* PreEnqueue is known to reject it again */
};

struct bt_queue {
	struct bt_queue_options options;
	struct bt_state *state;
	const struct bt_profiles *profiles;
	struct bt_nominator *nominator;
	struct bt_plugin *sort;
	struct bt_change_gates change_gates;
	bool pops_backoff; /* gate SchedulerPopFromBackoffQ */
	bool holds_back;   /* bt_queue_hold_back was called, and nothing has happened since */
	bool asks_hints;   /* gate SchedulerQueueingHints */
	bool has_groups;   /* gate GenericWorkload */
	bool has_signatures;

	/* Records: each freed with its pod, for thousands may wait at once. Ids are reused. */
	BT_VEC(struct bt_queue_entry *) entries; /* by id; NULL: a free one */
	BT_VEC(uint32_t) free_entries;
	BT_VEC(uint32_t) awake; /* became unschedulable, or were woken, since bt_queue_settle */
	struct bt_map by_name;  /* (namespace, name) -> entry in one of the places */

	struct bt_heap active_queue;
	struct bt_heap ready; /* groups that are active as a whole, by their oldest pod */
	uint32_t ready_count; /* pods in those */
	struct bt_heap backoff_queue;
	struct bt_heap error_backoff_queue;

	/* Unschedulable pods. */
	BT_VEC(struct bt_queue_class) classes;
	BT_VEC(uint32_t) free_classes;
	struct bt_map class_map;
	BT_VEC(struct bt_queue_group) groups;
	BT_VEC(uint32_t) free_groups;
	struct bt_map group_map;
	uint32_t unschedulable_count;
	uint32_t gated_count; /* of those */
	uint64_t next_sequence;

	/* Events. */
	struct bt_event_hints *hints; /* by profile */
	/** By profile: the first plugin with hint_needs, or NULL. */
	struct bt_plugin **measuring;
	BT_VEC(struct bt_queue_event) events;

	/* In flight. */
	BT_VEC(struct bt_queue_in_flight) in_flight;
	BT_VEC(uint32_t) free_in_flight;
	struct bt_map in_flight_map; /* by uid */
	uint32_t first_in_flight;
	uint32_t last_in_flight;
	uint32_t in_flight_count;
	BT_VEC(struct bt_queue_log_entry) log;
	uint32_t log_head;          /* entries before it are gone */
	uint64_t log_head_position; /* number of the entry at log_head, counted for ever */

	uint64_t scheduling_cycle;
	int64_t *unschedulable_gauge; /* profile * BT_REJECTOR__COUNT + rejector */
	int64_t next_backoff_flush_ns;
	int64_t next_leftover_flush_ns;

	/* Scratch of one operation, kept for its memory. */
	struct bt_arena arena;
	struct bt_strbuf text;
	BT_VEC(struct bt_queue_departure) departures;
	BT_VEC(struct bt_queue_departure) merged;
	BT_VEC(uint32_t) flushed;
	BT_VEC(uint32_t) whole; /* groups that go as a whole */
};

/* entry.c */

void bt_queue_entries_finish(struct bt_queue *queue);
/** The record may be parked. */
static inline struct bt_queue_entry *bt_queue_entry_at(const struct bt_queue *queue, uint32_t id)
{
	return queue->entries.items[id];
}

/* unschedulable.c */

/** A pass over unschedulable pods need not leave more of them awake. */
#define BT_QUEUE_AWAKE_MAX 1024

/**
 * The record, all of it. While it is parked only what stands in front of unschedulable_plugins is
 * there. Waking moves it, and lets it leave a group that is active as a whole.
 */
struct bt_queue_entry *bt_queue_wake(struct bt_queue *queue, uint32_t id);
/** At the start of an operation: no pointer to an unschedulable record is in use. */
void bt_queue_settle(struct bt_queue *queue);
/** In the middle of an operation: only this record is in use. */
void bt_queue_settle_but(struct bt_queue *queue, const struct bt_queue_entry *held);
/** Valid for parked records, too. */
bool bt_queue_has_name(
	const struct bt_queue_entry *entry, struct bt_str namespace_, struct bt_str name);

/* entry.c */

/** A new record, nowhere yet. */
struct bt_queue_entry *bt_queue_entry_create(
	struct bt_queue *queue, struct bt_object *pod, int64_t now_ns);
void bt_queue_entry_destroy(struct bt_queue *queue, struct bt_queue_entry *entry);
/** Another version of the pod; the caller looks after the places that depend on it. */
void bt_queue_entry_set_pod(
	struct bt_queue *queue, struct bt_queue_entry *entry, struct bt_object *pod);
void bt_queue_entry_sign(struct bt_queue *queue, struct bt_queue_entry *entry);
/** Awake. */
struct bt_queue_entry *bt_queue_lookup(
	struct bt_queue *queue, struct bt_str namespace_, struct bt_str name);
/** The queued record of the entry's name: itself, another, or NULL. */
struct bt_queue_entry *bt_queue_lookup_namesake(
	struct bt_queue *queue, const struct bt_queue_entry *entry);
/** In and out of the index by name. */
void bt_queue_index(struct bt_queue *queue, const struct bt_queue_entry *entry);
void bt_queue_unindex(struct bt_queue *queue, const struct bt_queue_entry *entry);
void bt_queue_count_rejectors(
	struct bt_queue *queue, const struct bt_queue_entry *entry, int64_t by);
/** "namespace/name", borrowed until the next use of queue->text. */
const char *bt_queue_pod_text(struct bt_queue *queue, const struct bt_pod_info *pod);
BT_PRINTF(2, 3)
void bt_queue_warn(struct bt_queue *queue, const char *format, ...);

/* queue.c */

int64_t bt_queue_expiration_ns(const struct bt_queue *queue, struct bt_queue_entry *entry);
/** Spec 04 section 7. event: index in events, for its label. false: gated, or nothing to do. */
bool bt_queue_move_to_active_queue(struct bt_queue *queue, struct bt_queue_entry *entry,
	uint32_t event, bool from_backoff, int64_t now_ns);
/** The entry must be out, or among the unschedulable. */
enum bt_queue_place bt_queue_requeue_with_strategy(struct bt_queue *queue,
	struct bt_queue_entry *entry, enum bt_queue_strategy strategy, uint32_t event,
	int64_t now_ns);
/** Out of whatever place it is in; the record lives on. */
void bt_queue_take_out(struct bt_queue *queue, struct bt_queue_entry *entry);

/* unschedulable.c */

void bt_queue_unschedulable_finish(struct bt_queue *queue);
/** Into the group that its fields name now. */
void bt_queue_link(struct bt_queue *queue, struct bt_queue_entry *entry);
void bt_queue_unlink(struct bt_queue *queue, struct bt_queue_entry *entry);

/* unschedulable.c: groups that are active as a whole */

/** All of the group's pods would become active ones now; none is backing off or gated. */
bool bt_queue_may_go_whole(const struct bt_queue *queue, const struct bt_queue_group *group,
	enum bt_queue_strategy strategy, int64_t now_ns);
void bt_queue_go_whole(struct bt_queue *queue, uint32_t group_id, uint32_t event, int64_t now_ns);
/** Moves the pod to pop next to the top of the active heap. */
void bt_queue_call_ready(struct bt_queue *queue);
void bt_queue_call_all_ready(struct bt_queue *queue);

/* events.c */

void bt_queue_events_init(struct bt_queue *queue);
void bt_queue_events_finish(struct bt_queue *queue);
/** Index in events. */
uint32_t bt_queue_event_index(struct bt_queue *queue, const struct bt_cluster_event *event);

/* move.c */

/** Spec 04 section 8.8. */
enum bt_queue_strategy bt_queue_is_pod_worth_requeuing(struct bt_queue *queue,
	const struct bt_queue_entry *entry, uint32_t event, const struct bt_object *old_object,
	const struct bt_object *new_object);
/** By order of arrival. */
void bt_queue_sort_departures(struct bt_queue *queue);
/** Requeue what stands in departures, in the order of its arrival. */
void bt_queue_depart(struct bt_queue *queue, uint32_t event, int64_t now_ns);

/* events.c: pods in flight and the log of events */

void bt_queue_in_flight_init(struct bt_queue *queue);
void bt_queue_in_flight_finish(struct bt_queue *queue);
/** false: a pod of this uid is in flight already. */
bool bt_queue_take_off(struct bt_queue *queue, struct bt_queue_entry *entry);
bool bt_queue_is_in_flight(const struct bt_queue *queue, struct bt_str uid);
void bt_queue_log(struct bt_queue *queue, uint32_t event, struct bt_object *old_object,
	struct bt_object *new_object);
/** Spec 04 section 8.6. */
enum bt_queue_strategy bt_queue_hint_for_in_flight_pod(
	struct bt_queue *queue, const struct bt_queue_entry *entry);
#endif
