/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/pod_resources.h"

#include <stdlib.h>

#include "api/resources.h"
#include "base/vec.h"
#include "metrics/metrics.h"

#define LIMIT_NAME "kube_pod_resource_limit"
#define REQUEST_NAME "kube_pod_resource_request"

/** A pod's part of the page; the pod itself is there for the moment only. */
struct pod_samples {
	struct bt_str namespace_;
	struct bt_str node_name;
	struct bt_str name;
	struct bt_str limits;
	struct bt_str requests;
};

struct pod_list {
	BT_VEC(struct pod_samples) pods;
	struct bt_arena arena; /* of their texts */
	struct bt_arena scratch;
	struct bt_strbuf text;
};

/** In the order in which the labels are written. */
static int compare_pods(const void *a, const void *b)
{
	const struct pod_samples *one = a;
	const struct pod_samples *other = b;
	int order = bt_str_compare(one->namespace_, other->namespace_);

	if (order == 0) {
		order = bt_str_compare(one->node_name, other->node_name);
	}
	return order != 0 ? order : bt_str_compare(one->name, other->name);
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

static void write_label(struct bt_strbuf *out, const char *before, struct bt_str value)
{
	bt_strbuf_append_c(out, before);
	bt_metrics_append_label_value(out, value);
}

static struct bt_str write_samples(struct pod_list *list, const struct bt_pod *pod,
	const char *name, const struct bt_resource_list *amounts)
{
	bt_strbuf_reset(&list->text);
	for (uint32_t i = 0; i < amounts->count; i++) {
		if (!bt_quantity_is_zero(&amounts->items[i].quantity)) {
			const struct bt_resource_entry *entry = &amounts->items[i];
			struct bt_strbuf *out = &list->text;
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
			bt_metrics_append_number(out,
				bt_str_equal(entry->name, BT_STR("cpu"))
					? (double)bt_quantity_milli(&entry->quantity) / 1000
					: (double)bt_quantity_value(&entry->quantity));
			bt_strbuf_append_char(out, '\n');
		}
	}
	return bt_arena_str(&list->arena, bt_strbuf_str(&list->text));
}

static void add_pod(void *visitor, const struct bt_pod *pod)
{
	static const struct bt_request_options options = {0};
	struct pod_list *list = visitor;
	struct pod_samples samples;
	struct bt_resource_list amounts;

	if (pod->spec.node_name.length != 0 &&
		(bt_str_equal(pod->status.phase, BT_STR("Succeeded")) ||
			bt_str_equal(pod->status.phase, BT_STR("Failed")))) {
		return;
	}
	bt_arena_reset(&list->scratch);
	samples.namespace_ = bt_arena_str(&list->arena, pod->metadata.namespace_);
	samples.node_name = bt_arena_str(&list->arena, pod->spec.node_name);
	samples.name = bt_arena_str(&list->arena, pod->metadata.name);
	amounts = bt_pod_limits(pod, &options, &list->scratch);
	samples.limits = write_samples(list, pod, LIMIT_NAME, &amounts);
	amounts = bt_pod_requests(pod, &options, &list->scratch);
	samples.requests = write_samples(list, pod, REQUEST_NAME, &amounts);
	bt_vec_push(&list->pods, samples);
}

/** The header comes with the first sample. */
static void write_family(const char *name, const char *help, struct bt_str samples,
	bool *has_header, struct bt_strbuf *out)
{
	if (samples.length == 0) {
		return;
	}
	if (!*has_header) {
		bt_strbuf_printf(out, "# HELP %s [STABLE] %s\n# TYPE %s gauge\n", name, help, name);
		*has_header = true;
	}
	bt_strbuf_append_str(out, samples);
}

void bt_pod_resources_write(const struct bt_pod_source *source, struct bt_strbuf *out)
{
	struct pod_list list = {0};
	bool has_limits = false;
	bool has_requests = false;

	source->for_each(source->context, add_pod, &list);
	if (list.pods.count != 0) {
		qsort(list.pods.items, list.pods.count, sizeof(list.pods.items[0]), compare_pods);
	}
	for (uint32_t i = 0; i < list.pods.count; i++) {
		write_family(LIMIT_NAME,
			"Resources limit for workloads on the cluster, broken down by pod. This "
			"shows the resource usage the scheduler and kubelet expect per pod for "
			"resources along with the unit for the resource if any.",
			list.pods.items[i].limits, &has_limits, out);
	}
	for (uint32_t i = 0; i < list.pods.count; i++) {
		write_family(REQUEST_NAME,
			"Resources requested by workloads on the cluster, broken down by pod. "
			"This shows the resource usage the scheduler and kubelet expect per pod "
			"for resources along with the unit for the resource if any.",
			list.pods.items[i].requests, &has_requests, out);
	}
	bt_vec_finish(&list.pods);
	bt_arena_finish(&list.arena);
	bt_arena_finish(&list.scratch);
	bt_strbuf_finish(&list.text);
}
