/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_PLUGINS_LIMITS_FIXTURE_H
#define BT_TESTS_UNIT_PLUGINS_LIMITS_FIXTURE_H
/** The cluster of spec 07b section 1.10, on the volume fixture. */
#include "volume_fixture.h"

#define EBS_DRIVER "ebs.csi.aws.com"
#define PD_DRIVER "pd.csi.storage.gke.io"
#define TOO_MANY "Unschedulable: node(s) exceed max volume count"

/* List items of a CSINode. */
#define LIMITED(driver, count) "{'name':'" driver "','allocatable':{'count':" count "}}"
#define EBS_LIMIT(count) LIMITED(EBS_DRIVER, count)
#define UNLIMITED(driver) "{'name':'" driver "'}"

#define POD(volumes) "{'metadata':{'name':'p','uid':'u1'},'spec':{'volumes':[" volumes "]}}"
#define ON_N1(volumes) "{'spec':{'nodeName':'n1','volumes':[" volumes "]}}"
#define CLAIM(name) "{'name':'v','persistentVolumeClaim':{'claimName':'" name "'}}"
#define INLINE_EBS(id) "{'name':'v','awsElasticBlockStore':{'volumeID':'" id "'}}"
#define INLINE_PD(name) "{'name':'v','gcePersistentDisk':{'pdName':'" name "'}}"

/**
 * Adds node n1; its CSINode has these drivers (NULL: no CSINode). Adds volumes e0 to e3 of the EBS
 * driver, which have the handles h-e0 to h-e3 and are bound to claims c0 to c3. Adds class E of the
 * EBS driver.
 */
void limits_fixture_init(struct fixture *fixture, const char *gates, const char *drivers);
/** Puts a volume with this source, and claim "c-<name>" bound to the volume. */
void put_sourced(struct fixture *fixture, const char *name, const char *source);
/** Puts VolumeAttachment "<name>" on n1. source: member of spec.source. */
void put_attachment(
	struct fixture *fixture, const char *name, const char *attacher, const char *source);
#endif
