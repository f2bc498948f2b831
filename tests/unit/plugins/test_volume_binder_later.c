/* SPDX-License-Identifier: Apache-2.0 */
/* The volume binder with a writer that answers later: no call blocks. Spec: 07 section 9. */
#include "plugins/volume_binder_private.h"
#include "test_main.h"
#include "volume_fixture.h"

#define SECOND_NS INT64_C(1000000000)

/** A write is pending until `answers` is raised; then the next call returns the write's result. */
struct later {
	struct volume_recorder recorder;
	int (*record_volume)(void *, const struct bt_persistent_volume *,
		const struct bt_persistent_volume_claim *, struct bt_str *, struct berth_error *);
	int (*record_claim)(void *, const struct bt_persistent_volume_claim *, struct bt_str,
		struct bt_str *, struct berth_error *);
	int answers;
	int asked;
};

static struct later later;

static int bind_volume(void *context, const struct bt_persistent_volume *volume,
	const struct bt_persistent_volume_claim *claim, struct bt_str *out_version,
	struct berth_error *err)
{
	later.asked++;
	if (later.answers == 0) {
		return BT_WRITE_PENDING;
	}
	later.answers--;
	return later.record_volume(context, volume, claim, out_version, err);
}

static int select_node(void *context, const struct bt_persistent_volume_claim *claim,
	struct bt_str node_name, struct bt_str *out_version, struct berth_error *err)
{
	later.asked++;
	if (later.answers == 0) {
		return BT_WRITE_PENDING;
	}
	later.answers--;
	return later.record_claim(context, claim, node_name, out_version, err);
}

static void init(struct fixture *fixture, struct volume_cycle *cycle, const char *args)
{
	volume_fixture_init(fixture, &bt_volume_binding_plugin, NULL, args);
	later = (struct later){0};
	volume_recorder_init(&later.recorder, fixture);
	later.record_volume = later.recorder.writer.bind_volume;
	later.record_claim = later.recorder.writer.select_node;
	later.recorder.writer.bind_volume = bind_volume;
	later.recorder.writer.select_node = select_node;
	later.recorder.writer.wait = NULL;
	later.recorder.version = "2";
	fixture->handle.now_ns = 100 * SECOND_NS;
	put_volume(fixture, "pv", "W", "1G", "n1", "");
	put_claim(fixture, "c", "W", "1G", "");
	put_claim(fixture, "d", "P", "1G", "");
	volume_cycle_place(cycle, fixture, claims_pod(fixture, "c d"), "n1");
	cycle->state.wake_ns = INT64_MAX;
}

static void finish(struct fixture *fixture, struct volume_cycle *cycle)
{
	volume_cycle_end(cycle);
	volume_recorder_finish(&later.recorder);
	fixture_finish(fixture);
}

static void all_is_bound(struct fixture *fixture)
{
	put_volume(fixture, "pv", "W", "1G", "n1",
		",'metadata':{'resourceVersion':'2'},"
		"'spec':{'claimRef':{'name':'c','namespace':'default','uid':'uid-c'}}");
	put_volume(fixture, "pv-d", "P", "1G", "n1", "");
	put_bound_claim(fixture, "c", "pv");
	put_claim(fixture, "d", "P", "1G",
		",'metadata':{'resourceVersion':'2','annotations':{"
		"'volume.kubernetes.io/selected-node':'n1',"
		"'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'volumeName':'pv-d'}");
}

START_TEST(test_volume_binding__writes_are_answered_one_by_one)
{
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture, &cycle, NULL);
	ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"), "Wait");
	ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"), "Wait");
	ck_assert_str_eq(bt_strbuf_c(&later.recorder.log), "");
	later.answers = 1;
	ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"), "Wait");
	ck_assert_str_eq(bt_strbuf_c(&later.recorder.log), "pv<-c;");
	ck_assert_int_eq(cycle.state.wake_ns, INT64_MAX);
	later.answers = 1;
	ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"), "Wait");
	ck_assert_str_eq(bt_strbuf_c(&later.recorder.log), "pv<-c;d@n1;");
	/* The first check is a second after the last answer, then one check per second. */
	ck_assert_int_eq(cycle.state.wake_ns, 101 * SECOND_NS);
	all_is_bound(&fixture);
	fixture.handle.now_ns += SECOND_NS / 2;
	ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"), "Wait");
	fixture.handle.now_ns += SECOND_NS / 2;
	ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"), "Success");
	ck_assert_int_eq(later.asked, 5);
	finish(&fixture, &cycle);
}
END_TEST

START_TEST(test_volume_binding__a_late_failure_takes_the_rest_back)
{
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture, &cycle, NULL);
	later.recorder.fail_at = 1;
	later.answers = 1;
	ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"), "Wait");
	later.answers = 1;
	ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"),
		"Error: Operation cannot be fulfilled on persistentvolumeclaims \"d\": the object "
		"has been modified");
	ck_assert_ptr_nonnull(assumed_volume(&fixture, "pv")->spec.claim_ref);
	ck_assert_ptr_null(bt_claim_selected_node(assumed_claim(&fixture, "d")));
	ck_assert_uint_eq(bt_volume_binder_stage_errors(
				  bt_volume_binding_binder(fixture.plugin), BT_VOLUME_STAGE_BIND),
		1);
	finish(&fixture, &cycle);
}
END_TEST

START_TEST(test_volume_binding__the_deadline_by_the_clock)
{
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture, &cycle, "{'bindTimeoutSeconds':3}");
	later.answers = 2;
	ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"), "Wait");
	/* Two checks are overdue: only one runs, and the next keeps the interval. */
	fixture.handle.now_ns += 2 * SECOND_NS + 1;
	cycle.state.wake_ns = INT64_MAX;
	ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"), "Wait");
	ck_assert_int_eq(cycle.state.wake_ns, 103 * SECOND_NS);
	fixture.handle.now_ns = 103 * SECOND_NS;
	all_is_bound(&fixture);
	ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"),
		"Error: binding volumes: context deadline exceeded");
	finish(&fixture, &cycle);
}
END_TEST

BT_TEST_MAIN("volume_binder_later", test_volume_binding__writes_are_answered_one_by_one,
	test_volume_binding__a_late_failure_takes_the_rest_back,
	test_volume_binding__the_deadline_by_the_clock)
