/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_NODE_INFO_H
#define BERTH_NODE_INFO_H
/**
 * @file
 * A node as the scheduler sees it: what it offers, what its pods have requested, which pods they
 * are. Spec 01b sections 9 and 16.1, upstream v1.36.
 *
 * There are two kinds. A plugin is handed views of the scheduler's own tables: they can be read and
 * cloned. Aggregates of berth_node_info_create(), of berth_node_info_clone() and of the maps of
 * cache.h stand alone and can be changed. All functions that read accept both, and NULL: upstream's
 * null aggregate.
 *
 * @code{.c}
 * static bool has_cpu_for(const struct berth_node_info *node, const struct berth_pod_info *pod)
 * {
 *     return berth_node_info_requested_cpu_milli(node) + berth_pod_info_cpu_milli(pod) <=
 *         berth_node_info_allocatable_cpu_milli(node);
 * }
 * @endcode
 */
#include <stdbool.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/cycle_state.h"
#include "berth/error.h"
#include "berth/object.h"
#include "berth/pod_info.h"
#include "berth/resource.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Host ports in use on a node: a set of (ip, protocol, port). Spec 01b section 7. An empty ip means
 * 0.0.0.0, an empty protocol TCP. Addresses are compared as text; only 0.0.0.0 stands for all.
 */

/** One occupied port. */
struct berth_host_port {
	struct berth_str ip;       /**< never empty */
	struct berth_str protocol; /**< never empty */
	int32_t port;              /**< greater than 0 */
};

/**
 * HostPortInfo: a set, not a multiset. All-zero memory is the empty set; release with
 * berth_host_port_info_finish(). Read the members, change them by functions only.
 */
struct berth_host_port_info {
	struct berth_host_port *ports; /**< ascending by port, protocol, ip; owned */
	uint32_t count;                /**< entries of ports: upstream's Len() */
	uint32_t capacity;             /**< room, private */
};

/** Add: nothing for a port of 0 or less, or one that is there already. */
BERTH_API void berth_host_port_info_add(struct berth_host_port_info *info, struct berth_str ip,
	struct berth_str protocol, int32_t port);
/** Remove: nothing for a port that is not there. */
BERTH_API void berth_host_port_info_remove(struct berth_host_port_info *info, struct berth_str ip,
	struct berth_str protocol, int32_t port);
/**
 * CheckConflict: 0.0.0.0 conflicts with the same protocol and port on any address, another address
 * with itself and with 0.0.0.0. false for a port of 0 or less.
 */
BERTH_API bool berth_host_port_info_check_conflict(const struct berth_host_port_info *info,
	struct berth_str ip, struct berth_str protocol, int32_t port);
/** A deep copy into @p out_copy, which is overwritten. */
BERTH_API void berth_host_port_info_clone(
	const struct berth_host_port_info *info, struct berth_host_port_info *out_copy);
/** Releases the entries and leaves the empty set. NULL is accepted. */
BERTH_API void berth_host_port_info_finish(struct berth_host_port_info *info);

/* The node. */

/** Opaque. One that a plugin is handed is valid for the call; it may describe a what-if. */
struct berth_node_info;

/** Name of the node; "" without a node object. Texts here are borrowed while the node info is
 * valid. */
BERTH_API struct berth_str berth_node_info_name(const struct berth_node_info *node);
/** Value of a label of the node; absent (data NULL) when it lacks it. */
BERTH_API struct berth_str berth_node_info_label(
	const struct berth_node_info *node, struct berth_str key);
/** spec.unschedulable. */
BERTH_API bool berth_node_info_unschedulable(const struct berth_node_info *node);
/** status.allocatable: cpu in thousandths. */
BERTH_API int64_t berth_node_info_allocatable_cpu_milli(const struct berth_node_info *node);
/** status.allocatable: memory in bytes. */
BERTH_API int64_t berth_node_info_allocatable_memory_bytes(const struct berth_node_info *node);
/** Sum of the cpu requests of its pods, in thousandths. */
BERTH_API int64_t berth_node_info_requested_cpu_milli(const struct berth_node_info *node);
/** Sum of the memory requests of its pods, in bytes. */
BERTH_API int64_t berth_node_info_requested_memory_bytes(const struct berth_node_info *node);

/** Number of pods on the node, assumed ones included. */
BERTH_API uint32_t berth_node_info_pod_count(const struct berth_node_info *node);
/** A pod of the node, 0 <= index < count; the info lives in the arena and is valid in this cycle.
 */
BERTH_API const struct berth_pod_info *berth_node_info_pod_at(
	const struct berth_node_info *node, uint32_t index, struct berth_arena *arena);
/**
 * Pods: in order of addition; a removal moves the last one into the gap. The list lives in the
 * arena, what it points to is valid until the aggregate changes. NULL when there are none.
 */
BERTH_API const struct berth_pod_info *const *berth_node_info_pods(
	const struct berth_node_info *node, struct berth_arena *arena, uint32_t *out_count);
/** PodsWithAffinity: those that have podAffinity or podAntiAffinity, even empty ones. */
BERTH_API const struct berth_pod_info *const *berth_node_info_pods_with_affinity(
	const struct berth_node_info *node, struct berth_arena *arena, uint32_t *out_count);

/**
 * Node: the node object; NULL for NULL, without one, and for views of the scheduler, which keeps no
 * whole node objects.
 */
BERTH_API const struct berth_node *berth_node_info_node(const struct berth_node_info *node);
/**
 * RequestedResource: sum of the pods' requests, assumed pods included; scalar entries that fell to
 * 0 stay (views leave entries of 0 out). @p out_resource is overwritten: berth_resource_finish().
 * Upstream's allowed pod number of the sum is not used.
 */
BERTH_API void berth_node_info_requested_resource(
	const struct berth_node_info *node, struct berth_resource *out_resource);
/**
 * NonZeroRequest: cpu and memory with 100m and 200Mi for each container that names none (spec 01b
 * section 6). @p out_resource is overwritten.
 */
BERTH_API void berth_node_info_non_zero_request(
	const struct berth_node_info *node, struct berth_resource *out_resource);
/**
 * AllocatableResource: status.allocatable as of the last node object, also after that one was
 * removed. @p out_resource is overwritten.
 */
BERTH_API void berth_node_info_allocatable_resource(
	const struct berth_node_info *node, struct berth_resource *out_resource);
/** AllowedPodNumber: allocatable pods, typically 110; 0 for NULL. */
BERTH_API int64_t berth_node_info_allowed_pod_number(const struct berth_node_info *node);

/**
 * UsedPorts: the occupied (ip, protocol, port), ascending by port, protocol, ip; the list lives in
 * the arena, NULL when there are none.
 */
BERTH_API const struct berth_host_port *berth_node_info_used_ports(
	const struct berth_node_info *node, struct berth_arena *arena, uint32_t *out_count);
/** UsedPorts of v1.8: the port number is in use on some address with some protocol. */
BERTH_API bool berth_node_info_is_port_used(const struct berth_node_info *node, int32_t port);

/** Whose pods a node does not take. */
struct berth_taint {
	struct berth_str key;    /**< never empty in valid objects */
	struct berth_str value;  /**< may be empty */
	struct berth_str effect; /**< NoSchedule, PreferNoSchedule or NoExecute */
};

/**
 * Taints: spec.taints of the node, none without one. The list lives in the arena, NULL when there
 * are none. BERTH_OK always: the error is of the time when taints were an annotation.
 */
BERTH_API int berth_node_info_taints(const struct berth_node_info *node, struct berth_arena *arena,
	const struct berth_taint **out_taints, uint32_t *out_count, struct berth_error *err);

/** ConditionStatus, and what stands for its empty text. */
enum berth_condition_status {
	BERTH_CONDITION_STATUS_NONE = 0,    /**< "": no such condition was ever seen */
	BERTH_CONDITION_STATUS_TRUE = 1,    /**< True */
	BERTH_CONDITION_STATUS_FALSE = 2,   /**< False */
	BERTH_CONDITION_STATUS_UNKNOWN = 3, /**< Unknown, and any other text */
};

/** "True", "False", "Unknown" or "". */
BERTH_API const char *berth_condition_status_string(enum berth_condition_status status);
/**
 * MemoryPressureCondition: status of the last condition of that type seen by SetNode (one that
 * disappears keeps its status); Unknown for NULL and after RemoveNode. Spec 05b D2. Views know the
 * present node object only.
 */
BERTH_API enum berth_condition_status berth_node_info_memory_pressure_condition(
	const struct berth_node_info *node);
/** DiskPressureCondition: likewise. */
BERTH_API enum berth_condition_status berth_node_info_disk_pressure_condition(
	const struct berth_node_info *node);
/** PIDPressureCondition: likewise. */
BERTH_API enum berth_condition_status berth_node_info_pid_pressure_condition(
	const struct berth_node_info *node);

/** ImageStateSummary: an image that the node has. Spec 01b section 9.6. */
struct berth_image_state {
	int64_t size_bytes;  /**< as the first node reported it that had the image */
	uint32_t node_count; /**< nodes with the image, as of this node's last refresh */
};

/** The image of a name; false when the node lacks it. @p out_state is then untouched. */
BERTH_API bool berth_node_info_image_state(const struct berth_node_info *node,
	struct berth_str image_name, struct berth_image_state *out_state);
/** PVCRefCounts: volumes of the node's pods that use the claim "namespace/name". */
BERTH_API uint32_t berth_node_info_pvc_ref_count(
	const struct berth_node_info *node, struct berth_str claim_key);

/**
 * Generation: another value after each change, never one that an aggregate of this program had
 * before; equal generations of copies mean equal content. Views number the changes of their cache.
 * 0 for NULL.
 */
BERTH_API int64_t berth_node_info_generation(const struct berth_node_info *node);

/**
 * Filter: false only for a pod that is assigned to this node (spec.nodeName) while no pod of its
 * name and namespace is among the aggregate's. @p node_info is a const struct berth_node_info *;
 * the function is a berth_pod_filter_fn. Without a node object every pod passes.
 */
BERTH_API bool berth_node_info_filter(const void *node_info, const struct berth_pod *pod);
/**
 * FilterOutPods: the pods that berth_node_info_filter() keeps, in order; all of them without a node
 * object. The list lives in the arena.
 */
BERTH_API const struct berth_pod *const *berth_node_info_filter_out_pods(
	const struct berth_node_info *node, const struct berth_pod *const *pods, uint32_t count,
	struct berth_arena *arena, uint32_t *out_count);
/**
 * String, for people: `&NodeInfo{Pods:[a b], RequestedResource:<...>, NonZeroRequest: <...>,
 * UsedPort: <...>, AllocatableResource:<...>}`, in the arena. The inner texts are no stable form.
 */
BERTH_API struct berth_str berth_node_info_string(
	const struct berth_node_info *node, struct berth_arena *arena);

/**
 * NewNodeInfo: no node object, and these pods (objects of kind Pod, shared) added in order. Owned:
 * berth_node_info_destroy(). @p pods may be NULL when @p count is 0.
 */
BERTH_API struct berth_node_info *berth_node_info_create(
	struct berth_object *const *pods, uint32_t count);
/** For aggregates of create and clone only. NULL is accepted. */
BERTH_API void berth_node_info_destroy(struct berth_node_info *node);
/**
 * Clone: an independent copy with the same generation. Owned. As upstream, a copy knows the sizes
 * of images and no longer on how many nodes they are (node_count 0). The clone of a view is good
 * for a what-if as long as the view is: pods are added to it by berth_node_info_add_pod_info().
 */
BERTH_API struct berth_node_info *berth_node_info_clone(const struct berth_node_info *node);

/**
 * AddPod: appends the pod (of kind Pod, shared) and adds its requests, ports and claims; nothing is
 * compared with allocatable, and a pod added twice counts twice. BERTH_ERR_INVALID: not a pod, or
 * the clone of a view.
 */
BERTH_API int berth_node_info_add_pod(
	struct berth_node_info *node, struct berth_object *pod, struct berth_error *err);
/** AddPod for the clone of a view: @p pod is one of the same cycle. Else BERTH_ERR_INVALID. */
BERTH_API int berth_node_info_add_pod_info(
	struct berth_node_info *node, const struct berth_pod_info *pod, struct berth_error *err);
/**
 * RemovePod: by uid, the first such pod; the last one moves into the gap. What was added for it is
 * subtracted, whatever @p pod says today; @p pod decides whether it leaves the list of pods with
 * affinity. BERTH_ERR_INVALID: `cannot get cache key for pod with empty UID`; BERTH_ERR_NOT_FOUND:
 * `no corresponding pod <name> in pods of node <node>`.
 */
BERTH_API int berth_node_info_remove_pod(
	struct berth_node_info *node, const struct berth_pod *pod, struct berth_error *err);
/**
 * SetNode: stores the object (of kind Node, shared) and takes allocatable and conditions from it.
 * Pods, sums and images stay. BERTH_ERR_INVALID: not a node, or the clone of a view.
 */
BERTH_API int berth_node_info_set_node(
	struct berth_node_info *node, struct berth_object *object, struct berth_error *err);
/**
 * RemoveNode: no node object any more; pods, sums and allocatable stay, taints are none, the
 * conditions read Unknown. BERTH_ERR_INVALID for the clone of a view.
 */
BERTH_API int berth_node_info_remove_node(struct berth_node_info *node, struct berth_error *err);

/**
 * TransientSchedulerInfo of v1.12: totals of one cycle about a node's volumes. Today such data is
 * cycle state, so it can be written there: berth_cycle_state_write(state, key, &info->base).
 */
struct berth_transient_info {
	struct berth_state_data base;      /**< clone NULL: a what-if shares it */
	int64_t allocatable_volumes_count; /**< volumes that can be attached */
	int64_t requested_volumes;         /**< volumes asked for so far */
};

/** The scratch data of an aggregate that stands alone; NULL for views. Clones start with zeros. */
BERTH_API struct berth_transient_info *berth_node_info_transient_info(struct berth_node_info *node);
/** Back to zeros. */
BERTH_API void berth_transient_info_reset(struct berth_transient_info *info);

#ifdef __cplusplus
}
#endif
#endif
