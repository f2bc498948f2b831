/* SPDX-License-Identifier: Apache-2.0 */
/** Reviews: the fields that users of cluster-capacity know, and ours beside them. */
#include "cli/capacity/capacity_output.h"

#include "cli/json_members.h"

#define JSON_INDENT 2

/** --- what was asked --- */

/** Cluster-wide resources of Kubernetes itself; all others are scalar resources. */
static bool is_primary(struct bt_str resource)
{
	return bt_str_equal_c(resource, "cpu") || bt_str_equal_c(resource, "memory") ||
		bt_str_equal_c(resource, "ephemeral-storage");
}

static void write_resources(
	struct bt_json_writer *writer, const struct bt_capacity_member *member, bool primary)
{
	bt_json_begin_member_object(writer, primary ? "primaryResources" : "scalarResources");
	for (uint32_t i = 0; i < member->requests.count; i++) {
		const struct bt_capacity_request *request = &member->requests.items[i];
		if (is_primary(request->resource) != primary) {
			continue;
		}
		if (primary) {
			/* As a quantity that is exactly the amount: "150m", "100Mi", "1234". */
			static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
			struct bt_strbuf text = {0};
			int64_t amount = request->amount;
			uint32_t unit = 0;
			if (bt_str_equal_c(request->resource, "cpu")) {
				bool is_whole = amount % 1000 == 0;
				bt_strbuf_printf(&text, "%lld%s",
					(long long)(is_whole ? amount / 1000 : amount),
					is_whole ? "" : "m");
			} else {
				while (is_primary(request->resource) && amount != 0 &&
					amount % 1024 == 0 && unit + 1 < BT_ARRAY_LENGTH(units)) {
					amount /= 1024;
					unit++;
				}
				bt_strbuf_printf(&text, "%lld%s", (long long)amount, units[unit]);
			}
			bt_json_write_name(writer, request->resource);
			bt_json_write_str(writer, bt_strbuf_str(&text));
			bt_strbuf_finish(&text);
		} else {
			bt_json_write_name(writer, request->resource);
			bt_json_write_int64(writer, request->amount);
		}
	}
	bt_json_end_object(writer);
}

static void write_requirements(
	struct bt_json_writer *writer, const struct bt_capacity_member *member, bool is_mix)
{
	const struct bt_capacity_spec *spec = member->spec;
	bt_json_begin_object(writer);
	bt_json_write_member(writer, "podName", spec->name);
	bt_json_write_member(writer, "namespace", spec->namespace_);
	bt_json_write_member_c(writer, "kind", bt_kind_info(spec->kind)->name);
	if (is_mix) {
		bt_json_write_member_int64(writer, "weight", spec->weight);
	}
	bt_json_begin_member_object(writer, "resources");
	write_resources(writer, member, true);
	write_resources(writer, member, false);
	bt_json_end_object(writer);
	bt_json_begin_member_object(writer, "nodeSelectors");
	for (uint32_t i = 0; i < member->node_selector.count; i++) {
		bt_json_write_name(writer, member->node_selector.items[i].key);
		bt_json_write_str(writer, member->node_selector.items[i].value);
	}
	bt_json_end_object(writer);
	bt_json_end_object(writer);
}

/** --- what came of it --- */

static void write_pod(struct bt_json_writer *writer, const struct bt_capacity_answer *answer,
	const struct bt_capacity_member *member)
{
	bt_json_begin_object(writer);
	bt_json_write_member(writer, "podName", member->spec->name);
	bt_json_write_member(writer, "namespace", member->spec->namespace_);
	bt_json_write_member_int64(writer, "replicas", member->copies);
	bt_json_begin_member_array(writer, "replicasOnNodes");
	for (uint32_t i = 0; i < answer->node_count; i++) {
		if (member->on_nodes[i] != 0) {
			bt_json_begin_object(writer);
			bt_json_write_member(writer, "nodeName", answer->nodes[i].name);
			bt_json_write_member_int64(writer, "replicas", member->on_nodes[i]);
			bt_json_end_object(writer);
		}
	}
	bt_json_end_array(writer);
	bt_json_begin_member_array(writer, "summary");
	for (uint32_t i = 0; i < member->stop.reasons.count; i++) {
		bt_json_begin_object(writer);
		bt_json_write_member(writer, "reason", member->stop.reasons.items[i].text);
		bt_json_write_member_int64(
			writer, "count", (int64_t)member->stop.reasons.items[i].node_count);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
	bt_json_begin_member_object(writer, "stopped");
	bt_json_write_member_c(writer, "type", member->stop.type);
	bt_json_write_member(writer, "message", member->stop.message);
	bt_json_write_member(writer, "tightest", member->stop.hint);
	bt_json_write_member_int64(writer, "atReplicas", member->stop.total);
	bt_json_end_object(writer);
	bt_json_end_object(writer);
}

/** Amounts in the units of simulate's nodes. */
static void write_utilization(
	struct bt_json_writer *writer, const struct bt_capacity_answer *answer)
{
	bt_json_begin_member_array(writer, "utilization");
	for (uint32_t i = 0; i < answer->total_count; i++) {
		const struct bt_capacity_total *total = &answer->totals[i];
		bt_json_begin_object(writer);
		bt_json_write_member(writer, "resource", total->resource);
		bt_json_write_member_c(
			writer, "unit", bt_str_equal_c(total->resource, "cpu") ? "milli" : "1");
		bt_json_write_member_int64(writer, "before", total->before);
		bt_json_write_member_int64(writer, "after", total->after);
		bt_json_write_member_int64(writer, "allocatable", total->allocatable);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
}

/** The member that went on longest: when it stopped, everything had. */
static const struct bt_capacity_member *last_member(const struct bt_capacity_answer *answer)
{
	const struct bt_capacity_member *last = &answer->members[0];
	for (uint32_t i = 1; i < answer->member_count; i++) {
		if (answer->members[i].stop.total > last->stop.total) {
			last = &answer->members[i];
		}
	}
	return last;
}

static void write_review(struct bt_json_writer *writer, const struct bt_capacity_answer *answer)
{
	const struct bt_capacity_member *last = last_member(answer);
	bt_json_begin_object(writer);
	bt_json_begin_member_object(writer, "spec");
	bt_json_begin_member_array(writer, "podRequirements");
	for (uint32_t i = 0; i < answer->member_count; i++) {
		write_requirements(writer, &answer->members[i], answer->member_count > 1);
	}
	bt_json_end_array(writer);
	bt_json_end_object(writer);
	bt_json_begin_member_object(writer, "status");
	bt_json_write_member_int64(writer, "replicas", answer->copies);
	bt_json_begin_member_object(writer, "failReason");
	bt_json_write_member_c(writer, "failType", last->stop.type);
	bt_json_write_member(writer, "failMessage", last->stop.message);
	bt_json_end_object(writer);
	bt_json_begin_member_array(writer, "pods");
	for (uint32_t i = 0; i < answer->member_count; i++) {
		write_pod(writer, answer, &answer->members[i]);
	}
	bt_json_end_array(writer);
	if (answer->member_count > 1) {
		bt_json_write_member_int64(writer, "rounds", answer->round_count);
	}
	bt_json_write_member_int64(writer, "nodes", answer->node_count);
	write_utilization(writer, answer);
	bt_json_end_object(writer);
	bt_json_end_object(writer);
}

static void write_json(const struct bt_capacity_answer *answers, uint32_t count, uint32_t indent,
	struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, out, indent);
	if (count == 1) {
		write_review(&writer, &answers[0]);
		return;
	}
	bt_json_begin_object(&writer);
	bt_json_begin_member_array(&writer, "items");
	for (uint32_t i = 0; i < count; i++) {
		write_review(&writer, &answers[i]);
	}
	bt_json_end_array(&writer);
	bt_json_end_object(&writer);
}

int bt_capacity_write(const struct bt_capacity_answer *answers, uint32_t count,
	enum bt_output_format format, struct bt_strbuf *out, struct berth_error *err)
{
	int result = 0;
	if (format == BT_OUTPUT_JSON) {
		write_json(answers, count, JSON_INDENT, out);
		bt_strbuf_append_char(out, '\n');
	} else if (format == BT_OUTPUT_YAML) {
		struct bt_strbuf json = {0};
		write_json(answers, count, 0, &json);
		result = bt_output_yaml_from_json(bt_strbuf_str(&json), out, err);
		bt_strbuf_finish(&json);
	} else {
		for (uint32_t i = 0; i < count; i++) {
			bt_strbuf_append_c(out, i == 0 ? "" : "\n");
			bt_capacity_write_table(&answers[i], format == BT_OUTPUT_WIDE, out);
		}
	}
	return result;
}
