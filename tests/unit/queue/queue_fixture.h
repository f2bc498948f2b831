/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_QUEUE_FIXTURE_H
#define BT_TESTS_UNIT_QUEUE_FIXTURE_H
/**
 * A scheduling queue with real or scripted plugins, and a clock that a test sets. Objects are JSON
 * in which ' stands for "; a pod gets the namespace "default", the uid "<name>-uid" and the first
 * profile's schedulerName when it has none. Assertions compare texts, such as
 *
 *         queue_expect(&queue, "active a, unschedulable b, gated c");
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
	BT_VEC(struct bt_object *) objects; /* a reference each */
};

struct queue_setup {
	const char *gates;  /* as --feature-gates; NULL: defaults */
	int emulated_minor; /* of the release that the gates are of; 0: this one */
	const char *config; /* the configuration's members; NULL: none, i.e. the default profile */
	struct fake *fakes; /* registered beside the in-tree plugins */
	uint32_t fake_count;
	bool max_backoff_is_zero;
};

/** The default profile. */
void queue_init(struct queue_fixture *fixture);
void queue_init_with(struct queue_fixture *fixture, const struct queue_setup *setup);
void queue_finish(struct queue_fixture *fixture);
/**
 * The JSON of profiles with PrioritySort, these plugins "A,B" and DefaultBinder, one for each
 * "name=A,B" between semicolons. Memory of a static buffer.
 */
const char *queue_profiles(const char *plugins);

/** A plugin with Filter and these registrations, and PreEnqueue when it gates. */
struct fake queue_rejector(
	const char *name, const struct bt_event_registration *events, uint32_t count, bool gates);

/* Hints for registrations. */
enum bt_queueing_hint queue_hint_queue(struct bt_plugin *plugin, const struct bt_pod_info *pod,
	const void *old_object, const void *new_object, struct berth_error *err);
enum bt_queueing_hint queue_hint_skip(struct bt_plugin *plugin, const struct bt_pod_info *pod,
	const void *old_object, const void *new_object, struct berth_error *err);
/** Skip, with an error. */
enum bt_queueing_hint queue_hint_error(struct bt_plugin *plugin, const struct bt_pod_info *pod,
	const void *old_object, const void *new_object, struct berth_error *err);

/** Objects belong to the fixture. */
struct bt_object *queue_pod(struct queue_fixture *fixture, const char *json);
struct bt_object *queue_object(struct queue_fixture *fixture, enum bt_kind kind, const char *json);

/** Add, then check where it went: NULL is not checked. */
struct bt_object *queue_add(struct queue_fixture *fixture, const char *json);
/** The queued entry of default/name; fails without one. */
const struct bt_queue_entry *queue_entry(struct queue_fixture *fixture, const char *name);
/** The next entry, or NULL. */
struct bt_queue_entry *queue_pop(struct queue_fixture *fixture);
/** Pop and compare the name; "" when nothing is expected. */
struct bt_queue_entry *queue_pop_expect(struct queue_fixture *fixture, const char *name);
/** Rejected by the plugins "A,B"; those of pending also answered Pending. NULL, NULL: an error. */
void queue_fail(struct queue_fixture *fixture, struct bt_queue_entry *entry, const char *plugins,
	const char *pending);
void queue_release(struct queue_fixture *fixture, struct bt_queue_entry *entry);
/** Add, pop (it must be the next one) and fail. */
struct bt_object *queue_add_failed(
	struct queue_fixture *fixture, const char *json, const char *plugins, const char *pending);
void queue_update(
	struct queue_fixture *fixture, struct bt_object *old_pod, struct bt_object *new_pod);
void queue_move(struct queue_fixture *fixture, const struct bt_cluster_event *event,
	struct bt_object *old_object, struct bt_object *new_object);
void queue_advance(struct queue_fixture *fixture, int64_t by_ns);

/**
 * Where everything is: "active a b, backoff c, error d, unschedulable e, gated f"; empty places are
 * left out, names are sorted, "" is an empty queue.
 */
const char *queue_places(struct queue_fixture *fixture);
void queue_expect(struct queue_fixture *fixture, const char *places);
/** queue_incoming_pods_total. */
uint64_t queue_incoming(
	struct queue_fixture *fixture, enum bt_queue_place place, const char *label);
/** "NodeAdd 2, PodPopped 1": inflight_events in order of first use; PodPopped at the end. */
const char *queue_log(struct queue_fixture *fixture);
/** unschedulable_pods{plugin} of the first profile. */
int64_t queue_gauge(struct queue_fixture *fixture, const char *plugin);
/** "queue skip error" counts of a plugin for a label. */
const char *queue_hints(struct queue_fixture *fixture, const char *plugin, const char *label);
/** Nominated pods of a node in order: "a b". */
const char *queue_nominated(struct queue_fixture *fixture, const char *node);
#endif
