/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_RESOURCES_H
#define BT_API_RESOURCES_H
/**
 * Resource names, requests of a pod, the integer resource record, host ports. Spec: 01b. Spec 05
 * section 3.3 names the variants of requests: A, Z and F.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/pod.h"
#include "base/arena.h"

/* Resource name classes, spec 01b section 2. */
bool bt_resource_is_native(struct bt_str name);
bool bt_resource_is_extended(struct bt_str name);
bool bt_resource_is_hugepage(struct bt_str name);
bool bt_resource_is_attachable_volume(struct bt_str name);
bool bt_resource_is_scalar(struct bt_str name);
bool bt_resource_is_dra_extended(struct bt_str name);
bool bt_resource_is_pod_level_supported(struct bt_str name);
bool bt_resource_is_overcommit_allowed(struct bt_str name);

#define BT_AMOUNT_PROBLEMS_MAX 2
/**
 * Validates an amount of a container's requests or limits as the API server does: "must be greater
 * than or equal to 0", "must be an integer". Spec 14b section 5. Returns the number of problems.
 */
uint32_t bt_resource_amount_problems(struct bt_str name, const struct bt_quantity *amount,
	const char *out_problems[BT_AMOUNT_PROBLEMS_MAX]);

#define BT_DEFAULT_CPU_MILLI 100
#define BT_DEFAULT_MEMORY_BYTES (INT64_C(200) * 1024 * 1024)

/**
 * Options of the request computation, spec 01b section 3. All-zero options: the function reads only
 * the spec, and includes pod-level resources and the overhead.
 */
struct bt_request_options {
	bool use_status;     /* also read the resources in the statuses of containers */
	bool use_pod_status; /* also read status.resources of the pod; requires use_status */
	bool no_overhead;
	bool no_pod_level;
	bool no_containers;
	bool dra_status; /* add status.nodeAllocatableResourceClaimStatuses */
	const struct bt_resource_list
		*missing; /* added to containers without these requests; NULL: none */
};

/** Default requests of spec 01b section 6 as a resource list (static storage). */
const struct bt_resource_list *bt_default_requests(void);

/**
 * Returns the pod's requests: exact sums, sorted by resource name, in the arena. Reads only spec
 * and status of the pod.
 */
struct bt_resource_list bt_pod_requests(
	const struct bt_pod *pod, const struct bt_request_options *options, struct bt_arena *arena);
/** Limits of a pod, spec 01b section 3.5. `missing` and `dra_status` of the options are ignored. */
struct bt_resource_list bt_pod_limits(
	const struct bt_pod *pod, const struct bt_request_options *options, struct bt_arena *arena);
/** Returns true if spec.resources.requests has a name supported at pod level. */
bool bt_pod_has_pod_level_requests(const struct bt_pod *pod);

struct bt_scalar_resource {
	struct bt_str name;
	int64_t value;
};

/**
 * Integer record of spec 01b section 10. scalars are sorted by name; the array is in the arena of
 * the call that last grew it. All-zero memory is the empty record.
 */
struct bt_resource {
	int64_t cpu_milli;
	int64_t memory_bytes;
	int64_t ephemeral_storage_bytes;
	int64_t allowed_pod_number;
	struct bt_scalar_resource *scalars;
	uint32_t scalar_count;
	uint32_t scalar_capacity;
};

/** The resources that every node has, as indexes of arrays of amounts in these units. */
enum bt_standard_resource {
	BT_CPU_MILLI,
	BT_MEMORY_BYTES,
	BT_EPHEMERAL_BYTES,
	BT_STANDARD__COUNT,
};

/** Number of the first standard resources that have default requests: cpu and memory. */
#define BT_NON_ZERO_COUNT 2

/** The names of the standard resources. */
extern const struct bt_str bt_standard_names[BT_STANDARD__COUNT];

static inline void bt_resource_get_standard(
	const struct bt_resource *resource, int64_t out_amounts[BT_STANDARD__COUNT])
{
	out_amounts[BT_CPU_MILLI] = resource->cpu_milli;
	out_amounts[BT_MEMORY_BYTES] = resource->memory_bytes;
	out_amounts[BT_EPHEMERAL_BYTES] = resource->ephemeral_storage_bytes;
}

/** Adds the amounts of the list; sums wrap on overflow. resource NULL: no effect. */
void bt_resource_add(
	struct bt_resource *resource, const struct bt_resource_list *list, struct bt_arena *arena);
/**
 * Raises each amount to the amount in the list; allowed_pod_number is left unchanged. resource
 * NULL: no effect.
 */
void bt_resource_set_max(
	struct bt_resource *resource, const struct bt_resource_list *list, struct bt_arena *arena);
/** Returns the value of a scalar, borrowed; NULL if the record has no such entry. */
const int64_t *bt_resource_find_scalar(const struct bt_resource *resource, struct bt_str name);

/** Feature gates of spec 01b section 5 that change a pod's resource vector. */
struct bt_resource_gates {
	bool pod_level_resources;          /* PodLevelResources, default true */
	bool in_place_pod_level_resources; /* InPlacePodLevelResourcesVerticalScaling, default true
	                                    */
	bool dra_node_allocatable_resources; /* DRANodeAllocatableResources, default false */
};

/**
 * Resources that a pod adds to its node. requested is variant A; the non_zero members are variant
 * Z, in which containers without requests for cpu or memory have default requests (spec 01b
 * sections 4 and 6, spec 05 section 3.3).
 */
struct bt_pod_resources {
	struct bt_resource requested;
	int64_t non_zero[BT_NON_ZERO_COUNT];
};

struct bt_pod_resources bt_pod_resources_compute(
	const struct bt_pod *pod, const struct bt_resource_gates *gates, struct bt_arena *arena);
/** Variant F: the request that NodeResourcesFit checks for this pod. */
struct bt_resource bt_pod_fit_request(
	const struct bt_pod *pod, const struct bt_resource_gates *gates, struct bt_arena *arena);

/** Host ports, spec 01b section 7: normalised triples. */
struct bt_host_port {
	struct bt_str ip;       /* never empty: "0.0.0.0" by default */
	struct bt_str protocol; /* never empty: "TCP" by default */
	int32_t port;           /* > 0 */
};

typedef BT_LIST(struct bt_host_port) bt_host_port_list;

/** Returns the ports of sidecars, then the ports of containers; only ports with hostPort > 0. */
bt_host_port_list bt_pod_host_ports(const struct bt_pod_spec *spec, struct bt_arena *arena);
/** Returns the index of the triple in ports[0..count), or count if it is not there. */
uint32_t bt_host_ports_find(
	const struct bt_host_port *ports, uint32_t count, const struct bt_host_port *port);
/** Returns true if wanted conflicts with the used triple. */
bool bt_host_port_conflicts(const struct bt_host_port *wanted, const struct bt_host_port *used);

/** Returns true for an init container with restartPolicy Always. */
bool bt_container_is_sidecar(const struct bt_container *init_container);
#endif
