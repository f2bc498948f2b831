/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/trace_objects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/json.h"

/** A high limit of pods for each node, because the traces have none. */
#define PODS_OF_NODE "1000"
#define FRACTION_MAX 1000

static void write_amounts(struct bt_json_writer *json, const char *member,
	const struct bt_trace_amount *amounts, uint32_t count, bool is_node)
{
	struct bt_strbuf text = {0};
	bt_json_begin_member_object(json, member);
	for (uint32_t i = 0; i < count; i++) {
		if (amounts[i].amount != 0 || !amounts[i].if_any) {
			bt_strbuf_reset(&text);
			bt_strbuf_printf(
				&text, "%lld%s", (long long)amounts[i].amount, amounts[i].unit);
			bt_json_write_member(json, amounts[i].name, bt_strbuf_str(&text));
		}
	}
	if (is_node) {
		bt_json_write_member_c(json, "pods", PODS_OF_NODE);
	}
	bt_json_end_object(json);
	bt_strbuf_finish(&text);
}

static void write_labels(
	struct bt_json_writer *json, const struct bt_str_pair *labels, uint32_t count)
{
	bool has_labels = false;
	for (uint32_t i = 0; i < count; i++) {
		if (labels[i].value.length == 0) {
			continue;
		}
		if (!has_labels) {
			bt_json_begin_member_object(json, "labels");
			has_labels = true;
		}
		bt_json_write(json, "%s: %s", labels[i].key, labels[i].value);
	}
	if (has_labels) {
		bt_json_end_object(json);
	}
}

/** Writes apiVersion, kind, and the beginning of metadata. */
static void begin_object(struct bt_json_writer *json, struct bt_strbuf *out, const char *kind,
	struct bt_str name, struct bt_str time)
{
	bt_strbuf_reset(out);
	bt_json_writer_init(json, out, 0);
	bt_json_write(json,
		"{apiVersion: 'v1', kind: %c, metadata: {name: %s, uid: %s, creationTimestamp: %s",
		kind, name, name, time);
}

/** --- nodes --- */

static void write_status(struct bt_json_writer *json, const struct bt_trace_node *node)
{
	bt_json_begin_member_object(json, "status");
	write_amounts(json, "capacity", node->amounts, node->amount_count, true);
	write_amounts(json, "allocatable", node->amounts, node->amount_count, true);
	bt_json_end_object(json);
}

void bt_trace_write_node(const struct bt_trace_node *node, struct bt_strbuf *out)
{
	struct bt_json_writer json;
	begin_object(&json, out, "Node", node->name, node->time);
	write_labels(&json, node->labels, node->label_count);
	bt_json_end_object(&json);
	write_status(&json, node);
	bt_json_end_object(&json);
}

void bt_trace_write_node_amounts(const struct bt_trace_node *node, struct bt_strbuf *out)
{
	struct bt_json_writer json;
	bt_strbuf_reset(out);
	bt_json_writer_init(&json, out, 0);
	bt_json_begin_object(&json);
	write_status(&json, node);
	bt_json_end_object(&json);
}

/** --- pods --- */

static void write_node_affinity(struct bt_json_writer *json, const struct bt_trace_pod *pod)
{
	bt_json_write(json,
		"nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
		"{nodeSelectorTerms: [{matchExpressions: [");
	for (uint32_t i = 0; i < pod->expression_count; i++) {
		const struct bt_trace_expression *expression = &pod->expressions[i];
		bt_json_write(
			json, "{key: %s, operator: %c", expression->key, expression->operator);
		if (expression->value_count != 0) {
			bt_json_begin_member_array(json, "values");
			for (uint32_t k = 0; k < expression->value_count; k++) {
				bt_json_write_str(json, expression->values[k]);
			}
			bt_json_end_array(json);
		}
		bt_json_end_object(json);
	}
	bt_json_write(json, "]}]}}");
}

static void write_containers(struct bt_json_writer *json, const struct bt_trace_pod *pod)
{
	bt_json_write(json, "containers: [{name: 'main', resources: {");
	write_amounts(json, "requests", pod->amounts, pod->amount_count, false);
	bt_json_write(json, "}}]");
}

void bt_trace_write_pod(const struct bt_trace_pod *pod, struct bt_strbuf *out)
{
	struct bt_json_writer json;
	begin_object(&json, out, "Pod", pod->name, pod->time);
	bt_json_write_member_c(&json, "namespace", "default");
	write_labels(&json, pod->labels, pod->label_count);
	if (pod->owner.length != 0) {
		bt_json_write(&json,
			"ownerReferences: [{apiVersion: 'batch/v1', kind: 'Job', name: %s, uid: "
			"%s, controller: true}]",
			pod->owner, pod->owner);
	}
	bt_json_write(&json, "}, spec: {");
	write_containers(&json, pod);
	if (pod->expression_count != 0 || pod->apart_count != 0) {
		bt_json_begin_member_object(&json, "affinity");
		if (pod->expression_count != 0) {
			write_node_affinity(&json, pod);
		}
		if (pod->apart_count != 0) {
			bt_json_write(&json,
				"podAntiAffinity: "
				"{requiredDuringSchedulingIgnoredDuringExecution: [");
		}
		for (uint32_t i = 0; i < pod->apart_count; i++) {
			bt_json_write(&json,
				"{topologyKey: %c, labelSelector: {matchLabels: {%s: %s}}}",
				pod->apart_keys[i], pod->apart_label.key, pod->apart_label.value);
		}
		if (pod->apart_count != 0) {
			bt_json_write(&json, "]}");
		}
		bt_json_end_object(&json);
	}
	if (pod->priority >= 0) {
		bt_json_write_member_int64(&json, "priority", pod->priority);
	}
	bt_json_write(&json, "nodeName?: %s, schedulerName: 'default-scheduler'}}", pod->node_name);
}

void bt_trace_write_pod_requests(const struct bt_trace_pod *pod, struct bt_strbuf *out)
{
	struct bt_json_writer json;
	bt_strbuf_reset(out);
	bt_json_writer_init(&json, out, 0);
	bt_json_write(&json, "{spec: {");
	write_containers(&json, pod);
	bt_json_write(&json, "}}");
}

/** --- values --- */

bool bt_trace_read_fraction(struct bt_str text, double *out_fraction)
{
	char number[64];
	char *end;
	*out_fraction = 0;
	if (text.length == 0) {
		return true;
	}
	if (text.length >= sizeof(number) || (!bt_is_digit(text.data[0]) && text.data[0] != '.')) {
		return false;
	}
	memcpy(number, text.data, text.length);
	number[text.length] = '\0';
	*out_fraction = strtod(number, &end);
	return end == number + text.length && *out_fraction >= 0 && *out_fraction <= FRACTION_MAX;
}

int64_t bt_trace_scale(double fraction, int64_t whole)
{
	/* The tolerance lets fractions like 1/6, which are not exact, give whole amounts. */
	return (int64_t)floor(fraction * (double)whole + 1e-3);
}
