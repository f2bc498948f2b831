/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_METRICS_METRICS_PRIVATE_H
#define BT_METRICS_METRICS_PRIVATE_H
/** Shared by the registry and the writer. */
#include "base/map.h"
#include "base/vec.h"
#include "metrics/metrics.h"

/** A cell and its label values in the order of the description, in one block of memory. */
struct bt_metric_series {
	struct bt_metric_cell cell; /* first: the address of a cell is that of its series */
	uint64_t hash;
	struct bt_str *values;
};

struct bt_metric {
	struct bt_metric_description description;
	struct bt_metrics *metrics;
	uint32_t label_count;
	/**
	 * Labels are written in the order of their names: written_order[i] is the index of the i-th
	 * label.
	 */
	uint8_t written_order[BT_METRIC_LABELS_MAX];
	double *bounds; /* histogram: ascending, without +Inf; owned */
	uint32_t bound_count;
	bool is_disabled;
	BT_VEC(struct bt_metric_series *) series; /* owned; in no order */
	struct bt_map by_values;                  /* index in series */
};

/** The allowed values of one label. All texts are owned. */
struct bt_metric_allow_list {
	char *metric;
	char *label;
	BT_VEC(char *) values;
};

struct bt_metric_collector {
	void (*collect)(void *context);
	void *context;
};

struct bt_metrics {
	BT_VEC(struct bt_metric *) families; /* owned; sorted by name */
	BT_VEC(struct bt_metric_collector) collectors;
	BT_VEC(char *) disabled; /* owned names */
	BT_VEC(struct bt_metric_allow_list) allow_lists;
	struct bt_metric *registered_total; /* NULL: families are not counted */
	struct bt_metric *disabled_total;
};

/** Runs the update hooks that compute cells on demand. */
void bt_metrics_collect(struct bt_metrics *metrics);
#endif
