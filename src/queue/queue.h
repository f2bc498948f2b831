/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_QUEUE_QUEUE_H
#define BT_QUEUE_QUEUE_H
/**
 * The scheduling queue: which pod is tried next, how long a failed one waits, which cluster change
 * makes it worth another try. Spec: 04, 04 (hints) sections 2, 3 and 5.
 *
 * One thread; time is a parameter, in nanoseconds since 1970 (spec 04 section 3.4: one wall clock),
 * and never goes back by much. Where upstream's Pop blocks, pop returns NULL and the owner asks
 * again after the next change or tick. Upstream's two flushers are bt_queue_tick.
 *
 * Pods come as decoded objects; the queue shares them. An event costs what it concerns: rejected
 * pods are kept by the plugins that rejected them and by shape, and a hint that depends on the
 * shape is asked once per shape (framework/plugin.h, hint_scope; spec 04 section 17).
 *
 * Cost: O(log n) for what moves one pod; a cluster event asks one hint per shape and namespace of
 * the pods that its listeners rejected, and moves the pods as a group when none of them backs off
 * or may be gated, else one by one. Pods of a group that agree in priority and timestamp with
 * others are popped after those of the active heap.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/object.h"
#include "base/strbuf.h"
#include "base/symbol.h"
#include "config/config.h"
#include "framework/framework.h"

/*
 * Sets of what can reject a pod of one profile: its plugins by index, and two that have no
 * instance. Spec: 04 sections 3.1 and 11.
 */

/** All extenders together (spec 04 section 11). */
#define BT_REJECTOR_EXTENDER BT_PLUGINS_MAX
/** The empty plugin name: a waiting pod whose deletion began (spec 04 section 11). */
#define BT_REJECTOR_NAMELESS (BT_PLUGINS_MAX + 1)
#define BT_REJECTOR__COUNT (BT_PLUGINS_MAX + 2)

#define BT_REJECTOR_WORDS ((BT_REJECTOR__COUNT + 63) / 64)

struct bt_rejectors {
	uint64_t words[BT_REJECTOR_WORDS];
};

/** The same plugins. */
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

/** Adding a member again changes nothing. */
static inline void bt_rejectors_add(struct bt_rejectors *set, uint32_t rejector)
{
	set->words[rejector >> 6] |= UINT64_C(1) << (rejector & 63);
}

/** An empty set of rejectors: the attempt failed by an error (spec 04 section 11). */
static inline bool bt_rejectors_is_empty(const struct bt_rejectors *set)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < BT_REJECTOR_WORDS; i++) {
		any |= set->words[i];
	}
	return any == 0;
}

/** The same members. */
static inline bool bt_rejectors_equal(const struct bt_rejectors *a, const struct bt_rejectors *b)
{
	uint64_t difference = 0;

	for (uint32_t i = 0; i < BT_REJECTOR_WORDS; i++) {
		difference |= a->words[i] ^ b->words[i];
	}
	return difference == 0;
}

/** They have a member in common. */
static inline bool bt_rejectors_meet(const struct bt_rejectors *a, const struct bt_rejectors *b)
{
	uint64_t common = 0;

	for (uint32_t i = 0; i < BT_REJECTOR_WORDS; i++) {
		common |= a->words[i] & b->words[i];
	}
	return common != 0;
}

/** Members of either. */
static inline struct bt_rejectors bt_rejectors_union(
	const struct bt_rejectors *a, const struct bt_rejectors *b)
{
	struct bt_rejectors set;

	for (uint32_t i = 0; i < BT_REJECTOR_WORDS; i++) {
		set.words[i] = a->words[i] | b->words[i];
	}
	return set;
}

/** The first member at or after `from`, or BT_REJECTOR__COUNT. */
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

/** Spec 04 section 3.2. */
enum bt_queue_place {
	BT_QUEUE_ACTIVE,
	BT_QUEUE_BACKOFF,       /* rejected by a plugin */
	BT_QUEUE_ERROR_BACKOFF, /* failed by an error */
	BT_QUEUE_UNSCHEDULABLE, /* rejected and waiting for an event, or gated */
	BT_QUEUE__PLACES,
	BT_QUEUE_OUT = BT_QUEUE__PLACES, /* popped, or nowhere yet */
};

/** Spec 04 section 2.2. */
struct bt_queue_options {
	int64_t initial_backoff_ns;
	int64_t max_backoff_ns;          /* 0: no backoff */
	int64_t max_in_unschedulable_ns; /* longer waits end by themselves */
	const struct bt_gates *gates;    /* borrowed for the life of the queue */
	/** Receives the lines that upstream logs as errors; may be NULL. */
	void (*warn)(void *context, struct bt_str line);
	void *warn_context;
	struct bt_scheduler_metrics *metrics; /* durations of hints; may be NULL */
	/**
	 * An event moves so many pods of a kind, or more, as a whole. Fewer go one by one into the
	 * heap, so that pods of equal priority and time come out as upstream's heap has them. At
	 * least 1.
	 */
	uint32_t whole_group_min;
};

/**
 * Backoffs (whole seconds there, nanoseconds here) and gates of the configuration; rejected pods
 * wait five minutes at most. gates are borrowed from config. Spec 04 section 2.2.
 */
struct bt_queue_options bt_queue_options_from_config(const struct bt_config *config);

#define BT_QUEUE_NONE UINT32_MAX
#define BT_QUEUE_TIME_UNSET INT64_MIN

/**
 * The queued pod record (spec 04 section 3.1). Written by the queue only; callers may read it.
 * Its address does not change while it is out of the queue; one that was found in the queue is
 * borrowed until the next change.
 */
struct bt_queue_entry {
	struct bt_object *object;      /* behind pod; reference held */
	int64_t timestamp_ns;          /* creation, or the last failed attempt */
	int64_t initial_attempt_ns;    /* first entry into the active queue, or unset */
	int64_t backoff_expiration_ns; /* unset until first needed */
	uint64_t name_hash;            /* of namespace and name */
	uint64_t sequence;             /* among unschedulable pods: order of arrival there */
	uint32_t unschedulable_count;
	uint32_t consecutive_errors;
	uint32_t attempts;
	uint32_t profile;       /* index in the profiles, or BT_QUEUE_NONE: unknown schedulerName */
	bt_sym signature;       /* BT_SYM_NONE: not batchable */
	uint32_t gating_plugin; /* index in the profile, or BT_QUEUE_NONE */
	uint32_t id;
	/* Among unschedulable pods. */
	uint32_t group;
	uint32_t previous_in_group;
	uint32_t next_in_group;
	uint32_t label_set; /* of the pod */
	uint32_t uid_hash;  /* likewise */
	enum bt_queue_place place;
	bool flushed;       /* left unschedulable pods by timeout, last time */
	bool counted_gated; /* as what the pending_pods gauge holds it */
	bool parked;        /* queue_private.h: there is nothing behind this */
	struct bt_rejectors unschedulable_plugins;
	struct bt_rejectors pending_plugins;
	struct bt_pod_info pod;
};

_Static_assert(offsetof(struct bt_queue_entry, unschedulable_plugins) == 104,
	"a hundred thousand parked pods have this each");

/** A PreEnqueue plugin holds it back. Spec 04 section 6. */
static inline bool bt_queue_entry_is_gated(const struct bt_queue_entry *entry)
{
	return entry->gating_plugin != BT_QUEUE_NONE;
}

/** Unschedulable and pending plugins together. Spec 04 section 3.1. */
static inline struct bt_rejectors bt_queue_entry_rejectors(const struct bt_queue_entry *entry)
{
	return bt_rejectors_union(&entry->unschedulable_plugins, &entry->pending_plugins);
}

struct bt_queue;

/**
 * All profiles share the queue; the first one's QueueSort orders it. options are copied; state,
 * profiles and nominator are borrowed for its life. BERTH_ERR_INVALID when a plugin cannot say
 * which events it wants: the messages of all of them, one a line. Spec 04 section 2.2, 04 (hints)
 * section 3.
 */
BT_MUST_USE int bt_queue_create(const struct bt_queue_options *options, struct bt_state *state,
	const struct bt_profiles *profiles, struct bt_nominator *nominator,
	struct bt_queue **out_queue, struct berth_error *err);
/** Popped entries end with it, nominations stay. NULL accepted. */
void bt_queue_destroy(struct bt_queue *queue);

/* Pods without a node, seen by the pod informer. Objects are of kind Pod and are shared. */

/**
 * A new pod: into the active queue, or gated. A queued record of that name is replaced. Spec 04
 * section 8.1.
 */
void bt_queue_add(struct bt_queue *queue, struct bt_object *pod, int64_t now_ns);
/**
 * Of a pod that is not assumed, when its resourceVersion changed. In flight it is an event for all
 * that are; unknown it is a new pod. Spec 04 section 8.11.
 */
void bt_queue_update(struct bt_queue *queue, struct bt_object *old_pod, struct bt_object *new_pod,
	int64_t now_ns);
/** The pod is gone or has a node now. An attempt that is under way is not touched. Spec 04 section
 * 8.12. */
void bt_queue_delete(struct bt_queue *queue, const struct bt_object *pod);

/* Attempts. */

/**
 * The next pod to try, now in flight; NULL when Pop would block. The entry is the caller's to hold
 * until bt_queue_add_unschedulable_if_not_present succeeds or bt_queue_release. Spec 04
 * section 8.2.
 */
struct bt_queue_entry *bt_queue_pop(struct bt_queue *queue);
/** The pod that pop would return; NULL: none. Borrowed until the next change. */
const struct bt_queue_entry *bt_queue_peek(struct bt_queue *queue);
/** This pod, wherever it waits (members of a pod group); NULL: unknown, gated or in flight. Spec 04
 * section 8.3. */
struct bt_queue_entry *bt_queue_pop_pod(
	struct bt_queue *queue, struct bt_str namespace_, struct bt_str name, int64_t now_ns);
/** Events are no longer collected for the pod of this uid. Idempotent. Spec 04 section 8.4. */
void bt_queue_done(struct bt_queue *queue, struct bt_str uid);
/** The popped entry is not needed any more and ends; done is included. Spec 04 section 8.4. */
void bt_queue_release(struct bt_queue *queue, struct bt_queue_entry *entry);
/** The pod changed while the entry was out. The signature stays (spec 04 section 13). */
void bt_queue_refresh(struct bt_queue *queue, struct bt_queue_entry *entry, struct bt_object *pod);

/** Plugins that the failure handler found; both empty: the attempt failed by an error. */
struct bt_queue_rejection {
	struct bt_rejectors unschedulable_plugins;
	struct bt_rejectors pending_plugins;
};

/**
 * AddUnschedulableIfNotPresent: the attempt failed; done is included. rejection NULL: by an error.
 * BERTH_ERR_EXISTS when a pod of that name is queued already; the entry then stays the caller's.
 * Spec 04 section 8.5.
 */
BT_MUST_USE int bt_queue_add_unschedulable_if_not_present(struct bt_queue *queue,
	struct bt_queue_entry *entry, const struct bt_queue_rejection *rejection, int64_t now_ns,
	struct berth_error *err);
/**
 * Nominator.Add for a pod that comes from the queue or still is in it. can_nominate: the pod
 * informer has the pod, without spec.nodeName; false only ends a nomination. info may be NULL: what
 * the pod's status says. Spec 04 section 10.
 */
void bt_queue_nominate(struct bt_queue *queue, const struct bt_queue_entry *entry,
	const struct bt_post_filter_result *info, bool can_nominate);

/* Cluster events. */

/** Pods that the event does not concern although they wait (upstream's preCheck). Spec 04 section
 * 8.7. */
struct bt_queue_check {
	bool has_priority_max; /* only pods of at most this priority */
	int32_t priority_max;
	struct bt_str excluded_uid; /* "": none */
};

/**
 * MoveAllToActiveOrBackoffQueue. old_object is NULL for additions, new_object for deletions; both
 * are of the kind that the event's resource names, and are shared. Not for the wildcard event.
 * check NULL: every pod. Spec 04 section 8.7.
 */
void bt_queue_move_all_to_active_or_backoff_queue(struct bt_queue *queue,
	const struct bt_cluster_event *event, struct bt_object *old_object,
	struct bt_object *new_object, const struct bt_queue_check *check, int64_t now_ns);
/** Activate one pod: to the active queue whatever its backoff. true when it got there. Spec 04
 * section 8.10. */
bool bt_queue_activate(struct bt_queue *queue, struct bt_object *pod, int64_t now_ns);

/**
 * A pod group failed, and its members went to backoff (spec 09 section 5). Until something happens
 * that could help a pod, pop takes none out of backoff before its time: the group would be tried
 * again at once, without end.
 */
void bt_queue_hold_back(struct bt_queue *queue);
/** Nothing has happened since bt_queue_hold_back, and only members of groups back off. */
bool bt_queue_only_repeats_groups(struct bt_queue *queue);

/* Time. */

/** The clock starts: upstream's Run. Spec 04 sections 5.5 and 8.14. */
void bt_queue_start(struct bt_queue *queue, int64_t now_ns);
/** Do what is due: backoff flush every second, leftover flush every 30 seconds. Spec 04
 * sections 5.5 and 8.9. */
void bt_queue_tick(struct bt_queue *queue, int64_t now_ns);
/** When (time, not duration) tick has something to do; while no pod backs off, seconds without work
 * are left out. */
int64_t bt_queue_next_tick_ns(const struct bt_queue *queue);
/** The two flushes by themselves, for owners with a rhythm of their own. */
void bt_queue_flush_backoff_completed(struct bt_queue *queue, int64_t now_ns);
void bt_queue_flush_unschedulable_leftover(struct bt_queue *queue, int64_t now_ns);
/** Done for everything in flight. What is queued can still be popped. Spec 04 section 8.14. */
void bt_queue_close(struct bt_queue *queue);

/* Queries. */

/** Popped successfully so far, by pop and by pop_pod. Spec 04 section 8.15. */
uint64_t bt_queue_scheduling_cycle(const struct bt_queue *queue);
/** Pods in a place; not BT_QUEUE_OUT. */
uint32_t bt_queue_count(const struct bt_queue *queue, enum bt_queue_place place);
/** Pop would return a pod. */
bool bt_queue_can_pop(const struct bt_queue *queue);
/** The queued pod of that name, or NULL. */
const struct bt_queue_entry *bt_queue_find(
	struct bt_queue *queue, struct bt_str namespace_, struct bt_str name);
/**
 * Entries of one place: heap order, unschedulable ones in order of arrival. Calls visit until it
 * returns false; visit must not change the queue.
 */
void bt_queue_for_each(struct bt_queue *queue, enum bt_queue_place place,
	bool (*visit)(void *context, const struct bt_queue_entry *entry), void *context);
/** End of the entry's backoff as a time; false when it never backs off. Spec 04 section 5.3. */
bool bt_queue_backoff_until(
	const struct bt_queue *queue, const struct bt_queue_entry *entry, int64_t *out_ns);
/** Name of a member of an entry's sets; "" for the nameless one. */
struct bt_str bt_queue_rejector_name(
	const struct bt_queue *queue, uint32_t profile, uint32_t rejector);
/** By name; BT_REJECTOR__COUNT when the profile has no such plugin. "" is the nameless one. */
uint32_t bt_queue_find_rejector(const struct bt_queue *queue, uint32_t profile, struct bt_str name);
/** Appends "activeQ:1; backoffQ:0; unschedulablePods:2". Spec 04 section 8.15. */
void bt_queue_summary(const struct bt_queue *queue, struct bt_strbuf *out);

/* Metrics: spec 04 section 14. What needs a clock is the caller's. */

enum bt_queue_gauge {
	BT_QUEUE_GAUGE_ACTIVE,
	BT_QUEUE_GAUGE_BACKOFF,
	BT_QUEUE_GAUGE_UNSCHEDULABLE,
	BT_QUEUE_GAUGE_GATED,
	BT_QUEUE_GAUGE__COUNT,
};

/** pending_pods: pods. */
uint32_t bt_queue_pending(const struct bt_queue *queue, enum bt_queue_gauge gauge);
/** unschedulable_pods{plugin, profile}: pods; may stay too high after deletions (spec 04 section
 * 8.12). */
int64_t bt_queue_unschedulable_pods(
	const struct bt_queue *queue, uint32_t profile, uint32_t rejector);
/** inflight_events{PodPopped}. */
uint32_t bt_queue_in_flight_count(const struct bt_queue *queue);

/** Everything counted per event label. */
struct bt_queue_event_counters {
	struct bt_str label;
	uint64_t incoming_active; /* queue_incoming_pods_total */
	uint64_t incoming_backoff;
	uint64_t incoming_unschedulable;
	uint32_t in_flight; /* inflight_events */
};

/** queueing_hint_execution_duration_seconds, the counts of it. A shared answer counts once. */
struct bt_queue_hint_counters {
	struct bt_str plugin;
	struct bt_str event_label;
	uint64_t queue;
	uint64_t skip;
	uint64_t error;
};

/** Labels in the order of their first use. */
void bt_queue_for_each_label(const struct bt_queue *queue,
	void (*visit)(void *context, const struct bt_queue_event_counters *counters),
	void *context);
/** Per profile: the same plugin and label may come more than once. */
void bt_queue_for_each_hint(const struct bt_queue *queue,
	void (*visit)(void *context, const struct bt_queue_hint_counters *counters), void *context);
#endif
