/* SPDX-License-Identifier: Apache-2.0 */
/* The volume binder: assume, revert, write, wait. Spec: 07 section 15, cases 57 to 77; caches: 07
 * section 3.1. */
#include "plugins/volume_binder_private.h"
#include "test_main.h"
#include "volume_fixture.h"

#define PRE_BIND "Error: binding volumes: "

static void init(struct fixture *fixture, struct volume_recorder *recorder)
{
	volume_fixture_init(fixture, &bt_volume_binding_plugin, NULL, NULL);
	volume_recorder_init(recorder, fixture);
}

static void finish(struct fixture *fixture, struct volume_recorder *recorder)
{
	volume_recorder_finish(recorder);
	fixture_finish(fixture);
}

static bool is_assumed(struct fixture *fixture, const char *volume)
{
	return assumed_volume(fixture, volume)->spec.claim_ref != NULL;
}

/* --- assume --- */

START_TEST(test_volume_binding__edge_07_57_all_bound_at_reserve)
{
	struct volume_recorder recorder;
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture, &recorder);
	put_volume(&fixture, "pv", "W", "1G", NULL, "");
	put_claim(&fixture, "c", "W", "1G", "");
	volume_cycle_begin(&cycle, &fixture, claims_pod(&fixture, "c"));
	ck_assert_str_eq(volume_cycle_filter(&cycle, "n1"), "Success");
	put_bound_claim(&fixture, "c", "pv");
	ck_assert_str_eq(volume_cycle_reserve(&cycle, "n1"), "Success");
	ck_assert(!is_assumed(&fixture, "pv"));
	ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"), "Success");
	ck_assert_str_eq(bt_strbuf_c(&recorder.log), "");
	volume_cycle_end(&cycle);
	finish(&fixture, &recorder);
}
END_TEST

START_TEST(test_volume_binding__edge_07_58_assumed_volume)
{
	const struct bt_persistent_volume *volume;
	const struct bt_object_reference *reference;
	struct volume_recorder recorder;
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture, &recorder);
	put_volume(&fixture, "pv", "W", "1G", NULL, ",'metadata':{'annotations':{'z':'1'}}");
	put_claim(&fixture, "c", "W", "1G", "");
	volume_cycle_place(&cycle, &fixture, claims_pod(&fixture, "c"), "n1");
	volume = assumed_volume(&fixture, "pv");
	reference = volume->spec.claim_ref;
	ck_assert_ptr_nonnull(reference);
	ck_assert(bt_str_equal_c(reference->kind, "PersistentVolumeClaim"));
	ck_assert(bt_str_equal_c(reference->api_version, "v1"));
	ck_assert(bt_str_equal_c(reference->namespace_, "default"));
	ck_assert(bt_str_equal_c(reference->name, "c"));
	ck_assert(bt_str_equal_c(reference->uid, "uid-c"));
	ck_assert(bt_str_equal_c(reference->resource_version, "1"));
	ck_assert(bt_str_equal_c(
		*bt_str_map_find(&volume->metadata.annotations, BT_ANNOTATION_BOUND_BY_CONTROLLER),
		"yes"));
	ck_assert(
		bt_str_equal_c(*bt_str_map_find(&volume->metadata.annotations, BT_STR("z")), "1"));
	ck_assert(bt_str_equal_c(volume->status.phase, "Available"));
	volume_cycle_unreserve(&cycle, "n1");
	ck_assert(!is_assumed(&fixture, "pv"));
	volume_cycle_end(&cycle);
	finish(&fixture, &recorder);
}
END_TEST

START_TEST(test_volume_binding__edge_07_59_reference_is_there)
{
	struct volume_recorder recorder;
	struct volume_cycle cycle;
	struct fixture fixture;
	struct bt_real_binder *binder;

	init(&fixture, &recorder);
	binder = bt_real_binder_of(bt_volume_binding_binder(fixture.plugin));
	put_volume(&fixture, "pv", "W", "1G", NULL,
		",'spec':{'claimRef':{'name':'c','namespace':'default','uid':'uid-c'}}");
	put_claim(&fixture, "c", "W", "1G", "");
	volume_cycle_place(&cycle, &fixture, claims_pod(&fixture, "c"), "n1");
	ck_assert_uint_eq(binder->volumes.assumed.count, 0);
	(void)volume_cycle_pre_bind(&cycle, "n1"); /* cancelled */
	ck_assert_str_eq(bt_strbuf_c(&recorder.log), "pv<-c;");
	volume_cycle_end(&cycle);

	/*
	 * The volume's claimRef, which a user wrote, has no uid: the binder completes the claimRef
	 * and sets no annotation.
	 */
	put_volume(&fixture, "pv", "W", "1G", NULL,
		",'spec':{'claimRef':{'name':'c','namespace':'default'}}");
	volume_cycle_place(&cycle, &fixture, claims_pod(&fixture, "c"), "n1");
	ck_assert_uint_eq(binder->volumes.assumed.count, 1);
	ck_assert(bt_str_equal_c(assumed_volume(&fixture, "pv")->spec.claim_ref->uid, "uid-c"));
	ck_assert_ptr_null(bt_str_map_find(&assumed_volume(&fixture, "pv")->metadata.annotations,
		BT_ANNOTATION_BOUND_BY_CONTROLLER));
	volume_cycle_end(&cycle);
	finish(&fixture, &recorder);
}
END_TEST

/** VolumeBinding is not enabled at Reserve: PreBind writes the bindings of Filter unchanged. */
START_TEST(test_volume_binding__no_reserve)
{
	struct volume_recorder recorder;
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture, &recorder);
	put_volume(&fixture, "pv", "W", "1G", NULL, "");
	put_claim(&fixture, "c", "W", "1G", "");
	volume_cycle_begin(&cycle, &fixture, claims_pod(&fixture, "c"));
	ck_assert_str_eq(volume_cycle_filter(&cycle, "n1"), "Success");
	(void)volume_cycle_pre_bind(&cycle, "n1"); /* cancelled */
	ck_assert_str_eq(bt_strbuf_c(&recorder.log), "pv<-;");
	ck_assert(!is_assumed(&fixture, "pv"));
	volume_cycle_end(&cycle);
	/* A claim to provision has no selected node yet. */
	put_claim(&fixture, "d", "P", "5G", "");
	bt_strbuf_reset(&recorder.log);
	volume_cycle_begin(&cycle, &fixture, claims_pod(&fixture, "d"));
	ck_assert_str_eq(volume_cycle_filter(&cycle, "n1"), "Success");
	(void)volume_cycle_pre_bind(&cycle, "n1");
	ck_assert_str_eq(bt_strbuf_c(&recorder.log), "d@;");
	volume_cycle_end(&cycle);
	finish(&fixture, &recorder);
}
END_TEST

START_TEST(test_volume_binding__edge_07_60_second_volume_vanished)
{
	struct volume_recorder recorder;
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture, &recorder);
	put_volume(&fixture, "pv1", "W", "1G", NULL, "");
	put_volume(&fixture, "pv2", "W", "2G", NULL, "");
	put_claim(&fixture, "c1", "W", "1G", "");
	put_claim(&fixture, "c2", "W", "2G", "");
	volume_cycle_begin(&cycle, &fixture, claims_pod(&fixture, "c1 c2"));
	ck_assert_str_eq(volume_cycle_filter(&cycle, "n1"), "Success");
	/*
	 * pv2 is deleted below. The test keeps a copy of pv2 for the binding, because the store
	 * frees deleted volumes.
	 */
	struct bt_object *kept =
		bt_object_create(BT_KIND_PERSISTENT_VOLUME, assumed_volume(&fixture, "pv2"));
	struct bt_real_binder *binder = bt_real_binder_of(bt_volume_binding_binder(fixture.plugin));
	struct bt_static_binding bindings[] = {
		{assumed_volume(&fixture, "pv1"), assumed_claim(&fixture, "c1"), BT_STR("1")},
		{kept->value, assumed_claim(&fixture, "c2"), BT_STR("1")},
	};
	struct bt_pod_volumes volumes = {.static_bindings = bindings, .static_count = 2};
	struct berth_error err = BERTH_ERROR_INIT;
	bool all_bound = false;

	fixture_delete(&fixture, BT_KIND_PERSISTENT_VOLUME, "", "pv2");
	ck_assert_int_lt(binder->base.ops->assume_pod_volumes(&binder->base, cycle.pod,
				 BT_STR("n1"), &volumes, &fixture.arena, &all_bound, &err),
		0);
	ck_assert_str_eq(berth_error_message(&err), "persistentvolumes \"pv2\" not found");
	ck_assert(!is_assumed(&fixture, "pv1"));
	ck_assert_ptr_eq(volumes.static_bindings, bindings);
	ck_assert_uint_eq(bt_volume_binder_stage_errors(&binder->base, BT_VOLUME_STAGE_ASSUME), 1);
	berth_error_finish(&err);
	bt_object_release(kept);
	volume_cycle_end(&cycle);
	finish(&fixture, &recorder);
}
END_TEST

START_TEST(test_volume_binding__edge_07_61_claim_changed)
{
	struct volume_recorder recorder;
	struct fixture fixture;
	struct bt_object *old;
	struct bt_real_binder *binder;
	struct bt_static_binding binding;
	struct bt_dynamic_provision provision = {0};
	struct bt_pod_volumes volumes = {.static_bindings = &binding,
		.static_count = 1,
		.dynamic_provisions = &provision,
		.dynamic_count = 1};
	struct berth_error err = BERTH_ERROR_INIT;
	bool all_bound = false;

	init(&fixture, &recorder);
	binder = bt_real_binder_of(bt_volume_binding_binder(fixture.plugin));
	put_volume(&fixture, "pv", "W", "1G", NULL, "");
	put_claim(&fixture, "w", "W", "1G", "");
	put_claim(&fixture, "c", "P", "1G", "");
	old = bt_object_create(BT_KIND_PERSISTENT_VOLUME_CLAIM, assumed_claim(&fixture, "c"));
	put_claim(&fixture, "c", "P", "1G", ",'metadata':{'resourceVersion':'2'}");
	binding = (struct bt_static_binding){
		assumed_volume(&fixture, "pv"), assumed_claim(&fixture, "w"), BT_STR("1")};
	provision.claim = old->value;
	ck_assert_int_lt(binder->base.ops->assume_pod_volumes(&binder->base,
				 fixture_pending(&fixture, claims_pod(&fixture, "w c")),
				 BT_STR("n1"), &volumes, &fixture.arena, &all_bound, &err),
		0);
	ck_assert_str_eq(
		berth_error_message(&err), "\"default/c\" is out of sync (stored: 2, assume: 1)");
	ck_assert(!is_assumed(&fixture, "pv"));
	ck_assert_ptr_null(bt_claim_selected_node(assumed_claim(&fixture, "c")));
	berth_error_finish(&err);
	bt_object_release(old);
	finish(&fixture, &recorder);
}
END_TEST

/** Returns a volume of this version to assume. */
static struct bt_object *version_of(struct fixture *fixture, const char *version)
{
	struct bt_str extra =
		bt_arena_printf(&fixture->arena, ",'metadata':{'resourceVersion':'%s'}", version);
	struct bt_persistent_volume *changed;

	put_volume(fixture, "pv", "W", "1G", NULL, extra.data);
	changed = BT_ARENA_NEW(&fixture->arena, struct bt_persistent_volume);
	*changed = *(const struct bt_persistent_volume *)bt_object_store_find(
		&fixture->state->objects, BT_KIND_PERSISTENT_VOLUME, BT_STR(""), BT_STR("pv"));
	changed->spec.claim_ref = BT_ARENA_NEW(&fixture->arena, struct bt_object_reference);
	return bt_object_create(BT_KIND_PERSISTENT_VOLUME, changed);
}

START_TEST(test_assume_cache__edge_07_62_restore_of_an_old_version)
{
	struct bt_assume_cache cache;
	struct fixture fixture;
	struct bt_object *old;
	struct bt_object *new;
	const struct bt_persistent_volume *seen;

	volume_fixture_init(&fixture, &bt_volume_binding_plugin, NULL, NULL);
	bt_assume_cache_init(&cache, &fixture.state->objects, BT_KIND_PERSISTENT_VOLUME);
	old = version_of(&fixture, "5");
	ck_assert_int_eq(bt_assume_cache_assume(&cache, old->value, NULL), 0);
	new = version_of(&fixture, "7");
	seen = bt_assume_cache_find(&cache, BT_STR(""), BT_STR("pv"));
	ck_assert_msg(seen->spec.claim_ref == NULL, "the store has overtaken the assumption");
	ck_assert_int_eq(bt_assume_cache_assume(&cache, new->value, NULL), 0);
	bt_assume_cache_restore(&cache, BT_STR(""), BT_STR("pv"), BT_STR("5"));
	seen = bt_assume_cache_find(&cache, BT_STR(""), BT_STR("pv"));
	ck_assert_ptr_nonnull(seen->spec.claim_ref);
	bt_assume_cache_restore(&cache, BT_STR(""), BT_STR("pv"), BT_STR("7"));
	seen = bt_assume_cache_find(&cache, BT_STR(""), BT_STR("pv"));
	ck_assert_ptr_null(seen->spec.claim_ref);
	bt_object_release(old);
	bt_object_release(new);
	bt_assume_cache_finish(&cache);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_assume_cache__edge_07_63_only_the_present_store_counts)
{
	struct bt_assume_cache cache;
	struct fixture fixture;
	struct bt_object *object;
	const struct bt_persistent_volume *seen;

	volume_fixture_init(&fixture, &bt_volume_binding_plugin, NULL, NULL);
	bt_assume_cache_init(&cache, &fixture.state->objects, BT_KIND_PERSISTENT_VOLUME);
	object = version_of(&fixture, "2");
	ck_assert_int_eq(bt_assume_cache_assume(&cache, object->value, NULL), 0);
	/* The same version again, as from a resync. */
	put_volume(&fixture, "pv", "W", "1G", NULL, ",'metadata':{'resourceVersion':'2'}");
	seen = bt_assume_cache_find(&cache, BT_STR(""), BT_STR("pv"));
	ck_assert_ptr_nonnull(seen->spec.claim_ref);
	/* An assumption ends with the deletion of its object. */
	fixture_delete(&fixture, BT_KIND_PERSISTENT_VOLUME, "", "pv");
	ck_assert_ptr_null(bt_assume_cache_find(&cache, BT_STR(""), BT_STR("pv")));
	bt_object_release(object);
	bt_assume_cache_finish(&cache);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_assume_cache__versions_are_texts)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_assume_cache cache;
	struct fixture fixture;
	struct bt_object *object;
	struct bt_object *other;

	volume_fixture_init(&fixture, &bt_volume_binding_plugin, NULL, NULL);
	bt_assume_cache_init(&cache, &fixture.state->objects, BT_KIND_PERSISTENT_VOLUME);
	object = version_of(&fixture, "a");
	ck_assert_int_eq(bt_assume_cache_assume(&cache, object->value, NULL), 0);
	other = version_of(&fixture, "1");
	ck_assert_int_lt(bt_assume_cache_assume(&cache, object->value, &err), 0);
	ck_assert_str_eq(berth_error_message(&err), "\"pv\" is out of sync (stored: 1, assume: a)");
	berth_error_finish(&err);
	bt_object_release(object);
	bt_object_release(other);
	bt_assume_cache_finish(&cache);
	fixture_finish(&fixture);
}
END_TEST

/** Assumptions that the store has overtaken are freed. */
START_TEST(test_assume_cache__sweeps)
{
	struct bt_assume_cache cache;
	struct fixture fixture;
	const void *volume;

	volume_fixture_init(&fixture, &bt_volume_binding_plugin, NULL, NULL);
	bt_assume_cache_init(&cache, &fixture.state->objects, BT_KIND_PERSISTENT_VOLUME);
	for (int i = 0; i < 1000; i++) {
		struct bt_str name = bt_arena_printf(&fixture.arena, "pv-%d", i);

		put_volume(&fixture, name.data, "W", "1G", NULL, "");
		volume = bt_assume_cache_find(&cache, BT_STR(""), name);
		ck_assert_int_eq(bt_assume_cache_assume(&cache, volume, NULL), 0);
		put_volume(&fixture, name.data, "W", "1G", NULL,
			",'metadata':{'resourceVersion':'2'}");
	}
	ck_assert_uint_le(cache.assumed.count, 64);
	bt_assume_cache_finish(&cache);
	fixture_finish(&fixture);
}
END_TEST

/* --- bind --- */

static void nothing_happens(BT_UNUSED struct volume_recorder *recorder)
{
}

START_TEST(test_volume_binding__edge_07_64_nothing_to_bind)
{
	struct volume_recorder recorder;
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture, &recorder);
	recorder.tick = nothing_happens;
	put_volume(&fixture, "pv", "I", "1G", NULL, "");
	put_bound_claim(&fixture, "c", "pv");
	volume_cycle_begin(&cycle, &fixture, claims_pod(&fixture, "c"));
	ck_assert_str_eq(volume_cycle_filter(&cycle, "n1"), "Success");
	/*
	 * The claim lost its volume meanwhile: there is nothing to write, and the claim counts as
	 * unbound.
	 */
	put_claim(&fixture, "c", "I", "1G", "");
	ck_assert_str_eq(volume_cycle_reserve(&cycle, "n1"), "Success");
	ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"), "Success");
	ck_assert_int_eq(recorder.ticks, 1);
	ck_assert_str_eq(bt_strbuf_c(&recorder.log), "");
	volume_cycle_end(&cycle);
	finish(&fixture, &recorder);
}
END_TEST

START_TEST(test_volume_binding__edge_07_65_second_write_conflicts)
{
	struct volume_recorder recorder;
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture, &recorder);
	recorder.fail_at = 1;
	recorder.version = "2";
	put_volume(&fixture, "pv1", "W", "1G", NULL, "");
	put_volume(&fixture, "pv2", "W", "2G", NULL, "");
	put_claim(&fixture, "c1", "W", "1G", "");
	put_claim(&fixture, "c2", "W", "2G", "");
	put_claim(&fixture, "d", "P", "2G", "");
	volume_cycle_place(&cycle, &fixture, claims_pod(&fixture, "c1 c2 d"), "n1");
	ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"),
		"Error: Operation cannot be fulfilled on persistentvolumes \"pv2\": the object has "
		"been modified");
	ck_assert_str_eq(bt_strbuf_c(&recorder.log), "pv1<-c1;pv2<-c2;");
	ck_assert(is_assumed(&fixture, "pv1"));
	ck_assert(!is_assumed(&fixture, "pv2"));
	ck_assert_ptr_null(bt_claim_selected_node(assumed_claim(&fixture, "d")));
	/* The written volume has another version now, so Unreserve does not revert it. */
	volume_cycle_unreserve(&cycle, "n1");
	ck_assert(is_assumed(&fixture, "pv1"));
	put_volume(&fixture, "pv1", "W", "1G", NULL, ",'metadata':{'resourceVersion':'2'}");
	ck_assert(!is_assumed(&fixture, "pv1"));
	ck_assert_uint_eq(bt_volume_binder_stage_errors(
				  bt_volume_binding_binder(fixture.plugin), BT_VOLUME_STAGE_BIND),
		1);
	volume_cycle_end(&cycle);
	finish(&fixture, &recorder);
}
END_TEST

#define CLAIM_REF "'spec':{'claimRef':{'name':'c','namespace':'default','uid':'uid-c'}}"

/** Binds the claim at every tick; the volume arrives at the third tick. */
static void late_watch(struct volume_recorder *recorder)
{
	put_bound_claim(recorder->fixture, "c", "pv");
	if (recorder->ticks == 3) {
		put_volume(recorder->fixture, "pv", "W", "1G", NULL,
			",'metadata':{'resourceVersion':'2'}," CLAIM_REF);
	}
}

/**
 * Binds claim c of class W to volume pv and returns the status of PreBind; tick runs while PreBind
 * waits.
 */
static const char *bind_static(
	struct volume_recorder *recorder, void (*tick)(struct volume_recorder *))
{
	struct fixture *fixture = recorder->fixture;
	struct volume_cycle cycle;
	const char *status;

	recorder->tick = tick;
	recorder->version = "2";
	recorder->ticks = 0;
	put_volume(fixture, "pv", "W", "1G", "n1", "");
	put_claim(fixture, "c", "W", "1G", "");
	volume_cycle_place(&cycle, fixture, claims_pod(fixture, "c"), "n1");
	status = volume_cycle_pre_bind(&cycle, "n1");
	volume_cycle_unreserve(&cycle, "n1");
	volume_cycle_end(&cycle);
	return status;
}

START_TEST(test_volume_binding__edge_07_66_watch_is_late)
{
	struct volume_recorder recorder;
	struct fixture fixture;

	init(&fixture, &recorder);
	ck_assert_str_eq(bind_static(&recorder, late_watch), "Success");
	ck_assert_int_eq(recorder.ticks, 3);
	finish(&fixture, &recorder);
}
END_TEST

static void reference_is_gone(struct volume_recorder *recorder)
{
	put_volume(recorder->fixture, "pv", "W", "1G", NULL, ",'metadata':{'resourceVersion':'3'}");
}

static void reference_has_no_uid(struct volume_recorder *recorder)
{
	put_volume(recorder->fixture, "pv", "W", "1G", NULL,
		",'metadata':{'resourceVersion':'3'},'spec':{'claimRef':{'name':'c'}}");
}

START_TEST(test_volume_binding__edge_07_67_reference_reset)
{
	struct volume_recorder recorder;
	struct fixture fixture;

	init(&fixture, &recorder);
	ck_assert_str_eq(bind_static(&recorder, reference_is_gone),
		PRE_BIND "ClaimRef got reset for pv \"pv\"");
	ck_assert_str_eq(bind_static(&recorder, reference_has_no_uid),
		PRE_BIND "ClaimRef got reset for pv \"pv\"");
	finish(&fixture, &recorder);
}
END_TEST

static void bound_elsewhere(struct volume_recorder *recorder)
{
	put_bound_claim(recorder->fixture, "c", "another");
	put_volume(recorder->fixture, "pv", "W", "1G", NULL,
		",'metadata':{'resourceVersion':'2'}," CLAIM_REF);
}

START_TEST(test_volume_binding__edge_07_68_bound_to_another_volume)
{
	struct volume_recorder recorder;
	struct fixture fixture;

	init(&fixture, &recorder);
	ck_assert_str_eq(bind_static(&recorder, bound_elsewhere), "Success");
	finish(&fixture, &recorder);
}
END_TEST

static void only_prebound(struct volume_recorder *recorder)
{
	put_volume(recorder->fixture, "pv", "W", "1G", NULL,
		",'metadata':{'resourceVersion':'2'}," CLAIM_REF);
	put_claim(recorder->fixture, "c", "W", "1G", ",'spec':{'volumeName':'pv'}");
	if (recorder->ticks == 5) {
		put_bound_claim(recorder->fixture, "c", "pv");
	}
}

START_TEST(test_volume_binding__edge_07_69_prebound_is_not_bound)
{
	struct volume_recorder recorder;
	struct fixture fixture;

	init(&fixture, &recorder);
	ck_assert_str_eq(bind_static(&recorder, only_prebound), "Success");
	ck_assert_int_eq(recorder.ticks, 5);
	finish(&fixture, &recorder);
}
END_TEST

/**
 * Provisions claim c of class P on n1 and returns the status of PreBind; tick runs while PreBind
 * waits.
 */
static const char *provision(
	struct volume_recorder *recorder, void (*tick)(struct volume_recorder *))
{
	struct fixture *fixture = recorder->fixture;
	struct volume_cycle cycle;
	const char *status;

	recorder->tick = tick;
	recorder->version = "2";
	recorder->ticks = 0;
	put_claim(fixture, "c", "P", "1G", "");
	volume_cycle_place(&cycle, fixture, claims_pod(fixture, "c"), "n1");
	status = volume_cycle_pre_bind(&cycle, "n1");
	volume_cycle_unreserve(&cycle, "n1");
	volume_cycle_end(&cycle);
	return status;
}

static void annotations_are_gone(struct volume_recorder *recorder)
{
	put_claim(recorder->fixture, "c", "P", "1G", ",'metadata':{'resourceVersion':'3'}");
}

static void selected_another_node(struct volume_recorder *recorder)
{
	put_claim(recorder->fixture, "c", "P", "1G",
		",'metadata':{'resourceVersion':'3','annotations':"
		"{'volume.kubernetes.io/selected-node':'n2'}}");
}

static void only_other_annotations(struct volume_recorder *recorder)
{
	put_claim(recorder->fixture, "c", "P", "1G",
		",'metadata':{'resourceVersion':'3','annotations':{'a':'b'}}");
}

START_TEST(test_volume_binding__edge_07_70_provisioning_failed)
{
	struct volume_recorder recorder;
	struct fixture fixture;

	init(&fixture, &recorder);
	ck_assert_str_eq(provision(&recorder, annotations_are_gone),
		PRE_BIND "selectedNode annotation reset for PVC \"c\"");
	ck_assert_str_eq(provision(&recorder, selected_another_node),
		PRE_BIND "provisioning failed for PVC \"c\"");
	ck_assert_str_eq(provision(&recorder, only_other_annotations),
		PRE_BIND "provisioning failed for PVC \"c\"");
	finish(&fixture, &recorder);
}
END_TEST

#define PROVISIONED \
	",'metadata':{'resourceVersion':'3','annotations':{'volume.kubernetes.io/selected-node':" \
	"'n1','pv.kubernetes.io/bind-completed':'yes'}},'spec':{'volumeName':'new'}"

static void volume_comes_later(struct volume_recorder *recorder)
{
	put_claim(recorder->fixture, "c", "P", "1G", PROVISIONED);
	if (recorder->ticks == 4) {
		put_volume(recorder->fixture, "new", "P", "1G", "n1", "");
	}
}

START_TEST(test_volume_binding__edge_07_71_volume_not_seen_yet)
{
	struct volume_recorder recorder;
	struct fixture fixture;

	init(&fixture, &recorder);
	ck_assert_str_eq(provision(&recorder, volume_comes_later), "Success");
	ck_assert_int_eq(recorder.ticks, 4);
	finish(&fixture, &recorder);
}
END_TEST

static void made_elsewhere(struct volume_recorder *recorder)
{
	put_claim(recorder->fixture, "c", "P", "1G", PROVISIONED);
	put_volume(recorder->fixture, "new", "P", "1G", "n2", "");
}

START_TEST(test_volume_binding__edge_07_72_made_for_another_node)
{
	struct volume_recorder recorder;
	struct fixture fixture;

	init(&fixture, &recorder);
	ck_assert_str_eq(provision(&recorder, made_elsewhere),
		PRE_BIND "pv \"new\" node affinity doesn't match node \"n1\": no matching "
			 "NodeSelectorTerms");
	finish(&fixture, &recorder);
}
END_TEST

static void node_loses_label(struct volume_recorder *recorder)
{
	bt_state_update_node(recorder->fixture->state, NULL,
		fixture_node(recorder->fixture, "{'metadata':{'name':'n1'}}"));
	put_volume(recorder->fixture, "pv", "W", "1G", "n1",
		",'metadata':{'resourceVersion':'2'}," CLAIM_REF);
}

START_TEST(test_volume_binding__edge_07_73_node_lost_its_label)
{
	struct volume_recorder recorder;
	struct fixture fixture;

	init(&fixture, &recorder);
	ck_assert_str_eq(bind_static(&recorder, node_loses_label),
		PRE_BIND "pv \"pv\" node affinity doesn't match node \"n1\": no matching "
			 "NodeSelectorTerms");
	finish(&fixture, &recorder);
}
END_TEST

static void pod_goes(struct volume_recorder *recorder)
{
	recorder->pod_is_gone = true;
}

START_TEST(test_volume_binding__edge_07_74_pod_deleted)
{
	struct volume_recorder recorder;
	struct fixture fixture;

	init(&fixture, &recorder);
	ck_assert_str_eq(bind_static(&recorder, pod_goes),
		PRE_BIND "pod does not exist any more: pod \"p\" not found");
	finish(&fixture, &recorder);
}
END_TEST

static void claim_goes(struct volume_recorder *recorder)
{
	fixture_delete(recorder->fixture, BT_KIND_PERSISTENT_VOLUME_CLAIM, "default", "c");
}

START_TEST(test_volume_binding__edge_07_75_claim_deleted)
{
	struct volume_recorder recorder;
	struct fixture fixture;

	init(&fixture, &recorder);
	ck_assert_str_eq(bind_static(&recorder, claim_goes),
		PRE_BIND "failed to check binding: persistentvolumeclaims \"default/c\" not found");
	ck_assert_str_eq(provision(&recorder, claim_goes),
		PRE_BIND "failed to check provisioning pvc: persistentvolumeclaims \"default/c\" "
			 "not found");
	finish(&fixture, &recorder);
}
END_TEST

START_TEST(test_volume_binding__edge_07_76_deadline)
{
	struct volume_recorder recorder;
	struct fixture fixture;

	volume_fixture_init(&fixture, &bt_volume_binding_plugin, NULL, "{'bindTimeoutSeconds':10}");
	volume_recorder_init(&recorder, &fixture);
	ck_assert_str_eq(
		bind_static(&recorder, nothing_happens), PRE_BIND "context deadline exceeded");
	ck_assert_int_eq(recorder.ticks, 9);
	ck_assert_str_eq(bind_static(&recorder, NULL), PRE_BIND "context canceled");
	finish(&fixture, &recorder);

	volume_fixture_init(&fixture, &bt_volume_binding_plugin, NULL, "{'bindTimeoutSeconds':0}");
	volume_recorder_init(&recorder, &fixture);
	ck_assert_str_eq(
		bind_static(&recorder, nothing_happens), PRE_BIND "context deadline exceeded");
	ck_assert_int_eq(recorder.ticks, 0);
	ck_assert_str_eq(bt_strbuf_c(&recorder.log), "pv<-c;");
	finish(&fixture, &recorder);
}
END_TEST

START_TEST(test_volume_binding__edge_07_77_bound_meanwhile)
{
	struct volume_recorder recorder;
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture, &recorder);
	recorder.fail_at = 0;
	put_volume(&fixture, "pv", "W", "1G", NULL, "");
	put_claim(&fixture, "c", "W", "1G", "");
	volume_cycle_place(&cycle, &fixture, claims_pod(&fixture, "c"), "n1");
	put_volume(
		&fixture, "pv", "W", "1G", NULL, ",'metadata':{'resourceVersion':'2'}," CLAIM_REF);
	put_bound_claim(&fixture, "c", "pv");
	ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"),
		"Error: Operation cannot be fulfilled on persistentvolumes \"pv\": the object has "
		"been modified");
	volume_cycle_unreserve(&cycle, "n1");
	volume_cycle_end(&cycle);
	volume_cycle_place(&cycle, &fixture, claims_pod(&fixture, "c"), "n1");
	ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"), "Success");
	volume_cycle_end(&cycle);
	finish(&fixture, &recorder);
}
END_TEST

/** Without a writer PreBind does not wait. */
START_TEST(test_volume_binding__simulation)
{
	struct volume_recorder recorder;
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture, &recorder);
	fixture.handle.volume_writer = NULL;
	put_claim(&fixture, "c", "P", "1G", "");
	volume_cycle_place(&cycle, &fixture, claims_pod(&fixture, "c"), "n1");
	ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"), "Success");
	ck_assert(bt_str_equal_c(*bt_claim_selected_node(assumed_claim(&fixture, "c")), "n1"));
	volume_cycle_end(&cycle);
	finish(&fixture, &recorder);
}
END_TEST

BT_TEST_MAIN("volume_binder_bind", test_volume_binding__edge_07_57_all_bound_at_reserve,
	test_volume_binding__edge_07_58_assumed_volume,
	test_volume_binding__edge_07_59_reference_is_there, test_volume_binding__no_reserve,
	test_volume_binding__edge_07_60_second_volume_vanished,
	test_volume_binding__edge_07_61_claim_changed,
	test_assume_cache__edge_07_62_restore_of_an_old_version,
	test_assume_cache__edge_07_63_only_the_present_store_counts,
	test_assume_cache__versions_are_texts, test_assume_cache__sweeps,
	test_volume_binding__edge_07_64_nothing_to_bind,
	test_volume_binding__edge_07_65_second_write_conflicts,
	test_volume_binding__edge_07_66_watch_is_late,
	test_volume_binding__edge_07_67_reference_reset,
	test_volume_binding__edge_07_68_bound_to_another_volume,
	test_volume_binding__edge_07_69_prebound_is_not_bound,
	test_volume_binding__edge_07_70_provisioning_failed,
	test_volume_binding__edge_07_71_volume_not_seen_yet,
	test_volume_binding__edge_07_72_made_for_another_node,
	test_volume_binding__edge_07_73_node_lost_its_label,
	test_volume_binding__edge_07_74_pod_deleted, test_volume_binding__edge_07_75_claim_deleted,
	test_volume_binding__edge_07_76_deadline, test_volume_binding__edge_07_77_bound_meanwhile,
	test_volume_binding__simulation)
