/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_POD_VOLUME_H
#define BT_API_POD_VOLUME_H
/** Field tables of volume sources, shared by pods and persistent volumes. Spec: 01 section 4.4. */
#include "api/pod.h"

extern const struct bt_message bt_volume_message;
extern const struct bt_message bt_gce_pd_volume_source_message;
extern const struct bt_message bt_aws_ebs_volume_source_message;
extern const struct bt_message bt_azure_disk_volume_source_message;
extern const struct bt_message bt_cinder_volume_source_message;
extern const struct bt_message bt_vsphere_volume_source_message;
extern const struct bt_message bt_portworx_volume_source_message;
#endif
