/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_SETUP_H
#define BT_CLI_SETUP_H
/** Flags that configure an engine or a scheduler: shared by all commands that schedule. */
#include "berth/registry.h"

#include <stddef.h>

#include "base/flags.h"
#include "sched/scheduler.h"

struct bt_setup {
	const char *config_path;           /* NULL: the default configuration */
	struct bt_arguments feature_gates; /* each "A=true,B=false" */
	bool strict_feature_gates;         /* an unknown gate is an error, not a warning */
	int64_t percentage;                /* percentageOfNodesToScore; -1: as configured */
	int64_t tie_seed;                  /* seed for equal scores; -1: upstream's order */
	bool ignore_extenders;             /* do not call the extenders of the configuration */
	bool verify;
	struct bt_arguments plugins;        /* shared objects to load */
	struct bt_arguments plugin_folders; /* folders of shared objects to load */
	struct berth_registry *registry;    /* outlives the engine; NULL: no plugins */
	int64_t threads;                    /* 1 to BT_THREADS_MAX, including the caller's */
	struct bt_thread_pool *pool;        /* outlives the engine; NULL: one thread */
};

#define BT_SETUP_INIT \
	{ \
		.percentage = -1, .tie_seed = -1, .threads = 1 \
	}

/**
 * The rows of a flag table that fill a struct bt_setup. at: offset of this struct in the options.
 */
#define BT_SETUP_FLAGS_AT(at) \
	{"config", 0, BT_FLAG_STRING, (at) + offsetof(struct bt_setup, config_path), "FILE", \
		"KubeSchedulerConfiguration, YAML or JSON (default: upstream's defaults)"}, \
		BT_SETUP_OTHER_FLAGS_AT(at)

/** The rows of BT_SETUP_FLAGS_AT except --config. */
#define BT_SETUP_OTHER_FLAGS_AT(at) \
	{"ignore-extenders", 0, BT_FLAG_BOOL, (at) + offsetof(struct bt_setup, ignore_extenders), \
		NULL, "schedule as if the configuration had no extenders"}, \
		{"feature-gates", 0, BT_FLAG_STRINGS, \
			(at) + offsetof(struct bt_setup, feature_gates), "NAME=BOOL,...", \
			"feature gates that differ from the defaults of v1.36"}, \
		{"strict-feature-gates", 0, BT_FLAG_BOOL, \
			(at) + offsetof(struct bt_setup, strict_feature_gates), NULL, \
			"fail on unknown feature gates instead of warning"}, \
		{"plugin", 0, BT_FLAG_STRINGS, (at) + offsetof(struct bt_setup, plugins), "FILE", \
			"shared object with plugins, which the configuration enables"}, \
		{"plugin-dir", 0, BT_FLAG_STRINGS, \
			(at) + offsetof(struct bt_setup, plugin_folders), "DIR", \
			"load every *.so of a folder, in the order of names"}, \
		{"threads", 0, BT_FLAG_INT, (at) + offsetof(struct bt_setup, threads), "N", \
			"use N threads for passes over many nodes (default 1)"}, \
	{ \
		"percentage-of-nodes-to-score", 0, BT_FLAG_INT, \
			(at) + offsetof(struct bt_setup, percentage), "P", \
			"search until P % of the nodes fit; 100 scores every node" \
	}

/**
 * Check only the gates. Unknown gates give warnings on standard error, or an error with
 * strict_feature_gates. Gates that are deprecated or GA give no warning, because they matter only
 * when a daemon is upgraded.
 */
BT_MUST_USE int bt_setup_check_gates(const char *command_name, const struct bt_setup *setup,
	struct bt_gates *out_gates, struct berth_error *err);
/**
 * Check the gates, load plugins and start threads; must run before an engine is created. Messages
 * name the flag or the file; unknown gates are warnings on standard error.
 */
BT_MUST_USE int bt_setup_start(
	const char *command_name, struct bt_setup *setup, struct berth_error *err);
/**
 * Read the configuration and apply the gates. BERTH_ERR_INVALID if it has extenders, unless
 * ignore_extenders is set. Release the result with bt_config_unref.
 */
BT_MUST_USE int bt_setup_load_config(
	const struct bt_setup *setup, struct bt_config **out_config, struct berth_error *err);
/** Validate --percentage-of-nodes-to-score and --seed, and fill in the options. */
BT_MUST_USE int bt_setup_engine_options(const struct bt_setup *setup,
	struct bt_engine_options *out_options, struct berth_error *err);
/** Create an engine from the configuration and the options. Release it with bt_engine_destroy. */
BT_MUST_USE int bt_setup_engine(
	const struct bt_setup *setup, struct bt_engine **out_engine, struct berth_error *err);
/**
 * Create a scheduler from the configuration and the options. Usable as bt_scheduler_create_fn;
 * setup: a struct bt_setup.
 */
BT_MUST_USE int bt_setup_scheduler(const void *setup, const struct bt_scheduler_writer *writer,
	struct bt_scheduler **out_scheduler, struct berth_error *err);
/** Whether BERTH_VERIFY is set to anything but "" and "0". */
bool bt_setup_verify(void);
/**
 * Value of KUBE_MAX_PD_VOLS, 0 if unset; a value that is not a positive number is ignored with a
 * warning.
 */
int64_t bt_setup_max_pd_volumes(void);
/** Unload plugins and end threads. The engine must be destroyed before. */
void bt_setup_finish(struct bt_setup *setup);
#endif
