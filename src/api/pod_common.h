/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_POD_COMMON_H
#define BT_API_POD_COMMON_H
/**
 * What pods of one workload have in common is kept once: all of the spec but the node and the
 * volumes (their names are made up for each pod), the namespace, the owners. Half of a decoded pod
 * and more.
 *
 * It is found again among what was decoded last, so that nothing has to be taken back when pods
 * go: whoever refers to a common part holds a reference. What comes once is not shared and costs
 * nothing.
 */
#include <stdint.h>

#include "api/pod.h"
#include "base/arena.h"

struct bt_pod_common; /* counted; immutable */

#define BT_POD_COMMONS 4096   /* common parts that are remembered; a power of two */
#define BT_POD_COMMONS_WAYS 8 /* places for one; divides it */
/** Of remembered common parts, in use or not: a pod may be a megabyte. */
#define BT_POD_COMMONS_BYTES_MAX (UINT64_C(16) << 20)
/** Packed bytes that are worth remembering with a common part. */
#define BT_PACKED_COMMON_BYTES_MAX 2048

/** All-zero memory is an empty one. */
struct bt_pod_commons {
	struct {
		uint64_t hash;
		struct bt_pod_common *common; /* owned; NULL: seen once */
	} slots[BT_POD_COMMONS];
	uint32_t next_way;  /* to be forgotten */
	uint32_t next_slot; /* to be forgotten when they take too much memory */
	uint64_t bytes;     /* of the common parts in slots */
};

/** What packed pods with a common part have equal beside it; counted. */
struct bt_packed_common {
	uint32_t reference_count;
	uint32_t length;
	char bytes[];
};

void bt_pod_commons_finish(struct bt_pod_commons *commons);

/**
 * The common part of pod if it was seen before, which is then taken out of pod: what remains is
 * the pod's own, to be copied. owned; NULL: pod is as it was.
 */
BT_MUST_USE struct bt_pod_common *bt_pod_commons_take_out(
	struct bt_pod_commons *commons, struct bt_pod *pod);
/** Into a copy of what remained; borrowed while a reference to common is held. */
void bt_pod_common_put_in(const struct bt_pod_common *common, struct bt_pod *pod);
/** The parts of a copy that were put in are empty again. */
void bt_pod_common_leave_out(struct bt_pod *pod);
/** Those bytes, if they were met lately or not; one reference for the caller. Many bytes are not
 * remembered. */
BT_MUST_USE struct bt_packed_common *bt_pod_common_share_packed(
	struct bt_pod_common *common, struct bt_str bytes);
/** NULL accepted. */
void bt_packed_common_release(struct bt_packed_common *packed);
struct bt_str bt_pod_common_namespace(const struct bt_pod_common *common);
/** NULL accepted. */
void bt_pod_common_release(struct bt_pod_common *common);
#endif
