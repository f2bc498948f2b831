/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_SIM_OBJECTS_H
#define BT_TESTS_SIM_OBJECTS_H
/** Makes small objects for the tests of the simulator; texts have ' in place of ". */
#include "api/pod.h"
#include "state/object_store.h"

/**
 * Decodes an object and puts it into the store, which owns the object. Without a store (NULL) the
 * caller owns the object.
 */
BT_PRINTF(2, 3)
struct bt_object *sim_object(struct bt_object_store *store, const char *format, ...);
/**
 * Makes a node with 2 CPUs, 4Gi and 4 pods in zone z0; more: further members, e.g. ",'spec':{...}".
 */
struct bt_object *sim_node(struct bt_object_store *store, const char *name, const char *more);
/**
 * Makes a pod in namespace a with the label app=x; its uid is its name. node "": not bound. cpu is
 * the request of its only container, unless more_spec has containers.
 */
struct bt_object *sim_pod(struct bt_object_store *store, const char *name, const char *node,
	const char *cpu, const char *more_spec);
const struct bt_pod *sim_find_pod(struct bt_object_store *store, const char *name);
const struct bt_node *sim_find_node(struct bt_object_store *store, const char *name);
#endif
