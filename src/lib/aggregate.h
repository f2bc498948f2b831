/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_AGGREGATE_H
#define BT_LIB_AGGREGATE_H
/**
 * Node aggregates: struct berth_node_info outside of the scheduler's tables. They are plain
 * structures with whole objects that follow upstream's rules exactly (pods counted twice, pods
 * without uid), which the tables of src/state cannot represent. Spec 01b sections 9 and 16.1.
 */
#include "api/node.h"
#include "api/object.h"
#include "api/resources.h"
#include "base/vec.h"
#include "berth/node_info.h"
#include "state/node_info.h"

/** A pod of an aggregate. Its data is computed once and shared by lists, copies and caches. */
struct bt_aggregate_pod {
	uint32_t reference_count;
	struct bt_object *object; /* reference held */
	const struct bt_pod *pod; /* value of `object` */
	struct bt_pod_resources resources;
	/**
	 * Only for the accessors of berth/pod_info.h: the shape is in no shape table (ref_count 0),
	 * and its scalar resources have no columns. To run plugins, make a pod info in the state
	 * that they use.
	 */
	struct bt_shape shape;
	struct bt_pod_info info;
	struct bt_arena arena;
};

/** Statuses of the pressure conditions, as last reported by the node objects seen so far. */
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
	 * First member, because public pointers point to it. If view.state is set, the aggregate is
	 * the clone of a view; if NULL, only the other members of the aggregate are used.
	 */
	struct bt_node_info view;
	struct bt_arena arena;                                /* only for the clone of a view */
	const struct bt_object *node;                         /* reference held; NULL: none */
	BT_VEC(struct bt_aggregate_pod *) pods;               /* one reference held to each */
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
/** The default feature gates of spec 01b section 5. */
extern const struct bt_resource_gates bt_aggregate_default_gates;

/**
 * Makes a pod of an aggregate from the object, which must be of kind Pod. The caller gets one
 * reference.
 */
BT_MUST_USE struct bt_aggregate_pod *bt_aggregate_pod_create(
	struct bt_object *object, const struct bt_resource_gates *gates);
BT_MUST_USE struct bt_aggregate_pod *bt_aggregate_pod_share(struct bt_aggregate_pod *pod);
void bt_aggregate_pod_release(struct bt_aggregate_pod *pod);

BT_MUST_USE struct bt_aggregate *bt_aggregate_create(void);
void bt_aggregate_destroy(struct bt_aggregate *aggregate);
/** Adds the pod and takes a reference to it. */
void bt_aggregate_add(struct bt_aggregate *aggregate, struct bt_aggregate_pod *pod);
/** Adds the pod of an object, which must be of kind Pod, with the default feature gates. */
void bt_aggregate_add_object(struct bt_aggregate *aggregate, struct bt_object *object);
/** Sets the node object, of kind Node, and takes a reference to it. */
void bt_aggregate_set_node(struct bt_aggregate *aggregate, struct bt_object *node);
/**
 * Updates the pressures from the node's conditions. A condition that the node does not list keeps
 * its status. Spec 01b section 16.1.
 */
void bt_pressures_take(struct bt_pressures *pressures, const struct bt_node *node);
extern const struct bt_pressures bt_pressures_unknown;
/** Appends an image. Images must come sorted by name, without duplicates; the name is copied. */
void bt_aggregate_push_image(
	struct bt_aggregate *aggregate, struct bt_str name, const struct berth_image_state *state);

static inline struct berth_node_info *berth_node_info_of_aggregate(struct bt_aggregate *aggregate)
{
	return (struct berth_node_info *)(void *)aggregate;
}

/** Returns the aggregate behind a public pointer; NULL for NULL and for plain views. */
static inline struct bt_aggregate *bt_aggregate_of(const struct berth_node_info *node)
{
	const struct bt_node_info *view = (const struct bt_node_info *)(const void *)node;

	return view != NULL ? (struct bt_aggregate *)(uintptr_t)view->owner : NULL;
}

/** Like bt_aggregate_of, but returns NULL also for clones of views. */
static inline struct bt_aggregate *bt_alone_of(const struct berth_node_info *node)
{
	struct bt_aggregate *aggregate = bt_aggregate_of(node);

	return aggregate != NULL && aggregate->view.state == NULL ? aggregate : NULL;
}

/** Returns the node object of an aggregate that is not the clone of a view, or NULL. */
static inline const struct bt_node *bt_aggregate_node(const struct bt_aggregate *aggregate)
{
	return aggregate->node != NULL ? aggregate->node->value : NULL;
}
#endif
