/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_CLUSTER_EVENT_H
#define BT_FRAMEWORK_CLUSTER_EVENT_H
/** Resource names of cluster events; api/change.h has the action bits. Spec: 02 section 10.1. */
#include "api/change.h"
#include "base/str.h"

/* Values of bt_cluster_event.resource, as initialisers. */
#define BT_RESOURCE_POD BT_STR_INIT("Pod")
#define BT_RESOURCE_NODE BT_STR_INIT("Node")
#define BT_RESOURCE_PERSISTENT_VOLUME BT_STR_INIT("PersistentVolume")
#define BT_RESOURCE_PERSISTENT_VOLUME_CLAIM BT_STR_INIT("PersistentVolumeClaim")
#define BT_RESOURCE_CSI_NODE BT_STR_INIT("storage.k8s.io/CSINode")
#define BT_RESOURCE_CSI_DRIVER BT_STR_INIT("storage.k8s.io/CSIDriver")
#define BT_RESOURCE_VOLUME_ATTACHMENT BT_STR_INIT("storage.k8s.io/VolumeAttachment")
#define BT_RESOURCE_CSI_STORAGE_CAPACITY BT_STR_INIT("storage.k8s.io/CSIStorageCapacity")
#define BT_RESOURCE_STORAGE_CLASS BT_STR_INIT("storage.k8s.io/StorageClass")
#define BT_RESOURCE_RESOURCE_CLAIM BT_STR_INIT("resource.k8s.io/ResourceClaim")
#define BT_RESOURCE_RESOURCE_SLICE BT_STR_INIT("resource.k8s.io/ResourceSlice")
#define BT_RESOURCE_DEVICE_CLASS BT_STR_INIT("resource.k8s.io/DeviceClass")
#define BT_RESOURCE_POD_GROUP BT_STR_INIT("scheduling.k8s.io/PodGroup")
#define BT_RESOURCE_ANY BT_STR_INIT("*")
/* Only in incoming events, never in registrations. */
#define BT_RESOURCE_ASSIGNED_POD BT_STR_INIT("AssignedPod")
#define BT_RESOURCE_UNSCHEDULABLE_POD BT_STR_INIT("UnschedulablePod")
#endif
