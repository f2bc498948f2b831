/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>

#include "berth/api.h"
#include "berth/object.h"
#include "berth/str.h"

#include "api/node.h"
#include "api/pod.h"
#include "base/alloc.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "codec/yaml.h"
#include "lib/convert.h"
#include "lib/document.h"

struct sink {
	berth_object_take_fn take;
	void *context;
};

static int take_object(void *context, struct bt_object *object, struct berth_error *err)
{
	const struct sink *sink = context;

	return sink->take(sink->context, berth_object_of(object), err);
}

static int check_length(struct bt_str text, struct berth_error *err)
{
	if (text.length > BERTH_OBJECT_BYTES_MAX) {
		return bt_error_set(
			err, BERTH_ERR_TOO_LARGE, "more than %u bytes", BERTH_OBJECT_BYTES_MAX);
	}
	return BERTH_OK;
}

int berth_object_decode(
	struct berth_str text, struct berth_object **out_object, struct berth_error *err)
{
	struct bt_object *object = NULL;
	struct bt_strbuf json = {0};
	int result = check_length(text, err);

	if (result == BERTH_OK && !bt_document_is_json(text)) {
		result = bt_document_from_yaml(text, NULL, &json, err);
		text = bt_strbuf_str(&json);
	}
	if (result == BERTH_OK) {
		result = bt_object_decode(text, &object, err);
	}
	bt_strbuf_finish(&json);
	if (result == BERTH_OK) {
		*out_object = berth_object_of(object);
	}
	return result;
}

static int take_document(struct sink *sink, struct bt_str json, struct berth_error *err)
{
	struct bt_object_sink objects = {.context = sink, .take = take_object};
	struct bt_json_reader reader;

	bt_json_reader_init(&reader, json);

	int result = bt_object_decode_reader(&reader, &objects, err);
	return result != 0 ? result : bt_json_expect_end(&reader, err);
}

int berth_object_decode_each(
	struct berth_str text, berth_object_take_fn take, void *context, struct berth_error *err)
{
	struct sink sink = {take, context};
	int result = check_length(text, err);

	if (result != BERTH_OK || bt_document_is_json(text)) {
		return result != BERTH_OK ? result : take_document(&sink, text, err);
	}

	struct bt_strbuf json = {0};
	struct bt_yaml_reader *reader = bt_yaml_reader_create(text, NULL);
	bool more = true;

	while (result == BERTH_OK && more) {
		bt_strbuf_reset(&json);
		result = bt_yaml_next_document(reader, &json, &more, err);
		if (result == BERTH_OK && more) {
			result = take_document(&sink, bt_strbuf_str(&json), err);
		}
	}
	bt_yaml_reader_destroy(reader);
	bt_strbuf_finish(&json);
	return result;
}

struct berth_object *berth_object_share(struct berth_object *object)
{
	return berth_object_of(bt_object_share(bt_object_of(object)));
}

void berth_object_release(struct berth_object *object)
{
	bt_object_release(bt_object_of(object));
}

const char *berth_object_kind(const struct berth_object *object)
{
	return bt_kind_info(bt_const_object_of(object)->kind)->name;
}

BT_LIB_GETTER(struct berth_str, berth_object_name, object, meta->name)
BT_LIB_GETTER(struct berth_str, berth_object_namespace, object, meta->namespace_)
BT_LIB_GETTER(berth_uid, berth_object_uid, object, meta->uid)
BT_LIB_GETTER(struct berth_str, berth_object_resource_version, object, meta->resource_version)
BT_LIB_MAP_GETTER(berth_object_label, object, meta->labels)
BT_LIB_MAP_GETTER(berth_object_annotation, object, meta->annotations)

bool berth_object_is_terminating(const struct berth_object *object)
{
	return bt_const_object_of(object)->meta->deletion_timestamp != NULL;
}

BT_LIB_VALUE_GETTER(berth_object_pod, pod, BT_KIND_POD)
BT_LIB_VALUE_GETTER(berth_object_node, node, BT_KIND_NODE)
BT_LIB_GETTER(struct berth_str, berth_pod_name, pod, metadata.name)
BT_LIB_GETTER(struct berth_str, berth_pod_namespace, pod, metadata.namespace_)
BT_LIB_GETTER(berth_uid, berth_pod_uid, pod, metadata.uid)
BT_LIB_MAP_GETTER(berth_pod_label, pod, metadata.labels)
BT_LIB_MAP_GETTER(berth_pod_annotation, pod, metadata.annotations)
BT_LIB_GETTER(struct berth_str, berth_pod_node_name, pod, spec.node_name)
BT_LIB_GETTER(struct berth_str, berth_pod_nominated_node_name, pod, status.nominated_node_name)
BT_LIB_GETTER(struct berth_str, berth_pod_scheduler_name, pod, spec.scheduler_name)

int32_t berth_pod_priority(const struct berth_pod *pod)
{
	return bt_pod_priority(bt_const_pod_of(pod));
}

BT_LIB_GETTER(struct berth_str, berth_node_name, node, metadata.name)
BT_LIB_MAP_GETTER(berth_node_label, node, metadata.labels)
BT_LIB_MAP_GETTER(berth_node_annotation, node, metadata.annotations)
BT_LIB_GETTER(bool, berth_node_unschedulable, node, spec.unschedulable)

struct berth_arena *berth_arena_create(void)
{
	return berth_arena_of(BT_NEW(struct bt_arena));
}

void berth_arena_destroy(struct berth_arena *arena)
{
	if (arena == NULL) {
		return;
	}
	bt_arena_finish(bt_arena_of(arena));
	bt_free(arena);
}

void berth_arena_reset(struct berth_arena *arena)
{
	bt_arena_reset(bt_arena_of(arena));
}

void *berth_arena_alloc(struct berth_arena *arena, size_t size)
{
	return bt_arena_calloc(bt_arena_of(arena), 1, size);
}

struct berth_str berth_arena_str(struct berth_arena *arena, struct berth_str text)
{
	return bt_arena_str(bt_arena_of(arena), text);
}

struct berth_str berth_arena_printf(struct berth_arena *arena, const char *format, ...)
{
	struct bt_strbuf buffer = {0};
	va_list arguments;

	va_start(arguments, format);
	bt_strbuf_vprintf(&buffer, format, arguments);
	va_end(arguments);
	return bt_arena_take_strbuf(bt_arena_of(arena), &buffer);
}

struct berth_str berth_str_from(const char *zero_terminated)
{
	return bt_str_from(zero_terminated);
}

bool berth_str_equal(struct berth_str a, struct berth_str b)
{
	return bt_str_equal(a, b);
}

bool berth_str_equal_c(struct berth_str a, const char *b)
{
	return bt_str_equal_c(a, b);
}

int berth_str_compare(struct berth_str a, struct berth_str b)
{
	return bt_str_compare(a, b);
}

const char *berth_version(void)
{
	return BT_VERSION;
}

const char *berth_kubernetes_version(void)
{
	return "v1.36";
}

void berth_set_hash_secret(uint64_t secret)
{
	bt_hash_set_secret(secret);
}
