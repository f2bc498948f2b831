/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_IMPORT_H
#define BT_REPLAY_IMPORT_H
/**
 * Makes recordings from other sources: first the cluster at the start, then pods in the order of
 * time. Input that cannot be used is counted by kind of defect. For each kind, the numbers of the
 * first lines with the defect are kept.
 */
#include "base/error.h"
#include "base/heap.h"
#include "base/str.h"
#include "base/vec.h"
#include "replay/recording.h"

#define BT_IMPORT_LINES_SHOWN 5

struct bt_import_defect {
	const char *path;   /* as the caller gave it; borrowed */
	const char *reason; /* "creation_time is before that of the row above" */
	bool is_row_kept;   /* only a part of the row is left out */
	uint64_t count;
	unsigned long lines[BT_IMPORT_LINES_SHOWN]; /* the first lines with the defect */
};

/** A pod whose deletion is still to be written. */
struct bt_import_departure {
	int64_t time_ns;
	struct bt_strbuf text; /* namespace and name, one after the other */
	uint32_t namespace_length;
};

struct bt_import {
	const char *output_path;
	const char *source;
	bool is_gzipped;
	int64_t start_ns;                   /* since 1970; not changed after bt_import_begin */
	int64_t time_ns;                    /* of the last line */
	int64_t end_ns;                     /* the recording lasts at least until then */
	struct bt_recording_writer *writer; /* NULL before bt_import_begin and after the end */
	BT_VEC(char *)
	objects; /* JSON of objects at the start; owned; empty after bt_import_begin */
	BT_VEC(struct bt_import_departure) departures;
	BT_VEC(uint32_t) free_departures;
	struct bt_heap due; /* departures by time */
	int64_t departure_count;
	BT_VEC(struct bt_import_defect)
	defects;               /* by file and kind, in the order in which they were found */
	uint32_t object_count; /* at the start */
	uint64_t pod_count;
	uint64_t bytes; /* compressed */
};

/**
 * Creates an import; the output file is created by bt_import_begin. output_path and source are
 * borrowed.
 */
BT_MUST_USE struct bt_import *bt_import_create(
	const char *output_path, bool is_gzipped, const char *source, int64_t start_ns);
/** NULL accepted. */
void bt_import_destroy(struct bt_import *import);
/** Makes the recording last at least until end_ns, which counts from the start. */
void bt_import_extend(struct bt_import *import, int64_t end_ns);
/**
 * Counts a row that is left out, or, if is_row_kept, a row of which a part is left out. path and
 * reason: literals, or valid as long as the import.
 */
void bt_import_add_defect(struct bt_import *import, const char *path, unsigned long line,
	const char *reason, bool is_row_kept);

/** Adds an object to the cluster at the start. */
void bt_import_add_object(struct bt_import *import, struct bt_str json);
/**
 * Creates the file and writes the cluster at the start. Call after the last bt_import_add_object.
 */
BT_MUST_USE int bt_import_begin(struct bt_import *import, struct berth_error *err);

struct bt_import_pod {
	int64_t time_ns; /* since the start; not before the time of the previously added pod */
	struct bt_str namespace_;
	struct bt_str name;
	struct bt_str json;
	int64_t runs_ns;   /* from its binding to its end; -1: not known */
	int64_t leaves_ns; /* when it is deleted, since the start; -1: not known */
	/**
	 * When the pod ends in the source, since the start; -1: not known. The recording lasts at
	 * least until then.
	 */
	int64_t ends_ns;
};

/** Adds a pod. Deletions that are due before it are written first. */
BT_MUST_USE int bt_import_add_pod(
	struct bt_import *import, const struct bt_import_pod *pod, struct berth_error *err);
/**
 * Appends a line of any kind. Lines must come in the order of time. Deletions that are due before
 * this line are written first.
 */
BT_MUST_USE int bt_import_append(
	struct bt_import *import, const struct bt_recording_line *line, struct berth_error *err);
/** Writes the remaining deletions and the end. */
BT_MUST_USE int bt_import_end(struct bt_import *import, struct berth_error *err);

/** --- sources --- */

struct bt_import_request {
	const char *const *paths;
	uint32_t path_count;
	int64_t machine_cpu_milli; /* CPU of a machine of size 1.0, for traces with fractions */
	int64_t machine_memory_bytes;
	int64_t machine_type;   /* machine type of Azure's trace; negative: not given */
	uint32_t machine_count; /* for sources without a number of machines; 0: not given */
	const char *workload;   /* for scheduler_perf: "TEST/WORKLOAD"; NULL: not given */
	const char *arrivals;   /* for manifests: "poisson:5/s"; NULL: pods arrive at the start */
	int64_t seed;           /* for random arrivals or the random draw of pods */
	/**
	 * alibaba-gpu-2023: draw pods at random until they request this many thousandths of all
	 * GPUs; 0: no draw.
	 */
	int64_t inflate_milli;
	void (*warn)(void *context, const char *line);
	void *warn_context;
};

/**
 * Imports Alibaba's GPU cluster trace of 2023: a table of nodes and a table of pods, in any order,
 * recognised by their columns.
 */
BT_MUST_USE int bt_import_alibaba_gpu_2023(
	struct bt_import *import, const struct bt_import_request *request, struct berth_error *err);
/**
 * Imports Azure's packing trace of 2020: a SQLite database. Defects give the rowid of a row as its
 * line.
 */
BT_MUST_USE int bt_import_azure_packing_2020(
	struct bt_import *import, const struct bt_import_request *request, struct berth_error *err);
/**
 * Imports Google's cluster data of 2019: files of the tables machine_events, machine_attributes,
 * collection_events and instance_events in any order, recognised by their columns. Memory depends
 * on how many instances and machines exist at a time.
 */
BT_MUST_USE int bt_import_google_2019(
	struct bt_import *import, const struct bt_import_request *request, struct berth_error *err);
/**
 * Imports manifests. Pods without a node arrive in the order of the input, including those that
 * controllers make for workloads. All other objects are in the cluster at the start.
 */
BT_MUST_USE int bt_import_manifests(
	struct bt_import *import, const struct bt_import_request *request, struct berth_error *err);
/**
 * Parses "poisson:5/s", "poisson:0.5/m", "poisson:100/h". text NULL: *out_per_second is 0, and all
 * pods arrive at the start.
 */
BT_MUST_USE int bt_arrivals_parse(
	const char *text, double *out_per_second, struct berth_error *err);
#endif
