/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

#include "api/label.h"

/* Pods and pod templates but for scheduling and resources. Spec: 14b section 5. */

#define PRIORITY_USER_MAX INT64_C(1000000000)
#define PORT_MAX 65535

static const char *const restart_policies[] = {"Always", "OnFailure", "Never", NULL};
static const char *const dns_policies[] = {
	"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None", NULL};
static const char *const pull_policies[] = {"Always", "IfNotPresent", "Never", NULL};
static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
static const char *const message_policies[] = {"File", "FallbackToLogsOnError", NULL};
static const char *const preemption_policies[] = {"PreemptLowerPriority", "Never", NULL};

/** What containers refer to. */
struct surroundings {
	struct bt_names volumes;
	struct bt_names claims;
	bool host_network;
};

/** The element's name is new, or it is reported. */
static void check_unique(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *element, struct bt_names *seen)
{
	struct bt_str name = bt_kinds_text(element, "name");
	if (name.length != 0 && !bt_names_add(seen, name)) {
		bt_kinds_error_duplicate(
			errors, BT_PATH_NAME(place, "name"), bt_json_find(element, "name"));
	}
}

/** The element's name is given and one of the names. */
static void check_reference(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *element, const struct bt_names *names)
{
	if (bt_kinds_check_given(errors, place, element, "name") &&
		bt_names_find(names, bt_kinds_text(element, "name")) == BT_NAMES_NONE) {
		bt_kinds_error(errors, BT_FIELD_NOT_FOUND, BT_PATH_NAME(place, "name"),
			bt_json_find(element, "name"), "%s", "");
	}
}

static void check_port_range(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *port, const char *name, bool required)
{
	const struct bt_json_value *value = bt_json_find(port, name);
	int64_t number = bt_json_int64_at(port, name, 0);
	if (number == 0 && !required) {
		return;
	}
	if (number == 0) {
		bt_kinds_error_required(errors, BT_PATH_NAME(place, name));
	} else if (number < 1 || number > PORT_MAX) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, name), value,
			"must be between 1 and 65535, inclusive");
	}
}

static void check_ports(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *ports, bool host_network)
{
	struct bt_names seen = {.arena = errors->arena};
	for (uint32_t i = 0; i < ports->count; i++) {
		const struct bt_json_value *port = ports->elements[i];
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		int64_t host_port = bt_json_int64_at(port, "hostPort", 0);
		check_port_range(errors, &at, port, "containerPort", true);
		check_port_range(errors, &at, port, "hostPort", false);
		bt_kinds_check_text_in(errors, &at, port, "protocol", protocols, true);
		check_unique(errors, &at, port, &seen);
		if (host_network && host_port != 0 &&
			host_port != bt_json_int64_at(port, "containerPort", 0)) {
			bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(&at, "hostPort"),
				bt_json_find(port, "hostPort"),
				"must match `containerPort` when `hostNetwork` is true");
		}
	}
}

static void check_environment(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *env)
{
	for (uint32_t i = 0; i < env->count; i++) {
		const struct bt_json_value *variable = env->elements[i];
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		(void)bt_kinds_check_given(errors, &at, variable, "name");
		if (bt_kinds_text(variable, "value").length != 0 &&
			bt_kinds_object(variable, "valueFrom") != NULL) {
			bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(&at, "valueFrom"),
				bt_kinds_text_value(errors, BT_STR("")),
				"may not be specified when `value` is not empty");
		}
	}
}

static void check_mounts(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *mounts, const struct bt_names *volumes)
{
	struct bt_names seen = {.arena = errors->arena};
	for (uint32_t i = 0; i < mounts->count; i++) {
		const struct bt_json_value *mount = mounts->elements[i];
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		check_reference(errors, &at, mount, volumes);
		if (bt_kinds_check_given(errors, &at, mount, "mountPath") &&
			!bt_names_add(&seen, bt_kinds_text(mount, "mountPath"))) {
			bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(&at, "mountPath"),
				bt_json_find(mount, "mountPath"), "must be unique");
		}
	}
}

static void check_devices(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *devices, const struct bt_names *volumes)
{
	for (uint32_t i = 0; i < devices->count; i++) {
		const struct bt_json_value *device = devices->elements[i];
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		check_reference(errors, &at, device, volumes);
		(void)bt_kinds_check_given(errors, &at, device, "devicePath");
	}
}

static void check_probe(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *container, const char *name)
{
	static const char *const counters[] = {"initialDelaySeconds", "timeoutSeconds",
		"periodSeconds", "successThreshold", "failureThreshold"};
	static const char *const handlers[] = {"exec", "httpGet", "tcpSocket", "grpc"};
	const struct bt_json_value *probe = bt_kinds_object(container, name);
	uint32_t handler_count = 0;
	if (probe == NULL) {
		return;
	}
	for (uint32_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		bt_kinds_check_not_negative(errors, BT_PATH_NAME(place, name), probe, counters[i]);
	}
	for (uint32_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
		handler_count += bt_json_find(probe, handlers[i]) != NULL ? 1U : 0U;
	}
	if (handler_count == 0) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, BT_PATH_NAME(place, name), NULL,
			"must specify a handler type");
	} else if (handler_count > 1) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(place, name), NULL,
			"may not specify more than 1 handler type");
	}
}

static void check_claims(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *claims, const struct bt_names *pod_claims)
{
	for (uint32_t i = 0; i < claims->count; i++) {
		check_reference(errors, BT_PATH_INDEX(place, i), claims->elements[i], pod_claims);
	}
}

static void check_container(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *container, const struct surroundings *around)
{
	const struct bt_json_value *resources = bt_kinds_object(container, "resources");
	struct bt_str image = bt_kinds_text(container, "image");
	if (bt_kinds_check_given(errors, place, container, "name")) {
		bt_kinds_check_name(errors, BT_PATH_NAME(place, "name"),
			bt_json_find(container, "name"), BT_NAME_LABEL);
	}
	if (bt_kinds_check_given(errors, place, container, "image") &&
		(image.data[0] == ' ' || image.data[image.length - 1] == ' ')) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "image"),
			bt_json_find(container, "image"),
			"must not have leading or trailing whitespace");
	}
	bt_kinds_check_text_in(errors, place, container, "imagePullPolicy", pull_policies, true);
	bt_kinds_check_text_in(
		errors, place, container, "terminationMessagePolicy", message_policies, true);
	check_ports(errors, BT_PATH_NAME(place, "ports"), bt_json_array_at(container, "ports"),
		around->host_network);
	check_environment(errors, BT_PATH_NAME(place, "env"), bt_json_array_at(container, "env"));
	check_mounts(errors, BT_PATH_NAME(place, "volumeMounts"),
		bt_json_array_at(container, "volumeMounts"), &around->volumes);
	check_devices(errors, BT_PATH_NAME(place, "volumeDevices"),
		bt_json_array_at(container, "volumeDevices"), &around->volumes);
	check_probe(errors, place, container, "livenessProbe");
	check_probe(errors, place, container, "readinessProbe");
	check_probe(errors, place, container, "startupProbe");
	if (resources != NULL && resources->count != 0) {
		bt_kinds_validate_resources(errors, BT_PATH_NAME(place, "resources"), resources);
		check_claims(errors, BT_PATH_NAME(BT_PATH_NAME(place, "resources"), "claims"),
			bt_json_array_at(resources, "claims"), &around->claims);
	}
}

/** Host ports are taken once per protocol and address in a pod. */
static void check_host_ports(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *containers)
{
	struct bt_names seen = {.arena = errors->arena};
	for (uint32_t c = 0; c < containers->count; c++) {
		const struct bt_json_value *ports =
			bt_json_array_at(containers->elements[c], "ports");
		const struct bt_path container = *BT_PATH_INDEX(place, c);
		const struct bt_path *list = BT_PATH_NAME(&container, "ports");
		for (uint32_t i = 0; i < ports->count; i++) {
			const struct bt_json_value *port = ports->elements[i];
			int64_t number = bt_json_int64_at(port, "hostPort", 0);
			if (number == 0) {
				continue;
			}
			struct bt_str text = bt_arena_printf(errors->arena, "%.*s/%.*s/%lld",
				BT_STR_ARG(bt_kinds_text(port, "protocol")),
				BT_STR_ARG(bt_kinds_text(port, "hostIP")), (long long)number);
			if (!bt_names_add(&seen, text)) {
				bt_kinds_error_duplicate(errors,
					BT_PATH_NAME(BT_PATH_INDEX(list, i), "hostPort"),
					bt_kinds_text_value(errors, text));
			}
		}
	}
}

void bt_kinds_validate_containers(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec)
{
	const struct bt_json_value *inits = bt_json_array_at(spec, "initContainers");
	const struct bt_json_value *containers = bt_json_array_at(spec, "containers");
	const struct bt_path *list = BT_PATH_NAME(place, "containers");
	const struct bt_path *init_list = BT_PATH_NAME(place, "initContainers");
	struct bt_arena *arena = errors->arena;
	struct bt_names seen = {.arena = arena};
	struct surroundings around = {
		.volumes = bt_names_of_list(arena, bt_json_array_at(spec, "volumes"), "name"),
		.claims = bt_names_of_list(arena, bt_json_array_at(spec, "resourceClaims"), "name"),
		.host_network = bt_json_bool_at(spec, "hostNetwork", false),
	};
	if (containers->count == 0) {
		bt_kinds_error_required(errors, list);
	}
	for (uint32_t i = 0; i < containers->count; i++) {
		const struct bt_path at = *BT_PATH_INDEX(list, i);
		check_container(errors, &at, containers->elements[i], &around);
		check_unique(errors, &at, containers->elements[i], &seen);
	}
	check_host_ports(errors, list, containers);
	for (uint32_t i = 0; i < inits->count; i++) {
		const struct bt_path at = *BT_PATH_INDEX(init_list, i);
		check_container(errors, &at, inits->elements[i], &around);
		check_unique(errors, &at, inits->elements[i], &seen);
	}
}

static void check_priority(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec)
{
	int64_t priority = bt_json_int64_at(spec, "priority", 0);
	if (priority > PRIORITY_USER_MAX &&
		!bt_str_has_prefix(bt_kinds_text(spec, "priorityClassName"), BT_STR("system-"))) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "priority"),
			bt_json_find(spec, "priority"), "must be less than or equal to 1000000000");
	}
	bt_kinds_check_text_in(errors, place, spec, "preemptionPolicy", preemption_policies, false);
}

static void check_resource_claims(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *claims)
{
	struct bt_names seen = {.arena = errors->arena};
	for (uint32_t i = 0; i < claims->count; i++) {
		const struct bt_json_value *claim = claims->elements[i];
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		bool by_name = bt_kinds_text(claim, "resourceClaimName").length != 0;
		bool by_template = bt_kinds_text(claim, "resourceClaimTemplateName").length != 0;
		if (bt_kinds_check_given(errors, &at, claim, "name")) {
			bt_kinds_check_name(errors, BT_PATH_NAME(&at, "name"),
				bt_json_find(claim, "name"), BT_NAME_LABEL);
		}
		check_unique(errors, &at, claim, &seen);
		if (by_name == by_template) {
			bt_kinds_error(errors, BT_FIELD_INVALID, &at, claim, "%s",
				by_name ? "at most one of `resourceClaimName` or "
					  "`resourceClaimTemplateName` may be specified"
					: "must specify one of: `resourceClaimName`, "
					  "`resourceClaimTemplateName`");
		}
	}
}

static void check_names(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec)
{
	static const char *const names[] = {
		"nodeName", "serviceAccountName", "priorityClassName", "runtimeClassName"};
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (bt_kinds_text(spec, names[i]).length != 0) {
			bt_kinds_check_name(errors, BT_PATH_NAME(place, names[i]),
				bt_json_find(spec, names[i]), BT_NAME_SUBDOMAIN);
		}
	}
	if (bt_kinds_text(spec, "hostname").length != 0) {
		bt_kinds_check_name(errors, BT_PATH_NAME(place, "hostname"),
			bt_json_find(spec, "hostname"), BT_NAME_LABEL);
	}
	if (bt_kinds_text(spec, "schedulerName").length != 0) {
		bt_kinds_check_label_key(errors, BT_PATH_NAME(place, "schedulerName"),
			bt_kinds_text(spec, "schedulerName"));
	}
}

void bt_kinds_validate_pod_spec(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec, bool is_template)
{
	const struct bt_json_value *deadline = bt_json_find(spec, "activeDeadlineSeconds");
	bt_kinds_validate_volumes(
		errors, BT_PATH_NAME(place, "volumes"), bt_json_array_at(spec, "volumes"));
	bt_kinds_validate_containers(errors, place, spec);
	bt_kinds_validate_pod_resources(errors, place, spec);
	bt_kinds_check_text_in(errors, place, spec, "restartPolicy", restart_policies, true);
	bt_kinds_check_text_in(errors, place, spec, "dnsPolicy", dns_policies, true);
	bt_kinds_check_not_negative(errors, place, spec, "terminationGracePeriodSeconds");
	if (deadline != NULL && bt_json_int64_at(spec, "activeDeadlineSeconds", 1) < 1) {
		bt_kinds_error(errors, BT_FIELD_INVALID,
			BT_PATH_NAME(place, "activeDeadlineSeconds"), deadline,
			"must be between 1 and 2147483647, inclusive");
	}
	check_names(errors, place, spec);
	bt_kinds_validate_scheduling(errors, place, spec);
	check_priority(errors, place, spec);
	check_resource_claims(errors, BT_PATH_NAME(place, "resourceClaims"),
		bt_json_array_at(spec, "resourceClaims"));
	if (!is_template && bt_kinds_text(spec, "nodeName").length != 0 &&
		bt_json_array_at(spec, "schedulingGates")->count != 0) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(place, "nodeName"), NULL,
			"cannot be set until all schedulingGates have been cleared");
	}
}

void bt_kinds_validate_pod_template(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *template_, const struct bt_json_value *selector)
{
	const struct bt_json_value *metadata = bt_kinds_object(template_, "metadata");
	const struct bt_json_value *labels = bt_kinds_object(metadata, "labels");
	const struct bt_path *labels_place =
		BT_PATH_NAME(BT_PATH_NAME(place, "metadata"), "labels");
	static const struct bt_json_value no_labels = {.type = BT_JSON_OBJECT};
	if (selector != NULL && selector->count != 0 &&
		!bt_kinds_selector_matches(errors->arena, selector, labels)) {
		bt_kinds_error(errors, BT_FIELD_INVALID, labels_place,
			labels != NULL ? labels : &no_labels,
			"`selector` does not match template `labels`");
	}
	bt_kinds_check_labels(errors, labels_place, labels);
	bt_kinds_validate_pod_spec(
		errors, BT_PATH_NAME(place, "spec"), bt_json_object_at(template_, "spec"), true);
}

static void set_pod_defaults(const struct bt_write *write, struct bt_json_value *object)
{
	bt_kinds_default_pod_spec(
		write->arena, bt_json_ensure_object(write->arena, object, "spec"), false);
	(void)bt_json_ensure_object(write->arena, object, "status");
}

static void validate_pod(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	if (!bt_kinds_keeps_spec(write)) {
		bt_kinds_validate_pod_spec(errors, BT_PATH_NAME(NULL, "spec"),
			bt_json_object_at(object, "spec"), false);
	}
}

const struct bt_strategy bt_strategy_pod = {
	.set_defaults = set_pod_defaults,
	.prepare_create = bt_kinds_prepare_pod,
	.validate = validate_pod,
	.validate_update = bt_kinds_validate_pod_update,
};

static void set_template_defaults(const struct bt_write *write, struct bt_json_value *object)
{
	bt_kinds_default_pod_template(write->arena, object);
}

static void validate_template(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	(void)write;
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	bt_kinds_validate_pod_template(errors, BT_PATH_NAME(NULL, "template"),
		bt_json_object_at(object, "template"), NULL);
}

const struct bt_strategy bt_strategy_pod_template = {
	.set_defaults = set_template_defaults,
	.validate = validate_template,
};
