/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_PERF_H
#define BT_BENCH_PERF_H
/**
 * Workload files of upstream's scheduler_perf, run on a struct bt_living. A file is a list of test
 * cases; each has a template of operations, and workloads that set its parameters.
 *
 * Unlike upstream's, time is virtual: an attempt takes a millisecond, churn follows the virtual
 * clock, and waiting costs nothing. Therefore the same file always gives the same decisions.
 */
#include "bench/bench_living.h"
#include "bench/bench_run.h"
#include "codec/json.h"
#include "codec/message.h"

enum bt_perf_opcode {
	BT_PERF_CREATE_NODES,
	BT_PERF_CREATE_NAMESPACES,
	BT_PERF_CREATE_PODS,
	BT_PERF_CREATE_POD_SETS,
	BT_PERF_CHURN,
	BT_PERF_BARRIER,
	BT_PERF_SLEEP,
	BT_PERF_DELETE_PODS,
	BT_PERF_CREATE_ANY,
	BT_PERF_UPDATE_ANY,
	BT_PERF_CREATE_RESOURCE_DRIVER,
	BT_PERF_ALLOC_RESOURCE_CLAIMS,
	BT_PERF_START_COLLECTING_METRICS,
	BT_PERF_STOP_COLLECTING_METRICS,
	BT_PERF__OPCODES,
};

/** Returns the opcode's name in files, such as "createNodes". */
const char *bt_perf_opcode_name(enum bt_perf_opcode opcode);

/** One operation; the opcode says which members are used. */
struct bt_perf_op {
	enum bt_perf_opcode opcode;
	uint32_t number; /* from 1, for messages */
	const struct bt_json_value *source;
	int64_t count;
	bool has_count;
	struct bt_str node_template;
	struct bt_str pod_template;
	struct bt_str namespace_template;
	struct bt_str volume_template;
	struct bt_str claim_template;
	struct bt_str any_template;
	struct bt_str namespace_;
	struct bt_str prefix;
	struct bt_str namespace_prefix;
	bool collect_metrics;
	bool skip_wait;
	bool steady_state;
	struct bt_str mode;
	int64_t churn_number;
	int64_t interval_ms;
	int64_t per_second; /* rate of updates or deletions; 0: all at once, in createPods none */
	int64_t claims_per_node;
	bt_str_list template_paths;
	bt_str_list namespaces;
	struct bt_str stage; /* "Attempted": wait for attempts; otherwise wait for placements */
	struct bt_str duration;
	struct bt_str driver;
	struct bt_str nodes; /* pattern */
	struct bt_str metrics_name;
	const struct bt_json_value *label_strategy;       /* {labelKey, labelValues}; NULL: none */
	const struct bt_json_value *unique_strategy;      /* {labelKey} */
	const struct bt_json_value *allocatable_strategy; /* {nodeAllocatable, ...} */
	const struct bt_json_value *label_selector;
	const struct bt_json_value *create_pods; /* in createPodSets */
	struct bt_perf_op *pods;                 /* create_pods, parsed */
};

struct bt_perf_workload {
	struct bt_str name;
	const struct bt_json_value *params; /* an object, or NULL */
	bt_str_list gates;                  /* "Name=true" */
	double threshold;                   /* least pods per second; 0: no threshold */
};

/**
 * Reads one operation of a list. The members of `op` borrow from `value`. `workload` has the values
 * of parameters; if it is NULL, members that come from parameters are left out. Messages begin with
 * "op 3 (churn)".
 */
BT_MUST_USE int bt_perf_op_read(struct bt_arena *arena, const struct bt_json_value *value,
	uint32_t number, const struct bt_perf_workload *workload, struct bt_perf_op *op,
	struct berth_error *err);
/** Set an error such as "name: expected string, got number". */
int bt_perf_wrong_type(const char *name, const char *wanted, const struct bt_json_value *value,
	struct berth_error *err);
/** Reads a string, which borrows from `value`. `name` is the member for the error message. */
BT_MUST_USE int bt_perf_read_str(const struct bt_json_value *value, const char *name,
	struct bt_str *out, struct berth_error *err);

struct bt_perf_test {
	struct bt_str name;
	struct bt_str pod_template; /* defaultPodTemplatePath */
	struct bt_str config_path;
	bt_str_list gates; /* "Name=true" */
	struct bt_perf_op *ops;
	uint32_t op_count;
	struct bt_perf_workload *workloads;
	uint32_t workload_count;
	struct berth_error error; /* set if the test case is invalid: none of its workloads runs */
};

struct bt_perf_file {
	struct bt_arena arena;
	const char *path;
	struct bt_str folder; /* base of template paths; ends with "/", or is empty */
	struct bt_perf_test *tests;
	uint32_t test_count;
};

/**
 * Read and check a whole file. For an invalid test case, stores the error in the test case.
 * Messages name test case, operation and field.
 */
BT_MUST_USE int bt_perf_file_read(
	const char *path, struct bt_perf_file *out_file, struct berth_error *err);
void bt_perf_file_finish(struct bt_perf_file *file);

/** The result of one workload. */
struct bt_perf_result {
	uint32_t node_count;
	uint32_t pod_count;    /* pods that were placed while metrics were collected */
	uint32_t bound_count;  /* pods that were placed in total */
	uint32_t failed_count; /* failed attempts in total */
	uint32_t victim_count;
	double seconds; /* time of scheduling while metrics were collected */
	double cpu_seconds;
	double load_seconds; /* all other time */
	uint64_t decisions;  /* digest of all placements, in order */
	int64_t end_ns;      /* virtual time, since 1970 */
};

/**
 * Runs one workload on a new scheduler. `setup` has the settings of the command's flags; the
 * configuration of the test case takes precedence. `observer` receives all changes, or is NULL.
 */
BT_MUST_USE int bt_perf_run(const struct bt_perf_file *file, const struct bt_perf_test *test,
	const struct bt_perf_workload *workload, const struct bt_setup *setup,
	const struct bt_living_observer *observer, struct bt_perf_result *out_result,
	struct berth_error *err);

struct bt_perf_options {
	const struct bt_setup *setup;
	const char *path;
	const struct bt_arguments *only; /* selects TEST or TEST/WORKLOAD, commas allowed */
	int64_t repeat;
	bool check; /* make a second, verifying run and compare decisions */
};

/**
 * Run the whole file: prints one JSON line per workload and repetition. If a test case fails, its
 * error is printed to standard error, the other test cases run, and the result is
 * BERTH_ERR_INVALID. *out_below: whether a workload did not reach its threshold.
 */
BT_MUST_USE int bt_perf_run_file(
	const struct bt_perf_options *options, bool *out_below, struct berth_error *err);
#endif
