/* SPDX-License-Identifier: Apache-2.0 */
#include "sample_schema.h"

#define FIELD(number_, name_, type_, shape_, flags_, message_, merge_key_, list_keys_) \
	{ \
		.name = (name_), .name_length = sizeof(name_) - 1, .type = BT_SCHEMA_##type_, \
		.shape = BT_SCHEMA_##shape_, .flags = (flags_), .number = (number_), \
		.message = (message_), .merge_key = (merge_key_), .list_keys = (list_keys_) \
	}
#define MESSAGE(symbol_, name_, fields_) \
	const struct bt_schema_message symbol_ = {.name = (name_), \
		.package = "sample", \
		.field_count = sizeof(fields_) / sizeof((fields_)[0]), \
		.fields = (fields_)}

static const char *const name_key[] = {"name", NULL};
static const char *const uid_key[] = {"uid", NULL};
static const char *const port_keys[] = {"containerPort", "protocol", NULL};

static const struct bt_schema_field owner_fields[] = {
	FIELD(1, "kind", STRING, SINGLE, 0, NULL, NULL, NULL),
	FIELD(4, "uid", STRING, SINGLE, 0, NULL, NULL, NULL),
};
static MESSAGE(owner, "OwnerReference", owner_fields);

static const struct bt_schema_field metadata_fields[] = {
	FIELD(1, "name", STRING, SINGLE, 0, NULL, NULL, NULL),
	FIELD(3, "namespace", STRING, SINGLE, 0, NULL, NULL, NULL),
	FIELD(5, "uid", STRING, SINGLE, 0, NULL, NULL, NULL),
	FIELD(6, "resourceVersion", STRING, SINGLE, 0, NULL, NULL, NULL),
	FIELD(11, "labels", STRING, MAP, 0, NULL, NULL, NULL),
	FIELD(12, "annotations", STRING, MAP, 0, NULL, NULL, NULL),
	FIELD(13, "ownerReferences", MESSAGE, LIST, BT_SCHEMA_MERGE, &owner, "uid", uid_key),
	FIELD(14, "finalizers", STRING, LIST, BT_SCHEMA_MERGE | BT_SCHEMA_LIST_SET, NULL, NULL,
		NULL),
};
static MESSAGE(metadata, "ObjectMeta", metadata_fields);

static const struct bt_schema_field port_fields[] = {
	FIELD(1, "name", STRING, SINGLE, 0, NULL, NULL, NULL),
	FIELD(3, "containerPort", INT32, SINGLE, 0, NULL, NULL, NULL),
	{
		.number = 4,
		.name = "protocol",
		.name_length = sizeof("protocol") - 1,
		.type = BT_SCHEMA_STRING,
		.default_text = "TCP",
	},
};
static MESSAGE(port, "ContainerPort", port_fields);

static const struct bt_schema_field container_fields[] = {
	FIELD(1, "name", STRING, SINGLE, 0, NULL, NULL, NULL),
	FIELD(2, "image", STRING, SINGLE, 0, NULL, NULL, NULL),
	FIELD(3, "command", STRING, LIST, 0, NULL, NULL, NULL),
	FIELD(6, "ports", MESSAGE, LIST, BT_SCHEMA_MERGE, &port, "containerPort", port_keys),
	FIELD(8, "limits", QUANTITY, MAP, 0, NULL, NULL, NULL),
};
static MESSAGE(container, "Container", container_fields);

static const struct bt_schema_field volume_fields[] = {
	FIELD(1, "name", STRING, SINGLE, 0, NULL, NULL, NULL),
	FIELD(2, "emptyDir", RAW_JSON, SINGLE, 0, NULL, NULL, NULL),
	FIELD(3, "hostPath", RAW_JSON, SINGLE, 0, NULL, NULL, NULL),
};
static MESSAGE(volume, "Volume", volume_fields);

static const struct bt_schema_field rolling_fields[] = {
	FIELD(1, "maxSurge", INT32, SINGLE, 0, NULL, NULL, NULL),
	FIELD(2, "maxUnavailable", INT32, SINGLE, 0, NULL, NULL, NULL),
};
static MESSAGE(rolling, "RollingUpdate", rolling_fields);

static const struct bt_schema_field strategy_fields[] = {
	FIELD(1, "type", STRING, SINGLE, 0, NULL, NULL, NULL),
	FIELD(2, "rollingUpdate", MESSAGE, SINGLE, 0, &rolling, NULL, NULL),
};
static MESSAGE(strategy, "Strategy", strategy_fields);

static const struct bt_schema_field spec_fields[] = {
	FIELD(1, "volumes", MESSAGE, LIST, BT_SCHEMA_MERGE | BT_SCHEMA_RETAIN_KEYS, &volume, "name",
		name_key),
	FIELD(2, "containers", MESSAGE, LIST, BT_SCHEMA_MERGE, &container, "name", name_key),
	FIELD(3, "replicas", INT32, SINGLE, 0, NULL, NULL, NULL),
	FIELD(4, "tolerations", RAW_JSON, LIST, 0, NULL, NULL, NULL),
	FIELD(5, "selector", STRING, MAP, BT_SCHEMA_ATOMIC | BT_SCHEMA_REPLACE, NULL, NULL, NULL),
	FIELD(6, "strategy", MESSAGE, SINGLE, BT_SCHEMA_RETAIN_KEYS, &strategy, NULL, NULL),
};
static MESSAGE(spec, "PodSpec", spec_fields);

static const struct bt_schema_field pod_fields[] = {
	FIELD(1, "metadata", MESSAGE, SINGLE, 0, &metadata, NULL, NULL),
	FIELD(2, "spec", MESSAGE, SINGLE, 0, &spec, NULL, NULL),
	FIELD(3, "status", RAW_JSON, SINGLE, 0, NULL, NULL, NULL),
};
MESSAGE(sample_pod, "Pod", pod_fields);
