/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SOAK_SIM_H
#define BT_SOAK_SIM_H
/**
 * A simulated cluster around the living scheduler: virtual time, an API store with watches and
 * writes that fail in every way, kubelets and controllers, users who change their minds, and
 * checkers that look on. One seed is one history, the same on every machine.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

struct bt_sim; /* soak/world.h */

enum bt_sim_faults {
	BT_SIM_FAULTS_NONE, /* short delays only */
	BT_SIM_FAULTS_SOME,
	BT_SIM_FAULTS_ALL, /* often, and of every kind */
};

struct bt_sim_options {
	uint64_t seed;
	int64_t minutes; /* of changes; quiet times at the end come on top */
	enum bt_sim_faults faults;
	bool verify;
	/** Each line of the log as it is written, without line feed; NULL: nobody listens. */
	void (*log)(void *context, struct bt_str line);
	void *log_context;
	/** Tests break things here, before the first event; NULL: nobody does. */
	void (*sabotage)(struct bt_sim *sim);
};

struct bt_sim_report {
	struct bt_strbuf complaint; /* empty: all is well. With simulated time and last lines. */
	int64_t simulated_ns;
	uint64_t log_lines;
	uint64_t changes; /* of the store */
	uint64_t attempts;
	uint64_t bound;
	uint64_t failed_writes;
	uint64_t evictions;
	uint64_t allocations; /* of devices, by claim */
	uint64_t relists;
	uint64_t checks; /* times when things were quiet and everything was compared */
	uint64_t decisions_checked;
	uint64_t whole_groups; /* pod groups with bound members, at quiet moments, nothing to excuse
	                        */
};

#define BT_SIM_MINUTES_MAX 100000

/** Negative: the scheduler could not be made. A complaint is no error. */
BT_MUST_USE int bt_sim_run(const struct bt_sim_options *options, struct bt_sim_report *out_report,
	struct berth_error *err);
void bt_sim_report_finish(struct bt_sim_report *report);
#endif
