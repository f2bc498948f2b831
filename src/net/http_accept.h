/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_HTTP_ACCEPT_H
#define BT_NET_HTTP_ACCEPT_H
/** The headers Accept and Accept-Encoding. */
#include "base/str.h"

struct bt_accept_parameter {
	struct bt_str name;
	struct bt_str value;
};

#define BT_ACCEPT_PARAMETERS_MAX 16
#define BT_ACCEPT_CLAUSES_MAX 64

struct bt_accept_clause {
	struct bt_str type; /* "text/plain" */
	struct bt_accept_parameter parameters[BT_ACCEPT_PARAMETERS_MAX];
	uint32_t parameter_count; /* number of parameters besides q */
	uint32_t quality;         /* in thousandths; 0: not acceptable */
};

/** The clauses of an Accept or Accept-Encoding header. */
struct bt_accept {
	struct bt_accept_clause clauses[BT_ACCEPT_CLAUSES_MAX];
	uint32_t count;
};

/**
 * Parse the header. by_quality: the best clause first, else the order written. Clauses and
 * parameters beyond the limits are dropped.
 */
void bt_accept_parse(struct bt_accept *accept, struct bt_str header, bool by_quality);
/** Return the last value of a parameter; "" if the clause does not have the parameter. */
struct bt_str bt_accept_parameter(const struct bt_accept_clause *clause, const char *name);
#endif
