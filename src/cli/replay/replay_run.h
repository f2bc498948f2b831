/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_REPLAY_RUN_H
#define BT_CLI_REPLAY_RUN_H
/** One replay with one configuration, shared by "berth replay" and "berth compare". */
#include <stddef.h>

#include "cli/console.h"
#include "cli/output.h"
#include "cli/setup.h"
#include "replay/measure.h"
#include "replay/replay.h"

/** Limit of differences from the recording that are kept with their reasons. */
#define BT_REPLAY_DIFFERENCES_MAX 1000

/** Input of a replay. All-zero memory has the defaults of BT_REPLAY_FLAGS_AT. */
struct bt_replay_request {
	struct bt_arguments files;
	const char *from;
	const char *to;
	const char *prices_path;
	const char *events_path;    /* file for pod events; NULL: none */
	bool is_compared;           /* compare with the recorded decisions */
	struct bt_replay_sink sink; /* receives all changes; all-zero: none */
	int64_t from_ns;            /* from_ns and to_ns: since the start of the recording */
	int64_t to_ns;
};

/**
 * The rows of a flag table that fill a struct bt_replay_request. at: offset of this struct in the
 * options.
 */
#define BT_REPLAY_FLAGS_AT(at) \
	{"from", 0, BT_FLAG_STRING, (at) + offsetof(struct bt_replay_request, from), "DURATION", \
		"decide from this time of the recording on (2h30m); before, pods are bound as " \
		"recorded"}, \
		{"to", 0, BT_FLAG_STRING, (at) + offsetof(struct bt_replay_request, to), \
			"DURATION", "end at this time of the recording"}, \
	{ \
		"prices", 0, BT_FLAG_STRING, \
			(at) + offsetof(struct bt_replay_request, prices_path), "FILE", \
			"price of a node per hour, by instance type: a YAML or JSON object" \
	}

/** A pod that is bound to another node than in the recording. Texts are in the answer's arena. */
struct bt_replay_difference {
	int64_t time_ns;
	struct bt_str namespace_;
	struct bt_str name;
	struct bt_str node_name;
	struct bt_str recorded_node;
	int64_t recorded_ns;
	enum bt_difference difference;
	struct bt_str reason;
};

struct bt_replay_answer {
	struct bt_arena arena;
	struct bt_replay_counts counts;
	struct bt_measure measure;
	bool is_compared;
	bool has_prices;
	BT_VEC(struct bt_replay_difference) differences; /* at most BT_REPLAY_DIFFERENCES_MAX */
	uint64_t difference_counts[BT_DIFFERENCE__COUNT +
		1]; /* the last entry counts differences that were not examined */
};

/** Parse and check the flags; a recording is required. Messages name the flag. */
BT_MUST_USE int bt_replay_request_check(struct bt_replay_request *request,
	const struct bt_arguments *arguments, struct berth_error *err);
/** Run the replay. Finish out_answer also after errors. */
BT_MUST_USE int bt_replay_answer_find(const struct bt_replay_request *request,
	const struct bt_setup *setup, struct bt_warnings *warnings,
	struct bt_replay_answer *out_answer, struct berth_error *err);
void bt_replay_answer_finish(struct bt_replay_answer *answer);
/** Returns the name of the difference in JSON answers, such as "NodeRejected". */
const char *bt_difference_name(enum bt_difference difference);
/** Write the answer as JSON. answer: struct bt_replay_answer. */
void bt_replay_answer_write_json(const void *answer, struct bt_json_writer *writer);
/** Convert nanoseconds to hours. */
double bt_replay_hours(double ns);
/** Append "2026-11-23T05:00:00.000000Z". */
void bt_replay_append_time(struct bt_strbuf *out, int64_t time_ns);
#endif
