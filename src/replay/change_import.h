/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_CHANGE_IMPORT_H
#define BT_REPLAY_CHANGE_IMPORT_H
/** Makes recordings from changes of whole objects, as watches report them. */
#include "replay/change_lines.h"
#include "replay/import.h"

/** Objects by kind, namespace and name. All-zero memory is an empty set. */
struct bt_object_set {
	BT_VEC(struct bt_object *) items; /* owned, in the order they were added; NULL: removed */
	struct bt_map by_name;
};

void bt_object_set_finish(struct bt_object_set *set);
/** Returns the index of the object with the same kind, namespace and name, or BT_MAP_NONE. */
uint32_t bt_object_set_find(const struct bt_object_set *set, const struct bt_object *object);
/**
 * Replaces the object at index; BT_MAP_NONE: adds it. object: consumed; NULL: removes the object at
 * index.
 */
void bt_object_set_put(struct bt_object_set *set, uint32_t index, struct bt_object *object);

/**
 * An import of changes. Changes at second 0 that come before the first pod without a node make up
 * the cluster at the start.
 */
struct bt_change_import {
	struct bt_import *import;
	struct bt_change_lines lines;
	int64_t time_ns;            /* of the last change, since the start */
	struct bt_object_set start; /* the cluster at the start */
	bool has_begun;
	struct berth_error err;
	int result;
};

void bt_change_import_init(struct bt_change_import *changes, struct bt_import *import);
void bt_change_import_finish(struct bt_change_import *changes);
/**
 * Adds a change of an object. old_object NULL: the object was added; new_object NULL: the object
 * was deleted. time_ns is since the start, and must not be before the time of the previous change.
 */
BT_MUST_USE int bt_change_import_take(struct bt_change_import *changes, int64_t time_ns,
	const struct bt_object *old_object, const struct bt_object *new_object,
	struct berth_error *err);
/**
 * Creates the recording with the cluster at the start, unless the recording was created already.
 * Later changes become lines with a time.
 */
BT_MUST_USE int bt_change_import_begin(struct bt_change_import *changes, struct berth_error *err);

/** Imports a file that the recorder of kube-scheduler-simulator wrote. */
BT_MUST_USE int bt_import_simulator(
	struct bt_import *import, const struct bt_import_request *request, struct berth_error *err);
/**
 * Imports a workload of a scheduler_perf file: the objects that it creates, and when it creates
 * them. The function is in bench/.
 */
BT_MUST_USE int bt_import_scheduler_perf(
	struct bt_import *import, const struct bt_import_request *request, struct berth_error *err);
#endif
