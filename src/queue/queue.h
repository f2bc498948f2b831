/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_QUEUE_QUEUE_H
#define BT_QUEUE_QUEUE_H
/**
 * The scheduling queue decides which pod is tried next, how long a pod backs off after a failed
 * attempt, and which cluster events requeue rejected pods. Spec: 04, 04 (hints) sections 2, 3 and
 * 5.
 *
 * The queue runs on one thread. Time is a parameter, in nanoseconds since 1970 (spec 04 section
 * 3.4: one wall clock), and should not go back. Where upstream's Pop blocks, bt_queue_pop returns
 * NULL and the owner calls bt_queue_pop again after the next change or tick. bt_queue_tick replaces
 * upstream's two flushers.
 *
 * Pods come as decoded objects; the queue shares them. Operations that move one pod cost O(log n).
 *
 * Unschedulable pods with the same rejectors, shape and namespace form a group (which is not a
 * PodGroup). A cluster event concerns groups that a listener of the event rejected and groups
 * without rejectors. For each group, the event calls a hint once, or once per pod if the hint
 * depends on the single pod (framework/plugin.h, hint_scope; spec 04 section 17). The event calls
 * no hint of a group if marks (framework/hint_marks.h) or resource needs show that all these hints
 * return Skip; this check costs some nanoseconds per group.
 *
 * A group of at least whole_group_min pods moves to the active queue as a whole if no pod of the
 * group has to back off or may be gated; else the pods move one by one. Pods that moved as a group
 * are popped after pods of the active heap with equal priority and timestamp.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/object.h"
#include "base/strbuf.h"
#include "base/symbol.h"
#include "config/config.h"
#include "framework/framework.h"

/*
 * Sets of rejectors of a pod in one profile: plugins by index, and two rejectors that are no plugin
 * instances. Spec: 04 sections 3.1 and 11.
 */

/** Stands for all extenders together (spec 04 section 11). */
#define BT_REJECTOR_EXTENDER BT_PLUGINS_MAX
/**
 * Stands for a rejection that names no plugin, e.g. of a waiting pod whose deletion began (spec 04
 * section 11).
 */
#define BT_REJECTOR_NAMELESS (BT_PLUGINS_MAX + 1)
#define BT_REJECTOR__COUNT (BT_PLUGINS_MAX + 2)

#define BT_REJECTOR_WORDS ((BT_REJECTOR__COUNT + 63) / 64)

struct bt_rejectors {
	uint64_t words[BT_REJECTOR_WORDS];
};

/** Converts a set of plugins to a set of rejectors. */
static inline struct bt_rejectors bt_rejectors_of_plugins(const struct bt_plugin_set *plugins)
{
	struct bt_rejectors set = {{0}};

	for (uint32_t i = 0; i < BT_PLUGINS_MAX / 64; i++) {
		set.words[i] = plugins->words[i];
	}
	return set;
}

/** rejector: below BT_REJECTOR__COUNT. */
static inline bool bt_rejectors_has(const struct bt_rejectors *set, uint32_t rejector)
{
	return (set->words[rejector >> 6] >> (rejector & 63) & 1) != 0;
}

/** rejector: below BT_REJECTOR__COUNT. */
static inline void bt_rejectors_add(struct bt_rejectors *set, uint32_t rejector)
{
	set->words[rejector >> 6] |= UINT64_C(1) << (rejector & 63);
}

/** An empty set means that the attempt failed by an error (spec 04 section 11). */
static inline bool bt_rejectors_is_empty(const struct bt_rejectors *set)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < BT_REJECTOR_WORDS; i++) {
		any |= set->words[i];
	}
	return any == 0;
}

static inline bool bt_rejectors_equal(const struct bt_rejectors *a, const struct bt_rejectors *b)
{
	uint64_t difference = 0;

	for (uint32_t i = 0; i < BT_REJECTOR_WORDS; i++) {
		difference |= a->words[i] ^ b->words[i];
	}
	return difference == 0;
}

/** Whether the sets have a member in common. */
static inline bool bt_rejectors_intersect(
	const struct bt_rejectors *a, const struct bt_rejectors *b)
{
	uint64_t common = 0;

	for (uint32_t i = 0; i < BT_REJECTOR_WORDS; i++) {
		common |= a->words[i] & b->words[i];
	}
	return common != 0;
}

static inline struct bt_rejectors bt_rejectors_union(
	const struct bt_rejectors *a, const struct bt_rejectors *b)
{
	struct bt_rejectors set;

	for (uint32_t i = 0; i < BT_REJECTOR_WORDS; i++) {
		set.words[i] = a->words[i] | b->words[i];
	}
	return set;
}

/** Returns the first member at or after `from`, or BT_REJECTOR__COUNT. */
static inline uint32_t bt_rejectors_next(const struct bt_rejectors *set, uint32_t from)
{
	for (uint32_t word = from >> 6; word < BT_REJECTOR_WORDS; word++) {
		uint64_t rest = set->words[word];

		if (word == from >> 6) {
			rest &= ~UINT64_C(0) << (from & 63);
		}
		if (rest != 0) {
			return word * 64 + BT_CTZ64(rest);
		}
	}
	return BT_REJECTOR__COUNT;
}

/** The queues of spec 04 section 3.2. */
enum bt_queue_place {
	BT_QUEUE_ACTIVE,
	BT_QUEUE_BACKOFF,       /* rejected by a plugin */
	BT_QUEUE_ERROR_BACKOFF, /* failed by an error */
	BT_QUEUE_UNSCHEDULABLE, /* rejected and waiting for an event, or gated */
	BT_QUEUE__PLACES,
	BT_QUEUE_OUT = BT_QUEUE__PLACES, /* popped, or not queued yet */
};

/** Options of a queue. Spec 04 section 2.2. */
struct bt_queue_options {
	int64_t initial_backoff_ns;
	int64_t max_backoff_ns;          /* 0: no backoff */
	int64_t max_in_unschedulable_ns; /* the leftover flush requeues pods that wait longer */
	const struct bt_gates *gates;    /* borrowed for the life of the queue */
	/** Receives the lines that upstream logs as errors; may be NULL. */
	void (*warn)(void *context, struct bt_str line);
	void *warn_context;
	struct bt_scheduler_metrics *metrics; /* receives durations of hints; may be NULL */
	/**
	 * Minimum size of a group of unschedulable pods that an event moves as a whole. Pods of
	 * smaller groups are pushed to the heap one by one, so that pods of equal priority and time
	 * are popped in upstream's order. At least 1.
	 */
	uint32_t whole_group_min;
};

/**
 * Takes backoffs and gates from the configuration, whose backoffs are in whole seconds; the wait of
 * rejected pods is limited to five minutes. gates are borrowed from config. Spec 04 section 2.2.
 */
struct bt_queue_options bt_queue_options_from_config(const struct bt_config *config);

#define BT_QUEUE_NONE UINT32_MAX
#define BT_QUEUE_TIME_UNSET INT64_MIN

/**
 * The queued pod record (spec 04 section 3.1). Only the queue writes the record; callers may read
 * it. The address of a popped record does not change; a record found in the queue is borrowed until
 * the next change.
 */
struct bt_queue_entry {
	struct bt_object *object;      /* owns the memory of pod; reference held */
	int64_t timestamp_ns;          /* time of creation or of the last failure */
	int64_t initial_attempt_ns;    /* first entry into activeQ, or BT_QUEUE_TIME_UNSET */
	int64_t backoff_expiration_ns; /* BT_QUEUE_TIME_UNSET until first needed */
	uint64_t name_hash;            /* hash of namespace and name */
	/**
	 * Order of arrival in unschedulablePods, minus bt_queue_group.shift while the entry has a
	 * group.
	 */
	uint64_t sequence;
	uint32_t unschedulable_count;
	uint32_t consecutive_errors;
	uint32_t attempts;
	uint32_t profile;       /* index in the profiles, or BT_QUEUE_NONE: unknown schedulerName */
	bt_sym signature;       /* BT_SYM_NONE: not batchable */
	uint32_t gating_plugin; /* index in the profile, or BT_QUEUE_NONE */
	uint32_t id;
	/* The group and its links are used only while the pod is unschedulable. */
	uint32_t group;
	uint32_t previous_in_group;
	uint32_t next_in_group;
	uint32_t label_set; /* copy of pod.label_set, which parked records lack */
	uint32_t uid_hash;  /* hash of pod.uid, which parked records lack */
	uint32_t shape_id;  /* of pod.shape; set while the record is parked */
	enum bt_queue_place place : 8;
	bool flushed;       /* the leftover flush selected the pod since its last failed attempt */
	bool counted_gated; /* the gated_count of the queue includes the pod */
	bool parked;        /* the members below are not allocated (queue_private.h) */
	struct bt_rejectors unschedulable_plugins;
	struct bt_rejectors pending_plugins;
	struct bt_pod_info pod;
};

_Static_assert(offsetof(struct bt_queue_entry, unschedulable_plugins) == 104,
	"a hundred thousand parked pods have this each");

/** Whether a PreEnqueue plugin rejected the pod. Spec 04 section 6. */
static inline bool bt_queue_entry_is_gated(const struct bt_queue_entry *entry)
{
	return entry->gating_plugin != BT_QUEUE_NONE;
}

/** Returns unschedulable and pending plugins together. Spec 04 section 3.1. */
static inline struct bt_rejectors bt_queue_entry_rejectors(const struct bt_queue_entry *entry)
{
	return bt_rejectors_union(&entry->unschedulable_plugins, &entry->pending_plugins);
}

struct bt_queue;

/**
 * Creates the queue that all profiles share; the QueueSort plugin of the first profile orders the
 * queue. options are copied; state, profiles and nominator are borrowed for the life of the queue.
 * BERTH_ERR_INVALID when plugins fail to register their events; err then has the messages of all
 * these plugins, one per line. Spec 04 section 2.2, 04 (hints) section 3.
 */
BT_MUST_USE int bt_queue_create(const struct bt_queue_options *options, struct bt_state *state,
	const struct bt_profiles *profiles, struct bt_nominator *nominator,
	struct bt_queue **out_queue, struct berth_error *err);
/** Destroys the queue and all popped entries; nominations stay. queue may be NULL. */
void bt_queue_destroy(struct bt_queue *queue);

/* Pods without a node, as the pod informer reports them. Objects are of kind Pod and are shared. */

/**
 * Adds a new pod to the active queue or, if the pod is gated, to the unschedulable pods. Replaces a
 * queued record of the same name; a gated pod replaces only an unschedulable record. Spec 04
 * section 8.1.
 */
void bt_queue_add(struct bt_queue *queue, struct bt_object *pod, int64_t now_ns);
/**
 * Updates a pod that is not assumed and whose resourceVersion changed. If the pod is in flight, the
 * update is logged as an event for all pods in flight; an unknown pod is added to the queue. Spec
 * 04 section 8.11.
 */
void bt_queue_update(struct bt_queue *queue, struct bt_object *old_pod, struct bt_object *new_pod,
	int64_t now_ns);
/**
 * Removes a pod that was deleted or has a node now, and the pod's nomination. An attempt in flight
 * is not touched. Spec 04 section 8.12.
 */
void bt_queue_delete(struct bt_queue *queue, const struct bt_object *pod);

/* Attempts. */

/**
 * Pops the next pod to try. The pod is then in flight. Returns NULL when upstream's Pop would
 * block. The caller owns the entry until bt_queue_add_unschedulable_if_not_present succeeds or
 * bt_queue_release is called. Spec 04 section 8.2.
 */
struct bt_queue_entry *bt_queue_pop(struct bt_queue *queue);
/** Returns the pod that bt_queue_pop would return, or NULL. Borrowed until the next change. */
const struct bt_queue_entry *bt_queue_peek(struct bt_queue *queue);
/**
 * Pops a pod by name from whatever queue it is in (for members of a pod group). Returns NULL if the
 * pod is unknown, gated or in flight. Spec 04 section 8.3.
 */
struct bt_queue_entry *bt_queue_pop_pod(
	struct bt_queue *queue, struct bt_str namespace_, struct bt_str name, int64_t now_ns);
/**
 * Stops the collection of events for the pod with this uid. No effect if the pod is not in flight.
 * Spec 04 section 8.4.
 */
void bt_queue_done(struct bt_queue *queue, struct bt_str uid);
/**
 * Calls bt_queue_done for the pod of a popped entry and destroys the entry. Spec 04 section 8.4.
 */
void bt_queue_release(struct bt_queue *queue, struct bt_queue_entry *entry);
/** Replaces the pod of a popped entry. The signature stays (spec 04 section 13). */
void bt_queue_refresh(struct bt_queue *queue, struct bt_queue_entry *entry, struct bt_object *pod);

/** Rejectors of a failed attempt; both sets are empty if the attempt failed by an error. */
struct bt_queue_rejection {
	struct bt_rejectors unschedulable_plugins;
	struct bt_rejectors pending_plugins;
};

/**
 * AddUnschedulableIfNotPresent: requeues the pod of a failed attempt and calls bt_queue_done for
 * the pod. rejection NULL: the attempt failed by an error. BERTH_ERR_EXISTS when a pod of the same
 * name is queued already; bt_queue_done is called in this case too, but the caller still owns the
 * entry. Spec 04 section 8.5.
 */
BT_MUST_USE int bt_queue_add_unschedulable_if_not_present(struct bt_queue *queue,
	struct bt_queue_entry *entry, const struct bt_queue_rejection *rejection, int64_t now_ns,
	struct berth_error *err);
/**
 * Nominator.Add for a popped or queued pod. can_nominate: the pod informer has the pod, without
 * spec.nodeName; if false, the call only removes a nomination. info NULL: take the nominated node
 * from the pod's status. Spec 04 section 10.
 */
void bt_queue_nominate(struct bt_queue *queue, const struct bt_queue_entry *entry,
	const struct bt_post_filter_result *info, bool can_nominate);

/* Cluster events. */

/** Limits an event to some of the unschedulable pods (upstream's preCheck). Spec 04 section 8.7. */
struct bt_queue_check {
	bool has_priority_max; /* only pods of at most priority_max */
	int32_t priority_max;
	struct bt_str excluded_uid; /* "": none */
};

/**
 * MoveAllToActiveOrBackoffQueue. old_object is NULL for additions, new_object is NULL for
 * deletions. The objects are of the kind that the event's resource names, and are shared. event
 * must not be the wildcard event. check NULL: the event may move every pod. Spec 04 section 8.7.
 */
void bt_queue_move_all_to_active_or_backoff_queue(struct bt_queue *queue,
	const struct bt_cluster_event *event, struct bt_object *old_object,
	struct bt_object *new_object, const struct bt_queue_check *check, int64_t now_ns);
/**
 * Activates one pod: moves the pod to the active queue, whatever the pod's backoff. Returns true if
 * the pod was moved. If the pod is in flight, the activation is logged as an event for this pod.
 * Spec 04 section 8.10.
 */
bool bt_queue_activate(struct bt_queue *queue, struct bt_object *pod, int64_t now_ns);

/**
 * Called when a pod group failed and its members went to backoff (spec 09 section 5). Until a
 * cluster event or a change of a pod could help, bt_queue_pop takes no pod out of backoff early:
 * the group would otherwise be retried at once, in an endless loop.
 */
void bt_queue_hold_back(struct bt_queue *queue);
/**
 * Returns true if no change since bt_queue_hold_back could help any pod, and all pods in backoff
 * are members of pod groups.
 */
bool bt_queue_only_repeats_groups(struct bt_queue *queue);

/* Time. */

/** Starts the clock of the flushes, as upstream's Run. Spec 04 sections 5.5 and 8.14. */
void bt_queue_start(struct bt_queue *queue, int64_t now_ns);
/**
 * Runs the flushes that are due: the backoff flush every second, the leftover flush every 30
 * seconds. Spec 04 sections 5.5 and 8.9.
 */
void bt_queue_tick(struct bt_queue *queue, int64_t now_ns);
/**
 * Time (not duration) of the next tick that has work; flushes of an empty backoffQ do not count.
 */
int64_t bt_queue_next_tick_ns(const struct bt_queue *queue);
/** The two flushes of bt_queue_tick, for owners with another schedule. */
void bt_queue_flush_backoff_completed(struct bt_queue *queue, int64_t now_ns);
void bt_queue_flush_unschedulable_leftover(struct bt_queue *queue, int64_t now_ns);
/**
 * Calls bt_queue_done for all pods in flight. Queued pods can still be popped. Spec 04 section
 * 8.14.
 */
void bt_queue_close(struct bt_queue *queue);

/* Queries. */

/**
 * Number of pods popped successfully so far, by bt_queue_pop and bt_queue_pop_pod. Spec 04 section
 * 8.15.
 */
uint64_t bt_queue_scheduling_cycle(const struct bt_queue *queue);
/** Number of pods in a place; place is not BT_QUEUE_OUT. */
uint32_t bt_queue_count(const struct bt_queue *queue, enum bt_queue_place place);
/** Whether bt_queue_pop would return a pod. */
bool bt_queue_can_pop(const struct bt_queue *queue);
/** Returns the queued pod of that name, or NULL. */
const struct bt_queue_entry *bt_queue_find(
	struct bt_queue *queue, struct bt_str namespace_, struct bt_str name);
/**
 * Visits the entries of one place: unschedulable pods in order of arrival, other pods in the order
 * of the heap's array, which is not sorted. Stops when visit returns false; visit must not change
 * the queue.
 */
void bt_queue_for_each(struct bt_queue *queue, enum bt_queue_place place,
	bool (*visit)(void *context, const struct bt_queue_entry *entry), void *context);
/**
 * Returns in *out_ns the time at which the entry's backoff ends; returns false if the pod has no
 * backoff. Spec 04 section 5.3.
 */
bool bt_queue_backoff_until(
	const struct bt_queue *queue, const struct bt_queue_entry *entry, int64_t *out_ns);
/** Returns the name of a rejector; "" for BT_REJECTOR_NAMELESS. */
struct bt_str bt_queue_rejector_name(
	const struct bt_queue *queue, uint32_t profile, uint32_t rejector);
/**
 * Finds a rejector by name; BT_REJECTOR__COUNT when the profile has no such plugin. "" finds
 * BT_REJECTOR_NAMELESS.
 */
uint32_t bt_queue_find_rejector(const struct bt_queue *queue, uint32_t profile, struct bt_str name);
/** Appends "activeQ:1; backoffQ:0; unschedulablePods:2". Spec 04 section 8.15. */
void bt_queue_summary(const struct bt_queue *queue, struct bt_strbuf *out);

/* Metrics: spec 04 section 14. The caller maintains metrics that need a clock. */

enum bt_queue_gauge {
	BT_QUEUE_GAUGE_ACTIVE,
	BT_QUEUE_GAUGE_BACKOFF,
	BT_QUEUE_GAUGE_UNSCHEDULABLE,
	BT_QUEUE_GAUGE_GATED,
	BT_QUEUE_GAUGE__COUNT,
};

/** Value of the gauge pending_pods. */
uint32_t bt_queue_pending(const struct bt_queue *queue, enum bt_queue_gauge gauge);
/**
 * Value of the gauge unschedulable_pods{plugin, profile}; may stay too high after deletions (spec
 * 04 section 8.12).
 */
int64_t bt_queue_unschedulable_pods(
	const struct bt_queue *queue, uint32_t profile, uint32_t rejector);
/** Value of the gauge inflight_events{PodPopped}. */
uint32_t bt_queue_in_flight_count(const struct bt_queue *queue);

/** Counters per event label. */
struct bt_queue_event_counters {
	struct bt_str label;
	uint64_t incoming_active; /* queue_incoming_pods_total */
	uint64_t incoming_backoff;
	uint64_t incoming_unschedulable;
	uint32_t in_flight; /* inflight_events */
};

/** Visits labels in the order of their first use. */
void bt_queue_for_each_label(const struct bt_queue *queue,
	void (*visit)(void *context, const struct bt_queue_event_counters *counters),
	void *context);
#endif
