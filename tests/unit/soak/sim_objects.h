/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_SIM_OBJECTS_H
#define BT_TESTS_SIM_OBJECTS_H
/** Small objects for the tests of the simulator; quotes in the texts are written as '. */
#include "api/pod.h"
#include "state/object_store.h"

/** Decode, put into the store (may be NULL), return it borrowed (owned without a store). */
BT_PRINTF(2, 3)
struct bt_object *sim_object(struct bt_object_store *store, const char *format, ...);
/** A node of 2 CPUs, 4Gi, 4 pods in zone z0; more: further members, e.g. ",'spec':{...}". */
struct bt_object *sim_node(struct bt_object_store *store, const char *name, const char *more);
/** A pod of namespace a, its uid its name; node "" for none; label app=x; cpu is
 * for its one container, unless more_spec brings containers. */
struct bt_object *sim_pod(struct bt_object_store *store, const char *name, const char *node,
	const char *cpu, const char *more_spec);
const struct bt_pod *sim_find_pod(struct bt_object_store *store, const char *name);
const struct bt_node *sim_find_node(struct bt_object_store *store, const char *name);
#endif
