/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object or a list of any kind: reads it, computes the requests of pods, compares it with
 * itself, writes it and reads it again.
 */
#include <stddef.h>
#include <stdint.h>

#include "api/change.h"
#include "api/object.h"
#include "api/resources.h"
#include "base/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_pod(const struct bt_pod *pod)
{
	static const struct bt_resource_gates gates = {.pod_level_resources = true,
		.in_place_pod_level_resources = true,
		.dra_node_allocatable_resources = true};
	static const struct bt_change_gates change_gates = {.dynamic_resource_allocation = true};
	struct bt_request_options options = {.use_status = true, .use_pod_status = true};
	struct bt_arena arena = {0};
	struct bt_change_events events = bt_pod_change_events(pod, pod, &change_gates, &arena);
	struct bt_pod_resources resources = bt_pod_resources_compute(pod, &gates, &arena);
	struct bt_resource fit = bt_pod_fit_request(pod, &gates, &arena);

	BT_ASSERT(events.count == 1 && events.actions[0] == BT_ACTION_UPDATE);
	BT_ASSERT(fit.cpu_milli >= 0 && fit.memory_bytes >= 0);
	for (uint32_t i = 1; i < resources.requested.scalar_count; i++) {
		BT_ASSERT(bt_str_compare(resources.requested.scalars[i - 1].name,
				  resources.requested.scalars[i].name) < 0);
	}
	(void)bt_pod_limits(pod, &options, &arena);
	(void)bt_pod_host_ports(&pod->spec, &arena);
	bt_arena_finish(&arena);
}

static void check_node(const struct bt_node *node)
{
	static const struct bt_change_gates gates = {.node_declared_features = true};
	struct bt_arena arena = {0};
	struct bt_change_events events = bt_node_change_events(node, node, &gates, &arena);
	struct bt_resource allocatable = {0};

	BT_ASSERT(events.count == 0);
	bt_resource_add(&allocatable, &node->status.allocatable, &arena);
	bt_resource_set_max(&allocatable, &node->status.capacity, &arena);
	bt_arena_finish(&arena);
}

static void check_text(const struct bt_object *object)
{
	struct bt_strbuf text = {0};
	struct bt_strbuf again = {0};
	struct bt_json_writer writer;
	struct bt_json_reader reader;
	struct bt_object *back;

	bt_json_writer_init(&writer, &text, 0);
	bt_object_encode_json(object->kind, object->value, &writer);
	bt_json_reader_init(&reader, bt_strbuf_str(&text));
	/*
	 * As in upstream, a quantity's text may lose the exponent, so the second text may differ.
	 */
	if (bt_object_decode_as(object->kind, &reader, &back, NULL) == 0) {
		bt_json_writer_init(&writer, &again, 0);
		bt_object_encode_json(back->kind, back->value, &writer);
		bt_object_release(back);
	}
	bt_strbuf_finish(&text);
	bt_strbuf_finish(&again);
}

static int take(void *context, struct bt_object *object, struct berth_error *err)
{
	(void)context;
	(void)err;
	if (object->kind == BT_KIND_POD) {
		check_pod(bt_object_value(object, BT_KIND_POD));
	} else if (object->kind == BT_KIND_NODE) {
		check_node(bt_object_value(object, BT_KIND_NODE));
	}
	check_text(object);
	bt_object_release(object);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bt_object_sink sink = {NULL, take, NULL};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_json_reader reader;
	int code;

	bt_json_reader_init(&reader, (struct bt_str){(const char *)data, (uint32_t)size});
	code = bt_object_decode_reader(&reader, &sink, &err);
	BT_ASSERT((code == 0) == (err.code == 0));
	berth_error_finish(&err);
	return 0;
}
