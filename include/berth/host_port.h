/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_HOST_PORT_H
#define BERTH_HOST_PORT_H
/**
 * @file
 * Host ports in use on a node: a set of (ip, protocol, port). Spec 01b section 7, upstream v1.36.
 *
 * Everywhere here an empty ip means 0.0.0.0 and an empty protocol TCP. Addresses are compared as
 * text; only 0.0.0.0 stands for all of them.
 */
#include <stdbool.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
#endif
