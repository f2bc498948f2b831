/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_TRACE_OBJECTS_H
#define BT_REPLAY_TRACE_OBJECTS_H
/** Nodes and pods of public traces, as JSON. */
#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

/** Of an amount: far beyond any machine, and sums of it do not overflow. */
#define BT_TRACE_AMOUNT_MAX INT64_C(1000000000000)

struct bt_trace_label {
	struct bt_str key;
	struct bt_str value; /* "": left out */
};

struct bt_trace_amount {
	const char *name; /* of the resource */
	int64_t amount;
	const char *unit; /* "m", "Mi", "" */
	bool if_any;      /* 0 is left out */
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
	struct bt_str time; /* of its creation, RFC 3339 */
	const struct bt_trace_label *labels;
	uint32_t label_count;
	const struct bt_trace_amount *amounts;
	uint32_t amount_count;
};

struct bt_trace_pod {
	struct bt_str name; /* in the namespace default */
	struct bt_str time; /* of its creation, RFC 3339 */
	const struct bt_trace_label *labels;
	uint32_t label_count;
	const struct bt_trace_amount *amounts;
	uint32_t amount_count;
	struct bt_str owner;                           /* a Job; "": none */
	struct bt_str node_name;                       /* "": it waits */
	int64_t priority;                              /* -1: none */
	const struct bt_trace_expression *expressions; /* all of them hold on its node */
	uint32_t expression_count;
	/** Keys of node labels: no two pods with the same value of apart_label lie in one domain of
	 * them. */
	const char *const *apart_keys;
	uint32_t apart_count;
	struct bt_trace_label apart_label;
};

/** Replace the text. */
void bt_trace_write_node(const struct bt_trace_node *node, struct bt_strbuf *out);
void bt_trace_write_pod(const struct bt_trace_pod *pod, struct bt_strbuf *out);
/** Merge patches: a node's amounts; a pod's requests. */
void bt_trace_write_node_amounts(const struct bt_trace_node *node, struct bt_strbuf *out);
void bt_trace_write_pod_requests(const struct bt_trace_pod *pod, struct bt_strbuf *out);

/** A name that every object may have: lower case letters, digits, "-" within, 63 bytes. */
bool bt_trace_is_name(struct bt_str text);
/** A fraction of a machine, "0.25": not negative, not above 1000. Absent: 0. */
bool bt_trace_read_fraction(struct bt_str text, double *out_fraction);
/** So much of an amount, rounded down: six times a sixth fits. */
int64_t bt_trace_scale(double fraction, int64_t whole);
#endif
