/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_CHANGE_IMPORT_H
#define BT_REPLAY_CHANGE_IMPORT_H
/** Recordings made of changes of whole objects, as watches tell them. */
#include "replay/change_lines.h"
#include "replay/import.h"

/** Changes on their way into an import. What happens at second 0, before the first pod without a
 * node comes, makes the cluster at the start. */
struct bt_change_import {
	struct bt_import *import;
	struct bt_change_lines lines;
	int64_t time_ns;                  /* of the change that is taken, since the start */
	BT_VEC(struct bt_object *) start; /* owned; NULL: deleted again */
	struct bt_map start_by_name;
	bool has_begun;
	struct berth_error err;
	int result;
};

void bt_change_import_init(struct bt_change_import *changes, struct bt_import *import);
void bt_change_import_finish(struct bt_change_import *changes);
/** old NULL: added; new NULL: deleted. Not before the change that was taken last. */
BT_MUST_USE int bt_change_import_take(struct bt_change_import *changes, int64_t time_ns,
	const struct bt_object *old_object, const struct bt_object *new_object,
	struct berth_error *err);
/** No object of the start follows. */
BT_MUST_USE int bt_change_import_begin(struct bt_change_import *changes, struct berth_error *err);

/** A file that the recorder of kube-scheduler-simulator wrote. */
BT_MUST_USE int bt_import_simulator(
	struct bt_import *import, const struct bt_import_request *request, struct berth_error *err);
/** A workload of a scheduler_perf file: what it makes, and when. In bench/. */
BT_MUST_USE int bt_import_scheduler_perf(
	struct bt_import *import, const struct bt_import_request *request, struct berth_error *err);
#endif
