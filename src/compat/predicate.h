/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_COMPAT_PREDICATE_H
#define BT_COMPAT_PREDICATE_H
/** The structures of the public predicates, which predicate*.c and equivalence.c use. */
#include "base/vec.h"
#include "berth/predicate.h"
#include "framework/framework.h"
#include "lib/convert.h"

#define BT_PREDICATE_DEFAULT 1 /* Kubernetes v1.12 evaluates it by default: spec 05b A1 */
#define BT_PREDICATE_LOCAL 2   /* the predicate reads only the pod and its node */

struct bt_predicate_info {
	const struct bt_plugin_ops *plugin; /* implements the predicate */
	berth_predicate_fn function;
	uint32_t traits; /* BT_PREDICATE_DEFAULT, BT_PREDICATE_LOCAL */
};

extern const struct bt_predicate_info bt_predicate_infos[BERTH_PREDICATE__COUNT];

/** A predicate registered by the caller. */
struct bt_registered_predicate {
	char *name; /* owned */
	berth_predicate_fn predicate;
};

struct berth_predicates {
	struct bt_state *state;
	bool owns_state;
	struct bt_config *config; /* reference held */
	/**
	 * Only framework.config is set: the plugins that implement predicates read nothing else.
	 */
	struct bt_framework framework;
	struct bt_handle handle;
	struct bt_plugin *plugins[BERTH_PREDICATE__COUNT]; /* created at first use */
	BT_VEC(struct bt_registered_predicate) registered;
	BT_VEC(struct bt_str) ignored; /* resources that extenders handle; borrowed from config */
	/** By slot: generation of the aggregate that the owned state has a copy of; 0: none. */
	BT_VEC(int64_t) generations;
};

/** The private part of the metadata. */
struct berth_predicate_data {
	struct bt_object *object; /* reference held; NULL: the caller keeps the pod alive */
	struct bt_pod_info info;
	struct bt_arena arena;
	struct bt_cycle_state cycle;
	/* Whether PreFilter of each predicate ran for the pod, and its status. */
	bool pre_filter_ran[BERTH_PREDICATE__COUNT];
	struct bt_status pre_filter_statuses[BERTH_PREDICATE__COUNT];
};

/** Returns the enum berth_predicate of a name; BERTH_PREDICATE__COUNT: the name is unknown. */
uint32_t bt_predicate_index(const char *name);
/** Returns the entry that the caller registered under the name, or NULL. */
struct bt_registered_predicate *bt_predicate_find_registered(
	const struct berth_predicates *predicates, const char *name);
/** Evaluates a predicate: the body of the public function of each predicate. */
int bt_predicate_run(enum berth_predicate predicate, BERTH_PREDICATE_PARAMETERS);
#endif
