/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_QUEUE_MODEL_PRIVATE_H
#define BT_TESTS_UNIT_QUEUE_MODEL_PRIVATE_H
/** Declarations that the files of the model share. */
#include <stdio.h>
#include <string.h>

#include "framework/cluster_event.h"
#include "queue_model.h"

#define SECOND INT64_C(1000000000)
#define NOWHERE UINT32_MAX
#define TOLERATION (UINT32_C(1) << 10)
#define LABEL (UINT32_C(1) << 8)
#define UPDATE UINT32_C(8188)
#define ALL UINT32_C(8191)

enum model_strategy { MODEL_SKIP, MODEL_AFTER_BACKOFF, MODEL_IMMEDIATELY };

static inline struct model_record *model_at(const struct model *model, uint32_t record)
{
	return &model->records.items[record];
}

static inline uint32_t model_rejectors(const struct model_record *record)
{
	return record->unschedulable_plugins | record->pending_plugins;
}

static inline bool model_is_gated(const struct model_record *record)
{
	return record->gating_plugin >= 0;
}

/* queue_model_places.c */

uint32_t model_create(struct model *model, struct bt_object *pod, int64_t now_ns);
void model_set_pod(struct model_record *record, struct bt_object *pod);
void model_label_of(const struct bt_cluster_event *event, char out[64]);
/** Counts a pod that entered a place because of an event with this label. */
void model_count(struct model *model, const char *name, enum bt_queue_place place);
void model_add_to_gauge(
	struct model *model, const struct model_record *record, uint32_t plugins, int64_t by);
bool model_backing_off(
	const struct model *model, const struct model_record *record, int64_t now_ns);
/** Removes the pod's nomination and copies the node's name; false: the pod has no nomination. */
bool model_end_nomination(struct model *model, struct bt_str uid, char out_node[8]);
void model_update_nomination(
	struct model *model, struct bt_object *old_pod, struct bt_object *new_pod);
void model_run_pre_enqueue(struct model *model, struct model_record *record);
bool model_to_active(struct model *model, struct model_record *record, const char *label,
	bool from_backoff, int64_t now_ns);
void model_requeue(struct model *model, struct model_record *record, enum model_strategy strategy,
	const char *label, int64_t now_ns);

/* queue_model_events.c */

bool model_listens(const struct model_plugin *plugin, const struct bt_cluster_event *event);
bool model_is_of_interest(const struct model *model, const struct bt_cluster_event *event);
enum model_strategy model_worth(const struct model *model, const struct model_record *record,
	const struct bt_cluster_event *event, const struct bt_object *old_object,
	const struct bt_object *new_object);
/** Returns the index in the log of the pod's marker, or NOWHERE. */
uint32_t model_find_marker(const struct model *model, struct bt_str uid);
void model_remove_log_item(struct model *model, uint32_t item);
void model_append_event(struct model *model, const struct bt_cluster_event *event,
	const char *label, struct bt_object *old_object, struct bt_object *new_object);
/**
 * Takes the record out of the queue and puts its pod in flight; false: the uid is in flight
 * already, and the record is freed.
 */
bool model_take_off(struct model *model, uint32_t record);
bool model_has_in_flight(const struct model *model);
#endif
