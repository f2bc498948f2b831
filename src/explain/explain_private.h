/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_EXPLAIN_EXPLAIN_PRIVATE_H
#define BT_EXPLAIN_EXPLAIN_PRIVATE_H
/** Between the files of src/explain that make up bt_explain. */
#include "explain/explain.h"

/** One call of bt_explain. */
struct bt_explain_run {
	struct bt_engine *engine;
	struct bt_framework *framework; /* the profile that is asked */
	const struct bt_pod *pod;       /* as given */
	const struct bt_explain_options *options;
	struct bt_explanation *out; /* texts are copied into its arena: cycles come and go */
};

/* explain_preemption.c */

/**
 * Fill out->preemption. result: of bt_engine_schedule for this pod a moment ago, with a diagnosis
 * (BT_OUTCOME_FIT_ERROR); its memory and cycle are good for the whole call as long as no other
 * cycle begins in the engine. Errors: the state contradicts itself.
 */
BT_MUST_USE int bt_explain_preemption(struct bt_explain_run *run, const struct bt_pod_info *pod,
	const struct bt_schedule_result *result, struct berth_error *err);
#endif
