/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_STORAGE_H
#define BERTH_STORAGE_H
/**
 * @file
 * Volumes, claims, classes and CSI objects, decoded: views of a berth_object with the fields that a
 * scheduler reads. Texts are borrowed from the object. Spec 01 sections 4.4 and 4.7, upstream
 * v1.36.
 */
#include <stdbool.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/object.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** v1 PersistentVolume. Opaque; belongs to a berth_object. */
struct berth_pv;
/** v1 PersistentVolumeClaim. Opaque; belongs to a berth_object. */
struct berth_pvc;
/** storage.k8s.io/v1 StorageClass. Opaque; belongs to a berth_object. */
struct berth_storage_class;
/** storage.k8s.io/v1 CSINode. Opaque; belongs to a berth_object. */
struct berth_csi_node;
/** storage.k8s.io/v1 CSIDriver. Opaque; belongs to a berth_object. */
struct berth_csi_driver;
/** storage.k8s.io/v1 CSIStorageCapacity. Opaque; belongs to a berth_object. */
struct berth_csi_storage_capacity;

/** The object as a volume; NULL for NULL and for other kinds. Borrowed from the object. */
BERTH_API const struct berth_pv *berth_object_pv(const struct berth_object *object);
/** The object as a claim; NULL for NULL and for other kinds. Borrowed from the object. */
BERTH_API const struct berth_pvc *berth_object_pvc(const struct berth_object *object);
/** The object as a storage class; NULL for NULL and for other kinds. Borrowed from the object. */
BERTH_API const struct berth_storage_class *berth_object_storage_class(
	const struct berth_object *object);
/** The object as a CSINode; NULL for NULL and for other kinds. Borrowed from the object. */
BERTH_API const struct berth_csi_node *berth_object_csi_node(const struct berth_object *object);
/** The object as a CSIDriver; NULL for NULL and for other kinds. Borrowed from the object. */
BERTH_API const struct berth_csi_driver *berth_object_csi_driver(const struct berth_object *object);
/** The object as a CSIStorageCapacity; NULL for NULL and for other kinds. Borrowed. */
BERTH_API const struct berth_csi_storage_capacity *berth_object_csi_storage_capacity(
	const struct berth_object *object);

/** metadata.name. */
BERTH_API struct berth_str berth_pv_name(const struct berth_pv *pv);
/** metadata.resourceVersion. */
BERTH_API struct berth_str berth_pv_resource_version(const struct berth_pv *pv);
/** Value of a label; absent when the volume lacks the label. */
BERTH_API struct berth_str berth_pv_label(const struct berth_pv *pv, struct berth_str key);
/** Value of an annotation; absent when the volume lacks the annotation. */
BERTH_API struct berth_str berth_pv_annotation(const struct berth_pv *pv, struct berth_str key);
/**
 * Storage class of the volume: the beta annotation if present, else spec.storageClassName (spec 01
 * 5.17).
 */
BERTH_API struct berth_str berth_pv_class(const struct berth_pv *pv);
/** spec.capacity.storage in bytes, rounded up; 0 when absent. */
BERTH_API int64_t berth_pv_capacity_bytes(const struct berth_pv *pv);
/**
 * spec.claimRef: the claim that reserves the volume; namespace and name are "" when absent. Out
 * pointers may be NULL.
 */
BERTH_API void berth_pv_claim(const struct berth_pv *pv, struct berth_str *out_namespace,
	struct berth_str *out_name, berth_uid *out_uid);
/** spec.csi: the driver and the volume handle; false when the volume has another source. */
BERTH_API bool berth_pv_csi(const struct berth_pv *pv, struct berth_str *out_driver,
	struct berth_str *out_volume_handle);
/**
 * Whether spec.nodeAffinity admits a node with these labels; a volume without nodeAffinity admits
 * every node (spec 07 section 2.7). @p keys and @p values: @p count entries each.
 */
BERTH_API bool berth_pv_admits_labels(const struct berth_pv *pv, const struct berth_str *keys,
	const struct berth_str *values, uint32_t count);

/** metadata.name. */
BERTH_API struct berth_str berth_pvc_name(const struct berth_pvc *pvc);
/** metadata.namespace. */
BERTH_API struct berth_str berth_pvc_namespace(const struct berth_pvc *pvc);
/** metadata.uid. */
BERTH_API berth_uid berth_pvc_uid(const struct berth_pvc *pvc);
/** metadata.resourceVersion. */
BERTH_API struct berth_str berth_pvc_resource_version(const struct berth_pvc *pvc);
/** Value of an annotation; absent when the claim lacks the annotation. */
BERTH_API struct berth_str berth_pvc_annotation(const struct berth_pvc *pvc, struct berth_str key);
/**
 * Storage class of the claim: the beta annotation if present, else spec.storageClassName (spec 01
 * 5.17).
 */
BERTH_API struct berth_str berth_pvc_class(const struct berth_pvc *pvc);
/** spec.volumeName; "" while the claim has no volume. */
BERTH_API struct berth_str berth_pvc_volume_name(const struct berth_pvc *pvc);
/** spec.resources.requests.storage in bytes, rounded up; 0 when absent. */
BERTH_API int64_t berth_pvc_request_bytes(const struct berth_pvc *pvc);
/**
 * Whether the claim names a volume and the volume controller has marked the binding as complete
 * (spec 07 section 2.5).
 */
BERTH_API bool berth_pvc_is_fully_bound(const struct berth_pvc *pvc);

/** metadata.name. */
BERTH_API struct berth_str berth_storage_class_name(const struct berth_storage_class *class_);
/** provisioner. */
BERTH_API struct berth_str berth_storage_class_provisioner(
	const struct berth_storage_class *class_);
/** volumeBindingMode; absent when it is not set. */
BERTH_API struct berth_str berth_storage_class_volume_binding_mode(
	const struct berth_storage_class *class_);

/** metadata.name: the name of the node. */
BERTH_API struct berth_str berth_csi_node_name(const struct berth_csi_node *csi_node);
/** metadata.name: the name of the driver. */
BERTH_API struct berth_str berth_csi_driver_name(const struct berth_csi_driver *driver);
/** spec.storageCapacity: whether the scheduler must check the driver's free storage. */
BERTH_API bool berth_csi_driver_storage_capacity(const struct berth_csi_driver *driver);
/** metadata.name. */
BERTH_API struct berth_str berth_csi_storage_capacity_name(
	const struct berth_csi_storage_capacity *capacity);
/** metadata.namespace. */
BERTH_API struct berth_str berth_csi_storage_capacity_namespace(
	const struct berth_csi_storage_capacity *capacity);
/** storageClassName. */
BERTH_API struct berth_str berth_csi_storage_capacity_class(
	const struct berth_csi_storage_capacity *capacity);
/** capacity in bytes, rounded up; 0 when absent. */
BERTH_API int64_t berth_csi_storage_capacity_bytes(
	const struct berth_csi_storage_capacity *capacity);

#ifdef __cplusplus
}
#endif
#endif
