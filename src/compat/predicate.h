/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_COMPAT_PREDICATE_H
#define BT_COMPAT_PREDICATE_H
/** Shared by the files of the predicates. */
#include "base/vec.h"
#include "berth/predicate.h"
#include "framework/framework.h"
#include "lib/convert.h"

/** The plugin that implements each predicate, by enum berth_predicate. */
extern const struct bt_plugin_ops *const bt_predicate_plugins[BERTH_PREDICATE__COUNT];

/** A predicate registered by the caller. */
struct bt_registered_predicate {
	char *name; /* owned */
	berth_predicate_fn predicate;
};

struct berth_predicates {
	struct bt_state *state;
	bool owns_state;
	struct bt_config *config; /* reference held */
	/** The part of a framework that plugins read: the configuration. */
	struct bt_framework framework;
	struct bt_handle handle;
	struct bt_plugin *plugins[BERTH_PREDICATE__COUNT]; /* created at first use */
	BT_VEC(struct bt_registered_predicate) registered;
	BT_VEC(struct bt_str) ignored; /* in the configuration's memory */
	BT_VEC(int64_t) generations;   /* owned state: of the aggregate behind each slot */
};

/** The private part of metadata. */
struct berth_predicate_data {
	struct bt_object *object; /* reference held; NULL: the caller's pod */
	struct bt_pod_info info;
	struct bt_arena arena;
	struct bt_cycle_state cycle;
	/* Results of each plugin's PreFilter, if it ran. */
	bool asked[BERTH_PREDICATE__COUNT];
	struct bt_status answers[BERTH_PREDICATE__COUNT];
};

/** Index in the order of evaluation; BERTH_PREDICATE__COUNT: no such name. */
uint32_t bt_predicate_index(const char *name);
/** NULL: no predicate of the name is registered. */
berth_predicate_fn bt_predicate_find_registered(
	const struct berth_predicates *predicates, const char *name);
int bt_predicate_run(enum berth_predicate predicate, BERTH_PREDICATE_PARAMETERS);
#endif
