/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_QUEUE_MODEL_H
#define BT_TESTS_UNIT_QUEUE_MODEL_H
/**
 * The scheduling queue written straight from the specification: lists that are searched from end to
 * end, one log of markers and events, and a call of every hint for every pod. The model uses
 * nothing of src/queue but the names of its places. Spec: 04.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/object.h"
#include "base/vec.h"
#include "framework/plugin.h"
#include "queue/queue.h"

enum {
	MODEL_PLUGINS = 8,  /* a set of plugins is a bit mask */
	MODEL_PROFILES = 2, /* the last digit of schedulerName is the pod's profile */
	MODEL_LABELS = 64,
};

/** A plugin of the model. */
struct model_plugin {
	const char *name;
	const struct bt_event_registration *events;
	uint32_t event_count;
	bool in_profile[MODEL_PROFILES];
	/** true: PreEnqueue gates this pod now; NULL: never gates */
	bool (*gates)(const struct bt_pod *pod);
	/** Returns the hint and sets *failed on an error; NULL: always Queue. */
	bool (*hint)(const struct bt_pod *pod, const void *old_object, const void *new_object,
		bool *failed);
};

struct model_record {
	bool used;
	struct bt_object *object; /* reference held */
	const struct bt_pod *pod;
	enum bt_queue_place place;
	int64_t timestamp_ns;
	int64_t initial_attempt_ns;
	int64_t expiration_ns;
	int64_t unschedulable_count;
	int64_t consecutive_errors;
	uint32_t attempts;
	uint32_t unschedulable_plugins;
	uint32_t pending_plugins;
	int32_t gating_plugin; /* -1: none */
	bool flushed;
	/** Order among the unschedulable records, the same as in the queue; the spec allows any. */
	uint64_t arrival;
};

struct model_log_item {
	struct bt_object *marker; /* a pod in flight; NULL: the item is an event */
	struct bt_cluster_event event;
	char label[64];
	struct bt_object *old_object;
	struct bt_object *new_object;
};

struct model_nomination {
	struct bt_object *pod;
	char node[8];
};

struct model_label {
	char name[64];
	uint64_t active;
	uint64_t backoff;
	uint64_t unschedulable;
};

struct model {
	const struct model_plugin *plugins;
	bool pops_backoff;
	int64_t initial_ns;
	int64_t max_ns;
	int64_t max_in_unschedulable_ns;
	BT_VEC(struct model_record) records;
	BT_VEC(struct model_log_item) log;
	BT_VEC(struct model_nomination) nominations;
	struct model_label labels[MODEL_LABELS];
	uint32_t label_count;
	int64_t gauge[MODEL_PROFILES][MODEL_PLUGINS]; /* unschedulable_pods */
	uint64_t scheduling_cycle;
	uint64_t arrivals;
};

void model_finish(struct model *model);
uint32_t model_profile_of(const struct bt_pod *pod);
/** Returns the index of the queued record with that name, or UINT32_MAX. */
uint32_t model_find(const struct model *model, struct bt_str namespace_, struct bt_str name);
bool model_is_in_flight(const struct model *model, struct bt_str uid);

void model_add(struct model *model, struct bt_object *pod, int64_t now_ns);
void model_update(
	struct model *model, struct bt_object *old_pod, struct bt_object *new_pod, int64_t now_ns);
void model_delete(struct model *model, const struct bt_object *pod);
/** Returns whether a pop would return a record. */
bool model_can_pop(const struct model *model);
/** Returns whether a pop may return this record: no record comes before it in the pop order. */
bool model_may_pop(const struct model *model, uint32_t record);
/** Pops the record; false: the record was discarded because its uid is in flight. */
bool model_pop(struct model *model, uint32_t record);
/**
 * The model of PopSpecificPod: pops the named record; returns the record's index, or UINT32_MAX.
 */
uint32_t model_pop_pod(
	struct model *model, struct bt_str namespace_, struct bt_str name, int64_t now_ns);
void model_done(struct model *model, struct bt_str uid);
/** Frees a record that is no longer needed; the caller calls model_done itself. */
void model_drop(struct model *model, uint32_t record);
/** Adds the record after a failed attempt; false: a pod with the same name is queued already. */
bool model_add_unschedulable(struct model *model, uint32_t record, uint32_t unschedulable,
	uint32_t pending, int64_t now_ns);
/** Nominator.Add; node NULL: mode Noop. */
void model_nominate(struct model *model, struct bt_object *pod, const char *node);
void model_move(struct model *model, const struct bt_cluster_event *event,
	struct bt_object *old_object, struct bt_object *new_object,
	const struct bt_queue_check *check, int64_t now_ns);
bool model_activate(struct model *model, struct bt_object *pod, int64_t now_ns);
void model_flush_backoff(struct model *model, int64_t now_ns);
void model_flush_unschedulable(struct model *model, int64_t now_ns);
/** Sets the end of the record's backoff; false: the record never backs off. */
bool model_backoff_until(
	const struct model *model, const struct model_record *record, int64_t *out_ns);
#endif
