/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_SPREAD_SELECTORS_H
#define BT_PLUGINS_COMMON_SPREAD_SELECTORS_H
/**
 * Selectors put together from requirements, and the one of default constraints: what the services
 * and the owner of a pod select. A namespace may have thousands of services, so it is kept for pods
 * that agree in namespace, labels and owner until an object changes. Spec: 06 section 2.3.
 */
#include "api/selector.h"
#include "state/pod_info.h"

/** A list of requirements that grows in an arena. */
struct bt_requirements {
	struct bt_arena *arena;
	struct bt_requirement *items;
	uint32_t count;
	uint32_t capacity;
};

void bt_requirements_add_selector(struct bt_requirements *list, const struct bt_selector *selector);
/** key == value; the value must outlive the list. */
void bt_requirements_add_pair(
	struct bt_requirements *list, struct bt_str key, const struct bt_str *value);
/** All of them; borrows the list. */
struct bt_selector bt_requirements_selector(const struct bt_requirements *list);

struct bt_spread_selectors;

struct bt_spread_selectors *bt_spread_selectors_create(void);
void bt_spread_selectors_destroy(struct bt_spread_selectors *kept);
/** Memory from the arena. Without requirements: nothing selects the pod. */
struct bt_selector bt_spread_default_selector(struct bt_spread_selectors *kept,
	struct bt_state *state, const struct bt_pod_info *pod, struct bt_arena *arena);
#endif
