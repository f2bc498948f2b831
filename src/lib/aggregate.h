/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_AGGREGATE_H
#define BT_LIB_AGGREGATE_H
/**
 * Aggregates: the struct berth_node_info that a caller of the library creates and changes. Plugins
 * read views (struct bt_node_info) of the scheduler's tables instead.
 *
 * A standalone aggregate stores whole objects and its own sums. It follows upstream's rules also
 * where the tables of src/state refuse the input: the same pod added twice counts twice, and pods
 * without a uid are accepted. The clone of a view stores a changed view. Spec 01b sections 9 and
 * 16.1.
 */
#include "api/node.h"
#include "api/object.h"
#include "api/resources.h"
#include "base/vec.h"
#include "berth/node_info.h"
#include "state/node_info.h"

/**
 * A pod of aggregates. The members are computed once: aggregates, their clones and the cache share
 * the structure by reference.
 */
struct bt_aggregate_pod {
	uint32_t reference_count;
	struct bt_object *object; /* reference held */
	const struct bt_pod *pod; /* value of `object` */
	struct bt_pod_resources resources;
	/**
	 * shape and info serve only the accessors of berth/pod_info.h. Plugins must not get them:
	 * the shape is in no shape table (its ref_count is 0), and its scalar resources have no
	 * columns. To run plugins on the pod, make another pod info with bt_pod_info_init_pending.
	 */
	struct bt_shape shape;
	struct bt_pod_info info;
	struct bt_arena arena;
};

/** For each pressure condition, the status in the last node object that listed the condition. */
struct bt_pressures {
	enum berth_condition_status memory;
	enum berth_condition_status disk;
	enum berth_condition_status pid;
};

struct bt_aggregate_image {
	struct bt_str name; /* owned */
	struct berth_image_state state;
};

struct bt_aggregate {
	/**
	 * Must be first, because a pointer to the public structure points here. A standalone
	 * aggregate has view.state NULL and uses all members, but only `owner` of the view. The
	 * clone of a view has view.state set and uses only the members view, arena and generation.
	 */
	struct bt_node_info view;
	struct bt_arena arena;                  /* memory of the changes to view */
	const struct bt_object *node;           /* reference held; NULL: no node is set */
	BT_VEC(struct bt_aggregate_pod *) pods; /* one reference held to each */
	BT_VEC(struct bt_aggregate_pod *) pods_with_affinity; /* one reference held to each */
	struct berth_resource requested;
	struct berth_resource non_zero;
	struct berth_resource allocatable;
	struct berth_host_port_info ports;
	BT_VEC(struct bt_aggregate_image) images; /* ascending by name */
	struct bt_pressures pressures;
	struct berth_transient_info transient;
	int64_t generation;
};

/** Returns a number that this process has not returned before. */
int64_t bt_aggregate_next_generation(void);
/**
 * The feature gates that change how the requests of a pod are computed, each with its default value
 * (spec 01b section 5).
 */
extern const struct bt_resource_gates bt_aggregate_default_gates;

/**
 * Creates a pod for aggregates. The object must be of kind Pod; a reference to it is taken. The
 * caller gets one reference to the result.
 */
BT_MUST_USE struct bt_aggregate_pod *bt_aggregate_pod_create(
	struct bt_object *object, const struct bt_resource_gates *gates);
BT_MUST_USE struct bt_aggregate_pod *bt_aggregate_pod_share(struct bt_aggregate_pod *pod);
void bt_aggregate_pod_release(struct bt_aggregate_pod *pod);

BT_MUST_USE struct bt_aggregate *bt_aggregate_create(void);
void bt_aggregate_destroy(struct bt_aggregate *aggregate);
/** Adds a pod and its requests and ports; takes a reference to the pod. */
void bt_aggregate_add(struct bt_aggregate *aggregate, struct bt_aggregate_pod *pod);
/**
 * Adds a pod from an object of kind Pod. The requests are computed with the default feature gates.
 */
void bt_aggregate_add_object(struct bt_aggregate *aggregate, struct bt_object *object);
/** Sets the node from an object of kind Node, to which a reference is taken. */
void bt_aggregate_set_node(struct bt_aggregate *aggregate, struct bt_object *node);
/**
 * Updates the pressures from the node's conditions. The status of a condition that the node does
 * not list stays unchanged. Spec 01b section 16.1.
 */
void bt_pressures_take(struct bt_pressures *pressures, const struct bt_node *node);
extern const struct bt_pressures bt_pressures_unknown;
/**
 * Appends an image, whose name is copied. The caller must append images in ascending order of their
 * names, each name once.
 */
void bt_aggregate_push_image(
	struct bt_aggregate *aggregate, struct bt_str name, const struct berth_image_state *state);

static inline struct berth_node_info *berth_node_info_of_aggregate(struct bt_aggregate *aggregate)
{
	return (struct berth_node_info *)(void *)aggregate;
}

/**
 * Returns the aggregate of a public pointer; NULL if the pointer is NULL or points to a view of the
 * tables.
 */
static inline struct bt_aggregate *bt_aggregate_of(const struct berth_node_info *node)
{
	const struct bt_node_info *view = (const struct bt_node_info *)(const void *)node;

	return view != NULL ? (struct bt_aggregate *)(uintptr_t)view->owner : NULL;
}

/**
 * Returns the standalone aggregate of a public pointer; NULL if the pointer is NULL or points to a
 * view or to the clone of a view.
 */
static inline struct bt_aggregate *bt_standalone_of(const struct berth_node_info *node)
{
	struct bt_aggregate *aggregate = bt_aggregate_of(node);

	return aggregate != NULL && aggregate->view.state == NULL ? aggregate : NULL;
}

/** Returns the node of a standalone aggregate; NULL if no node is set. */
static inline const struct bt_node *bt_aggregate_node(const struct bt_aggregate *aggregate)
{
	return aggregate->node != NULL ? aggregate->node->value : NULL;
}
#endif
