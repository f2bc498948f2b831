/* SPDX-License-Identifier: Apache-2.0 */
#include "berth/object.h"

#include <stddef.h>

#include "api/node.h"
#include "api/pod.h"
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

static int take_document(void *context, struct bt_str json, struct berth_error *err)
{
	struct bt_object_sink sink = {.context = context, .take = take_object};
	struct bt_json_reader reader;

	bt_json_reader_init(&reader, json);

	int result = bt_object_decode_reader(&reader, &sink, err);
	return result != 0 ? result : bt_json_expect_end(&reader, err);
}

int berth_object_decode_each(
	struct berth_str text, berth_object_take_fn take, void *context, struct berth_error *err)
{
	struct sink sink = {take, context};
	int result = check_length(text, err);

	return result != BERTH_OK ? result : bt_document_each(text, take_document, &sink, err);
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

static const struct bt_object_meta *meta_of(const struct berth_object *object)
{
	return bt_const_object_of(object)->meta;
}

/** The value of key, or absent. */
static struct bt_str find(const struct bt_str_map *map, struct bt_str key)
{
	const struct bt_str *value = bt_str_map_find(map, key);

	return value != NULL ? *value : (struct bt_str){NULL, 0};
}

struct berth_str berth_object_name(const struct berth_object *object)
{
	return meta_of(object)->name;
}

struct berth_str berth_object_namespace(const struct berth_object *object)
{
	return meta_of(object)->namespace_;
}

berth_uid berth_object_uid(const struct berth_object *object)
{
	return meta_of(object)->uid;
}

struct berth_str berth_object_resource_version(const struct berth_object *object)
{
	return meta_of(object)->resource_version;
}

struct berth_str berth_object_label(const struct berth_object *object, struct berth_str key)
{
	return find(&meta_of(object)->labels, key);
}

struct berth_str berth_object_annotation(const struct berth_object *object, struct berth_str key)
{
	return find(&meta_of(object)->annotations, key);
}

bool berth_object_is_terminating(const struct berth_object *object)
{
	return meta_of(object)->deletion_timestamp != NULL;
}

/** The kind's structure, or NULL for other kinds. */
static const void *value_as(const struct berth_object *object, enum bt_kind kind)
{
	const struct bt_object *inside = bt_const_object_of(object);

	return inside != NULL && inside->kind == kind ? inside->value : NULL;
}

const struct berth_pod *berth_object_pod(const struct berth_object *object)
{
	return berth_const_pod_of(value_as(object, BT_KIND_POD));
}

const struct berth_node *berth_object_node(const struct berth_object *object)
{
	return berth_const_node_of(value_as(object, BT_KIND_NODE));
}

struct berth_str berth_pod_name(const struct berth_pod *pod)
{
	return bt_const_pod_of(pod)->metadata.name;
}

struct berth_str berth_pod_namespace(const struct berth_pod *pod)
{
	return bt_const_pod_of(pod)->metadata.namespace_;
}

berth_uid berth_pod_uid(const struct berth_pod *pod)
{
	return bt_const_pod_of(pod)->metadata.uid;
}

struct berth_str berth_pod_label(const struct berth_pod *pod, struct berth_str key)
{
	return find(&bt_const_pod_of(pod)->metadata.labels, key);
}

struct berth_str berth_pod_annotation(const struct berth_pod *pod, struct berth_str key)
{
	return find(&bt_const_pod_of(pod)->metadata.annotations, key);
}

struct berth_str berth_pod_node_name(const struct berth_pod *pod)
{
	return bt_const_pod_of(pod)->spec.node_name;
}

struct berth_str berth_pod_nominated_node_name(const struct berth_pod *pod)
{
	return bt_const_pod_of(pod)->status.nominated_node_name;
}

struct berth_str berth_pod_scheduler_name(const struct berth_pod *pod)
{
	return bt_const_pod_of(pod)->spec.scheduler_name;
}

int32_t berth_pod_priority(const struct berth_pod *pod)
{
	return bt_pod_priority(bt_const_pod_of(pod));
}

struct berth_str berth_node_name(const struct berth_node *node)
{
	return bt_const_node_of(node)->metadata.name;
}

struct berth_str berth_node_label(const struct berth_node *node, struct berth_str key)
{
	return find(&bt_const_node_of(node)->metadata.labels, key);
}

struct berth_str berth_node_annotation(const struct berth_node *node, struct berth_str key)
{
	return find(&bt_const_node_of(node)->metadata.annotations, key);
}

bool berth_node_unschedulable(const struct berth_node *node)
{
	return bt_const_node_of(node)->spec.unschedulable;
}
