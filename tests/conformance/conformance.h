/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFORMANCE_H
#define BT_CONFORMANCE_H
/**
 * The vector runner: runs random clusters through the engine and compares the results with
 * upstream's, member by member. The format is described in tests/conformance/README.md.
 */
#include "base/error.h"
#include "base/strbuf.h"
#include "codec/json.h"
#include "config/gates.h"

/**
 * Runs one case (a line of the file CASES) and appends berth's answer to `out`, as JSON in the
 * format of the file EXPECTED. If the configuration is refused or the case cannot be run, the
 * answer has the error. A negative result means that the line is not a case. `expected` is the
 * recorded answer, or NULL. With `verify`, each decision is also made with the plain forms of the
 * plugins, and differences are appended to `complaints`.
 */
BT_MUST_USE int bt_conformance_answer(struct bt_str case_json, const struct bt_json_value *expected,
	bool verify, struct bt_strbuf *complaints, struct bt_strbuf *out, struct berth_error *err);

/** Counts of --explain over all cases. */
struct bt_explain_tally {
	uint64_t pods;
	uint64_t proposals;
	uint64_t without_proposal; /* pods that fit nowhere and get no proposal */
};

/**
 * Like bt_conformance_answer, and also explains every pod just before it is scheduled. Appends
 * to `complaints` every explanation that differs from the recorded answer and every proposal that
 * does not work. Not for cases of the category life.
 */
BT_MUST_USE int bt_conformance_explain(struct bt_str case_json,
	const struct bt_json_value *expected, bool verify, struct bt_explain_tally *tally,
	struct bt_strbuf *complaints, struct bt_strbuf *out, struct berth_error *err);

/** Like bt_conformance_answer, for a case that consists of steps (category life). */
BT_MUST_USE int bt_life_answer(const struct bt_json_value *case_value,
	const struct bt_json_value *expected, bool verify, struct bt_strbuf *out,
	struct berth_error *err);

/**
 * Sets the feature gates of a case: the defaults of v1.36 with SchedulerAsyncPreemption and
 * SchedulerAsyncAPICalls off, changed by `feature_gates`: {"Name": bool}, or "" for no change.
 */
BT_MUST_USE int bt_case_gates(
	struct bt_str feature_gates, struct bt_gates *out_gates, struct berth_error *err);

/** Members of a result that are not compared. */
struct bt_conformance_skip {
	const struct bt_str *members;
	uint32_t count;
};

/**
 * Returns whether two answers agree in all members that are not in `skip`. If they differ, appends
 * readable lines (member, expected, got) to out_difference.
 */
bool bt_conformance_compare(const struct bt_json_value *expected, const struct bt_json_value *got,
	const struct bt_conformance_skip *skip, struct bt_strbuf *out_difference);
#endif
