/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/pod_resources.h"

#include <stdlib.h>

#include "api/resources.h"
#include "base/vec.h"
#include "metrics/metrics.h"

struct pod_list {
	BT_VEC(const struct bt_pod *) pods;
};

typedef struct bt_resource_list (*amounts_function)(
	const struct bt_pod *pod, const struct bt_request_options *options, struct bt_arena *arena);

static bool is_over(const struct bt_pod *pod)
{
	return pod->spec.node_name.length != 0 &&
		(bt_str_equal(pod->status.phase, BT_STR("Succeeded")) ||
			bt_str_equal(pod->status.phase, BT_STR("Failed")));
}

static void add_pod(void *visitor, const struct bt_pod *pod)
{
	struct pod_list *list = visitor;

	if (!is_over(pod)) {
		bt_vec_push(&list->pods, pod);
	}
}

/** In the order in which the labels are written. */
static int compare_pods(const void *a, const void *b)
{
	const struct bt_pod *one = *(const struct bt_pod *const *)a;
	const struct bt_pod *other = *(const struct bt_pod *const *)b;
	int order = bt_str_compare(one->metadata.namespace_, other->metadata.namespace_);

	if (order == 0) {
		order = bt_str_compare(one->spec.node_name, other->spec.node_name);
	}
	return order != 0 ? order : bt_str_compare(one->metadata.name, other->metadata.name);
}

static const char *unit_of(struct bt_str resource)
{
	static const struct bt_str in_bytes[] = {
		BT_STR_INIT("memory"), BT_STR_INIT("storage"), BT_STR_INIT("ephemeral-storage")};

	if (bt_str_equal(resource, BT_STR("cpu"))) {
		return "cores";
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(in_bytes); i++) {
		if (bt_str_equal(resource, in_bytes[i])) {
			return "bytes";
		}
	}
	if (bt_resource_is_hugepage(resource)) {
		return "bytes";
	}
	return bt_resource_is_attachable_volume(resource) ? "integer" : "";
}

static double value_of(const struct bt_resource_entry *entry)
{
	return bt_str_equal(entry->name, BT_STR("cpu"))
		? (double)bt_quantity_milli(&entry->quantity) / 1000
		: (double)bt_quantity_value(&entry->quantity);
}

static void write_label(struct bt_strbuf *out, const char *before, struct bt_str value)
{
	bt_strbuf_append_c(out, before);
	bt_metrics_append_label_value(out, value);
}

static void write_sample(const struct bt_pod *pod, const char *name,
	const struct bt_resource_entry *entry, struct bt_strbuf *out)
{
	bt_strbuf_append_c(out, name);
	write_label(out, "{namespace=\"", pod->metadata.namespace_);
	write_label(out, "\",node=\"", pod->spec.node_name);
	write_label(out, "\",pod=\"", pod->metadata.name);
	bt_strbuf_append_c(out, "\",priority=\"");
	if (pod->spec.priority.present) {
		bt_strbuf_printf(out, "%d", (int)pod->spec.priority.value);
	}
	write_label(out, "\",resource=\"", entry->name);
	write_label(out, "\",scheduler=\"", pod->spec.scheduler_name);
	bt_strbuf_printf(out, "\",unit=\"%s\"} ", unit_of(entry->name));
	bt_metrics_append_number(out, value_of(entry));
	bt_strbuf_append_char(out, '\n');
}

static void write_family(const struct pod_list *list, const char *name, const char *help,
	amounts_function amounts_of, struct bt_strbuf *out)
{
	static const struct bt_request_options options = {0};
	struct bt_arena arena;
	bool has_header = false;

	bt_arena_init(&arena, 0);
	for (uint32_t i = 0; i < list->pods.count; i++) {
		const struct bt_pod *pod = list->pods.items[i];
		struct bt_resource_list amounts;

		bt_arena_reset(&arena);
		amounts = amounts_of(pod, &options, &arena);
		for (uint32_t k = 0; k < amounts.count; k++) {
			if (bt_quantity_is_zero(&amounts.items[k].quantity)) {
				continue;
			}
			if (!has_header) {
				bt_strbuf_printf(out, "# HELP %s [STABLE] %s\n# TYPE %s gauge\n",
					name, help, name);
				has_header = true;
			}
			write_sample(pod, name, &amounts.items[k], out);
		}
	}
	bt_arena_finish(&arena);
}

void bt_pod_resources_write(const struct bt_pod_source *source, struct bt_strbuf *out)
{
	struct pod_list list = {0};

	source->for_each(source->context, add_pod, &list);
	if (list.pods.count != 0) {
		qsort(list.pods.items, list.pods.count, sizeof(list.pods.items[0]), compare_pods);
	}
	write_family(&list, "kube_pod_resource_limit",
		"What the pod may use at most, by resource, and its unit, if it has one.",
		bt_pod_limits, out);
	write_family(&list, "kube_pod_resource_request",
		"What the pod counts for when it is scheduled, by resource, and its unit, if it "
	        "has "
		"one.",
		bt_pod_requests, out);
	bt_vec_finish(&list.pods);
}
