/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_TRACE_OBJECTS_H
#define BT_REPLAY_TRACE_OBJECTS_H
/** Writes nodes and pods of public traces as JSON. */
#include <stdbool.h>
#include <stdint.h>

#include "api/label.h"
#include "codec/message.h"

/** Limit of an amount: far above any machine, and low enough that sums do not overflow. */
#define BT_TRACE_AMOUNT_MAX INT64_C(1000000000000)

struct bt_trace_amount {
	const char *name; /* of the resource */
	int64_t amount;
	const char *unit; /* "m", "Mi", "" */
	bool if_any;      /* leave the resource out if its amount is 0 */
};

/** An expression of node affinity. */
struct bt_trace_expression {
	struct bt_str key;
	const char *operator; /* "In" */
	const struct bt_str *values;
	uint32_t value_count;
};

struct bt_trace_node {
	struct bt_str name;
	struct bt_str time;               /* creation time, RFC 3339 */
	const struct bt_str_pair *labels; /* a label with value "" is left out */
	uint32_t label_count;
	const struct bt_trace_amount *amounts;
	uint32_t amount_count;
};

struct bt_trace_pod {
	struct bt_str name;               /* in namespace default */
	struct bt_str time;               /* creation time, RFC 3339 */
	const struct bt_str_pair *labels; /* a label with value "" is left out */
	uint32_t label_count;
	const struct bt_trace_amount *amounts;
	uint32_t amount_count;
	struct bt_str owner;                           /* a Job; "": none */
	struct bt_str node_name;                       /* "": not assigned */
	int64_t priority;                              /* -1: none */
	const struct bt_trace_expression *expressions; /* its node must meet all */
	uint32_t expression_count;
	/**
	 * Topology keys of pod anti-affinity: no two pods with the same value of apart_label may be
	 * in one domain of these keys.
	 */
	const char *const *apart_keys;
	uint32_t apart_count;
	struct bt_str_pair apart_label;
};

/** Replace the text in `out` by the JSON of the node or of the pod. */
void bt_trace_write_node(const struct bt_trace_node *node, struct bt_strbuf *out);
void bt_trace_write_pod(const struct bt_trace_pod *pod, struct bt_strbuf *out);
/** Replace the text in `out` by a merge patch of a node's amounts, or of a pod's requests. */
void bt_trace_write_node_amounts(const struct bt_trace_node *node, struct bt_strbuf *out);
void bt_trace_write_pod_requests(const struct bt_trace_pod *pod, struct bt_strbuf *out);

/**
 * Reads an amount in machines, such as "0.25"; an absent text is 0. Returns false if the text is
 * not a number from 0 to 1000.
 */
bool bt_trace_read_fraction(struct bt_str text, double *out_fraction);
/** Returns the fraction of an amount, rounded down, so that six pods of 1/6 fit on one machine. */
int64_t bt_trace_scale(double fraction, int64_t whole);
#endif
