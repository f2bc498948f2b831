/* SPDX-License-Identifier: Apache-2.0 */
#include "limits_fixture.h"

void put_sourced(struct fixture *fixture, const char *name, const char *source)
{
	struct bt_str extra = bt_arena_printf(&fixture->arena, ",'spec':{%s}", source);
	struct bt_str claim = bt_arena_printf(&fixture->arena, "c-%s", name);

	put_volume(fixture, name, "I", "1G", NULL, extra.data);
	put_bound_claim(fixture, claim.data, name);
}

void put_attachment(
	struct fixture *fixture, const char *name, const char *attacher, const char *source)
{
	struct bt_str json = bt_arena_printf(&fixture->arena,
		"{'apiVersion':'storage.k8s.io/v1','kind':'VolumeAttachment','metadata':{'name':"
		"'%s'},'spec':{'attacher':'%s','nodeName':'n1','source':{%s}}}",
		name, attacher, source);

	fixture_put(fixture, json.data);
}

void limits_fixture_init(struct fixture *fixture, const char *gates, const char *drivers)
{
	volume_fixture_init(fixture, &bt_node_volume_limits_plugin, gates, NULL);
	put_class(fixture, "E", EBS_DRIVER, "WaitForFirstConsumer", "");
	if (drivers != NULL) {
		put_csi_node(fixture, "n1", NULL, drivers);
	}
	for (int i = 0; i < 4; i++) {
		struct bt_str volume = bt_arena_printf(&fixture->arena, "e%d", i);
		struct bt_str claim = bt_arena_printf(&fixture->arena, "c%d", i);
		struct bt_str source = bt_arena_printf(&fixture->arena,
			",'spec':{'csi':{'driver':'" EBS_DRIVER "','volumeHandle':'h-e%d'}}", i);

		put_volume(fixture, volume.data, "E", "1G", NULL, source.data);
		put_bound_claim(fixture, claim.data, volume.data);
	}
}
