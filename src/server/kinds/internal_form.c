/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

#include <stdlib.h>

/*
 * Some errors print parts of objects as JSON of upstream's internal Go types: with Go's field
 * names, all fields, in the order of Go's declarations. The internal types have the fields of the
 * served version, but keep a few of them in other structs. Spec: 14b section 2.3.
 */

/**
 * The Go spelling of words at the start of a field name. Go capitalizes the first letter of other
 * words.
 */
static const char *const words[][2] = {{"api", "API"}, {"aws", "AWS"}, {"cephfs", "CephFS"},
	{"csi", "CSI"}, {"dns", "DNS"}, {"fc", "FC"}, {"fs", "FS"}, {"gce", "GCE"},
	{"gmsa", "GMSA"}, {"grpc", "GRPC"}, {"http", "HTTP"}, {"ip", "IP"}, {"iqn", "IQN"},
	{"iscsi", "ISCSI"}, {"nfs", "NFS"}, {"os", "OS"}, {"pd", "PD"}, {"rbd", "RBD"},
	{"se", "SE"}, {"storageos", "StorageOS"}, {"tcp", "TCP"}, {"tty", "TTY"}, {"uid", "UID"},
	{"uri", "URI"}, {"url", "URL"}, {"wwids", "WWIDs"}};

/**
 * Order of the fields in Go. names: the first fields; all other fields follow in the order of the
 * schema. absent: fields that the Go type does not have.
 */
static const struct order {
	const char *message;
	const char *names[40];
	const char *absent[8];
} orders[] = {
	{.message = "ServicePort",
		.names = {"name", "protocol", "appProtocol", "port", "targetPort", "nodePort"}},
	{.message = "Container",
		.names = {"name", "image", "command", "args", "workingDir", "ports", "envFrom",
			"env", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules",
			"volumeMounts", "volumeDevices", "livenessProbe", "readinessProbe",
			"startupProbe", "lifecycle", "terminationMessagePath",
			"terminationMessagePolicy"}},
	{.message = "EphemeralContainerCommon",
		.names = {"name", "image", "command", "args", "workingDir", "ports", "envFrom",
			"env", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules",
			"volumeMounts", "volumeDevices", "livenessProbe", "readinessProbe",
			"startupProbe", "lifecycle", "terminationMessagePath",
			"terminationMessagePolicy"}},
	{.message = "PersistentVolumeClaimSpec", .names = {"accessModes", "selector", "resources"}},
	{.message = "PodSecurityContext",
		.names = {"seLinuxOptions", "windowsOptions", "runAsUser", "runAsGroup",
			"runAsNonRoot", "supplementalGroups", "supplementalGroupsPolicy", "fsGroup",
			"fsGroupChangePolicy", "sysctls", "seccompProfile"}},
	{.message = "PodSpec",
		.names = {"volumes", "initContainers", "containers", "ephemeralContainers",
			"restartPolicy", "terminationGracePeriodSeconds", "activeDeadlineSeconds",
			"dnsPolicy", "nodeSelector", "serviceAccountName",
			"automountServiceAccountToken", "nodeName", "securityContext",
			"imagePullSecrets", "hostname", "subdomain", "setHostnameAsFQDN",
			"affinity", "schedulerName", "tolerations", "hostAliases",
			"priorityClassName", "priority", "preemptionPolicy", "dnsConfig",
			"readinessGates", "runtimeClassName", "overhead", "enableServiceLinks",
			"topologySpreadConstraints", "os", "schedulingGates", "resourceClaims",
			"resources", "hostnameOverride", "schedulingGroup"},
		.absent = {"serviceAccount", "hostNetwork", "hostPID", "hostIPC",
			"shareProcessNamespace", "hostUsers"}},
	{.message = "VolumeMount",
		.names = {"name", "readOnly", "recursiveReadOnly", "mountPath", "subPath",
			"mountPropagation", "subPathExpr"}},
	{.message = "VolumeSource",
		.names = {"hostPath", "emptyDir", "gcePersistentDisk", "awsElasticBlockStore",
			"gitRepo", "secret", "nfs", "iscsi", "glusterfs", "persistentVolumeClaim",
			"rbd", "quobyte", "flexVolume", "cinder", "cephfs", "flocker",
			"downwardAPI", "fc", "azureFile", "configMap", "vsphereVolume", "azureDisk",
			"photonPersistentDisk", "projected"}},
};

/** Fields of a pod spec that Go's internal type has at the start of the security context. */
static const char *const host_names[] = {
	"hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers"};

static struct bt_str go_name(struct bt_arena *arena, const char *name)
{
	const char *rest = name;
	while (*rest != '\0' && (*rest < 'A' || *rest > 'Z')) {
		rest++;
	}
	struct bt_str word = {name, (uint32_t)(rest - name)};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(words); i++) {
		if (bt_str_equal_c(word, words[i][0])) {
			return bt_arena_printf(arena, "%s%s", words[i][1], rest);
		}
	}
	bool is_small = name[0] >= 'a' && name[0] <= 'z';
	return bt_arena_printf(arena, "%c%s", is_small ? name[0] - 'a' + 'A' : name[0], name + 1);
}

static bool is_named(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count && names[i] != NULL; i++) {
		if (strcmp(names[i], name) == 0) {
			return true;
		}
	}
	return false;
}

static struct bt_json_value *zero_of(struct bt_arena *arena, const struct bt_schema_field *field)
{
	bool is_pointer = (field->flags & BT_SCHEMA_NULLABLE) != 0;
	if (!is_pointer && field->shape == BT_SCHEMA_SINGLE) {
		switch ((enum bt_schema_type)field->type) {
		case BT_SCHEMA_STRING:
			return bt_json_new_c(arena, "");
		case BT_SCHEMA_BOOL:
			return bt_json_new_bool(arena, false);
		case BT_SCHEMA_INT32:
		case BT_SCHEMA_INT64:
		case BT_SCHEMA_INT_OR_STRING:
			return bt_json_new_int64(arena, 0);
		case BT_SCHEMA_QUANTITY:
			return bt_json_new_c(arena, "0");
		case BT_SCHEMA_MESSAGE:
			return bt_kinds_internal_form(
				arena, field->message, bt_json_new(arena, BT_JSON_OBJECT));
		case BT_SCHEMA_BYTES:
		case BT_SCHEMA_TIME:
		case BT_SCHEMA_MICRO_TIME:
		case BT_SCHEMA_DURATION:
		case BT_SCHEMA_STRING_LIST:
		case BT_SCHEMA_RAW_JSON:
			break;
		}
	}
	return bt_json_new(arena, BT_JSON_NULL);
}

static struct bt_json_value *form_of(
	struct bt_arena *arena, const struct bt_schema_field *field, struct bt_json_value *value)
{
	if (value == NULL || value->type == BT_JSON_NULL) {
		return zero_of(arena, field);
	}
	if (field->shape == BT_SCHEMA_LIST && field->message != NULL &&
		value->type == BT_JSON_ARRAY) {
		struct bt_json_value *list = bt_json_new(arena, BT_JSON_ARRAY);
		for (uint32_t i = 0; i < value->count; i++) {
			bt_json_append(arena, list,
				bt_kinds_internal_form(arena, field->message, value->elements[i]));
		}
		return list;
	}
	if (field->shape == BT_SCHEMA_MAP && value->type == BT_JSON_OBJECT) {
		struct bt_json_value *map = bt_json_clone(arena, value, false);
		if (map->count != 0) {
			qsort(map->members, map->count, sizeof(*map->members),
				bt_str_compare_qsort);
		}
		return map;
	}
	if (field->shape == BT_SCHEMA_SINGLE && field->message != NULL) {
		return bt_kinds_internal_form(arena, field->message, value);
	}
	return value;
}

static void add_fields(struct bt_arena *arena, struct bt_json_value *out,
	const struct bt_schema_message *message, const struct bt_json_value *object);

static void add_field(struct bt_arena *arena, struct bt_json_value *out,
	const struct bt_schema_field *field, const struct bt_json_value *object)
{
	struct bt_json_value *value = bt_json_find(object, field->name);
	if ((field->flags & BT_SCHEMA_INLINE) != 0) {
		add_fields(arena, out, field->message, object);
	} else if (field->message != NULL && strcmp(field->message->name, "ObjectMeta") == 0) {
		/* Go embeds ObjectMeta, so its members appear in the parent */
		for (uint32_t i = 0; value != NULL && i < value->count; i++) {
			bt_json_append_member(
				arena, out, value->members[i].name, value->members[i].value);
		}
	} else {
		bt_json_append_member(
			arena, out, go_name(arena, field->name), form_of(arena, field, value));
	}
}

static void add_fields(struct bt_arena *arena, struct bt_json_value *out,
	const struct bt_schema_message *message, const struct bt_json_value *object)
{
	static const struct order none = {.message = NULL};
	const struct order *order = &none;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(orders); i++) {
		if (strcmp(orders[i].message, message->name) == 0 &&
			strcmp(message->package, "core/v1") == 0) {
			order = &orders[i];
		}
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(order->names) && order->names[i] != NULL; i++) {
		const struct bt_schema_field *field =
			bt_schema_field_find(message, bt_str_from(order->names[i]), NULL);
		if (field != NULL) {
			add_field(arena, out, field, object);
		}
	}
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_schema_field *field = &message->fields[i];
		if (!is_named(order->names, BT_ARRAY_LENGTH(order->names), field->name) &&
			!is_named(order->absent, BT_ARRAY_LENGTH(order->absent), field->name)) {
			add_field(arena, out, field, object);
		}
	}
}

struct bt_json_value *bt_kinds_internal_form(struct bt_arena *arena,
	const struct bt_schema_message *message, struct bt_json_value *object)
{
	bool is_shared = strcmp(message->package, "meta/v1") == 0; /* no separate internal type */
	if (is_shared || object->type != BT_JSON_OBJECT) {
		return object;
	}
	struct bt_json_value *out = bt_json_new(arena, BT_JSON_OBJECT);
	add_fields(arena, out, message, object);
	struct bt_json_value *context = bt_json_find(out, "SecurityContext");
	if (strcmp(message->name, "PodSpec") == 0 && context->type == BT_JSON_OBJECT) {
		struct bt_json_value *whole = bt_json_new(arena, BT_JSON_OBJECT);
		for (size_t i = 0; i < BT_ARRAY_LENGTH(host_names); i++) {
			add_field(arena, whole,
				bt_schema_field_find(message, bt_str_from(host_names[i]), NULL),
				object);
		}
		for (uint32_t i = 0; i < context->count; i++) {
			bt_json_append_member(
				arena, whole, context->members[i].name, context->members[i].value);
		}
		bt_json_set_value(arena, out, "SecurityContext", whole);
	}
	return out;
}
