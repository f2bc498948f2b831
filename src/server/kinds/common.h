/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_KINDS_COMMON_H
#define BT_SERVER_KINDS_COMMON_H
/**
 * What the kinds share: setting of defaults, checks of
 * names, labels, selectors and quantities. Spec: 14b sections 3 and 5.
 */
#include "api/quantity.h"
#include "codec/json_edit.h"
#include "codec/path.h"
#include "server/strategy.h"

/** bt_field_errors_add with the path. */
BT_PRINTF(5, 6)
void bt_kinds_error(struct bt_field_errors *errors, enum bt_field_error_type type,
	const struct bt_path *place, const struct bt_json_value *value, const char *format, ...);
/** "Required value". */
void bt_kinds_error_required(struct bt_field_errors *errors, const struct bt_path *place);
/** "Duplicate value: <value>". */
void bt_kinds_error_duplicate(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *value);
/** An int64 or text as value of an error. */
struct bt_json_value *bt_kinds_int_value(const struct bt_field_errors *errors, int64_t value);
struct bt_json_value *bt_kinds_text_value(const struct bt_field_errors *errors, struct bt_str text);

/** --- defaults: set a member that is absent (or, for texts, empty) --- */

void bt_kinds_default_c(
	struct bt_arena *arena, struct bt_json_value *object, const char *name, const char *text);
void bt_kinds_default_str(
	struct bt_arena *arena, struct bt_json_value *object, const char *name, struct bt_str text);
void bt_kinds_default_int(
	struct bt_arena *arena, struct bt_json_value *object, const char *name, int64_t value);
void bt_kinds_default_bool(
	struct bt_arena *arena, struct bt_json_value *object, const char *name, bool value);
/** The member if it is an object (array), else NULL. */
struct bt_json_value *bt_kinds_object(const struct bt_json_value *object, const char *name);
struct bt_json_value *bt_kinds_array(const struct bt_json_value *object, const char *name);
/** Text of a member, "" without. */
struct bt_str bt_kinds_text(const struct bt_json_value *object, const char *name);
/** status := what is given, unless the write restores and there is one. true: it was set. */
bool bt_kinds_reset_status(
	const struct bt_write *write, struct bt_json_value *object, struct bt_json_value *status);
/** Only status or bindings are written: the spec comes from the store and is not checked again. */
bool bt_kinds_keeps_spec(const struct bt_write *write);

/** --- names: told apart in time that does not grow with the square of their number --- */

/** All-zero memory but for the arena is an empty set. Texts are borrowed. */
struct bt_names {
	struct bt_arena *arena;
	struct bt_str *texts;
	uint32_t *slots; /* index + 1; only beyond a few */
	uint32_t count;
	uint32_t capacity;
	uint32_t slot_count; /* power of two, or 0 */
};

#define BT_NAMES_NONE UINT32_MAX

/** false: it was there before. */
bool bt_names_add(struct bt_names *names, struct bt_str text);
/** How many names were added before this one, or BT_NAMES_NONE. */
uint32_t bt_names_find(const struct bt_names *names, struct bt_str text);
/** Texts of a member of each object of the list; the first of equal ones counts. */
struct bt_names bt_names_of_list(
	struct bt_arena *arena, const struct bt_json_value *list, const char *member);
/** Names of the members of an object (NULL: none). */
struct bt_names bt_names_of_members(struct bt_arena *arena, const struct bt_json_value *object);

/** --- checks --- */

enum bt_name_rule {
	BT_NAME_SUBDOMAIN,
	BT_NAME_LABEL,
	BT_NAME_SERVICE, /* RFC 1035 label */
	BT_NAME_PATH,    /* no '/', no '%', not "." or ".." */
};

bool bt_kinds_is_label(struct bt_str name);
bool bt_kinds_is_subdomain(struct bt_str name);
/** Name, labels, annotations, owners, finalizers of metadata. */
void bt_kinds_check_metadata(
	const struct bt_json_value *object, enum bt_name_rule rule, struct bt_field_errors *errors);
void bt_kinds_check_name(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *value, enum bt_name_rule rule);
/** Keys and values of a map of labels. */
void bt_kinds_check_labels(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *labels);
/** Messages of a key that is no qualified name, at place. */
void bt_kinds_check_label_key(
	struct bt_field_errors *errors, const struct bt_path *place, struct bt_str key);
/** metav1.LabelSelector; NULL is valid. */
void bt_kinds_check_label_selector(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *selector);
/** A label selector matches these labels (selector NULL: nothing; empty: everything). */
bool bt_kinds_selector_matches(struct bt_arena *arena, const struct bt_json_value *selector,
	const struct bt_json_value *labels);
/** The member's text is one of the texts (ends with NULL), or absent unless required. */
void bt_kinds_check_text_in(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *object, const char *name, const char *const *texts,
	bool required);
/** The member, if it is there, is at least 0. */
void bt_kinds_check_not_negative(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *object, const char *name);
/** "Required value" unless the member is a text that is not empty. */
bool bt_kinds_check_given(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *object, const char *name);
/** The member, if it is there, is a number of at least 0 or a percentage. */
void bt_kinds_check_int_or_percent(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *object, const char *name);
/** spec.selector of a workload is there and not empty. */
void bt_kinds_check_workload_selector(struct bt_field_errors *errors,
	const struct bt_path *spec_place, const struct bt_json_value *spec);
/** The member is what it was: "field is immutable". */
void bt_kinds_check_immutable(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *old_parent, const struct bt_json_value *new_parent,
	const char *name);
/** bt_json_equal with NULL allowed; absent, {} and [] are alike. */
bool bt_kinds_same(const struct bt_json_value *a, const struct bt_json_value *b);

/** --- quantities --- */

/** Longest resource list; longer ones get no defaults and are refused. */
#define BT_KINDS_RESOURCES_MAX 256

/** false: no quantity. */
bool bt_kinds_quantity(
	const struct bt_json_value *value, struct bt_arena *arena, struct bt_quantity *out);
struct bt_json_value *bt_kinds_quantity_value(
	const struct bt_quantity *quantity, struct bt_arena *arena);
/** Round every quantity of a resource list up to a multiple of 1/1000. */
void bt_kinds_round_quantities(struct bt_arena *arena, struct bt_json_value *map);
/** map[name] += or := max(map[name], quantity), for every member of addend. */
void bt_kinds_add_quantities(
	struct bt_arena *arena, struct bt_json_value *map, const struct bt_json_value *addend);
void bt_kinds_max_quantities(
	struct bt_arena *arena, struct bt_json_value *map, const struct bt_json_value *other);

/** --- pods and their templates --- */

void bt_kinds_default_pod_spec(
	struct bt_arena *arena, struct bt_json_value *spec, bool is_template);
/** template of a workload: metadata and spec. */
void bt_kinds_default_pod_template(struct bt_arena *arena, struct bt_json_value *holder);
void bt_kinds_validate_pod_spec(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec, bool is_template);
/** selector: of the workload, must match the template's labels; NULL: not looked at. */
void bt_kinds_validate_pod_template(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *template_, const struct bt_json_value *selector);
/** Requests (or limits) of all containers together: spec 01b section 3.2. */
struct bt_json_value *bt_kinds_container_sum(
	struct bt_arena *arena, const struct bt_json_value *spec, const char *which);
/** Parts of the pod's validation. */
void bt_kinds_validate_resources(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *resources);
void bt_kinds_validate_pod_resources(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec);
void bt_kinds_validate_scheduling(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec);
void bt_kinds_validate_tolerations(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *tolerations);
void bt_kinds_validate_volumes(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *volumes);
void bt_kinds_check_access_modes(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *modes);
/** amounts.storage is given and above zero. */
void bt_kinds_check_storage_amount(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *amounts);
void bt_kinds_check_volume_mode(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec);
void bt_kinds_validate_claim_spec(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec);
void bt_kinds_validate_containers(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec);
void bt_kinds_validate_pod_update(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors);
/** v1.NodeSelector. */
void bt_kinds_validate_node_selector(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *selector);
void bt_kinds_prepare_pod(const struct bt_write *write, struct bt_json_value *object);
/** Guaranteed, BestEffort or Burstable. 14b section 2.2. */
const char *bt_kinds_qos_class(struct bt_arena *arena, const struct bt_json_value *spec);
/** Value ranges that several kinds name. */
extern const char *const bt_kinds_taint_effects[];

/** --- strategies, one file or more each --- */

extern const struct bt_strategy bt_strategy_pod;
extern const struct bt_strategy bt_strategy_pod_template;
extern const struct bt_strategy bt_strategy_node;
extern const struct bt_strategy bt_strategy_namespace;
extern const struct bt_strategy bt_strategy_service;
extern const struct bt_strategy bt_strategy_deployment;
extern const struct bt_strategy bt_strategy_replica_set;
extern const struct bt_strategy bt_strategy_replication_controller;
extern const struct bt_strategy bt_strategy_stateful_set;
extern const struct bt_strategy bt_strategy_daemon_set;
extern const struct bt_strategy bt_strategy_job;
extern const struct bt_strategy bt_strategy_cron_job;
extern const struct bt_strategy bt_strategy_persistent_volume;
extern const struct bt_strategy bt_strategy_persistent_volume_claim;
extern const struct bt_strategy bt_strategy_storage_class;
extern const struct bt_strategy bt_strategy_csi_driver;
extern const struct bt_strategy bt_strategy_volume_attachment;
extern const struct bt_strategy bt_strategy_pod_disruption_budget;
extern const struct bt_strategy bt_strategy_priority_class;
extern const struct bt_strategy bt_strategy_pod_group;
extern const struct bt_strategy bt_strategy_workload;
extern const struct bt_strategy bt_strategy_device_class;
extern const struct bt_strategy bt_strategy_device_taint_rule;
extern const struct bt_strategy bt_strategy_resource_claim;
extern const struct bt_strategy bt_strategy_resource_claim_template;
extern const struct bt_strategy bt_strategy_resource_slice;
extern const struct bt_strategy bt_strategy_event;
extern const struct bt_strategy bt_strategy_event_v1;
extern const struct bt_strategy bt_strategy_horizontal_pod_autoscaler;
extern const struct bt_strategy bt_strategy_horizontal_pod_autoscaler_v1;
extern const struct bt_strategy bt_strategy_secret;
extern const struct bt_strategy bt_strategy_config_map;
extern const struct bt_strategy bt_strategy_limit_range;
extern const struct bt_strategy bt_strategy_lease;
extern const struct bt_strategy bt_strategy_plain; /* metadata only */
extern const struct bt_strategy bt_strategy_rbac;  /* names are path segments */
#endif
