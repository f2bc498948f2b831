/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_NODE_INFO_H
#define BERTH_NODE_INFO_H
/**
 * @file
 * A node as the scheduler sees it: its allocatable resources, its pods and the sums of their
 * requests. Spec 01b sections 9 and 16.1, upstream v1.36.
 *
 * A node info is a view or an aggregate. Plugins receive views of the scheduler's tables, which can
 * only be read and cloned. berth_node_info_create(), berth_node_info_clone() and the maps of
 * berth-compat/berth/cache.h return aggregates, which belong to the caller and can be changed. All
 * functions that read accept views, aggregates and NULL (upstream's nil NodeInfo).
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
 * 0.0.0.0, an empty protocol TCP. Addresses are compared as text; 0.0.0.0 is the only wildcard.
 */

/** One occupied port. */
struct berth_host_port {
	struct berth_str ip;       /**< never empty */
	struct berth_str protocol; /**< never empty */
	int32_t port;              /**< greater than 0 */
};

/**
 * HostPortInfo: a set, not a multiset. All-zero memory is the empty set; release with
 * berth_host_port_info_finish(). Members may be read, but only functions may change them.
 */
struct berth_host_port_info {
	struct berth_host_port *ports; /**< ascending by port, protocol, ip; owned */
	uint32_t count;                /**< entries of ports: upstream's Len() */
	uint32_t capacity;             /**< allocated entries of ports; private */
};

/** Add: adds a port; ignores ports of 0 or less and ports in the set. */
BERTH_API void berth_host_port_info_add(struct berth_host_port_info *info, struct berth_str ip,
	struct berth_str protocol, int32_t port);
/** Remove: removes a port; ignores ports that are not in the set. */
BERTH_API void berth_host_port_info_remove(struct berth_host_port_info *info, struct berth_str ip,
	struct berth_str protocol, int32_t port);
/**
 * CheckConflict: whether a port conflicts with the set. 0.0.0.0 conflicts with the same protocol
 * and port on any address; another address conflicts with itself and with 0.0.0.0. false for a port
 * of 0 or less.
 */
BERTH_API bool berth_host_port_info_check_conflict(const struct berth_host_port_info *info,
	struct berth_str ip, struct berth_str protocol, int32_t port);
/** Writes a deep copy to @p out_copy, which is overwritten. */
BERTH_API void berth_host_port_info_clone(
	const struct berth_host_port_info *info, struct berth_host_port_info *out_copy);
/** Releases the entries and leaves the empty set. NULL is accepted. */
BERTH_API void berth_host_port_info_finish(struct berth_host_port_info *info);

/* The node. */

/**
 * A node as the scheduler sees it. Opaque. Plugins receive node infos that are valid for the call
 * and may describe a hypothetical node (preemption, nominated pods).
 */
struct berth_node_info;

/**
 * Name of the node; "" without a node object. Texts that these functions return are valid as long
 * as the node info.
 */
BERTH_API struct berth_str berth_node_info_name(const struct berth_node_info *node);
/** Value of a label of the node; absent (data NULL) when the node lacks the label. */
BERTH_API struct berth_str berth_node_info_label(
	const struct berth_node_info *node, struct berth_str key);
/** spec.unschedulable. */
BERTH_API bool berth_node_info_unschedulable(const struct berth_node_info *node);
/** status.allocatable: cpu in thousandths. */
BERTH_API int64_t berth_node_info_allocatable_cpu_milli(const struct berth_node_info *node);
/** status.allocatable: memory in bytes. */
BERTH_API int64_t berth_node_info_allocatable_memory_bytes(const struct berth_node_info *node);
/** Sum of the pods' cpu requests, in thousandths. */
BERTH_API int64_t berth_node_info_requested_cpu_milli(const struct berth_node_info *node);
/** Sum of the pods' memory requests, in bytes. */
BERTH_API int64_t berth_node_info_requested_memory_bytes(const struct berth_node_info *node);

/** Number of pods on the node, assumed pods included. */
BERTH_API uint32_t berth_node_info_pod_count(const struct berth_node_info *node);
/**
 * A pod of the node, 0 <= index < count. The pod info lives in the arena and is valid in this
 * cycle.
 */
BERTH_API const struct berth_pod_info *berth_node_info_pod_at(
	const struct berth_node_info *node, uint32_t index, struct berth_arena *arena);
/**
 * Pods, in the order of addition; a removal moves the last pod into the gap. The list lives in the
 * arena; the pod infos are valid until the node info changes. NULL if the node has no pods.
 */
BERTH_API const struct berth_pod_info *const *berth_node_info_pods(
	const struct berth_node_info *node, struct berth_arena *arena, uint32_t *out_count);
/**
 * PodsWithAffinity: the pods whose spec has podAffinity or podAntiAffinity, even if the field is
 * empty. The list lives in the arena; NULL if there are no such pods.
 */
BERTH_API const struct berth_pod_info *const *berth_node_info_pods_with_affinity(
	const struct berth_node_info *node, struct berth_arena *arena, uint32_t *out_count);

/**
 * Node: the node object of an aggregate; NULL if the aggregate has none. NULL for NULL and for
 * views, because the scheduler's tables do not keep node objects.
 */
BERTH_API const struct berth_node *berth_node_info_node(const struct berth_node_info *node);
/**
 * RequestedResource: sum of the pods' requests, assumed pods included. In an aggregate, a scalar
 * resource whose sum fell to 0 keeps its entry; views omit such entries. @p out_resource is
 * overwritten; owned: berth_resource_finish(). allowed_pod_number is 0, because upstream does not
 * use it.
 */
BERTH_API void berth_node_info_requested_resource(
	const struct berth_node_info *node, struct berth_resource *out_resource);
/**
 * NonZeroRequest: sum of cpu and memory requests, counting 100m and 200Mi for a container without a
 * request (spec 01b section 6). @p out_resource is overwritten; owned: berth_resource_finish().
 */
BERTH_API void berth_node_info_non_zero_request(
	const struct berth_node_info *node, struct berth_resource *out_resource);
/**
 * AllocatableResource: status.allocatable of the last node object, even after the object was
 * removed. @p out_resource is overwritten; owned: berth_resource_finish().
 */
BERTH_API void berth_node_info_allocatable_resource(
	const struct berth_node_info *node, struct berth_resource *out_resource);
/** AllowedPodNumber: allocatable pods, typically 110; 0 for NULL. */
BERTH_API int64_t berth_node_info_allowed_pod_number(const struct berth_node_info *node);

/**
 * UsedPorts: the occupied (ip, protocol, port), ascending by port, protocol, ip. The list lives in
 * the arena; NULL if no port is used.
 */
BERTH_API const struct berth_host_port *berth_node_info_used_ports(
	const struct berth_node_info *node, struct berth_arena *arena, uint32_t *out_count);
/** UsedPorts of v1.8: whether the port number is in use on any address with any protocol. */
BERTH_API bool berth_node_info_is_port_used(const struct berth_node_info *node, int32_t port);

/** A taint of a node. */
struct berth_taint {
	struct berth_str key;    /**< never empty in valid objects */
	struct berth_str value;  /**< may be empty */
	struct berth_str effect; /**< NoSchedule, PreferNoSchedule or NoExecute */
};

/**
 * Taints: spec.taints of the node; no taints without a node object. The list lives in the arena;
 * NULL if there are no taints. Always returns BERTH_OK; upstream's function has an error
 * because taints once were texts in annotations.
 */
BERTH_API int berth_node_info_taints(const struct berth_node_info *node, struct berth_arena *arena,
	const struct berth_taint **out_taints, uint32_t *out_count, struct berth_error *err);

/** ConditionStatus; BERTH_CONDITION_STATUS_NONE is the empty text. */
enum berth_condition_status {
	BERTH_CONDITION_STATUS_NONE = 0,    /**< "": no node object listed the condition */
	BERTH_CONDITION_STATUS_TRUE = 1,    /**< True */
	BERTH_CONDITION_STATUS_FALSE = 2,   /**< False */
	BERTH_CONDITION_STATUS_UNKNOWN = 3, /**< Unknown, or any other text */
};

/** "True", "False", "Unknown" or "". */
BERTH_API const char *berth_condition_status_string(enum berth_condition_status status);
/**
 * MemoryPressureCondition: status of the condition MemoryPressure in the last node object that
 * listed the condition; Unknown for NULL and after RemoveNode. Spec 05b D2. A view returns NONE if
 * the current node object does not list the condition.
 */
BERTH_API enum berth_condition_status berth_node_info_memory_pressure_condition(
	const struct berth_node_info *node);
/** DiskPressureCondition: like MemoryPressureCondition, for the condition DiskPressure. */
BERTH_API enum berth_condition_status berth_node_info_disk_pressure_condition(
	const struct berth_node_info *node);
/** PIDPressureCondition: like MemoryPressureCondition, for the condition PIDPressure. */
BERTH_API enum berth_condition_status berth_node_info_pid_pressure_condition(
	const struct berth_node_info *node);

/** ImageStateSummary: an image that the node has. Spec 01b section 9.6. */
struct berth_image_state {
	int64_t size_bytes;  /**< size reported by the first node that had the image */
	uint32_t node_count; /**< nodes with the image, when this node info was last updated */
};

/** Finds an image by name; false when the node lacks the image, and @p out_state is untouched. */
BERTH_API bool berth_node_info_image_state(const struct berth_node_info *node,
	struct berth_str image_name, struct berth_image_state *out_state);
/** PVCRefCounts: number of volumes of the node's pods that use the claim "namespace/name". */
BERTH_API uint32_t berth_node_info_pvc_ref_count(
	const struct berth_node_info *node, struct berth_str claim_key);

/**
 * Generation: every change of an aggregate sets a value that no aggregate of the process had
 * before. Copies with equal generations have equal content. Generations of views come from another
 * counter: compare them only with generations of views of the same engine. 0 for NULL.
 */
BERTH_API int64_t berth_node_info_generation(const struct berth_node_info *node);

/**
 * Filter: returns false only for a pod whose spec.nodeName is this node while the node info has no
 * pod of the same name and namespace. Without a node object every pod passes. @p node_info points
 * to a struct berth_node_info; its type is const void * because berth_pod_filter_fn requires it.
 */
BERTH_API bool berth_node_info_filter(const void *node_info, const struct berth_pod *pod);
/**
 * FilterOutPods: the pods for which berth_node_info_filter() returns true, in order; without a node
 * object, all pods. The list lives in the arena.
 */
BERTH_API const struct berth_pod *const *berth_node_info_filter_out_pods(
	const struct berth_node_info *node, const struct berth_pod *const *pods, uint32_t count,
	struct berth_arena *arena, uint32_t *out_count);
/**
 * String: a text for people, `&NodeInfo{Pods:[a b], RequestedResource:<...>, NonZeroRequest: <...>,
 * UsedPort: <...>, AllocatableResource:<...>}`, in the arena. The format of the inner texts may
 * change.
 */
BERTH_API struct berth_str berth_node_info_string(
	const struct berth_node_info *node, struct berth_arena *arena);

/**
 * NewNodeInfo: creates an aggregate without a node object and adds the pods (objects of kind Pod,
 * shared) in order. Owned: berth_node_info_destroy(). @p pods may be NULL when @p count is 0.
 */
BERTH_API struct berth_node_info *berth_node_info_create(
	struct berth_object *const *pods, uint32_t count);
/** Releases an aggregate from create or clone. Does nothing for a view or NULL. */
BERTH_API void berth_node_info_destroy(struct berth_node_info *node);
/**
 * Clone: an independent copy with the same generation; NULL for NULL. Owned:
 * berth_node_info_destroy(). As upstream, a copy keeps the sizes of images but not the number of
 * nodes that have them (node_count 0). The clone of a view is valid as long as the view; to try out
 * changes, add pods with berth_node_info_add_pod_info() and remove pods with
 * berth_node_info_remove_pod().
 */
BERTH_API struct berth_node_info *berth_node_info_clone(const struct berth_node_info *node);

/**
 * AddPod: appends the pod (of kind Pod, shared) and adds its requests, ports and claims. The sums
 * are not checked against allocatable, and a pod added twice counts twice. BERTH_ERR_INVALID: the
 * object is not a pod, or @p node is a view or the clone of a view.
 */
BERTH_API int berth_node_info_add_pod(
	struct berth_node_info *node, struct berth_object *pod, struct berth_error *err);
/**
 * AddPod for the clone of a view; @p pod must be a pod info of the same cycle. BERTH_ERR_INVALID:
 * @p node is no clone of a view, or @p pod belongs to an aggregate.
 */
BERTH_API int berth_node_info_add_pod_info(
	struct berth_node_info *node, const struct berth_pod_info *pod, struct berth_error *err);
/**
 * RemovePod: removes the first pod with the uid of @p pod; the last pod moves into the gap. The
 * amounts that were added for the stored pod are subtracted, even if @p pod has other requests; the
 * pod leaves PodsWithAffinity only if @p pod has affinity. BERTH_ERR_INVALID: @p node is a view, or
 * `cannot get cache key for pod with empty UID`; BERTH_ERR_NOT_FOUND: `no corresponding pod <name>
 * in pods of node <node>`.
 */
BERTH_API int berth_node_info_remove_pod(
	struct berth_node_info *node, const struct berth_pod *pod, struct berth_error *err);
/**
 * SetNode: stores the object (of kind Node, shared) and reads allocatable and conditions from it.
 * Pods, sums and images stay. BERTH_ERR_INVALID: the object is not a node, or @p node is a view or
 * the clone of a view.
 */
BERTH_API int berth_node_info_set_node(
	struct berth_node_info *node, struct berth_object *object, struct berth_error *err);
/**
 * RemoveNode: drops the node object. Pods, sums and allocatable stay; taints become empty, and the
 * pressure conditions Unknown. BERTH_ERR_INVALID: @p node is a view or the clone of a view.
 */
BERTH_API int berth_node_info_remove_node(struct berth_node_info *node, struct berth_error *err);

/**
 * TransientSchedulerInfo of v1.12: counts of a node's volumes in one cycle. Today the cycle state
 * holds such data: berth_cycle_state_write(state, key, &info->base).
 */
struct berth_transient_info {
	/** clone is NULL: copies of the cycle state share the data */
	struct berth_state_data base;
	int64_t allocatable_volumes_count; /**< number of volumes that can be attached */
	int64_t requested_volumes;         /**< number of volumes requested so far */
};

/**
 * The TransientSchedulerInfo of an aggregate; NULL for views and clones of views. Clones of
 * aggregates start with zeros.
 */
BERTH_API struct berth_transient_info *berth_node_info_transient_info(struct berth_node_info *node);
/** Sets the numbers to zero. */
BERTH_API void berth_transient_info_reset(struct berth_transient_info *info);

#ifdef __cplusplus
}
#endif
#endif
