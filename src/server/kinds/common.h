/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_KINDS_COMMON_H
#define BT_SERVER_KINDS_COMMON_H
/**
 * Helpers that the kinds share: setting defaults, checks of names, labels, selectors and
 * quantities. Spec: 14b sections 3 and 5.
 */
#include "api/quantity.h"
#include "base/text_set.h"
#include "codec/json_edit.h"
#include "codec/path.h"
#include "server/strategy.h"

/**
 * Adds an error at a path, unless there are 100 errors already. value: the value that the message
 * prints, or NULL. format: the detail of the message.
 */
BT_PRINTF(5, 6)
void bt_kinds_error(struct bt_field_errors *errors, enum bt_field_error_type type,
	const struct bt_path *place, const struct bt_json_value *value, const char *format, ...);
/** An error that an object may have. */
struct bt_kinds_problem {
	bool is_there;
	enum bt_field_error_type type;
	const char *path; /* in the object; NULL: the object itself */
	const char *text;
};
/** Adds the errors that the object has; "Invalid value" shows the value at the path. */
void bt_kinds_add_problems(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *object, const struct bt_kinds_problem *problems, size_t count);
/** Adds "Required value". */
void bt_kinds_error_required(struct bt_field_errors *errors, const struct bt_path *place);

/** --- defaults --- */

/** Sets a text that is absent or empty. */
void bt_kinds_default_c(
	struct bt_arena *arena, struct bt_json_value *object, const char *name, const char *text);
/**
 * Copies to target.name the entries of the map `source` that it lacks, unless it has
 * BT_KINDS_RESOURCES_MAX entries. source: may be NULL.
 */
void bt_kinds_default_map(struct bt_arena *arena, struct bt_json_value *target, const char *name,
	const struct bt_json_value *source);
/** Returns the member if it is an object, else NULL. */
struct bt_json_value *bt_kinds_object(const struct bt_json_value *object, const char *name);
/** Returns the text of a member; "" if the member is missing or not a text. */
struct bt_str bt_kinds_text(const struct bt_json_value *object, const char *name);
/** Returns whether an element of the list equals the value. */
bool bt_kinds_contains(const struct bt_json_value *list, const struct bt_json_value *value);
/**
 * Sets the member of target to the same member of old (the value is shared, not copied), or removes
 * it if old has no such member.
 */
void bt_kinds_reset_member(struct bt_arena *arena, struct bt_json_value *target,
	const struct bt_json_value *old, const char *name);
/** Returns whether the write restores an object with a status, so that the status must be kept. */
bool bt_kinds_keeps_status(const struct bt_write *write, const struct bt_json_value *object);
/**
 * Returns whether the request writes only the status or a binding: the spec comes from the store
 * and is not checked again.
 */
bool bt_kinds_keeps_spec(const struct bt_write *write);

/** Adds the errors in the name of a port. value: a text that may be empty, or NULL. */
void bt_kinds_check_port_name(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *value);
/**
 * Adds an error if `port` is a number outside of 1 to 65535, or not the name of a port. `port`: a
 * number, a text, or NULL.
 */
void bt_kinds_check_port(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *port);

/** Replaces the set with the texts of this member in all objects of the list. */
void bt_kinds_collect_names(
	struct bt_text_set *set, const struct bt_json_value *list, const char *member);

/** --- checks --- */

/** Returns whether the name is a DNS subdomain (RFC 1123). */
bool bt_kinds_is_subdomain(struct bt_str name);
/**
 * Returns whether the text has only letters, separators and, except at its start, digits. True for
 * "".
 */
bool bt_kinds_is_identifier(struct bt_str text, char separator);
/** Returns whether the domain is k8s.io or kubernetes.io, or below one of these. */
bool bt_kinds_is_kubernetes_domain(struct bt_str domain);
/** Returns whether the domain has at least three segments. */
bool bt_kinds_is_webhook_name(struct bt_str name);
/** Returns whether the name consists of DNS subdomains separated by slashes. */
bool bt_kinds_is_pool_name(struct bt_str name);
/** Returns whether a segment of the path is "..". */
bool bt_kinds_has_backstep(struct bt_str path);
/** Returns whether the text is an IPv4 address, or an IPv6 address without zone. */
bool bt_kinds_is_ip(struct bt_str text);
/** Returns whether the text is a network such as 10.0.0.0/8; ignores white space around it. */
bool bt_kinds_is_cidr(struct bt_str text);
/** Checks the name of an attribute, capacity or counter: [domain/]identifier. */
void bt_kinds_check_device_name(struct bt_field_errors *errors, const struct bt_path *place,
	struct bt_str name, bool needs_domain);
/**
 * Checks name, labels, annotations, owners and finalizers in the metadata of an object. parent: the
 * path of the object; NULL: it is the root.
 */
void bt_kinds_check_metadata(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *object, enum bt_name_rule rule);
/** Checks a name by the rule. Ignores NULL and values that are not texts. */
void bt_kinds_check_name(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *value, enum bt_name_rule rule);
/** Checks that the text is a DNS subdomain, without the prefix and the suffix if it has them. */
void bt_kinds_check_domain(struct bt_field_errors *errors, const struct bt_path *place,
	struct bt_str text, const char *prefix, const char *suffix);
/** Checks keys and values of a map of labels. */
void bt_kinds_check_labels(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *labels);
/** Adds the errors of a text that cannot be a key in the data of a ConfigMap or Secret. */
void bt_kinds_check_config_key(
	struct bt_field_errors *errors, const struct bt_path *place, struct bt_str key);
/** Adds the errors of a key that is not a qualified name. */
void bt_kinds_check_label_key(
	struct bt_field_errors *errors, const struct bt_path *place, struct bt_str key);
/** Adds the errors of a text that cannot be the value of a label. */
void bt_kinds_check_label_value(
	struct bt_field_errors *errors, const struct bt_path *place, struct bt_str value);
/** Returns whether a label selector matches these labels (selector NULL: never; empty: always). */
bool bt_kinds_selector_matches(
	const struct bt_json_value *selector, const struct bt_json_value *labels);
/** The value must be in the array `texts`, which ends with NULL. */
void bt_kinds_check_allowed(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *value, const char *const *texts);
/**
 * Each text of the list must be in the array `allowed`, which ends with NULL; `allowed` NULL: any
 * text is allowed. A list that is NULL has no texts. `unique`: no text may be repeated.
 */
void bt_kinds_check_items(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *list, const char *const *allowed, bool unique);
/** Adds an error if the list or object has more than `max` elements or members. */
void bt_kinds_check_count(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *list, uint32_t max);
/** The value must be a valid name of a DRA driver: a DNS subdomain of at most 63 bytes. */
void bt_kinds_check_driver(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *value);
/** Each quantity of the list must be at least 0. */
void bt_kinds_check_quantities(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *list);
/**
 * Adds "field is immutable" if the member changed. `message`: NULL, or the schema of an object
 * member that upstream prints in its internal form (see bt_kinds_internal_form).
 */
void bt_kinds_check_immutable(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *old_parent, const struct bt_json_value *new_parent,
	const char *name, const struct bt_schema_message *message);
/** Returns the schema of spec of the write's resource. */
const struct bt_schema_message *bt_kinds_spec_message(const struct bt_write *write);
/**
 * Returns the object as upstream's error messages print it: in the form of upstream's internal Go
 * type. The result shares parts of object. In internal_form.c.
 */
struct bt_json_value *bt_kinds_internal_form(struct bt_arena *arena,
	const struct bt_schema_message *message, struct bt_json_value *object);
/**
 * Adds "Forbidden" with the text and, unless the internal forms of old and object have too many
 * lines, the hunks of a unified diff between them. In difference.c.
 */
void bt_kinds_error_difference(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_schema_message *message, struct bt_json_value *old,
	struct bt_json_value *object, const char *text);
/** Like bt_json_equal, but accepts NULL and treats absent, {} and [] as equal. */
bool bt_kinds_same(const struct bt_json_value *a, const struct bt_json_value *b);

/**
 * The state of one call of bt_kinds_validate. The members describe the part of the object that is
 * being validated.
 */
struct bt_check {
	const struct bt_write *write;
	struct bt_field_errors *errors;
	struct bt_text_set volumes;  /* names of the volumes in the pod spec */
	struct bt_text_set claims;   /* names of the resourceClaims in the pod spec */
	struct bt_text_set requests; /* requests of the claim: "request" and "request/subrequest" */
	const struct bt_json_value *old; /* the stored object; NULL on a create */
	bool host_network;               /* hostNetwork of the pod spec */
	bool per_device_nodes;           /* perDeviceNodeSelection of the ResourceSlice */
};

/**
 * Checks access modes and capacity of the spec of a PersistentVolume. Called before the walk
 * through the fields of the spec, because upstream reports these errors first.
 */
void bt_kinds_enter_volume(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec);
/**
 * Called before the parts of a device claim are validated. Collects in `check` the names that the
 * rules of these parts look up.
 */
void bt_kinds_enter_device_claim(struct bt_check *check, const struct bt_json_value *devices);

/**
 * Checks an object for rules that its schema message cannot express. place NULL: the object is the
 * root.
 */
typedef void bt_rule_fn(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *object);
#include "api/kind_rules.h"
/**
 * The rules, by index in bt_schema_messages; NULL: no rule. A rule runs after the schema's checks
 * of the message and its parts. The rules of updates, which run first or last, and of warnings
 * belong to root messages. tools/gen_rules.py generates the tables from the rules in api/types.
 */
extern bt_rule_fn *const bt_kinds_rules[];
extern bt_rule_fn *const bt_kinds_firsts[];
extern bt_rule_fn *const bt_kinds_updates[];
extern bt_rule_fn *const bt_kinds_warns[];
/** Sets defaults that the field descriptions of a root message cannot express. */
typedef void bt_fill_fn(const struct bt_write *write, struct bt_json_value *object);
extern bt_fill_fn *const bt_kinds_fills[];

/** --- quantities --- */

/**
 * Largest number of entries of a resource list; a longer list gets no defaults and fails
 * validation.
 */
#define BT_KINDS_RESOURCES_MAX 256

/** Parses a quantity; false: the value is not a quantity. */
bool bt_kinds_quantity(
	const struct bt_json_value *value, struct bt_arena *arena, struct bt_quantity *out);
/** Formats a quantity as a JSON text in the arena. */
struct bt_json_value *bt_kinds_quantity_value(
	const struct bt_quantity *quantity, struct bt_arena *arena);
/** Rounds every quantity of a resource list up to a multiple of 1/1000. */
void bt_kinds_round_quantities(struct bt_arena *arena, struct bt_json_value *map);

/** --- pods and their templates --- */

/**
 * Sets the defaults of a pod spec. is_template: leaves out defaults that upstream sets only in
 * pods, such as requests from limits.
 */
void bt_kinds_default_pod_spec(
	struct bt_arena *arena, struct bt_json_value *spec, bool is_template);
/** Sets defaults in holder.template: metadata and spec. Creates the template if it is missing. */
void bt_kinds_default_pod_template(struct bt_arena *arena, struct bt_json_value *holder);
/**
 * Runs before the pod template of a workload is checked: adds upstream's errors if the selector is
 * missing, is empty, or does not match the template's labels. Returns the template, or NULL if
 * there is none. The result for a StatefulSet also has the volumes of the claim templates.
 * `message`, `spec`: schema and value of the workload's spec.
 */
const struct bt_json_value *bt_kinds_enter_template(struct bt_check *check,
	const struct bt_path *place, const struct bt_schema_message *message,
	const struct bt_json_value *spec);
/**
 * The selector of a workload must match the labels of spec.template. place: the path of the
 * template. selector NULL: adds an error; empty: accepted.
 */
void bt_kinds_check_template_labels(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec, const struct bt_json_value *selector);
/**
 * Returns the resources that all containers, including init containers, need together: spec 01b
 * section 3.2. which: "requests" or "limits".
 */
struct bt_json_value *bt_kinds_container_sum(
	struct bt_arena *arena, const struct bt_json_value *spec, const char *which);
/** Like bt_kinds_container_sum, with the pod's own resources and overhead: spec 01b section 3. */
struct bt_json_value *bt_kinds_pod_sum(
	struct bt_arena *arena, const struct bt_json_value *spec, const char *which);
/** The function validate_update of the strategy of pods. */
void bt_kinds_validate_pod_update(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors);
/** Returns the QoS class of a pod spec: Guaranteed, BestEffort or Burstable. 14b section 2.2. */
const char *bt_kinds_qos_class(struct bt_arena *arena, const struct bt_json_value *spec);
#define BT_KIND(group_, version_, resource_, name_) \
	extern const struct bt_strategy bt_strategy_##name_;
#include "server/kinds/strategies.def"
#undef BT_KIND
#endif
