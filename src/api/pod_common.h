/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_POD_COMMON_H
#define BT_API_POD_COMMON_H
/**
 * Pods of one workload share their common part: the whole spec except the node and the volumes
 * (whose names are generated per pod), the namespace and the owners. The common part is more than
 * half of a decoded pod.
 *
 * Common parts are found in a cache of recent parts. Each pod holds a reference, so nothing needs
 * to be removed from the cache when pods are deleted. A part that only one pod has is not stored.
 *
 * Packed objects, nodes as well as pods, are stored as a difference to a base: the packed form of
 * another object.
 */
#include <stdint.h>

#include "api/pod.h"
#include "base/arena.h"

struct bt_pod_common; /* reference counted; immutable */

#define BT_POD_COMMONS 4096   /* size of the cache, a power of two */
#define BT_POD_COMMONS_WAYS 8 /* entries of the set that a hash selects; divides the size */
/** Memory limit of the cache, because a single part may have a megabyte. */
#define BT_POD_COMMONS_BYTES_MAX (UINT64_C(16) << 20)
/**
 * Packed bytes of an object (codec/message_pack.h). Other packed objects store their difference to
 * these bytes. Immutable.
 */
struct bt_packed_base {
	uint32_t reference_count;
	uint32_t length;
	char bytes[];
};

#define BT_PACKED_BASES 4

/** Bases of objects that are probably alike: pods of one common part, or objects of one kind. */
struct bt_packed_bases {
	uint32_t reference_count;
	uint32_t next;                                 /* next entry of `items` to replace */
	struct bt_packed_base *items[BT_PACKED_BASES]; /* owned references; NULL: unused */
};

/**
 * Cache of common parts, and the bases of objects without a common part. All-zero memory is an
 * empty cache.
 */
struct bt_pod_commons {
	struct {
		uint64_t hash;
		struct bt_pod_common *common; /* owned; NULL: only one pod had this hash so far */
		uint64_t first_name_hash;     /* hash of the name of the first pod with this hash */
	} slots[BT_POD_COMMONS];
	uint32_t next_way;                   /* next entry of a set to replace */
	uint32_t next_slot;                  /* next entry to drop at the memory limit */
	uint64_t bytes;                      /* memory of the common parts in slots */
	struct bt_packed_bases *pod_bases;   /* of pods without a common part; NULL: unused */
	struct bt_packed_bases *other_bases; /* of objects of other kinds; NULL: unused */
};

void bt_pod_commons_finish(struct bt_pod_commons *commons);

/**
 * Finds the common part of pod. If a pod with another name had the same part, returns the part with
 * one reference for the caller, and clears the common fields of pod; the caller then copies the
 * remaining fields. Otherwise returns NULL, and pod is unchanged. before: common part of the pod's
 * last version, which is found without a search if pod still has the same common fields; NULL:
 * there is no such part.
 */
BT_MUST_USE struct bt_pod_common *bt_pod_commons_take_out(
	struct bt_pod_commons *commons, struct bt_pod_common *before, struct bt_pod *pod);
/**
 * Sets the common fields in *pod, which has the remaining fields. The common fields stay valid
 * while a reference to `common` is held. common NULL: clears the common fields.
 */
void bt_pod_common_apply(const struct bt_pod_common *common, struct bt_pod *pod);
/**
 * Returns the bases for packing a pod or another object, with one reference for the caller. common:
 * the pod's common part; NULL if the object has none.
 */
BT_MUST_USE struct bt_packed_bases *bt_packed_bases_share(
	struct bt_pod_commons *commons, bool is_pod, struct bt_pod_common *common);
/** NULL accepted. */
void bt_packed_bases_release(struct bt_packed_bases *bases);
/**
 * Appends the difference between the bytes of a packed object and a base, and returns that base
 * with one reference for the caller. If no base is similar, the bytes become a new base. If there
 * are more than BT_DELTA_BASE_BYTES_MAX bytes, appends the bytes unchanged and returns NULL.
 */
BT_MUST_USE struct bt_packed_base *bt_packed_bases_encode(
	struct bt_packed_bases *bases, struct bt_str bytes, struct bt_strbuf *out);
/** NULL accepted. */
void bt_packed_base_release(struct bt_packed_base *base);
struct bt_str bt_pod_common_namespace(const struct bt_pod_common *common);
/** NULL accepted. */
void bt_pod_common_release(struct bt_pod_common *common);
#endif
