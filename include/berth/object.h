/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_OBJECT_H
#define BERTH_OBJECT_H
/**
 * @file
 * Decoded Kubernetes API objects: immutable and reference counted. Fields that the scheduler does
 * not read are skipped. Spec 01, upstream v1.36.
 *
 * Decoding sets no defaults, so objects must be as the API server returns them: with namespace, uid
 * and the like. A pod without spec.schedulerName belongs to no scheduler and is not scheduled.
 *
 * @code{.c}
 * static int put(void *engine, struct berth_object *object, struct berth_error *err)
 * {
 *     int result = berth_engine_put(engine, object, 0, err);
 *
 *     berth_object_release(object);
 *     return result;
 * }
 *
 * static int put_manifests(
 *     struct berth_engine *engine, struct berth_str text, struct berth_error *err)
 * {
 *     return berth_object_decode_each(text, put, engine, err);
 * }
 * @endcode
 */
#include <stdbool.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/error.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An object of any kind. Opaque. */
struct berth_object;
/** v1 Pod. Opaque; belongs to a berth_object. Spec 01 section 4.3. */
struct berth_pod;
/** v1 Node. Opaque; belongs to a berth_object. Spec 01 section 4.5. */
struct berth_node;

/** Maximum length of a text for berth_object_decode(), in bytes. */
#define BERTH_OBJECT_BYTES_MAX (64U << 20)

/**
 * Decodes one object from JSON or YAML text (borrowed for the call). @p out_object is owned:
 * berth_object_release(). Errors: BERTH_ERR_SYNTAX; BERTH_ERR_INVALID (message "Pod default/web:
 * spec.containers[0].name: <what is wrong>"); BERTH_ERR_NOT_FOUND: a kind unknown to berth;
 * BERTH_ERR_TOO_LARGE. YAML is BERTH_ERR_SYNTAX in builds without libyaml.
 */
BERTH_API BERTH_MUST_USE int berth_object_decode(
	struct berth_str text, struct berth_object **out_object, struct berth_error *err);

/**
 * Receives each object of berth_object_decode_each(). The function owns the object and must release
 * it. If the function returns a value other than 0, it must set @p err; berth_object_decode_each()
 * then stops and returns the value.
 */
typedef int (*berth_object_take_fn)(
	void *context, struct berth_object *object, struct berth_error *err);

/**
 * Decodes objects, lists (List, PodList, ...) and streams of YAML documents; objects of unknown
 * kinds are ignored. Errors as in berth_object_decode().
 */
BERTH_API BERTH_MUST_USE int berth_object_decode_each(
	struct berth_str text, berth_object_take_fn take, void *context, struct berth_error *err);

/** Adds a reference; returns @p object. Counting is not thread safe. */
BERTH_API struct berth_object *berth_object_share(struct berth_object *object);
/** Releases a reference. NULL is accepted. */
BERTH_API void berth_object_release(struct berth_object *object);

/** Kind of the object: "Pod", "Node", "PersistentVolume", ... */
BERTH_API const char *berth_object_kind(const struct berth_object *object);
/** metadata.name. Texts that the berth_object_* functions return are borrowed from the object. */
BERTH_API struct berth_str berth_object_name(const struct berth_object *object);
/** metadata.namespace; "" for objects without a namespace. */
BERTH_API struct berth_str berth_object_namespace(const struct berth_object *object);
/** metadata.uid. */
BERTH_API berth_uid berth_object_uid(const struct berth_object *object);
/** metadata.resourceVersion. */
BERTH_API struct berth_str berth_object_resource_version(const struct berth_object *object);
/** Value of a label; absent (data NULL) when the object lacks the label. */
BERTH_API struct berth_str berth_object_label(
	const struct berth_object *object, struct berth_str key);
/** Value of an annotation; absent when the object lacks the annotation. */
BERTH_API struct berth_str berth_object_annotation(
	const struct berth_object *object, struct berth_str key);
/** Whether deletion has begun: metadata.deletionTimestamp is set. */
BERTH_API bool berth_object_is_terminating(const struct berth_object *object);

/** The object as a pod; NULL for NULL and for other kinds. Borrowed from the object. */
BERTH_API const struct berth_pod *berth_object_pod(const struct berth_object *object);
/** The object as a node; NULL for NULL and for other kinds. Borrowed from the object. */
BERTH_API const struct berth_node *berth_object_node(const struct berth_object *object);

/** metadata.name. Texts that the berth_pod_* functions return are borrowed from the pod. */
BERTH_API struct berth_str berth_pod_name(const struct berth_pod *pod);
/** metadata.namespace. */
BERTH_API struct berth_str berth_pod_namespace(const struct berth_pod *pod);
/** metadata.uid. */
BERTH_API berth_uid berth_pod_uid(const struct berth_pod *pod);
/** Value of a label; absent when the pod lacks the label. */
BERTH_API struct berth_str berth_pod_label(const struct berth_pod *pod, struct berth_str key);
/** Value of an annotation; absent when the pod lacks the annotation. */
BERTH_API struct berth_str berth_pod_annotation(const struct berth_pod *pod, struct berth_str key);
/** spec.nodeName; "" while the pod is not assigned. */
BERTH_API struct berth_str berth_pod_node_name(const struct berth_pod *pod);
/** status.nominatedNodeName. */
BERTH_API struct berth_str berth_pod_nominated_node_name(const struct berth_pod *pod);
/** spec.schedulerName. */
BERTH_API struct berth_str berth_pod_scheduler_name(const struct berth_pod *pod);
/** spec.priority; 0 if not set (spec 01 section 5.13). */
BERTH_API int32_t berth_pod_priority(const struct berth_pod *pod);

/** metadata.name. Texts that the berth_node_* functions return are borrowed from the node. */
BERTH_API struct berth_str berth_node_name(const struct berth_node *node);
/** Value of a label; absent when the node lacks the label. */
BERTH_API struct berth_str berth_node_label(const struct berth_node *node, struct berth_str key);
/** Value of an annotation; absent when the node lacks the annotation. */
BERTH_API struct berth_str berth_node_annotation(
	const struct berth_node *node, struct berth_str key);
/** spec.unschedulable. */
BERTH_API bool berth_node_unschedulable(const struct berth_node *node);

#ifdef __cplusplus
}
#endif
#endif
