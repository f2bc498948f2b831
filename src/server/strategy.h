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
	/** Restoring what a cluster had: a field that is missing was left out of the dump. */
	bool from_cluster;
};

/** What names of a kind look like. */
enum bt_name_rule {
	BT_NAME_SUBDOMAIN,
	BT_NAME_LABEL,
	BT_NAME_SERVICE, /* RFC 1035 label */
	BT_NAME_PATH,    /* no '/', no '%', not "." or ".." */
};

/** NULL functions do nothing. */
struct bt_strategy {
	enum bt_name_rule name_rule;
	/** A create begins with the status that the schema gives an empty object. 14b 2.2. */
	bool resets_status;
	/** An update's validation looks only at the spec, not at the whole object again ... */
	bool validates_spec_alone;
	/** ... or at the whole object twice. */
	bool validates_twice;
	/** At every decode, also of a patch's result; after those of the schema. */
	void (*set_defaults)(const struct bt_write *write, struct bt_json_value *object);
	/** Before admission's mutations are validated: derived fields. 14b 2.2, 3.2. */
	void (*prepare_create)(const struct bt_write *write, struct bt_json_value *object);
	/** Main resource or its status; what is not of that part was taken from old already. */
	void (*prepare_update)(const struct bt_write *write, const struct bt_json_value *old,
		struct bt_json_value *object);
	/** On updates, before the rest is looked at. */
	void (*validate_update_first)(const struct bt_write *write, const struct bt_json_value *old,
		const struct bt_json_value *object, struct bt_field_errors *errors);
	/** On updates, after bt_kinds_validate has done the rest: 14b 2.3. */
	void (*validate_update)(const struct bt_write *write, const struct bt_json_value *old,
		const struct bt_json_value *object, struct bt_field_errors *errors);
	/** The other version's form of what is stored, and back (events, autoscaling). */
	void (*from_stored)(const struct bt_write *write, struct bt_json_value *object);
	void (*to_stored)(const struct bt_write *write, struct bt_json_value *object);
	/** false: the stored object does not exist in this version. */
	bool (*is_served)(const struct bt_stored *stored);
};

/**
 * By group, version and resource name (server/kinds/strategies.def); without a row, one with no
 * functions.
 */
const struct bt_strategy *bt_strategy_find(
	const char *group, const char *version, const char *name);
/** Of custom resources. */
extern const struct bt_strategy bt_strategy_custom;
/** Of those whose schema has defaults: what is stored gets those that came since. */
extern const struct bt_strategy bt_strategy_custom_with_defaults;

/**
 * Drop the fields of features that the options of the API switch off, unless the stored object
 * (NULL: a create) has them. 09 sections 1 and 2.
 */
void bt_kinds_drop_disabled(const struct bt_write *write, const struct bt_json_value *old,
	struct bt_json_value *object);
/** Before prepare_create: the status, if the kind resets it and the write does not restore one. */
void bt_kinds_reset_status(const struct bt_write *write, struct bt_json_value *object);
/**
 * What is wrong with an object: its metadata (not whether there is a name), what its schema and the
 * rules for its parts say, and on an update (old not NULL) what may not change. Errors come in the
 * order of the schema's fields; a part's rule follows the part's fields.
 */
void bt_kinds_validate(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors);

/** The Job controller makes a gang of the pods of a Job with this spec: 14b section 6.3. */
bool bt_kinds_job_is_gang(const struct bt_json_value *spec);

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
