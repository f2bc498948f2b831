/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SOAK_SIM_H
#define BT_SOAK_SIM_H
/**
 * A simulated cluster around the complete scheduler: virtual time, an API store with delayed
 * watches and failing writes, kubelets and controllers, random users, and checkers. A seed gives
 * the same history on every machine.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

struct bt_sim; /* soak/world.h */

enum bt_sim_faults {
	BT_SIM_FAULTS_NONE, /* only short delays */
	BT_SIM_FAULTS_SOME,
	BT_SIM_FAULTS_ALL, /* frequent faults of every kind */
};

struct bt_sim_options {
	uint64_t seed;
	int64_t minutes; /* virtual time with changes; quiet moments take further time */
	enum bt_sim_faults faults;
	bool verify;
	/** Receives each line of the log as it is written, without line feed; NULL: no log. */
	void (*log)(void *context, struct bt_str line);
	void *log_context;
	/** Called before the first event, for tests that break the scheduler; NULL: none. */
	void (*sabotage)(struct bt_sim *sim);
};

struct bt_sim_report {
	struct bt_strbuf complaint; /* with its time and the last log lines; empty: no complaint */
	int64_t simulated_ns;
	uint64_t log_lines;
	uint64_t changes; /* of objects in the store */
	uint64_t attempts;
	uint64_t bound;
	uint64_t failed_writes;
	uint64_t evictions;
	uint64_t allocations; /* of devices to claims */
	uint64_t relists;
	uint64_t checks; /* quiet moments at which everything was compared */
	uint64_t decisions_checked;
	uint64_t whole_groups; /* checked groups that have bound members */
};

#define BT_SIM_MINUTES_MAX 100000

/**
 * Run one history. Returns a negative error if the scheduler could not be created. A complaint is
 * not an error.
 */
BT_MUST_USE int bt_sim_run(const struct bt_sim_options *options, struct bt_sim_report *out_report,
	struct berth_error *err);
void bt_sim_report_finish(struct bt_sim_report *report);
#endif
