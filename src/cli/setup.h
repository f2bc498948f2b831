/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_SETUP_H
#define BT_CLI_SETUP_H
/** From flags to an engine or a scheduler: what commands that schedule have in common. */
#include "berth/registry.h"

#include <stddef.h>

#include "base/flags.h"
#include "sched/scheduler.h"

struct bt_setup {
	const char *config_path;           /* NULL: the default configuration */
	struct bt_arguments feature_gates; /* each "A=true,B=false" */
	bool strict_feature_gates;         /* an unknown gate is an error, not a warning */
	int64_t percentage;                /* of nodes to score; -1: as configured */
	int64_t tie_seed;                  /* of draws among equal nodes; -1: upstream's order */
	bool ignore_extenders;             /* the configuration may have some: they are not asked */
	bool verify;
	struct bt_arguments plugins;        /* shared objects to load */
	struct bt_arguments plugin_folders; /* folders of such */
	struct berth_registry *registry;    /* what was loaded; outlives the engine */
	int64_t threads;                    /* 1 to BT_THREADS_MAX; 1: nobody but the caller */
	struct bt_thread_pool *pool;        /* outlives the engine; NULL: one thread */
};

#define BT_SETUP_INIT \
	{ \
		.percentage = -1, .tie_seed = -1, .threads = 1 \
	}

/** The rows of a flag table for the fields of a struct bt_setup at an offset of the options. */
#define BT_SETUP_FLAGS_AT(at) \
	{"config", 0, BT_FLAG_STRING, (at) + offsetof(struct bt_setup, config_path), "FILE", \
		"KubeSchedulerConfiguration, YAML or JSON (default: upstream's defaults)"}, \
		BT_SETUP_OTHER_FLAGS_AT(at)

/** All of them but --config. */
#define BT_SETUP_OTHER_FLAGS_AT(at) \
	{"ignore-extenders", 0, BT_FLAG_BOOL, (at) + offsetof(struct bt_setup, ignore_extenders), \
		NULL, "schedule as if the configuration had no extenders"}, \
		{"feature-gates", 0, BT_FLAG_STRINGS, \
			(at) + offsetof(struct bt_setup, feature_gates), "NAME=BOOL,...", \
			"feature gates that differ from the defaults of v1.36"}, \
		{"strict-feature-gates", 0, BT_FLAG_BOOL, \
			(at) + offsetof(struct bt_setup, strict_feature_gates), NULL, \
			"refuse unknown feature gates instead of warning of them"}, \
		{"plugin", 0, BT_FLAG_STRINGS, (at) + offsetof(struct bt_setup, plugins), "FILE", \
			"shared object with plugins for the configuration to enable"}, \
		{"plugin-dir", 0, BT_FLAG_STRINGS, \
			(at) + offsetof(struct bt_setup, plugin_folders), "DIR", \
			"load every *.so of a folder, in the order of names"}, \
		{"threads", 0, BT_FLAG_INT, (at) + offsetof(struct bt_setup, threads), "N", \
			"share passes over many nodes among N threads (default 1)"}, \
	{ \
		"percentage-of-nodes-to-score", 0, BT_FLAG_INT, \
			(at) + offsetof(struct bt_setup, percentage), "P", \
			"search until P % of the nodes fit; 100 scores every node" \
	}

/** The gates alone; those that are ignored or without effect are warnings on standard error.
 * Gates that go away do not matter before a daemon is upgraded. */
BT_MUST_USE int bt_setup_check_gates(const char *command_name, const struct bt_setup *setup,
	struct bt_gates *out_gates, struct berth_error *err);
/**
 * Check the gates, load plugins, start threads: before any engine is made. Messages name the flag
 * or the file; gates that are ignored or without effect are warnings on standard error.
 */
BT_MUST_USE int bt_setup_start(
	const char *command_name, struct bt_setup *setup, struct berth_error *err);
/** The configuration with its gates; owned: release with bt_config_unref. */
BT_MUST_USE int bt_setup_load_config(
	const struct bt_setup *setup, struct bt_config **out_config, struct berth_error *err);
BT_MUST_USE int bt_setup_engine_options(const struct bt_setup *setup,
	struct bt_engine_options *out_options, struct berth_error *err);
/** Both, made into an engine. */
BT_MUST_USE int bt_setup_engine(
	const struct bt_setup *setup, struct bt_engine **out_engine, struct berth_error *err);
/** Both, made into a scheduler. A bt_scheduler_create_fn; setup: a struct bt_setup. */
BT_MUST_USE int bt_setup_scheduler(const void *setup, const struct bt_scheduler_writer *writer,
	struct bt_scheduler **out_scheduler, struct berth_error *err);
/** BERTH_VERIFY=1 is set. */
bool bt_setup_verify(void);
/** KUBE_MAX_PD_VOLS, 0 when it is not set; what is no positive number is ignored with a warning. */
int64_t bt_setup_max_pd_volumes(void);
/** Unload plugins, end threads: the engine must be gone. */
void bt_setup_finish(struct bt_setup *setup);
#endif
