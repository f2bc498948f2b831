/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of nodes, namespaces, services, events and small things. Spec: 14 section 18. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "server/table_private.h"

/** --- nodes --- */

static const struct bt_table_column node_columns[] = {
	BT_COLUMN_NAME,
	{"Status", "string", "", "Whether the node is ready, and whether it takes pods.", 0},
	{"Roles", "string", "", "Roles of the node, by its labels.", 0},
	BT_COLUMN_AGE,
	{"Version", "string", "", "Version of the node's agent.", 0},
	{"Internal-IP", "string", "", "Address within the cluster.", 1},
	{"External-IP", "string", "", "Address outside.", 1},
	{"OS-Image", "string", "", "Operating system of the node.", 1},
	{"Kernel-Version", "string", "", "Kernel of the node.", 1},
	{"Container-Runtime", "string", "", "What runs its containers.", 1},
};

static void cell_node_status(const struct bt_table_row *row)
{
	const struct bt_json_value *ready = bt_table_condition(row->object, "Ready");
	struct bt_strbuf text = {0};
	if (ready == NULL) {
		bt_strbuf_append_c(&text, "Unknown");
	} else {
		bool is_ready = bt_table_condition_is_true(row->object, "Ready");
		bt_strbuf_append_c(&text, is_ready ? "Ready" : "NotReady");
	}
	if (bt_json_bool_at(row->object, "spec.unschedulable", false)) {
		bt_strbuf_append_c(&text, ",SchedulingDisabled");
	}
	bt_cell_buffer(row, &text, "");
}

static void cell_roles(const struct bt_table_row *row)
{
	const struct bt_str prefix = BT_STR("node-role.kubernetes.io/");
	const struct bt_json_value *labels = bt_json_object_at(row->object, "metadata.labels");
	struct bt_str *roles = BT_NEW_ARRAY(struct bt_str, labels->count);
	struct bt_strbuf text = {0};
	uint32_t count = 0;
	for (uint32_t i = 0; i < labels->count; i++) {
		const struct bt_json_member *label = &labels->members[i];
		struct bt_str role = {NULL, 0};
		if (bt_str_has_prefix(label->name, prefix)) {
			role = bt_str_sub(label->name, prefix.length, label->name.length);
		} else if (bt_str_equal(label->name, BT_STR("kubernetes.io/role")) &&
			label->value->type == BT_JSON_STRING) {
			role = label->value->text;
		}
		if (role.length != 0) {
			roles[count++] = role;
		}
	}
	if (count != 0) {
		qsort(roles, count, sizeof(*roles), bt_str_compare_qsort);
	}
	for (uint32_t i = 0; i < count; i++) {
		if (i == 0 || !bt_str_equal(roles[i], roles[i - 1])) {
			bt_table_append_joined(&text, ",", roles[i]);
		}
	}
	bt_free(roles);
	bt_cell_buffer(row, &text, "<none>");
}

static void cell_address(const struct bt_table_row *row, const char *type)
{
	const struct bt_json_value *addresses = bt_json_array_at(row->object, "status.addresses");
	struct bt_str address = BT_STR("<none>");
	for (uint32_t i = 0; i < addresses->count; i++) {
		if (bt_str_equal_c(bt_json_text_at(addresses->elements[i], "type"), type)) {
			address = bt_json_text_at(addresses->elements[i], "address");
			break;
		}
	}
	bt_cell_str(row, address);
}

static void write_node(const struct bt_table_row *row)
{
	bt_cell_name(row);
	cell_node_status(row);
	cell_roles(row);
	bt_cell_age(row);
	bt_cell_text(row, "status.nodeInfo.kubeletVersion", "<unknown>");
	cell_address(row, "InternalIP");
	cell_address(row, "ExternalIP");
	bt_cell_text(row, "status.nodeInfo.osImage", "<unknown>");
	bt_cell_text(row, "status.nodeInfo.kernelVersion", "<unknown>");
	bt_cell_text(row, "status.nodeInfo.containerRuntimeVersion", "<unknown>");
}

static const struct bt_table_column namespace_columns[] = {
	BT_COLUMN_NAME,
	{"Status", "string", "", "Whether the namespace is in use or going away.", 0},
	BT_COLUMN_AGE,
};

static void write_namespace(const struct bt_table_row *row)
{
	bt_cell_name(row);
	bt_cell_text(row, "status.phase", "");
	bt_cell_age(row);
}

/** --- services --- */

static const struct bt_table_column service_columns[] = {
	BT_COLUMN_NAME,
	{"Type", "string", "", "How the service can be reached.", 0},
	{"Cluster-IP", "string", "", "Address within the cluster.", 0},
	{"External-IP", "string", "", "Addresses outside.", 0},
	{"Port(s)", "string", "", "Ports, and the nodes' ports for them.", 0},
	BT_COLUMN_AGE,
	{"Selector", "string", "", "Labels of the pods behind the service.", 1},
};

static void cell_external_ip(const struct bt_table_row *row)
{
	const struct bt_json_value *ingress =
		bt_json_array_at(row->object, "status.loadBalancer.ingress");
	struct bt_str type = bt_json_text_at(row->object, "spec.type");
	struct bt_strbuf text = {0};
	bool balanced = bt_str_equal(type, BT_STR("LoadBalancer"));
	if (bt_str_equal(type, BT_STR("ExternalName"))) {
		bt_cell_text(row, "spec.externalName", "");
		return;
	}
	for (uint32_t i = 0; balanced && i < ingress->count; i++) {
		struct bt_str ip = bt_json_text_at(ingress->elements[i], "ip");
		struct bt_str host = bt_json_text_at(ingress->elements[i], "hostname");
		if (ip.length != 0 || host.length != 0) {
			bt_table_append_joined(&text, ",", ip.length != 0 ? ip : host);
		}
	}
	bt_table_append_texts(&text, bt_json_array_at(row->object, "spec.externalIPs"));
	bt_cell_buffer(row, &text, balanced ? "<pending>" : "<none>");
}

static void cell_ports(const struct bt_table_row *row)
{
	const struct bt_json_value *ports = bt_json_array_at(row->object, "spec.ports");
	struct bt_strbuf text = {0};
	for (uint32_t i = 0; i < ports->count; i++) {
		const struct bt_json_value *port = ports->elements[i];
		struct bt_str protocol = bt_json_text_at(port, "protocol");
		int64_t node_port = bt_json_int64_at(port, "nodePort", 0);
		bt_strbuf_append_c(&text, i != 0 ? "," : "");
		bt_strbuf_printf(&text, "%" PRId64, bt_json_int64_at(port, "port", 0));
		if (node_port > 0) {
			bt_strbuf_printf(&text, ":%" PRId64, node_port);
		}
		bt_strbuf_append_char(&text, '/');
		bt_strbuf_append_str(&text, protocol.length != 0 ? protocol : BT_STR("TCP"));
	}
	bt_cell_buffer(row, &text, "<none>");
}

static void write_service(const struct bt_table_row *row)
{
	bt_cell_name(row);
	bt_cell_text(row, "spec.type", "ClusterIP");
	bt_cell_text(row, "spec.clusterIP", "<none>");
	cell_external_ip(row);
	cell_ports(row);
	bt_cell_age(row);
	bt_cell_labels(row, "spec.selector");
}

/** --- events: of both groups, whose members have other names --- */

static const struct bt_table_column event_columns[] = {
	{"Last Seen", "string", "", "Time since it last happened.", 0},
	{"Type", "string", "", "Normal or Warning.", 0},
	{"Reason", "string", "", "What happened, in one word.", 0},
	{"Object", "string", "", "What it happened to.", 0},
	{"Subobject", "string", "", "Part of the object.", 1},
	{"Source", "string", "", "Who reports it.", 1},
	{"Message", "string", "", "What happened.", 0},
	{"First Seen", "string", "", "Time since it first happened.", 1},
	{"Count", "integer", "", "How often it happened.", 1},
	{"Name", "string", "name", "Name of the event.", 1},
};

/** The first of these texts that is not empty, of at most four paths. */
static struct bt_str first_text(const struct bt_json_value *object, const char *const paths[4])
{
	for (size_t i = 0; i < 4 && paths[i] != NULL; i++) {
		struct bt_str text = bt_json_text_at(object, paths[i]);
		if (text.length != 0) {
			return text;
		}
	}
	return BT_STR("");
}

static struct bt_str member_of(
	const struct bt_json_value *event, const char *core_path, const char *events_path)
{
	return first_text(event, (const char *const[4]){core_path, events_path});
}

static int64_t number_of(
	const struct bt_json_value *event, const char *core_path, const char *events_path)
{
	int64_t number = bt_json_int64_at(event, core_path, 0);
	return number != 0 ? number : bt_json_int64_at(event, events_path, 0);
}

static void cell_event_object(const struct bt_table_row *row)
{
	struct bt_strbuf text = {0};
	bt_strbuf_append_lower(
		&text, member_of(row->object, "involvedObject.kind", "regarding.kind"));
	bt_strbuf_append_char(&text, '/');
	bt_strbuf_append_str(
		&text, member_of(row->object, "involvedObject.name", "regarding.name"));
	bt_cell_buffer(row, &text, "");
}

static void cell_event_source(const struct bt_table_row *row)
{
	struct bt_str component = first_text(row->object,
		(const char *const[4]){"source.component", "deprecatedSource.component",
			"reportingComponent", "reportingController"});
	struct bt_str host = first_text(row->object,
		(const char *const[4]){
			"source.host", "deprecatedSource.host", "reportingInstance"});
	struct bt_strbuf text = {0};
	bt_strbuf_append_str(&text, component);
	if (host.length != 0) {
		bt_strbuf_append_c(&text, ", ");
		bt_strbuf_append_str(&text, host);
	}
	bt_cell_buffer(row, &text, "");
}

static void cell_time_since(const struct bt_table_row *row, struct bt_str time)
{
	struct bt_strbuf text = {0};
	bt_table_append_since(row, time, "<unknown>", &text);
	bt_cell_buffer(row, &text, "");
}

static void write_event(const struct bt_table_row *row)
{
	struct bt_str first = first_text(row->object,
		(const char *const[4]){"firstTimestamp", "deprecatedFirstTimestamp", "eventTime"});
	struct bt_str last = first_text(row->object,
		(const char *const[4]){
			"series.lastObservedTime", "lastTimestamp", "deprecatedLastTimestamp"});
	int64_t count = bt_json_int64_at(row->object, "series.count", 0);
	if (count == 0) {
		count = number_of(row->object, "count", "deprecatedCount");
	}
	cell_time_since(row, last.length != 0 ? last : first);
	bt_cell_text(row, "type", "");
	bt_cell_text(row, "reason", "");
	cell_event_object(row);
	bt_cell_str(row, member_of(row->object, "involvedObject.fieldPath", "regarding.fieldPath"));
	cell_event_source(row);
	bt_cell_str(row, member_of(row->object, "message", "note"));
	cell_time_since(row, first);
	bt_json_write_int64(row->writer, count != 0 ? count : 1);
	bt_cell_name(row);
}

/** --- policies and scheduling --- */

static const struct bt_table_column budget_columns[] = {
	BT_COLUMN_NAME,
	{"Min Available", "string", "", "Pods that must stay available.", 0},
	{"Max Unavailable", "string", "", "Pods that may be unavailable.", 0},
	{"Allowed Disruptions", "integer", "", "Pods that may be evicted now.", 0},
	BT_COLUMN_AGE,
};

/** A number or a percentage. */
static void cell_amount(const struct bt_table_row *row, const char *path)
{
	const struct bt_json_value *value = bt_json_find_path(row->object, path);
	bool given =
		value != NULL && (value->type == BT_JSON_STRING || value->type == BT_JSON_NUMBER);
	bt_cell_str(row, given ? value->text : BT_STR("N/A"));
}

static void write_budget(const struct bt_table_row *row)
{
	bt_cell_name(row);
	cell_amount(row, "spec.minAvailable");
	cell_amount(row, "spec.maxUnavailable");
	bt_cell_int(row, "status.disruptionsAllowed", 0);
	bt_cell_age(row);
}

static const struct bt_table_column priority_class_columns[] = {
	BT_COLUMN_NAME,
	{"Value", "integer", "", "Priority of pods of this class.", 0},
	{"Global-Default", "boolean", "", "Whether pods without a class are of this one.", 0},
	BT_COLUMN_AGE,
	{"PreemptionPolicy", "string", "", "Whether pods of this class make others go.", 0},
};

static void write_priority_class(const struct bt_table_row *row)
{
	bt_cell_name(row);
	bt_cell_int(row, "value", 0);
	bt_cell_bool(row, "globalDefault", false);
	bt_cell_age(row);
	bt_cell_text(row, "preemptionPolicy", "PreemptLowerPriority");
}

static const struct bt_table_column pod_group_columns[] = {
	BT_COLUMN_NAME,
	{"Policy", "string", "", "Whether its pods are scheduled together.", 0},
	{"Workload", "string", "", "Workload that the group is part of.", 0},
	{"Status", "string", "", "Whether the group is scheduled.", 0},
	BT_COLUMN_AGE,
};

static void cell_group_status(const struct bt_table_row *row)
{
	const struct bt_json_value *scheduled =
		bt_table_condition(row->object, "PodGroupScheduled");
	struct bt_str reason =
		bt_json_text_at(bt_table_condition(row->object, "DisruptionTarget"), "reason");
	struct bt_str status = bt_json_text_at(scheduled, "status");
	if (bt_table_condition_is_true(row->object, "DisruptionTarget") && reason.length != 0) {
		bt_cell_str(row, reason);
	} else if (bt_str_equal(status, BT_STR("True"))) {
		bt_cell_str(row, BT_STR("Scheduled"));
	} else {
		bt_cell_str(row,
			bt_str_equal(status, BT_STR("False")) ? BT_STR("Unschedulable")
							      : BT_STR("Pending"));
	}
}

static void write_pod_group(const struct bt_table_row *row)
{
	const struct bt_json_value *gang =
		bt_json_find_path(row->object, "spec.schedulingPolicy.gang");
	bt_cell_name(row);
	bt_cell_str(row, gang != NULL ? BT_STR("Gang") : BT_STR("Basic"));
	bt_cell_text(row, "spec.podGroupTemplateRef.workload.workloadName", "<none>");
	cell_group_status(row);
	bt_cell_age(row);
}

static const struct bt_table_column lease_columns[] = {
	BT_COLUMN_NAME,
	{"Holder", "string", "", "Who holds the lease.", 0},
	BT_COLUMN_AGE,
};

static void write_lease(const struct bt_table_row *row)
{
	bt_cell_name(row);
	bt_cell_text(row, "spec.holderIdentity", "");
	bt_cell_age(row);
}

/** --- data --- */

static const struct bt_table_column config_map_columns[] = {
	BT_COLUMN_NAME,
	{"Data", "string", "", "Number of entries.", 0},
	BT_COLUMN_AGE,
};

static void write_config_map(const struct bt_table_row *row)
{
	bt_cell_name(row);
	bt_json_write_int64(row->writer,
		(int64_t)bt_json_object_at(row->object, "data")->count +
			bt_json_object_at(row->object, "binaryData")->count);
	bt_cell_age(row);
}

static const struct bt_table_column secret_columns[] = {
	BT_COLUMN_NAME,
	{"Type", "string", "", "What the secret is for.", 0},
	{"Data", "string", "", "Number of entries.", 0},
	BT_COLUMN_AGE,
};

static void write_secret(const struct bt_table_row *row)
{
	bt_cell_name(row);
	bt_cell_text(row, "type", "");
	bt_json_write_int64(row->writer, bt_json_object_at(row->object, "data")->count);
	bt_cell_age(row);
}

static const struct bt_table_column plain_columns[] = {BT_COLUMN_NAME, BT_COLUMN_AGE};

static void write_plain(const struct bt_table_row *row)
{
	bt_cell_name(row);
	bt_cell_age(row);
}

const struct bt_table bt_tables_of_cluster[] = {
	BT_TABLE("", "nodes", node_columns, write_node),
	BT_TABLE("", "namespaces", namespace_columns, write_namespace),
	BT_TABLE("", "services", service_columns, write_service),
	BT_TABLE("", "events", event_columns, write_event),
	BT_TABLE("events.k8s.io", "events", event_columns, write_event),
	BT_TABLE("policy", "poddisruptionbudgets", budget_columns, write_budget),
	BT_TABLE("scheduling.k8s.io", "priorityclasses", priority_class_columns,
		write_priority_class),
	BT_TABLE("scheduling.k8s.io", "podgroups", pod_group_columns, write_pod_group),
	BT_TABLE("scheduling.k8s.io", "workloads", plain_columns, write_plain),
	BT_TABLE("coordination.k8s.io", "leases", lease_columns, write_lease),
	BT_TABLE("", "configmaps", config_map_columns, write_config_map),
	BT_TABLE("", "secrets", secret_columns, write_secret),
	BT_TABLE("", "serviceaccounts", plain_columns, write_plain),
	{.resource = NULL},
};
