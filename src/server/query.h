/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_QUERY_H
#define BT_SERVER_QUERY_H
/** Options of requests: query parameters and DeleteOptions. Spec: 14 sections 9, 13 and 14. */
#include <stdbool.h>

#include "base/arena.h"
#include "server/api.h"
#include "server/list.h"

/**
 * Decoded query parameters. A text is absent (data NULL) if the query does not give the parameter.
 * If a parameter is repeated, its first value counts, but dry_runs has all values.
 */
struct bt_query {
	struct bt_list_parameters list;
	bool watch;
	bool pretty;
	bool pretty_given;
	struct bt_str include_object;
	struct bt_json_value *dry_runs; /* texts; NULL: none */
	struct bt_str field_manager;
	struct bt_str field_validation;
	struct bt_str force;
	struct bt_str grace_period_seconds;
	struct bt_str propagation_policy;
	struct bt_str orphan_dependents;
	struct bt_connect_options connect;
	struct bt_str verbose;
	struct bt_str hash;
	struct bt_str metric_label_selector; /* parameter of custom.metrics.k8s.io */
};

/**
 * Parses a query string. Texts live in the arena. Pairs that bt_http_query_next skips, and unknown
 * names, are ignored.
 */
void bt_query_parse(struct bt_str query, struct bt_arena *arena, struct bt_query *out);

/**
 * Sets the options of a create, update or patch. `kind`: "CreateOptions", "UpdateOptions" or
 * "PatchOptions". false: sets *out_failure.
 */
bool bt_query_write_options(const struct bt_query *query, const char *kind, struct bt_arena *arena,
	struct bt_api_request *out_request, struct bt_failure *out_failure);
/** Sets the options of a delete from `body`, of kind DeleteOptions. false: sets *out_failure. */
bool bt_delete_options_read(const struct bt_json_value *body, struct bt_arena *arena,
	struct bt_api_request *out_request, struct bt_failure *out_failure);
/** Writes the options of a delete without a body as DeleteOptions. false: sets *out_failure. */
bool bt_query_delete_options(const struct bt_query *query, struct bt_arena *arena,
	struct bt_json_value **out_body, struct bt_failure *out_failure);
/** Parses the parameter `includeObject` of tables. false: sets *out_failure. */
bool bt_query_include_object(const struct bt_query *query, struct bt_arena *arena,
	enum bt_include_object *out, struct bt_failure *out_failure);
#endif
