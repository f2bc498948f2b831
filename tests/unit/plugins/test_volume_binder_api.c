/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The volume binder with an API that compares versions. Spec: 07 section 15, cases 44, 63, 77 and
 * 93.
 */
#include "plugins/volume_binder_private.h"
#include "test_main.h"
#include "volume_fixture.h"

#define CONFLICT(resource, name) \
	"Error: Operation cannot be fulfilled on " resource " \"" name \
	"\": the object has been modified"
#define CLAIM_REF(claim) \
	"'spec':{'claimRef':{'name':'" claim "','namespace':'default','uid':'uid-" claim "'}}"
#define VERSION(version) ",'metadata':{'resourceVersion':'" version "'}"

/**
 * A recorder that writes to the store and rejects a write if its version is not the stored version.
 */
struct api {
	struct volume_recorder recorder;
	int (*record_volume)(void *context, const struct bt_persistent_volume *volume,
		const struct bt_persistent_volume_claim *claim, struct bt_str *out_version,
		struct berth_error *err);
	int (*record_claim)(void *context, const struct bt_persistent_volume_claim *claim,
		struct bt_str node_name, struct bt_str *out_version, struct berth_error *err);
};

static struct api api;

static bool is_stored_version(enum bt_kind kind, const struct bt_object_meta *meta)
{
	const struct bt_object_meta *stored =
		bt_object_store_find(&api.recorder.fixture->state->objects, kind,
			bt_kind_info(kind)->namespaced ? meta->namespace_ : BT_STR(""), meta->name);

	ck_assert_ptr_nonnull(stored); /* every structure of a kind starts with its metadata */
	return bt_str_equal(stored->resource_version, meta->resource_version);
}

/** Puts the written object into the store as version 2. */
static void store(enum bt_kind kind, const void *value)
{
	struct fixture *fixture = api.recorder.fixture;
	struct bt_object_meta *copy = bt_arena_calloc(&fixture->arena, 1, bt_kind_info(kind)->size);

	bt_message_copy(bt_kind_info(kind)->message, copy, value, &fixture->arena);
	copy->resource_version = BT_STR("2");
	bt_object_store_put(&fixture->state->objects, bt_object_create(kind, copy));
}

static int bind_volume(void *context, const struct bt_persistent_volume *volume,
	const struct bt_persistent_volume_claim *claim, struct bt_str *out_version,
	struct berth_error *err)
{
	int code;

	if (!is_stored_version(BT_KIND_PERSISTENT_VOLUME, &volume->metadata)) {
		api.recorder.fail_at = api.recorder.writes;
	}
	code = api.record_volume(context, volume, claim, out_version, err);
	if (code == 0) {
		store(BT_KIND_PERSISTENT_VOLUME, volume);
	}
	return code;
}

static int select_node(void *context, const struct bt_persistent_volume_claim *claim,
	struct bt_str node_name, struct bt_str *out_version, struct berth_error *err)
{
	int code;

	if (!is_stored_version(BT_KIND_PERSISTENT_VOLUME_CLAIM, &claim->metadata)) {
		api.recorder.fail_at = api.recorder.writes;
	}
	code = api.record_claim(context, claim, node_name, out_version, err);
	if (code == 0) {
		store(BT_KIND_PERSISTENT_VOLUME_CLAIM, claim);
	}
	return code;
}

static void init(struct fixture *fixture)
{
	volume_fixture_init(fixture, &bt_volume_binding_plugin, NULL, NULL);
	volume_recorder_init(&api.recorder, fixture);
	api.recorder.version = "2";
	api.record_volume = api.recorder.writer.bind_volume;
	api.record_claim = api.recorder.writer.select_node;
	api.recorder.writer.bind_volume = bind_volume;
	api.recorder.writer.select_node = select_node;
}

static void finish(struct fixture *fixture)
{
	volume_recorder_finish(&api.recorder);
	fixture_finish(fixture);
}

/** Binds the claim to pv5 and releases pv10, as the volume controller does. */
static void one_is_reset(struct volume_recorder *recorder)
{
	put_bound_claim(recorder->fixture, "c", "pv5");
	put_volume(recorder->fixture, "pv10", "W", "10G", NULL, VERSION("3"));
}

START_TEST(test_volume_binding__edge_07_44_written_twice)
{
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture);
	api.recorder.tick = one_is_reset;
	put_volume(&fixture, "pv5", "W", "5G", NULL, "");
	put_volume(&fixture, "pv10", "W", "10G", NULL, "");
	put_claim(&fixture, "c", "W", "1G", "");
	volume_cycle_place(&cycle, &fixture, claims_pod(&fixture, "c c"), "n1");
	ck_assert(bt_str_equal_c(assumed_volume(&fixture, "pv5")->spec.claim_ref->name, "c"));
	ck_assert(bt_str_equal_c(assumed_volume(&fixture, "pv10")->spec.claim_ref->name, "c"));
	ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"),
		"Error: binding volumes: ClaimRef got reset for pv \"pv10\"");
	ck_assert_str_eq(bt_strbuf_c(&api.recorder.log), "pv5<-c;pv10<-c;");
	volume_cycle_end(&cycle);
	finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_44_provisioned_twice)
{
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "d", "P", "1G", "");
	volume_cycle_place(&cycle, &fixture, claims_pod(&fixture, "d d"), "n1");
	/* The first write makes a new version, so the second write conflicts. */
	ck_assert_str_eq(
		volume_cycle_pre_bind(&cycle, "n1"), CONFLICT("persistentvolumeclaims", "d"));
	ck_assert_str_eq(bt_strbuf_c(&api.recorder.log), "d@n1;d@n1;");
	volume_cycle_unreserve(&cycle, "n1");
	volume_cycle_end(&cycle);

	/* A claim that has a selected node also counts as one provision per volume of the pod. */
	ck_assert(bt_str_equal_c(*bt_claim_selected_node(assumed_claim(&fixture, "d")), "n1"));
	ck_assert_str_eq(volumes_for(&fixture, claims_pod(&fixture, "d d"), "n1"), "d@n1;d@n1;");
	ck_assert_str_eq(volumes_for(&fixture, claims_pod(&fixture, "d d"), "n2"), BIND_CONFLICT);
	finish(&fixture);
}
END_TEST

/**
 * The store keeps the newest object: a late event of an older version changes no readable state.
 */
START_TEST(test_assume_cache__edge_07_63_late_event)
{
	struct bt_real_binder *binder;
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture);
	binder = bt_real_binder_of(bt_volume_binding_binder(fixture.plugin));
	put_volume(&fixture, "pv", "W", "1G", NULL, VERSION("1"));
	put_volume(&fixture, "pv", "W", "1G", NULL, VERSION("2"));
	put_claim(&fixture, "c", "W", "1G", "");
	volume_cycle_place(&cycle, &fixture, claims_pod(&fixture, "c"), "n1");
	ck_assert_uint_eq(binder->volumes.assumed.count, 1);
	/* Assuming the old version is refused, and the new assumption stays. */
	struct bt_persistent_volume old = *assumed_volume(&fixture, "pv");
	struct berth_error err = BERTH_ERROR_INIT;

	old.metadata.resource_version = BT_STR("1");
	ck_assert_int_lt(bt_assume_cache_assume(&binder->volumes, &old, &err), 0);
	ck_assert_str_eq(berth_error_message(&err), "\"pv\" is out of sync (stored: 2, assume: 1)");
	berth_error_finish(&err);
	bt_assume_cache_restore(&binder->volumes, BT_STR(""), BT_STR("pv"), BT_STR("1"));
	ck_assert_ptr_nonnull(assumed_volume(&fixture, "pv")->spec.claim_ref);
	volume_cycle_end(&cycle);
	finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_77_volume_moved_on)
{
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture);
	put_volume(&fixture, "pv", "W", "1G", "n1", "");
	put_claim(&fixture, "c", "W", "1G", "");
	volume_cycle_place(&cycle, &fixture, claims_pod(&fixture, "c"), "n1");
	put_volume(&fixture, "pv", "W", "1G", "n1",
		",'metadata':{'resourceVersion':'7'}," CLAIM_REF("c"));
	put_bound_claim(&fixture, "c", "pv");
	ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"), CONFLICT("persistentvolumes", "pv"));
	volume_cycle_unreserve(&cycle, "n1");
	volume_cycle_end(&cycle);
	/* The next attempt finds the claim bound; the volume's affinity decides about nodes. */
	volume_cycle_begin(&cycle, &fixture, claims_pod(&fixture, "c"));
	ck_assert_str_eq(volume_cycle_filter(&cycle, "n2"), NODE_CONFLICT);
	ck_assert_str_eq(volume_cycle_filter(&cycle, "n1"), "Success");
	ck_assert_str_eq(volume_cycle_reserve(&cycle, "n1"), "Success");
	ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"), "Success");
	volume_cycle_end(&cycle);
	finish(&fixture);
}
END_TEST

static void first_is_bound(struct volume_recorder *recorder)
{
	put_bound_claim(recorder->fixture, "c", "pv");
}

START_TEST(test_volume_binding__edge_07_93_second_write_conflicts)
{
	const struct bt_plugin_args *args;
	struct bt_plugin *plugins[2] = {NULL, NULL};
	struct volume_cycle cycles[2];
	struct fixture fixture;

	init(&fixture);
	api.recorder.tick = first_is_bound;
	plugins[0] = fixture.plugin;
	args = bt_config_profile_find_args(
		&fixture.config->document.profiles.items[0], BT_STR("VolumeBinding"));
	ck_assert_int_eq(bt_plugin_create(&bt_volume_binding_plugin, args, &fixture.handle,
				 &plugins[1], NULL),
		0);
	put_volume(&fixture, "pv", "W", "1G", NULL, "");
	put_claim(&fixture, "c", "W", "1G", "");
	put_claim(&fixture, "d", "W", "1G", "");
	for (int i = 0; i < 2; i++) {
		fixture.plugin = plugins[i];
		volume_cycle_place(
			&cycles[i], &fixture, claims_pod(&fixture, i == 0 ? "c" : "d"), "n1");
	}
	fixture.plugin = plugins[0];
	ck_assert_str_eq(volume_cycle_pre_bind(&cycles[0], "n1"), "Success");
	fixture.plugin = plugins[1];
	ck_assert_str_eq(
		volume_cycle_pre_bind(&cycles[1], "n1"), CONFLICT("persistentvolumes", "pv"));
	ck_assert_str_eq(bt_strbuf_c(&api.recorder.log), "pv<-c;pv<-d;");
	ck_assert(bt_str_equal_c(assumed_volume(&fixture, "pv")->spec.claim_ref->name, "c"));
	fixture.plugin = plugins[0];
	volume_cycle_end(&cycles[1]);
	volume_cycle_end(&cycles[0]);
	bt_plugin_destroy(plugins[1]);
	finish(&fixture);
}
END_TEST

BT_TEST_MAIN("volume_binder_api", test_volume_binding__edge_07_44_written_twice,
	test_volume_binding__edge_07_44_provisioned_twice, test_assume_cache__edge_07_63_late_event,
	test_volume_binding__edge_07_77_volume_moved_on,
	test_volume_binding__edge_07_93_second_write_conflicts)
