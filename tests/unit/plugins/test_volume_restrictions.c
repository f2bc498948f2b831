/* SPDX-License-Identifier: Apache-2.0 */
/* VolumeRestrictions. Spec: 07b section 2.8. */
#include "test_main.h"
#include "volume_fixture.h"

#define DISK_CONFLICT "Unschedulable: node(s) had no available disk"
#define IN_USE \
	"Unschedulable: node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod " \
	"access mode already in-use by another pod"
#define ONCE_POD ",'spec':{'accessModes':['ReadWriteOncePod']}"

#define POD(volumes) "{'spec':{'volumes':[" volumes "]}}"
#define ON_N1(volumes) "{'spec':{'nodeName':'n1','volumes':[" volumes "]}}"
#define GCE(name, extra) "{'name':'v','gcePersistentDisk':{'pdName':'" name "'" extra "}}"
#define EBS(id, extra) "{'name':'v','awsElasticBlockStore':{'volumeID':'" id "'" extra "}}"
#define ISCSI(iqn, lun, extra) \
	"{'name':'v','iscsi':{'targetPortal':'t','iqn':'" iqn "','lun':" lun extra "}}"
#define RBD(monitors, pool, image, extra) \
	"{'name':'v','rbd':{'monitors':[" monitors "],'pool':'" pool "','image':'" image "'" extra \
	"}}"
#define CLAIM(name) "{'name':'c','persistentVolumeClaim':{'claimName':'" name "'}}"
#define READ_ONLY ",'readOnly':true"

static void init(struct fixture *fixture)
{
	volume_fixture_init(fixture, &bt_volume_restrictions_plugin, NULL, NULL);
}

struct disk_row {
	const char *row;
	const char *existing; /* pod on n1 */
	const char *pod;
	bool conflicts;
};

static void check_disks(const struct disk_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct fixture fixture;

		init(&fixture);
		fixture_add_pod(&fixture, rows[i].existing);
		fixture_expect(rows[i].row, fixture_filter(&fixture, rows[i].pod, "n1"),
			rows[i].conflicts ? DISK_CONFLICT : "Success");
		fixture_expect(rows[i].row, fixture_filter(&fixture, rows[i].pod, "n2"), "Success");
		fixture_finish(&fixture);
	}
}

START_TEST(test_volume_restrictions__edge_07b_01_skip)
{
	struct fixture fixture;

	init(&fixture);
	fixture_add_pod(&fixture, ON_N1(GCE("foo", "")));
	ck_assert_str_eq(fixture_pre_filter(&fixture, "{}", NULL), "Skip");
	ck_assert_str_eq(fixture_pre_filter(&fixture, POD("{'name':'v'}"), NULL), "Skip");
	ck_assert_str_eq(
		fixture_pre_filter(&fixture, POD("{'name':'v','emptyDir':{}}"), NULL), "Skip");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_restrictions__edge_07b_02_gce)
{
	static const struct disk_row rows[] = {
		{"same disk", ON_N1(GCE("foo", "")), POD(GCE("foo", "")), true},
		{"other disk", ON_N1(GCE("foo", "")), POD(GCE("bar", "")), false},
		{"both read only", ON_N1(GCE("foo", READ_ONLY)), POD(GCE("foo", READ_ONLY)), false},
		{"new one read only", ON_N1(GCE("foo", "")), POD(GCE("foo", READ_ONLY)), true},
		{"old one read only", ON_N1(GCE("foo", READ_ONLY)), POD(GCE("foo", "")), true},
	};

	check_disks(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_volume_restrictions__edge_07b_03_ebs)
{
	static const struct disk_row rows[] = {
		{"read only", ON_N1(EBS("foo", READ_ONLY)), POD(EBS("foo", READ_ONLY)), true},
		{"not normalised", ON_N1(EBS("foo", "")), POD(EBS("aws://z/foo", "")), false},
	};

	check_disks(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_volume_restrictions__edge_07b_04_rbd)
{
	static const struct disk_row rows[] = {
		{"shared monitor", ON_N1(RBD("'b','c'", "p", "i", "")),
			POD(RBD("'a','b'", "p", "i", "")), true},
		{"no shared monitor", ON_N1(RBD("'c','d'", "p", "i", "")),
			POD(RBD("'a','b'", "p", "i", "")), false},
		{"other pool", ON_N1(RBD("'a'", "q", "i", "")), POD(RBD("'a'", "p", "i", "")),
			false},
		{"other image", ON_N1(RBD("'a'", "p", "j", "")), POD(RBD("'a'", "p", "i", "")),
			false},
		{"both read only", ON_N1(RBD("'a'", "p", "i", READ_ONLY)),
			POD(RBD("'a'", "p", "i", READ_ONLY)), false},
		{"one read only", ON_N1(RBD("'a'", "p", "i", "")),
			POD(RBD("'a'", "p", "i", READ_ONLY)), true},
	};

	check_disks(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_volume_restrictions__edge_07b_05_rbd_without_monitors)
{
	static const struct disk_row rows[] = {
		{"none", ON_N1(RBD("", "p", "i", "")), POD(RBD("", "p", "i", "")), false},
	};

	check_disks(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

static const char *many_monitors(struct fixture *fixture, const char *node, const char *prefix)
{
	struct bt_strbuf json = {0};
	struct bt_str text;

	bt_strbuf_printf(&json,
		"{'spec':{'nodeName':'%s','volumes':[{'name':'v','rbd':{'pool':'p','image':'i',"
		"'monitors':['%s-first'",
		node, prefix);
	for (int i = 0; i < 100; i++) {
		bt_strbuf_printf(&json, ",'%s%d'", prefix, i);
	}
	bt_strbuf_append_c(&json, ",'last']}}]}}");
	text = bt_arena_str(&fixture->arena, bt_strbuf_str(&json));
	bt_strbuf_finish(&json);
	return text.data;
}

START_TEST(test_volume_restrictions__long_monitor_lists)
{
	struct fixture fixture;

	init(&fixture);
	fixture_add_pod(&fixture, many_monitors(&fixture, "n1", "a"));
	ck_assert_str_eq(
		fixture_filter(&fixture, many_monitors(&fixture, "", "b"), "n1"), DISK_CONFLICT);
	ck_assert_str_eq(
		fixture_filter(&fixture, POD(RBD("'x','y'", "p", "i", "")), "n1"), "Success");
	fixture_finish(&fixture);
}
END_TEST

static const char *many_disks(struct fixture *fixture, const char *node, const char *prefix)
{
	struct bt_strbuf json = {0};
	struct bt_str text;

	bt_strbuf_printf(&json, "{'spec':{'nodeName':'%s','volumes':[{'name':'v'}", node);
	for (int i = 0; i < 20000; i++) {
		bt_strbuf_printf(&json,
			",{'name':'v','gcePersistentDisk':{'pdName':'%s%d','readOnly':true}}",
			prefix, i);
	}
	bt_strbuf_append_c(&json, ",{'name':'v','gcePersistentDisk':{'pdName':'last'}}]}}");
	text = bt_arena_str(&fixture->arena, bt_strbuf_str(&json));
	bt_strbuf_finish(&json);
	return text.data;
}

/** Users may write pods with any number of disks: the check must not compare all pairs. */
START_TEST(test_volume_restrictions__many_disks)
{
	struct fixture fixture;

	init(&fixture);
	fixture_add_pod(&fixture, many_disks(&fixture, "n1", "a"));
	ck_assert_str_eq(
		fixture_filter(&fixture, many_disks(&fixture, "", "b"), "n1"), DISK_CONFLICT);
	ck_assert_str_eq(fixture_filter(&fixture, POD(GCE("a19999", READ_ONLY)), "n1"), "Success");
	ck_assert_str_eq(
		fixture_filter(&fixture, POD(GCE("a19999", READ_ONLY) "," GCE("a19999", "")), "n1"),
		DISK_CONFLICT);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_restrictions__edge_07b_06_iscsi)
{
	static const struct disk_row rows[] = {
		{"other lun", ON_N1(ISCSI("q", "0", "")), POD(ISCSI("q", "1", "")), true},
		{"other iqn", ON_N1(ISCSI("q", "0", "")), POD(ISCSI("r", "0", "")), false},
		{"read only", ON_N1(ISCSI("q", "0", READ_ONLY)), POD(ISCSI("q", "0", READ_ONLY)),
			false},
	};

	check_disks(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_volume_restrictions__edge_07b_07_other_kind)
{
	static const struct disk_row rows[] = {
		{"gce and ebs", ON_N1(EBS("foo", "")), POD(GCE("foo", "")), false},
	};

	check_disks(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

static enum fixture_hint after_deletion(
	struct fixture *fixture, const char *pending, const char *deleted)
{
	return fixture_hint(fixture, "Pod", BT_ACTION_DELETE, fixture_pending(fixture, pending),
		deleted, NULL, NULL);
}

START_TEST(test_volume_restrictions__edge_07b_08_other_namespace)
{
	static const char other[] =
		"{'metadata':{'namespace':'other'},'spec':{'nodeName':'n1','volumes':[" GCE(
			"foo", "") "]}}";
	static const struct disk_row rows[] = {
		{"another namespace", other, POD(GCE("foo", "")), true},
	};
	struct fixture fixture;

	check_disks(rows, BT_ARRAY_LENGTH(rows));
	init(&fixture);
	ck_assert_int_eq(after_deletion(&fixture, POD(GCE("foo", "")), other), FIXTURE_SKIP);
	ck_assert_int_eq(after_deletion(&fixture, POD(GCE("foo", "")), ON_N1(GCE("foo", ""))),
		FIXTURE_QUEUE);
	ck_assert_int_eq(
		after_deletion(&fixture, POD(GCE("foo", "")), ON_N1(GCE("bar", ""))), FIXTURE_SKIP);
	fixture_finish(&fixture);
}
END_TEST

/* --- ReadWriteOncePod --- */

START_TEST(test_volume_restrictions__edge_07b_09_claim_missing)
{
	struct fixture fixture;

	init(&fixture);
	ck_assert_str_eq(fixture_pre_filter(&fixture, POD(CLAIM("claim-with-rwop-1")), NULL),
		"UnschedulableAndUnresolvable: persistentvolumeclaim \"claim-with-rwop-1\" not "
		"found");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_restrictions__edge_07b_10_not_in_use)
{
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "once", "W", "1G", ONCE_POD);
	put_claim(&fixture, "many", "W", "1G", ",'spec':{'accessModes':['ReadWriteMany']}");
	fixture_add_pod(&fixture, ON_N1(CLAIM("many")));
	ck_assert_str_eq(fixture_pre_filter(&fixture, POD(CLAIM("once")), NULL), "Skip");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_restrictions__edge_07b_11_in_use_anywhere)
{
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "once", "W", "1G", ONCE_POD);
	fixture_add_pod(&fixture, ON_N1(CLAIM("once")));
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("once")), "n1"), IN_USE);
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("once")), "n2"), IN_USE);
	fixture_finish(&fixture);
}
END_TEST

/**
 * Returns the status of Filter on n1 after removing and adding pods in the PreFilter data. NULL: no
 * pod.
 */
static const char *filter_after(struct volume_cycle *cycle, const char *removed, const char *added)
{
	struct fixture *fixture = cycle->fixture;
	const struct bt_plugin_ops *ops = fixture->plugin->ops;
	struct bt_node_info node;
	const char *status;
	void *before = cycle->state.pre_filter_data[0];

	bt_node_info_init(&node, fixture->state, fixture_slot(fixture, "n1"));
	cycle->state.pre_filter_data[0] = ops->clone_pre_filter_data(before, &fixture->arena);
	if (removed != NULL) {
		ck_assert_str_eq(
			fixture_status_text(fixture,
				ops->pre_filter_change_pod(fixture->plugin, &cycle->state,
					cycle->pod, fixture_pending(fixture, removed), &node, -1)),
			"Success");
	}
	if (added != NULL) {
		ck_assert_str_eq(
			fixture_status_text(fixture,
				ops->pre_filter_change_pod(fixture->plugin, &cycle->state,
					cycle->pod, fixture_pending(fixture, added), &node, 1)),
			"Success");
	}
	status = volume_cycle_filter(cycle, "n1");
	cycle->state.pre_filter_data[0] = before;
	return status;
}

START_TEST(test_volume_restrictions__edge_07b_12_two_claims)
{
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "a", "W", "1G", ONCE_POD);
	put_claim(&fixture, "b", "W", "1G", ONCE_POD);
	fixture_add_pod(&fixture, ON_N1(CLAIM("a") "," CLAIM("b")));
	volume_cycle_begin(&cycle, &fixture, POD(CLAIM("a") "," CLAIM("b")));
	ck_assert_str_eq(cycle.pre_filter, "Success");
	ck_assert_str_eq(volume_cycle_filter(&cycle, "n1"), IN_USE);
	ck_assert_str_eq(filter_after(&cycle, POD(CLAIM("a")), NULL), IN_USE);
	ck_assert_str_eq(filter_after(&cycle, POD(CLAIM("a") "," CLAIM("b")), NULL), "Success");
	ck_assert_str_eq(volume_cycle_filter(&cycle, "n1"), IN_USE);
	volume_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_restrictions__edge_07b_13_shared_by_many)
{
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "many", "W", "1G", ",'spec':{'accessModes':['ReadWriteMany']}");
	fixture_add_pod(&fixture, ON_N1(CLAIM("many")));
	fixture_add_pod(&fixture, ON_N1(CLAIM("many")));
	ck_assert_str_eq(fixture_pre_filter(&fixture, POD(CLAIM("many")), NULL), "Skip");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_restrictions__edge_07b_14_mixed_modes)
{
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "c", "W", "1G",
		",'spec':{'accessModes':['ReadWriteOnce','ReadWriteOncePod']}");
	fixture_add_pod(&fixture, ON_N1(CLAIM("c")));
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("c")), "n2"), IN_USE);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_restrictions__edge_07b_15_ephemeral)
{
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "p-v", "W", "1G", ONCE_POD);
	fixture_add_pod(&fixture, ON_N1(CLAIM("p-v")));
	ck_assert_str_eq(fixture_pre_filter(&fixture,
				 "{'metadata':{'name':'p'},'spec':{'volumes':[{'name':'v','"
				 "ephemeral':{}}]}}",
				 NULL),
		"Skip");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_restrictions__edge_07b_16_the_pod_itself)
{
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "once", "W", "1G", ONCE_POD);
	(void)fixture_pending(&fixture, POD(CLAIM("once"))); /* pending pods are on no node */
	ck_assert_str_eq(fixture_pre_filter(&fixture, POD(CLAIM("once")), NULL), "Skip");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_restrictions__edge_07b_17_disk_and_unused_claim)
{
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "once", "W", "1G", ONCE_POD);
	fixture_add_pod(&fixture, ON_N1(GCE("foo", "")));
	ck_assert_str_eq(fixture_filter(&fixture, POD(GCE("foo", "") "," CLAIM("once")), "n1"),
		DISK_CONFLICT);
	ck_assert_str_eq(
		fixture_filter(&fixture, POD(GCE("foo", "") "," CLAIM("once")), "n2"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_restrictions__edge_07b_18_victim)
{
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "once", "W", "1G", ONCE_POD);
	fixture_add_pod(&fixture, ON_N1(CLAIM("once")));
	volume_cycle_begin(&cycle, &fixture, POD(CLAIM("once")));
	ck_assert_str_eq(filter_after(&cycle, POD(CLAIM("once")), NULL), "Success");
	ck_assert_str_eq(volume_cycle_filter(&cycle, "n2"), IN_USE);
	volume_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_restrictions__edge_07b_19_victim_of_another_namespace)
{
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "once", "W", "1G", ONCE_POD);
	fixture_add_pod(&fixture, ON_N1(CLAIM("once")));
	volume_cycle_begin(&cycle, &fixture, POD(CLAIM("once")));
	ck_assert_str_eq(
		filter_after(&cycle,
			"{'metadata':{'namespace':'other'},'spec':{'volumes':[" CLAIM("once") "]}}",
			NULL),
		"Success");
	volume_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_restrictions__edge_07b_20_claim_named_twice)
{
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "once", "W", "1G", ONCE_POD);
	fixture_add_pod(&fixture, ON_N1(CLAIM("once") "," CLAIM("once")));
	volume_cycle_begin(&cycle, &fixture, POD(CLAIM("once")));
	ck_assert_str_eq(volume_cycle_filter(&cycle, "n1"), IN_USE);
	/* The count becomes 1 - 2 = -1, and 0 with one more user. */
	ck_assert_str_eq(
		filter_after(&cycle, POD(CLAIM("once") "," CLAIM("once")), NULL), "Success");
	ck_assert_str_eq(
		filter_after(&cycle, POD(CLAIM("once") "," CLAIM("once")), POD(CLAIM("once"))),
		"Success");
	volume_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_restrictions__edge_07b_21_two_users)
{
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "once", "W", "1G", ONCE_POD);
	fixture_add_pod(&fixture, ON_N1(CLAIM("once")));
	fixture_add_pod(&fixture, "{'spec':{'nodeName':'n2','volumes':[" CLAIM("once") "]}}");
	volume_cycle_begin(&cycle, &fixture, POD(CLAIM("once")));
	ck_assert_str_eq(volume_cycle_filter(&cycle, "n1"), IN_USE);
	ck_assert_str_eq(filter_after(&cycle, POD(CLAIM("once")), NULL), "Success");
	volume_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_restrictions__edge_07b_22_hint_pod_deleted)
{
	struct fixture fixture;

	init(&fixture);
	ck_assert_int_eq(
		after_deletion(&fixture, POD(CLAIM("c")), ON_N1(CLAIM("c"))), FIXTURE_QUEUE);
	ck_assert_int_eq(
		after_deletion(&fixture, POD(CLAIM("c")), ON_N1(CLAIM("d"))), FIXTURE_SKIP);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_restrictions__edge_07b_23_hint_claim_added)
{
	struct fixture fixture;
	const struct bt_pod_info *pod;

	init(&fixture);
	pod = fixture_pending(&fixture, POD(CLAIM("c")));
	ck_assert_int_eq(fixture_hint(&fixture, "PersistentVolumeClaim", BT_ACTION_ADD, pod, NULL,
				 "{'metadata':{'name':'c','namespace':'kube-system'}}", NULL),
		FIXTURE_SKIP);
	ck_assert_int_eq(fixture_hint(&fixture, "PersistentVolumeClaim", BT_ACTION_ADD, pod, NULL,
				 "{'metadata':{'name':'c'}}", NULL),
		FIXTURE_QUEUE);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_restrictions__edge_07b_24_nominated_pod)
{
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "once", "W", "1G", ONCE_POD);
	volume_cycle_begin(&cycle, &fixture, POD(GCE("foo", "") "," CLAIM("once")));
	ck_assert_str_eq(volume_cycle_filter(&cycle, "n1"), "Success");
	ck_assert_str_eq(filter_after(&cycle, NULL, POD(CLAIM("once"))), IN_USE);
	volume_cycle_end(&cycle);
	/* Without a disk PreFilter skips, so the nominated pod is ignored. */
	ck_assert_str_eq(fixture_pre_filter(&fixture, POD(CLAIM("once")), NULL), "Skip");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_restrictions__edge_07b_25_disk_comes_first)
{
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "once", "W", "1G", ONCE_POD);
	fixture_add_pod(&fixture, ON_N1(GCE("foo", "") "," CLAIM("once")));
	ck_assert_str_eq(fixture_filter(&fixture, POD(GCE("foo", "") "," CLAIM("once")), "n1"),
		DISK_CONFLICT);
	ck_assert_str_eq(
		fixture_filter(&fixture, POD(GCE("foo", "") "," CLAIM("once")), "n2"), IN_USE);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_restrictions__state_missing)
{
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture);
	ck_assert_str_eq(fixture_filter_alone(&fixture, POD(CLAIM("c")), "n1"),
		"Error: cannot read \"PreFilterVolumeRestrictions\" from cycleState");
	volume_cycle_begin(&cycle, &fixture, POD(CLAIM("missing")));
	ck_assert(!bt_shortcuts(fixture.plugin)->is_pure_for(fixture.plugin, cycle.pod));
	ck_assert_str_eq(fixture_status_text(&fixture,
				 fixture.plugin->ops->pre_filter_change_pod(fixture.plugin,
					 &cycle.state, cycle.pod, cycle.pod, NULL, 1)),
		"Error: cannot read \"PreFilterVolumeRestrictions\" from cycleState");
	volume_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("volume_restrictions", test_volume_restrictions__edge_07b_01_skip,
	test_volume_restrictions__edge_07b_02_gce, test_volume_restrictions__edge_07b_03_ebs,
	test_volume_restrictions__edge_07b_04_rbd,
	test_volume_restrictions__edge_07b_05_rbd_without_monitors,
	test_volume_restrictions__long_monitor_lists, test_volume_restrictions__many_disks,
	test_volume_restrictions__edge_07b_06_iscsi,
	test_volume_restrictions__edge_07b_07_other_kind,
	test_volume_restrictions__edge_07b_08_other_namespace,
	test_volume_restrictions__edge_07b_09_claim_missing,
	test_volume_restrictions__edge_07b_10_not_in_use,
	test_volume_restrictions__edge_07b_11_in_use_anywhere,
	test_volume_restrictions__edge_07b_12_two_claims,
	test_volume_restrictions__edge_07b_13_shared_by_many,
	test_volume_restrictions__edge_07b_14_mixed_modes,
	test_volume_restrictions__edge_07b_15_ephemeral,
	test_volume_restrictions__edge_07b_16_the_pod_itself,
	test_volume_restrictions__edge_07b_17_disk_and_unused_claim,
	test_volume_restrictions__edge_07b_18_victim,
	test_volume_restrictions__edge_07b_19_victim_of_another_namespace,
	test_volume_restrictions__edge_07b_20_claim_named_twice,
	test_volume_restrictions__edge_07b_21_two_users,
	test_volume_restrictions__edge_07b_22_hint_pod_deleted,
	test_volume_restrictions__edge_07b_23_hint_claim_added,
	test_volume_restrictions__edge_07b_24_nominated_pod,
	test_volume_restrictions__edge_07b_25_disk_comes_first,
	test_volume_restrictions__state_missing)
