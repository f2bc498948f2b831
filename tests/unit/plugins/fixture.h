/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_PLUGINS_FIXTURE_H
#define BT_TESTS_UNIT_PLUGINS_FIXTURE_H
/**
 * One plugin on a small cluster made of JSON snippets. In the snippets ' stands for ". A pod
 * without uid, name or namespace gets them; the namespace is "default". Statuses are compared as
 * text: "Success", "Skip" or "<Code>: <message>".
 */
#include <stdint.h>

#include "framework/framework.h"
#include "framework/plugin.h"
#include "plugins/in_tree.h"

struct fixture {
	struct bt_arena arena; /* memory of objects, cycle data and texts */
	struct bt_gates gates;
	struct bt_state *state;
	struct bt_config *config;
	struct bt_handle handle;
	struct bt_plugin *plugin; /* its index is 0 */
	BT_VEC(struct bt_pod_info *) pods;
	uint32_t pod_number;
	uint32_t screened_count; /* Skips that fixture_hint found by the plugin's marks alone */
};

/** Starts the fixture with a plugin, default gates and default arguments. */
void fixture_init(struct fixture *fixture, const struct bt_plugin_ops *ops);
/**
 * Starts the fixture with a plugin. gates: as --feature-gates, NULL: defaults; args: the plugin's
 * arguments as JSON, NULL: defaults.
 */
void fixture_init_with(struct fixture *fixture, const struct bt_plugin_ops *ops, const char *gates,
	const char *args);
void fixture_finish(struct fixture *fixture);

/** Return decoded objects in memory of the fixture. */
struct bt_pod *fixture_pod(struct fixture *fixture, const char *json);
struct bt_node *fixture_node(struct fixture *fixture, const char *json);

void fixture_add_node(struct fixture *fixture, const char *json);
/**
 * Puts an object of any kind except Pod and Node; the JSON has the kind. A namespaced object gets
 * the namespace "default".
 */
void fixture_put(struct fixture *fixture, const char *json);
void fixture_delete(
	struct fixture *fixture, enum bt_kind kind, const char *namespace_, const char *name);
/** Adds an assigned pod (spec.nodeName). */
void fixture_add_pod(struct fixture *fixture, const char *json);
/** Returns a pending pod. */
const struct bt_pod_info *fixture_pending(struct fixture *fixture, const char *json);
uint32_t fixture_slot(struct fixture *fixture, const char *node_name);

/** Returns the text of a status. */
const char *fixture_status_text(struct fixture *fixture, struct bt_status status);
/** Runs PreFilter only and returns its status; out_result may be NULL. */
const char *fixture_pre_filter(
	struct fixture *fixture, const char *pod, struct bt_pre_filter_result *out_result);
/**
 * Runs PreFilter and Filter of a fresh pod on a node. Returns the status of Filter, or of PreFilter
 * if PreFilter returns Skip or fails. If the plugin has a column form, this function and
 * fixture_score check that both forms agree.
 */
const char *fixture_filter(struct fixture *fixture, const char *pod, const char *node_name);
/** Runs Filter without PreFilter data; returns its status. */
const char *fixture_filter_alone(struct fixture *fixture, const char *pod, const char *node_name);
const char *fixture_pre_score(struct fixture *fixture, const char *pod);
/** Runs PreScore and Score, which must return Success; returns the score. */
int64_t fixture_score(struct fixture *fixture, const char *pod, const char *node_name);
/** Runs Score without PreScore data; returns its status. */
const char *fixture_score_alone(
	struct fixture *fixture, const char *pod, const char *node_name, int64_t *out_score);

enum fixture_hint {
	FIXTURE_SKIP,
	FIXTURE_QUEUE,
	FIXTURE_NOT_REGISTERED,
};

/**
 * Returns the hint for an event with this action bit. resource: "Pod", "Node" or the event's
 * resource of another kind, without group; objects are JSON or NULL. pod is the rejected pod; error
 * texts go to *out_error (may be NULL). If the event offers no mark that the pod's shape wants, the
 * hint must be Skip.
 */
enum fixture_hint fixture_hint(struct fixture *fixture, const char *resource, uint32_t action,
	const struct bt_pod_info *pod, const char *old_json, const char *new_json,
	const char **out_error);

/**
 * Returns the plugin's signature of the pod as "key=value" lines, or the status text if the plugin
 * does not sign.
 */
const char *fixture_sign(struct fixture *fixture, const char *pod);

/** Like ck_assert_str_eq, with the row's name in the message. */
void fixture_expect(const char *row, const char *actual, const char *expected);
#endif
