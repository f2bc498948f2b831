/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_CONTROLLER_H
#define BT_CLUSTER_CONTROLLER_H
/**
 * What a controller is: it names the resources it looks at, notes keys when they change, and
 * brings one key in order at a time. The hub (hub.c) calls it, keeps its keys in a queue without
 * repetitions, and delays those that failed (5 ms doubling to 1000 s, as upstream's).
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "cluster/controllers.h"

struct bt_hub; /* the controllers' common ground; hub.h */

/** One change, parsed once for all controllers. Everything is borrowed for the call. */
struct bt_observed {
	const struct bt_api_resource *resource;
	enum bt_change_type type;
	struct bt_str key;
	const struct bt_json_value *before; /* NULL: added */
	const struct bt_json_value *after;  /* of a deletion: the last state */
};

struct bt_controller_ops {
	const char *name; /* "replicaset-controller" */
	/** "apps/replicasets", "pods", ...; ends with NULL. */
	const char *const *resources;
	/** The controller's own data, or NULL when it has none. */
	void *(*create)(struct bt_hub *hub);
	void (*destroy)(void *self);
	/** A change of one of its resources (what exists at the start comes as added): call
	 * bt_hub_enqueue for the keys that need a look. */
	void (*observe)(void *self, struct bt_hub *hub, const struct bt_observed *observed);
	/** Bring one key in order. false: try again later. arena is reset afterwards. */
	bool (*sync)(void *self, struct bt_hub *hub, struct bt_str key, struct bt_arena *arena,
		int64_t now_ns);
};

/** Look at the key (copied) of the controller that is being called, now. Repetitions are one. */
void bt_hub_enqueue(struct bt_hub *hub, struct bt_str key);
/** Not before that time; an earlier one wins. */
void bt_hub_enqueue_at(struct bt_hub *hub, struct bt_str key, int64_t at_ns);
/** The same for work that comes back while nothing changes: bt_controllers_have_work leaves it
 * out. */
void bt_hub_enqueue_periodic(struct bt_hub *hub, struct bt_str key, int64_t at_ns);
/** Cancel the delay of the key. A sync that computes the next time from the object calls this
 * first, so that a deadline that no longer applies does not wake the key. */
void bt_hub_cancel_delay(struct bt_hub *hub, struct bt_str key);
struct bt_api *bt_hub_api(const struct bt_hub *hub);
const struct bt_controllers_options *bt_hub_options(const struct bt_hub *hub);
int64_t bt_hub_now_ns(const struct bt_hub *hub);

/** --- writes; each returns the answer's code; answer may be NULL --- */

uint16_t bt_hub_create(struct bt_hub *hub, const struct bt_api_resource *resource,
	struct bt_str namespace_, struct bt_json_value *object, struct bt_arena *arena,
	struct bt_api_answer *out_answer);
/** A merge patch of the object, or of its subresource. */
uint16_t bt_hub_patch(struct bt_hub *hub, const struct bt_api_resource *resource,
	enum bt_subresource subresource, struct bt_str key, struct bt_json_value *patch,
	struct bt_arena *arena, struct bt_api_answer *out_answer);
uint16_t bt_hub_update(struct bt_hub *hub, const struct bt_api_resource *resource,
	enum bt_subresource subresource, struct bt_str key, struct bt_json_value *object,
	struct bt_arena *arena, struct bt_api_answer *out_answer);
/** grace_seconds -1: the object's own. uid: precondition, absent: none. */
uint16_t bt_hub_delete(struct bt_hub *hub, const struct bt_api_resource *resource,
	struct bt_str key, int64_t grace_seconds, struct bt_str uid, struct bt_arena *arena);
/** A core/v1 Event about an object; a repeated one counts up. Texts are copied. */
void bt_hub_event(struct bt_hub *hub, const char *component, const struct bt_api_resource *resource,
	const struct bt_json_value *object, const char *type, const char *reason,
	struct bt_str message);

/** --- helpers of several controllers --- */

/** metadata.ownerReferences' entry with controller true, or NULL. */
const struct bt_json_value *bt_controller_owner_of(const struct bt_json_value *object);
/** {apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true} */
struct bt_json_value *bt_controller_owner_reference(struct bt_arena *arena,
	const struct bt_api_resource *resource, const struct bt_json_value *owner);

/** --- all of them --- */

#define BT_CONTROLLER(name, ops) extern const struct bt_controller_ops ops;
#include "cluster/controllers.def"
#undef BT_CONTROLLER
#endif
