/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_MANIFESTS_IMPORT_H
#define BT_CLI_MANIFESTS_IMPORT_H
/** Recordings made of manifests: a cluster, and pods that arrive one after the other. */
#include "cli/command.h"
#include "replay/import.h"

/** When a pod arrives, since the start, as a duration: "90s". */
#define BT_ANNOTATION_ARRIVES_AFTER "berth.dev/arrives-after"

struct bt_arrivals {
	double per_second; /* of a Poisson process; 0: pods without annotation are there at once */
	uint64_t seed;
};

/** "poisson:5/s", "poisson:0.5/m", "poisson:100/h". */
BT_MUST_USE int bt_arrivals_parse(
	const char *text, struct bt_arrivals *out_arrivals, struct berth_error *err);
/**
 * Pods without a node arrive, also those that controllers make for workloads, in the order of the
 * input; everything else is there at the start.
 */
BT_MUST_USE int bt_import_manifests(struct bt_import *import, const char *const *paths,
	uint32_t path_count, const struct bt_arrivals *arrivals, struct bt_warnings *warnings,
	struct berth_error *err);
#endif
