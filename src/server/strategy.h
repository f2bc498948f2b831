/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_STRATEGY_H
#define BT_SERVER_STRATEGY_H
/**
 * What a kind does differently: defaults, what a create or update may carry, validation. One file
 * of server/kinds per group of kinds. Objects are JSON trees, normalised by their schema before
 * any of this sees them; everything works in place. Spec: 14b sections 2, 3 and 5.
 */
#include "base/prng.h"
#include "server/api.h"
#include "server/failure.h"

/** Of the write that is under way. */
struct bt_write {
	struct bt_api *api;
	struct bt_arena *arena; /* of the request: everything made for the object */
	const struct bt_api_resource *resource;
	enum bt_verb verb;
	enum bt_subresource subresource;
	struct bt_str namespace_; /* "" for cluster scope */
	struct bt_str name;
	const struct bt_user *user;
	int64_t now_ns;
	bool dry_run;
	bool restoring; /* initial objects: status and system fields are kept as they are */
};

/** NULL functions do nothing. */
struct bt_strategy {
	/** At every decode, also of a patch's result; after those of the schema. */
	void (*set_defaults)(const struct bt_write *write, struct bt_json_value *object);
	/** Before admission's mutations are validated: status reset, derived fields. 14b 2.2, 3.2.
	 */
	void (*prepare_create)(const struct bt_write *write, struct bt_json_value *object);
	/** Main resource or its status; what is not of that part was taken from old already. */
	void (*prepare_update)(const struct bt_write *write, const struct bt_json_value *old,
		struct bt_json_value *object);
	/** On creates and updates. Metadata included: the syntax of names, labels, annotations,
	 * owners and finalizers (not whether there is a name). */
	void (*validate)(const struct bt_write *write, const struct bt_json_value *object,
		struct bt_field_errors *errors);
	/** Only on updates, besides validate: 14b 2.3. */
	void (*validate_update)(const struct bt_write *write, const struct bt_json_value *old,
		const struct bt_json_value *object, struct bt_field_errors *errors);
	/** The other version's form of what is stored, and back (events, autoscaling). */
	void (*from_stored)(const struct bt_write *write, struct bt_json_value *object);
	void (*to_stored)(const struct bt_write *write, struct bt_json_value *object);
};

/** By group, version and resource name (server/kinds/kinds.def); one that only looks at metadata
 * when there is no row. */
const struct bt_strategy *bt_strategy_find(
	const char *group, const char *version, const char *name);
/** Of custom resources. */
extern const struct bt_strategy bt_strategy_custom;

/** --- admission: 14b section 4 --- */

/** The mutating plugins, in order, then what they refuse. code 0: admitted. old NULL: a create. */
void bt_admit(const struct bt_write *write, const struct bt_json_value *old,
	struct bt_json_value *object, struct bt_failure *out_failure);
/** The validating plugins, after validation. */
void bt_admit_validate(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_failure *out_failure);
/** On the binding of a pod to a node, and on creates with nodeName: copy the labels of the node's
 * zone and region, if it has them. 14b 4.10. */
void bt_admit_topology_labels(
	const struct bt_write *write, struct bt_str node_name, struct bt_json_value *pod);
#endif
