/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_STRATEGY_H
#define BT_SERVER_STRATEGY_H
/**
 * The parts of the write path that differ by kind: defaults, validation, and which fields a create
 * or update may set. server/kinds has one file per group of kinds. Objects are JSON trees, already
 * normalised by their schema, and are changed in place. Spec: 14b sections 2, 3 and 5.
 */
#include "base/prng.h"
#include "server/api.h"
#include "server/failure.h"

/** The current write. */
struct bt_write {
	struct bt_api *api;
	struct bt_arena *arena; /* memory of the request and its objects */
	const struct bt_api_resource *resource;
	enum bt_verb verb;
	enum bt_subresource subresource;
	struct bt_str namespace_; /* "" for cluster scope */
	struct bt_str name;
	const struct bt_user *user;
	int64_t now_ns;
	bool dry_run;
	bool restoring; /* initial objects: keep status and system fields */
	/** Restoring the dump of a cluster: fields that the API requires may be missing. */
	bool from_cluster;
};

/** Syntax of the names of a kind. */
enum bt_name_rule {
	BT_NAME_SUBDOMAIN,
	BT_NAME_LABEL,
	BT_NAME_SERVICE, /* RFC 1035 label */
	BT_NAME_PATH,    /* no '/', no '%', not "." or ".." */
};

/** NULL functions do nothing. */
struct bt_strategy {
	enum bt_name_rule name_rule;
	/** A create replaces the status with an empty status, normalised by the schema. 14b 2.2. */
	bool resets_status;
	/**
	 * An update reports each error of the metadata three times instead of four, because one of
	 * upstream's validations covers only the spec.
	 */
	bool validates_spec_alone;
	/**
	 * An update reports each error of the object's fields outside of metadata twice, because
	 * upstream validates the whole object twice.
	 */
	bool validates_twice;
	/**
	 * Called after every decode, also after the decode of a patch's result. The schema's
	 * defaults are already set.
	 */
	void (*set_defaults)(const struct bt_write *write, struct bt_json_value *object);
	/**
	 * Called on creates after mutating admission and before validation: sets derived fields.
	 * 14b 2.2, 3.2.
	 */
	void (*prepare_create)(const struct bt_write *write, struct bt_json_value *object);
	/**
	 * Like prepare_create, for updates of the resource and of subresources such as status. In
	 * fields that the subresource does not write, `object` already has the values of `old`.
	 */
	void (*prepare_update)(const struct bt_write *write, const struct bt_json_value *old,
		struct bt_json_value *object);
	/** Called on updates after bt_kinds_validate: adds errors of the update. 14b 2.3. */
	void (*validate_update)(const struct bt_write *write, const struct bt_json_value *old,
		const struct bt_json_value *object, struct bt_field_errors *errors);
	/**
	 * Convert an object between the stored version and the version of this strategy's resource
	 * (events, autoscaling, metrics.k8s.io). NULL: the versions are the same.
	 */
	void (*from_stored)(const struct bt_write *write, struct bt_json_value *object);
	void (*to_stored)(const struct bt_write *write, struct bt_json_value *object);
	/** Returns false if the stored object is not visible in this version. */
	bool (*is_served)(const struct bt_stored *stored);
};

/**
 * Finds the strategy of a resource in server/kinds/strategies.def. Resources without a row get a
 * strategy without functions.
 */
const struct bt_strategy *bt_strategy_find(
	const char *group, const char *version, const char *name);
/**
 * The strategy without functions: for built-in resources without a row, and for custom resources
 * whose schema has no defaults.
 */
extern const struct bt_strategy bt_strategy_custom;
/**
 * For custom resources whose schema has defaults. Stored objects get defaults that were added to
 * the schema later.
 */
extern const struct bt_strategy bt_strategy_custom_with_defaults;

/**
 * Drops the fields of disabled features, except fields that the stored object has. old: the stored
 * object, or NULL on a create. 09 sections 1 and 2.
 */
void bt_kinds_remove_disabled(const struct bt_write *write, const struct bt_json_value *old,
	struct bt_json_value *object);
/** Sets the defaults of a decoded object: first the schema's, then the kind's. */
void bt_kinds_set_defaults(const struct bt_write *write, struct bt_json_value *object);
/**
 * Call before prepare_create. Resets the status, unless the kind keeps the status or the write
 * restores one.
 */
void bt_kinds_reset_status(const struct bt_write *write, struct bt_json_value *object);
/**
 * Checks an object by the rules for metadata (but accepts a missing name), by its schema and by the
 * rules of its kind. On an update (`old` not NULL), checks also that immutable fields are
 * unchanged. Errors come in the order of the schema's fields. The errors of a rule follow the
 * errors of the fields that the rule covers.
 */
void bt_kinds_validate(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors);

/**
 * Returns whether the Job controller puts the pods of a Job with this spec into a gang: 14b section
 * 6.3.
 */
bool bt_kinds_job_is_gang(const struct bt_json_value *spec);

/** --- admission: 14b section 4 --- */

/**
 * Runs the mutating admission plugins in order, then the checks of the same plugins.
 * out_failure->code 0: admitted. `old` NULL: a create.
 */
void bt_admit(const struct bt_write *write, const struct bt_json_value *old,
	struct bt_json_value *object, struct bt_failure *out_failure);
/**
 * Runs the validating admission plugins; call after validation. `out_failure` and `old`: as in
 * bt_admit.
 */
void bt_admit_validate(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_failure *out_failure);
/**
 * Copies the zone and region labels of the node, if present, to the pod. For bindings and for
 * creates with nodeName. 14b 4.10.
 */
void bt_admit_topology_labels(
	const struct bt_write *write, struct bt_str node_name, struct bt_json_value *pod);
#endif
