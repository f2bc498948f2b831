/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_QUEUE_FIXTURE_H
#define BT_TESTS_UNIT_QUEUE_FIXTURE_H
/**
 * A scheduling queue with real or scripted plugins, and a clock that a test sets. Objects are JSON
 * in which ' stands for ". A pod without a namespace, uid or schedulerName gets the namespace
 * "default", the uid "<name>-uid" and the first profile's schedulerName. Assertions compare texts,
 * such as queue_expect(&queue, "active a, unschedulable b, gated c").
 */
#include <check.h>

#include "fake_plugin.h"
#include "queue/queue.h"

#define QUEUE_SECOND INT64_C(1000000000)
#define QUEUE_MS INT64_C(1000000)

struct queue_fixture {
	struct bt_arena arena;
	struct bt_gates gates;
	struct bt_config *config;
	struct bt_registry registry;
	struct bt_state *state;
	struct bt_nominator nominator;
	struct bt_profiles profiles;
	struct bt_queue_options options;
	struct bt_queue *queue;
	int64_t now_ns; /* starts at 100 s */
	struct bt_strbuf warnings;
	struct bt_strbuf text;
	BT_VEC(struct bt_object *) objects; /* holds a reference to each */
};

struct queue_setup {
	const char *gates;  /* value of --feature-gates; NULL: defaults */
	int emulated_minor; /* minor version that sets the gates' defaults; 0: berth's */
	const char *config; /* members of the configuration; NULL: none, i.e. the default profile */
	struct fake *fakes; /* registered beside the in-tree plugins */
	uint32_t fake_count;
	bool max_backoff_is_zero;
};

/** Start the fixture: queue_init with the default profile, queue_init_with with the setup. */
void queue_init(struct queue_fixture *fixture);
void queue_init_with(struct queue_fixture *fixture, const struct queue_setup *setup);
void queue_finish(struct queue_fixture *fixture);
/**
 * Returns the JSON of one profile for each "name=A,B" in plugins (separated by semicolons). Each
 * profile has PrioritySort, the plugins A and B, and DefaultBinder. The text is in a static buffer.
 */
const char *queue_profiles(const char *plugins);

/** Returns a plugin with Filter and the given registrations; gates: with PreEnqueue, too. */
struct fake queue_rejector(
	const char *name, const struct bt_event_registration *events, uint32_t count, bool gates);

/* Hint functions for registrations, each with a fixed answer. */
bool queue_hint_queue(const struct bt_hint_call *call);
bool queue_hint_skip(const struct bt_hint_call *call);
/** Returns Skip and sets an error. */
bool queue_hint_error(const struct bt_hint_call *call);

/** Return an object made from JSON; the fixture owns the object. */
struct bt_object *queue_pod(struct queue_fixture *fixture, const char *json);
struct bt_object *queue_object(struct queue_fixture *fixture, enum bt_kind kind, const char *json);

/** Creates a pod from JSON and adds it to the queue. */
struct bt_object *queue_add(struct queue_fixture *fixture, const char *json);
/** Returns the queued entry of default/name; the test fails if there is none. */
const struct bt_queue_entry *queue_entry(struct queue_fixture *fixture, const char *name);
/** Pops the next entry; NULL: no entry can be popped. */
struct bt_queue_entry *queue_pop(struct queue_fixture *fixture);
/** Pops the next entry and compares its name; "" expects that no entry can be popped. */
struct bt_queue_entry *queue_pop_expect(struct queue_fixture *fixture, const char *name);
/**
 * Reports a failed attempt. plugins: the unschedulable plugins, "A,B"; pending: the pending
 * plugins. "" is the nameless plugin, NULL is no plugin. If both lists are NULL, the attempt ended
 * with an error.
 */
void queue_fail(struct queue_fixture *fixture, struct bt_queue_entry *entry, const char *plugins,
	const char *pending);
void queue_release(struct queue_fixture *fixture, struct bt_queue_entry *entry);
/** Adds a pod, pops it (it must be the next entry) and calls queue_fail. */
struct bt_object *queue_add_failed(
	struct queue_fixture *fixture, const char *json, const char *plugins, const char *pending);
void queue_update(
	struct queue_fixture *fixture, struct bt_object *old_pod, struct bt_object *new_pod);
void queue_move(struct queue_fixture *fixture, const struct bt_cluster_event *event,
	struct bt_object *old_object, struct bt_object *new_object);
void queue_advance(struct queue_fixture *fixture, int64_t by_ns);

/**
 * Returns the place of each pod: "active a b, backoff c, error d, unschedulable e, gated f". Empty
 * places are left out, names are sorted, "" is an empty queue.
 */
const char *queue_places(struct queue_fixture *fixture);
void queue_expect(struct queue_fixture *fixture, const char *places);
/** Returns the value of queue_incoming_pods_total for this queue and event label. */
uint64_t queue_incoming(
	struct queue_fixture *fixture, enum bt_queue_place place, const char *label);
/**
 * Returns inflight_events as "NodeAdd 2, PodPopped 1", in order of first use, PodPopped at the end.
 */
const char *queue_log(struct queue_fixture *fixture);
/** Returns the value of unschedulable_pods{plugin} for the first profile. */
int64_t queue_gauge(struct queue_fixture *fixture, const char *plugin);
/** Returns the counts of a plugin's hint results for an event label, as "queue skip error". */
const char *queue_hints(struct queue_fixture *fixture, const char *plugin, const char *label);
/** Returns the pods nominated to a node, in order: "a b". */
const char *queue_nominated(struct queue_fixture *fixture, const char *node);
#endif
