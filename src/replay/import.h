/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_IMPORT_H
#define BT_REPLAY_IMPORT_H
/**
 * Recordings from other sources: first the cluster at the start, then pods in the order of time.
 * What a source has that cannot be used is counted by kind, with its first lines.
 */
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "replay/recording.h"

#define BT_IMPORT_LINES_SHOWN 5

struct bt_import_defect {
	const char *path; /* as the caller named it; borrowed */
	const char *what; /* "creation_time is before that of the row above" */
	bool is_row_kept; /* only a part of it is left out */
	uint64_t count;
	unsigned long lines[BT_IMPORT_LINES_SHOWN]; /* the first ones */
};

struct bt_import_counts {
	uint32_t objects; /* at the start */
	uint64_t pods;
	uint64_t bytes; /* compressed */
};

struct bt_import;

/** output_path and source are borrowed. start_ns: since 1970. */
BT_MUST_USE struct bt_import *bt_import_create(
	const char *output_path, bool is_gzipped, const char *source, int64_t start_ns);
/** NULL accepted. */
void bt_import_destroy(struct bt_import *import);
int64_t bt_import_start_ns(const struct bt_import *import);
/** Before the beginning: its source has a start of its own. */
void bt_import_set_start(struct bt_import *import, int64_t start_ns);
/** The recording lasts until then at least, since its start. */
void bt_import_extend(struct bt_import *import, int64_t end_ns);
/** A row is left out. path and what: literals, or as long as the import. */
void bt_import_add_defect(
	struct bt_import *import, const char *path, unsigned long line, const char *what);
/** A row is used without a part of it. path and what: as above. */
void bt_import_add_loss(
	struct bt_import *import, const char *path, unsigned long line, const char *what);
/** By file and kind, in the order in which they were found. */
const struct bt_import_defect *bt_import_defects(
	const struct bt_import *import, uint32_t *out_count);

/** An object of the cluster at the start. */
void bt_import_add_object(struct bt_import *import, struct bt_str json);
/** No object of the start follows: create the file. */
BT_MUST_USE int bt_import_begin(struct bt_import *import, struct berth_error *err);

struct bt_import_pod {
	int64_t time_ns; /* since the start; not before that of the pod before */
	struct bt_str namespace_;
	struct bt_str name;
	struct bt_str json;
	int64_t runs_ns;   /* from its binding to its end; -1: not known */
	int64_t leaves_ns; /* when it is deleted, since the start; -1: not known */
	/** When its source has its end, since the start; -1: not known. The recording lasts until
	 * then at least. */
	int64_t ends_ns;
};

/** Deletions that come before it are written first. */
BT_MUST_USE int bt_import_add_pod(
	struct bt_import *import, const struct bt_import_pod *pod, struct berth_error *err);
/** Any other line, not before the one that was written last; also a pod whose binding and end are
 * lines of their own. */
BT_MUST_USE int bt_import_append(
	struct bt_import *import, const struct bt_recording_line *line, struct berth_error *err);
/** Write the deletions that are left, and the end. */
BT_MUST_USE int bt_import_end(struct bt_import *import, struct berth_error *err);
struct bt_import_counts bt_import_count(const struct bt_import *import);

/** --- sources --- */

struct bt_import_request {
	const char *const *paths;
	uint32_t path_count;
	int64_t machine_cpu_milli; /* of a machine with 1.0, where amounts are fractions of one */
	int64_t machine_memory_bytes;
	int64_t machine_type;   /* of Azure's; -1: not said */
	uint32_t machine_count; /* where the source has none; 0: not said */
	const char *workload;   /* of scheduler_perf: "TEST/WORKLOAD"; NULL: not said */
	const char *arrivals;   /* of manifests: "poisson:5/s"; NULL: at the start */
	int64_t seed;           /* of the arrivals, or of the draw */
	/** alibaba-gpu-2023: draw pods until they ask for so many thousandths of all GPUs; 0: no
	 * draw. */
	int64_t inflate_milli;
	void (*warn)(void *context, const char *line);
	void *warn_context;
};

/**
 * Alibaba's GPU cluster trace of 2023, two tables: one of nodes, one of pods, in any order, told
 * apart by their columns.
 */
BT_MUST_USE int bt_import_alibaba_gpu_2023(
	struct bt_import *import, const struct bt_import_request *request, struct berth_error *err);
/** Azure's packing trace of 2020: a SQLite database. Its rows are counted by rowid. */
BT_MUST_USE int bt_import_azure_packing_2020(
	struct bt_import *import, const struct bt_import_request *request, struct berth_error *err);
/**
 * Google's cluster data of 2019, files of the tables machine_events, machine_attributes,
 * collection_events and instance_events in any order, told apart by their columns. Memory depends
 * on what is alive at a time.
 */
BT_MUST_USE int bt_import_google_2019(
	struct bt_import *import, const struct bt_import_request *request, struct berth_error *err);
#endif
