/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_CHANGE_IMPORT_H
#define BT_REPLAY_CHANGE_IMPORT_H
/** Makes recordings from changes of whole objects, as watches report them. */
#include "replay/change_lines.h"
#include "replay/import.h"

/**
 * An import of changes. The cluster at the start has the changes with time 0, up to the first pod
 * without a node.
 */
struct bt_change_import {
	struct bt_import *import;
	struct bt_change_lines lines;
	int64_t time_ns; /* of the last change, since the start */
	/** The cluster at the start, in the order the objects were added; owned; NULL: deleted. */
	BT_VEC(struct bt_object *) start;
	struct bt_map start_by_name;
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
