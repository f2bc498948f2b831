/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_PLUGINS_FIXTURE_H
#define BT_TESTS_UNIT_PLUGINS_FIXTURE_H
/**
 * One plugin on a small cluster made of JSON snippets. In the snippets ' stands for ". Pods get a
 * uid, a name and the namespace "default" when they have none. Statuses are compared as text:
 * "Success", "Skip" or "<Code>: <message>".
 */
#include <stdint.h>

#include "framework/framework.h"
#include "framework/plugin.h"
#include "plugins/in_tree.h"

struct fixture {
	struct bt_arena arena; /* objects, cycle data, texts */
	struct bt_gates gates;
	struct bt_state *state;
	struct bt_config *config;
	struct bt_handle handle;
	struct bt_plugin *plugin; /* index 0 */
	BT_VEC(struct bt_pod_info *) pods;
	uint32_t pod_number;
};

/** A plugin with default gates and arguments. */
void fixture_init(struct fixture *fixture, const struct bt_plugin_ops *ops);
/** gates: as --feature-gates, NULL = defaults; args: the plugin's arguments as JSON, NULL =
 * defaults. */
void fixture_init_with(struct fixture *fixture, const struct bt_plugin_ops *ops, const char *gates,
	const char *args);
void fixture_finish(struct fixture *fixture);

/** Decoded objects; memory of the fixture. */
struct bt_pod *fixture_pod(struct fixture *fixture, const char *json);
struct bt_node *fixture_node(struct fixture *fixture, const char *json);

void fixture_add_node(struct fixture *fixture, const char *json);
/** Any object but a pod or a node, with its kind; the namespace is "default" when it is namespaced.
 */
void fixture_put(struct fixture *fixture, const char *json);
void fixture_delete(
	struct fixture *fixture, enum bt_kind kind, const char *namespace_, const char *name);
/** An assigned pod (spec.nodeName). */
void fixture_add_pod(struct fixture *fixture, const char *json);
/** A pod to be scheduled. */
const struct bt_pod_info *fixture_pending(struct fixture *fixture, const char *json);
uint32_t fixture_slot(struct fixture *fixture, const char *node_name);

/** Text of a status. */
const char *fixture_status_text(struct fixture *fixture, struct bt_status status);
/** PreFilter only; out_result may be NULL. */
const char *fixture_pre_filter(
	struct fixture *fixture, const char *pod, struct bt_pre_filter_result *out_result);
/**
 * PreFilter and Filter of a fresh pod on a node. "Skip" when PreFilter said so. The column form, if
 * the plugin has one, must agree; the same for fixture_score.
 */
const char *fixture_filter(struct fixture *fixture, const char *pod, const char *node_name);
/** Filter without PreFilter data. */
const char *fixture_filter_alone(struct fixture *fixture, const char *pod, const char *node_name);
const char *fixture_pre_score(struct fixture *fixture, const char *pod);
/** PreScore and Score; the status must be Success. */
int64_t fixture_score(struct fixture *fixture, const char *pod, const char *node_name);
/** Score without PreScore data. */
const char *fixture_score_alone(
	struct fixture *fixture, const char *pod, const char *node_name, int64_t *out_score);

enum fixture_hint {
	FIXTURE_SKIP,
	FIXTURE_QUEUE,
	FIXTURE_NOT_REGISTERED,
};

/**
 * The hint for an event with this action bit. resource: "Pod", "Node" or the event's resource of
 * another kind, without group; objects are JSON or NULL.
 * pod is the rejected one; error texts go to *out_error (may be NULL).
 */
enum fixture_hint fixture_hint(struct fixture *fixture, const char *resource, uint32_t action,
	const struct bt_pod_info *pod, const char *old_json, const char *new_json,
	const char **out_error);

/** "key=value" lines of the plugin's signature of the pod, or the status text when it does not
 * sign. */
const char *fixture_sign(struct fixture *fixture, const char *pod);

/** ck_assert_str_eq with the row's name in front. */
void fixture_expect(const char *row, const char *actual, const char *expected);
#endif
