/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_RESOURCE_H
#define BERTH_RESOURCE_H
/**
 * @file
 * Amounts of resources: exact quantities as objects write them, and the integers that scheduling
 * computes with. Spec 01 section 5.1, 01b sections 2, 10 and 16.1, upstream v1.36.
 *
 * @code{.c}
 * static int64_t free_devices(const struct berth_node_info *node, struct berth_str name)
 * {
 *     struct berth_resource allocatable;
 *     struct berth_resource requested;
 *
 *     berth_node_info_allocatable_resource(node, &allocatable);
 *     berth_node_info_requested_resource(node, &requested);
 *     int64_t amount = berth_resource_scalar(&allocatable, name) -
 *         berth_resource_scalar(&requested, name);
 *     berth_resource_finish(&allocatable);
 *     berth_resource_finish(&requested);
 *     return amount;
 * }
 * @endcode
 */
#include <stdbool.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/error.h"
#include "berth/object.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Name of the GPU resource of old releases, today an ordinary scalar resource. */
#define BERTH_RESOURCE_NVIDIA_GPU "alpha.kubernetes.io/nvidia-gpu"

/** Name of the resource that limits the number of pods. */
#define BERTH_RESOURCE_PODS "pods"
/** Name of the cpu resource. */
#define BERTH_RESOURCE_CPU "cpu"
/** Name of the memory resource. */
#define BERTH_RESOURCE_MEMORY "memory"
/** Name of local ephemeral storage. */
#define BERTH_RESOURCE_EPHEMERAL_STORAGE "ephemeral-storage"
/**
 * IsExtendedResourceName: whether the name has a prefix outside of kubernetes.io (spec 01b section
 * 2).
 */
BERTH_API bool berth_resource_is_extended_name(struct berth_str name);

/** Display format of a quantity; a sum keeps the format of its first operand. */
enum berth_quantity_format {
	BERTH_QUANTITY_DECIMAL_SI = 0,       /**< 500m, 2, 3k */
	BERTH_QUANTITY_BINARY_SI = 1,        /**< 1Ki, 200Mi */
	BERTH_QUANTITY_DECIMAL_EXPONENT = 2, /**< 1e3 */
};

/**
 * An exact decimal number with a display format. A quantity may be copied; a copy is valid as long
 * as the arena or the object that the quantity came from. All-zero memory is 0. The members are
 * private.
 */
struct berth_quantity {
	struct berth_str text; /**< source text; absent if not kept */
	int64_t mantissa;      /**< value = mantissa x 10^exponent, unless big is set */
	const void *big;       /**< digits of a number that does not fit into int64 */
	int32_t exponent;      /**< exponent of value = mantissa x 10^exponent */
	uint8_t format;        /**< enum berth_quantity_format */
};

/** A quantity by value. */
typedef struct berth_quantity berth_quantity;

/** Parses "500m", "1Gi", "1e3" (at most 400 digits). The text is copied into the arena. */
BERTH_API BERTH_MUST_USE int berth_quantity_parse(struct berth_str text, struct berth_arena *arena,
	berth_quantity *out_quantity, struct berth_error *err);
/** Makes the quantity @p value x 10^exponent, -9 <= exponent <= 18; 250m is (250, -3). */
BERTH_API berth_quantity berth_quantity_make(
	int64_t value, int32_t exponent, enum berth_quantity_format format);
/** Value(): the value rounded up to an integer; for values beyond int64 see spec 01 section 5.1. */
BERTH_API int64_t berth_quantity_value(const berth_quantity *quantity);
/** MilliValue(): a thousand times the value, rounded up to an integer. */
BERTH_API int64_t berth_quantity_milli_value(const berth_quantity *quantity);
/** Compares exact values: negative, 0 or positive. */
BERTH_API int berth_quantity_compare(const berth_quantity *a, const berth_quantity *b);
/** Canonical text, in the arena. */
BERTH_API struct berth_str berth_quantity_string(
	const berth_quantity *quantity, struct berth_arena *arena);

/**
 * Map of resource name to quantity, ascending by name: requests, limits, capacity, allocatable.
 * Opaque. A list of an object is borrowed from the object and must not be changed.
 */
struct berth_resource_list;

/** Creates an empty list; the list and its entries live in the arena. */
BERTH_API struct berth_resource_list *berth_resource_list_create(struct berth_arena *arena);
/**
 * Adds or replaces an entry of a list from berth_resource_list_create(). The name is copied; memory
 * that the quantity borrows is not.
 */
BERTH_API void berth_resource_list_set(struct berth_resource_list *list, struct berth_str name,
	berth_quantity quantity, struct berth_arena *arena);
/** Number of names; 0 for NULL. */
BERTH_API uint32_t berth_resource_list_count(const struct berth_resource_list *list);
/** Reads an entry, 0 <= index < count. Out pointers may be NULL. */
BERTH_API void berth_resource_list_at(const struct berth_resource_list *list, uint32_t index,
	struct berth_str *out_name, berth_quantity *out_quantity);
/**
 * Finds a quantity by name. false: the list (may be NULL) lacks the name, and @p out_quantity (may
 * be NULL) is untouched.
 */
BERTH_API bool berth_resource_list_find(const struct berth_resource_list *list,
	struct berth_str name, berth_quantity *out_quantity);
/** status.allocatable, borrowed from the node. */
BERTH_API const struct berth_resource_list *berth_node_allocatable(const struct berth_node *node);
/**
 * Total requests of a pod, computed from spec and status (spec 01b section 3); the list lives in
 * the arena.
 */
BERTH_API const struct berth_resource_list *berth_pod_requests(
	const struct berth_pod *pod, struct berth_arena *arena);

/** A resource without a member in struct berth_resource. */
struct berth_scalar_resource {
	struct berth_str name; /**< owned by the resource */
	int64_t value;         /**< whole units, rounded up */
};

/**
 * Amounts of resources as integers (spec 01b section 10). All-zero memory is the zero value;
 * release with berth_resource_finish(). Sums wrap on overflow, as upstream. Callers may write the
 * four numbers directly, but must change scalars only through functions.
 */
struct berth_resource {
	int64_t cpu_milli;               /**< MilliCPU: thousandths of a core */
	int64_t memory_bytes;            /**< Memory */
	int64_t ephemeral_storage_bytes; /**< EphemeralStorage */
	int64_t allowed_pod_number;      /**< AllowedPodNumber: the resource "pods" */
	/**
	 * ScalarResources: extended, hugepages-*, kubernetes.io/ prefixed and attachable-volumes-*
	 * names in one map, ascending by name. Old releases had two maps, ExtendedResources and
	 * HugePages.
	 */
	struct berth_scalar_resource *scalars;
	uint32_t scalar_count;    /**< entries of scalars, zero amounts included */
	uint32_t scalar_capacity; /**< allocated entries of scalars; private */
};

/**
 * NewResource: sets @p resource to the amounts of @p list (may be NULL). Overwrites @p resource
 * without releasing its former content.
 */
BERTH_API void berth_resource_init(
	struct berth_resource *resource, const struct berth_resource_list *list);
/** Releases scalars and leaves the zero value. NULL is accepted. */
BERTH_API void berth_resource_finish(struct berth_resource *resource);
/**
 * Add: adds the list. cpu counts in thousandths; memory, ephemeral-storage, pods and scalar names
 * count in whole units, and a scalar name gets an entry even if its amount is 0; other names are
 * ignored. Does nothing for a NULL resource or list.
 */
BERTH_API void berth_resource_add(
	struct berth_resource *resource, const struct berth_resource_list *list);
/**
 * SetMaxResource: raises each amount to the amount of the list if that is larger; pods and unknown
 * names are ignored. Does nothing for a NULL resource or list.
 */
BERTH_API void berth_resource_set_max(
	struct berth_resource *resource, const struct berth_resource_list *list);
/** AddScalar: scalars[name] += value; the name is not checked. */
BERTH_API void berth_resource_add_scalar(
	struct berth_resource *resource, struct berth_str name, int64_t value);
/** SetScalar: scalars[name] = value; the name is not checked. */
BERTH_API void berth_resource_set_scalar(
	struct berth_resource *resource, struct berth_str name, int64_t value);
/** Amount of a scalar; 0 when the entry is missing or the resource is NULL. */
BERTH_API int64_t berth_resource_scalar(
	const struct berth_resource *resource, struct berth_str name);
/** Whether scalars has an entry of this name; false for NULL. */
BERTH_API bool berth_resource_has_scalar(
	const struct berth_resource *resource, struct berth_str name);
/** Clone: writes a deep copy to @p out_copy, which is overwritten. */
BERTH_API void berth_resource_clone(
	const struct berth_resource *resource, struct berth_resource *out_copy);
/** Whether the four numbers and the scalars are equal. */
BERTH_API bool berth_resource_equal(const struct berth_resource *a, const struct berth_resource *b);
/**
 * ResourceList: converts to quantities, in the arena. The list always has cpu (in thousandths),
 * memory, alpha.kubernetes.io/nvidia-gpu, pods and ephemeral-storage, even when 0, and every entry
 * of scalars. memory, pods, ephemeral-storage and hugepages have the format BinarySI, others
 * DecimalSI.
 */
BERTH_API const struct berth_resource_list *berth_resource_to_list(
	const struct berth_resource *resource, struct berth_arena *arena);

/** NvidiaGPU of old releases: the scalar BERTH_RESOURCE_NVIDIA_GPU. */
BERTH_API int64_t berth_resource_nvidia_gpu(const struct berth_resource *resource);
/** ExtendedResources[name] of old releases: the scalar; 0 for the names hugepages-*. */
BERTH_API int64_t berth_resource_extended(
	const struct berth_resource *resource, struct berth_str name);
/**
 * HugePages[name] in bytes, of old releases: the scalar; 0 for names that do not begin with
 * hugepages-.
 */
BERTH_API int64_t berth_resource_huge_pages(
	const struct berth_resource *resource, struct berth_str name);
/** AddExtended: as berth_resource_add_scalar(). */
BERTH_API void berth_resource_add_extended(
	struct berth_resource *resource, struct berth_str name, int64_t value);
/** AddHugePages: as berth_resource_add_scalar(). */
BERTH_API void berth_resource_add_huge_pages(
	struct berth_resource *resource, struct berth_str name, int64_t value);
/** SetExtended: as berth_resource_set_scalar(). */
BERTH_API void berth_resource_set_extended(
	struct berth_resource *resource, struct berth_str name, int64_t value);
/** SetHugePages: as berth_resource_set_scalar(). */
BERTH_API void berth_resource_set_huge_pages(
	struct berth_resource *resource, struct berth_str name, int64_t value);

/**
 * GetResourceRequest: the amounts that a node must have free for the pod (spec 01b section 3). @p
 * out_request is overwritten; owned: berth_resource_finish().
 */
BERTH_API void berth_pod_resource_request(
	const struct berth_pod *pod, struct berth_resource *out_request);

#ifdef __cplusplus
}
#endif
#endif
