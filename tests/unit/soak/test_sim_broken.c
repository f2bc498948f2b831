/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Whole histories with one fault injected behind the scheduler's back: the checkers must report it.
 * Without the fault the same seeds run without a complaint.
 */
#include "dra/dra.h"
#include "queue/queue_private.h"
#include "soak/world.h"
#include "test_main.h"

#define SEEDS 12
#define SABOTAGE_SECONDS 20

static struct bt_state *state_of(struct bt_sim *sim)
{
	return bt_scheduler_engine(sim->scheduler)->state;
}

/**
 * Returns a pod of the mirror. bound: the first bound pod; !bound: the first pod that berth must
 * schedule and has not bound. NULL: none.
 */
static struct bt_object *find_pod(struct bt_sim *sim, bool bound)
{
	const struct bt_pod *pod;
	uint32_t cursor = 0;

	while ((pod = bt_object_store_next(&sim->watch.mirror, BT_KIND_POD,
			(struct bt_str){NULL, 0}, &cursor)) != NULL) {
		bool ours = !bt_str_equal_c(pod->spec.scheduler_name, "other");
		if ((pod->spec.node_name.length != 0) == bound &&
			pod->spec.scheduling_gates.count == 0 && (bound || ours)) {
			return bt_object_store_find_object(&sim->watch.mirror, BT_KIND_POD,
				pod->metadata.namespace_, pod->metadata.name);
		}
	}
	return NULL;
}

/**
 * Removes the pod from the cache behind the scheduler's back; ignores that the pod is gone already.
 */
static void remove_from_cache(struct bt_sim *sim, const struct bt_pod *pod)
{
	struct berth_error err = BERTH_ERROR_INIT;

	if (bt_state_remove_pod(state_of(sim), pod, &err) < 0) {
		berth_error_finish(&err);
	}
}

/** The fault that a test injects once a second, beginning at some time. */
static void (*mischief)(struct bt_sim *sim);

static void do_mischief(void *context, uint64_t argument)
{
	struct bt_sim *sim = context;

	mischief(sim);
	bt_sim_clock_after(&sim->clock, BT_SIM_SECOND, do_mischief, sim, argument);
}

static void start_mischief(struct bt_sim *sim)
{
	bt_sim_clock_after(&sim->clock, SABOTAGE_SECONDS * BT_SIM_SECOND, do_mischief, sim, 0);
}

/** Counts the seeds from 1 to last with a complaint that contains these words. */
static int count_complaints_to(
	uint64_t last, void (*sabotage)(struct bt_sim *sim), const char *words)
{
	int count = 0;

	for (uint64_t seed = 1; seed <= last; seed++) {
		struct bt_sim_options options = {.seed = seed,
			.minutes = 3,
			.faults = BT_SIM_FAULTS_SOME,
			.sabotage = sabotage};
		struct bt_sim_report report;
		ck_assert_int_eq(bt_sim_run(&options, &report, NULL), 0);
		count += strstr(bt_strbuf_c(&report.complaint), words) != NULL;
		if (sabotage == NULL && report.complaint.length != 0) {
			ck_abort_msg("seed %d: %s", (int)seed, bt_strbuf_c(&report.complaint));
		}
		bt_sim_report_finish(&report);
	}
	return count;
}

static int count_complaints(void (*sabotage)(struct bt_sim *sim), const char *words)
{
	return count_complaints_to(SEEDS, sabotage, words);
}

START_TEST(test_sim_broken__nothing)
{
	ck_assert_int_eq(count_complaints(NULL, " "), 0);
}
END_TEST

/** --- the cache loses a pod --- */

static void forget_a_pod(struct bt_sim *sim)
{
	struct bt_object *pod = find_pod(sim, true);

	if (pod != NULL) {
		remove_from_cache(sim, pod->value);
	}
}

START_TEST(test_sim_broken__cache_forgets_pods)
{
	mischief = forget_a_pod;
	ck_assert_int_gt(count_complaints(start_mischief, "cache: pod "), 0);
	ck_assert_int_gt(count_complaints(start_mischief, ", but: not enough room"), 0);
}
END_TEST

/** --- one member of a gang is bound alone --- */

static void bind_a_member(struct bt_sim *sim)
{
	const struct bt_pod *pod;
	uint32_t cursor = 0;

	while ((pod = bt_object_store_next(&sim->store.objects, BT_KIND_POD,
			(struct bt_str){NULL, 0}, &cursor)) != NULL) {
		struct bt_object *node =
			bt_sim_store_pick(&sim->store, BT_KIND_NODE, &sim->changes);
		if (pod->spec.scheduling_group != NULL && pod->spec.node_name.length == 0 &&
			pod->metadata.deletion_timestamp == NULL && node != NULL) {
			struct bt_str name = bt_arena_str(&sim->texts, node->meta->name);
			struct bt_object *object =
				bt_object_share(bt_object_store_find_object(&sim->store.objects,
					BT_KIND_POD, pod->metadata.namespace_, pod->metadata.name));
			struct berth_error err = BERTH_ERROR_INIT;
			(void)bt_sim_bind(sim, object->meta, name, &err); /* fails if gated */
			berth_error_finish(&err);
			bt_object_release(object);
			return;
		}
	}
}

START_TEST(test_sim_broken__member_is_bound_alone)
{
	mischief = bind_a_member;
	ck_assert_int_gt(count_complaints_to(40, start_mischief, "members are bound, but"), 0);
}
END_TEST

/** --- the cache overstates the sizes of nodes --- */

static void enlarge_nodes(struct bt_sim *sim)
{
	const struct bt_node *node;
	uint32_t cursor = 0;

	while ((node = bt_object_store_next(&sim->watch.mirror, BT_KIND_NODE,
			(struct bt_str){NULL, 0}, &cursor)) != NULL) {
		struct bt_node large = *node;
		struct bt_resource_entry entries[] = {
			{BT_STR("cpu"), bt_quantity_make(64, 0, BT_QUANTITY_DECIMAL_SI)},
			{BT_STR("memory"), bt_quantity_make(64, 9, BT_QUANTITY_DECIMAL_SI)},
			{BT_STR("pods"), bt_quantity_make(99, 0, BT_QUANTITY_DECIMAL_SI)}};
		large.status.allocatable.items = entries;
		large.status.allocatable.count = 3;
		bt_state_update_node(state_of(sim), node, &large);
	}
}

START_TEST(test_sim_broken__nodes_look_larger)
{
	mischief = enlarge_nodes;
	ck_assert_int_gt(count_complaints(start_mischief, ", but: not enough room"), 3);
}
END_TEST

/** --- the queue loses a pod --- */

static void lose_a_pod(struct bt_sim *sim)
{
	struct bt_object *pod = find_pod(sim, false);

	if (pod != NULL) {
		bt_queue_delete(bt_scheduler_queue(sim->scheduler), pod);
	}
}

START_TEST(test_sim_broken__queue_loses_pods)
{
	mischief = lose_a_pod;
	ck_assert_int_gt(count_complaints(start_mischief, " is pending, but in no queue"), 3);
}
END_TEST

/** --- a bound pod is queued again --- */

static void queue_a_bound_pod(struct bt_sim *sim)
{
	struct bt_object *object = find_pod(sim, true);

	if (object != NULL) {
		struct bt_pod pod = *(const struct bt_pod *)object->value;
		remove_from_cache(sim, &pod); /* else the queue refuses the pod */
		pod.spec.node_name = BT_STR("");
		pod.spec.scheduler_name = BT_STR("default-scheduler");
		struct bt_object *unbound = bt_object_create(BT_KIND_POD, &pod);
		bt_queue_add(bt_scheduler_queue(sim->scheduler), unbound, sim->clock.now_ns);
		bt_object_release(unbound);
		bt_sim_step(sim);
	}
}

START_TEST(test_sim_broken__pods_are_bound_twice)
{
	mischief = queue_a_bound_pod;
	ck_assert_int_gt(count_complaints(start_mischief, "is known to be on"), 3);
}
END_TEST

/** --- deletions reach the cache, but cause no queue event --- */

static void (*real_observe)(
	void *context, struct bt_object *old_object, struct bt_object *new_object);

static void observe_in_silence(
	void *context, struct bt_object *old_object, struct bt_object *new_object)
{
	struct bt_sim *sim = context;

	if (new_object != NULL || old_object->kind != BT_KIND_POD ||
		((const struct bt_pod *)old_object->value)->spec.node_name.length == 0) {
		real_observe(context, old_object, new_object);
		return;
	}
	remove_from_cache(sim, old_object->value);
}

static void silence_deletions(struct bt_sim *sim)
{
	real_observe = sim->watch.observe;
	sim->watch.observe = observe_in_silence;
}

START_TEST(test_sim_broken__wake_ups_are_lost)
{
	ck_assert_int_gt(count_complaints(silence_deletions, "; no event woke it up"), 3);
}
END_TEST

/** --- nominations are never removed --- */

static void observe_but_keep_nominations(
	void *context, struct bt_object *old_object, struct bt_object *new_object)
{
	struct bt_sim *sim = context;
	struct bt_engine *engine = bt_scheduler_engine(sim->scheduler);

	real_observe(context, old_object, new_object);
	if (new_object == NULL && old_object->kind == BT_KIND_POD) {
		struct bt_pod_info info;
		bt_pod_info_init_pending(engine->state, old_object->value, &info);
		bt_nominator_add(&engine->nominator, &info, BT_STR("n0"), false);
		bt_pod_info_finish_pending(engine->state, &info);
	}
}

static void keep_nominations(struct bt_sim *sim)
{
	real_observe = sim->watch.observe;
	sim->watch.observe = observe_but_keep_nominations;
}

START_TEST(test_sim_broken__nominations_stay)
{
	ck_assert_int_gt(count_complaints(keep_nominations, "is nominated, but not pending"), 3);
}
END_TEST

/** --- deleted pods stay in the cache --- */

static void observe_but_keep_pods(
	void *context, struct bt_object *old_object, struct bt_object *new_object)
{
	struct bt_sim *sim = context;

	real_observe(context, old_object, new_object);
	if (new_object == NULL && old_object->kind == BT_KIND_POD && !sim->is_changing &&
		((const struct bt_pod *)old_object->value)->spec.node_name.length != 0 &&
		bt_object_store_count(&sim->store.objects, BT_KIND_POD) == 0) {
		ck_assert_int_eq(bt_state_add_pod(state_of(sim), old_object->value, NULL), 0);
	}
}

static void keep_pods(struct bt_sim *sim)
{
	real_observe = sim->watch.observe;
	sim->watch.observe = observe_but_keep_pods;
}

START_TEST(test_sim_broken__pods_stay)
{
	ck_assert_int_gt(count_complaints(keep_pods, "memory: every object is gone"), 3);
}
END_TEST

/** --- the leftover flush of the queue does nothing --- */

static void refuse_to_flush(struct bt_sim *sim)
{
	bt_scheduler_queue(sim->scheduler)->options.max_in_unschedulable_ns = INT64_MAX;
}

START_TEST(test_sim_broken__leftovers_stay)
{
	ck_assert_int_gt(count_complaints(refuse_to_flush, "was not tried for"), 3);
}
END_TEST

/** --- devices: allocations in flight are lost, or never end --- */

#define SHORT_WHILE (5 * BT_SIM_MILLISECOND)

static struct bt_claim_cache *claims_of(struct bt_sim *sim)
{
	return &state_of(sim)->dra->claims;
}

static void forget_flights(void *context, uint64_t argument)
{
	struct bt_sim *sim = context;
	const struct bt_resource_claim *claim;
	uint32_t cursor = 0;

	while ((claim = bt_object_store_next(&sim->store.objects, BT_KIND_RESOURCE_CLAIM,
			(struct bt_str){NULL, 0}, &cursor)) != NULL) {
		(void)bt_claim_cache_maybe_remove(claims_of(sim), claim->metadata.uid, true);
	}
	bt_sim_clock_after(&sim->clock, SHORT_WHILE, forget_flights, sim, argument);
}

static void start_forgetting_flights(struct bt_sim *sim)
{
	bt_sim_clock_after(&sim->clock, SHORT_WHILE, forget_flights, sim, 0);
}

START_TEST(test_sim_broken__allocations_under_way_are_forgotten)
{
	/*
	 * The complaint needs two pods that request the same device while one write is in flight.
	 */
	ck_assert_int_gt(
		count_complaints_to(40, start_forgetting_flights, "is allocated twice"), 0);
}
END_TEST

static void start_a_flight(struct bt_sim *sim)
{
	const struct bt_resource_claim *claim;
	uint32_t cursor = 0;

	while ((claim = bt_object_store_next(&sim->watch.mirror, BT_KIND_RESOURCE_CLAIM,
			(struct bt_str){NULL, 0}, &cursor)) != NULL) {
		if (claim->status.allocation != NULL) {
			bt_claim_cache_signal(claims_of(sim), BT_STR("nobody's"),
				bt_object_store_find_object(&sim->watch.mirror,
					BT_KIND_RESOURCE_CLAIM, claim->metadata.namespace_,
					claim->metadata.name));
			return;
		}
	}
}

START_TEST(test_sim_broken__allocations_under_way_never_end)
{
	mischief = start_a_flight;
	ck_assert_int_gt(count_complaints(start_mischief, "allocations are in flight"), 0);
}
END_TEST

/** --- reservations disappear --- */

static void take_reservations(struct bt_sim *sim)
{
	const struct bt_resource_claim *claim;
	uint32_t cursor = 0;

	while ((claim = bt_object_store_next(&sim->store.objects, BT_KIND_RESOURCE_CLAIM,
			(struct bt_str){NULL, 0}, &cursor)) != NULL) {
		if (claim->status.reserved_for.count != 0) {
			struct bt_str namespace_ =
				bt_arena_str(&sim->texts, claim->metadata.namespace_);
			struct bt_str name = bt_arena_str(&sim->texts, claim->metadata.name);
			ck_assert_int_eq(bt_sim_store_patch(&sim->store, BT_KIND_RESOURCE_CLAIM,
						 namespace_, name, BT_SUBRESOURCE_STATUS,
						 BT_STR("{\"status\":{\"allocation\":null,"
							"\"devices\":null,"
							"\"reservedFor\":null}}")),
				200);
			return;
		}
	}
}

START_TEST(test_sim_broken__reservations_are_taken_away)
{
	mischief = take_reservations;
	ck_assert_int_gt(count_complaints(start_mischief, "but one of its claims"), 0);
}
END_TEST

/** --- the observer does not pass on one kind --- */

static void observe_all_but_claims(
	void *context, struct bt_object *old_object, struct bt_object *new_object)
{
	enum bt_kind kind = new_object != NULL ? new_object->kind : old_object->kind;

	if (kind != BT_KIND_NAMESPACE) {
		real_observe(context, old_object, new_object);
	}
}

static void miss_a_kind(struct bt_sim *sim)
{
	real_observe = sim->watch.observe;
	sim->watch.observe = observe_all_but_claims;
}

START_TEST(test_sim_broken__a_kind_is_missed)
{
	ck_assert_int_eq(count_complaints(miss_a_kind, "objects of kind Namespace"), SEEDS);
}
END_TEST

/** --- same seed, same bytes --- */

static void note_line(void *context, struct bt_str line)
{
	bt_strbuf_append_str(context, line);
	bt_strbuf_append_char(context, '\n');
}

START_TEST(test_sim_broken__same_seed_same_bytes)
{
	struct bt_strbuf logs[3] = {0};

	for (int i = 0; i < 3; i++) {
		struct bt_sim_options options = {.seed = i < 2 ? 11 : 12,
			.minutes = 3,
			.faults = BT_SIM_FAULTS_ALL,
			.log = note_line,
			.log_context = &logs[i]};
		struct bt_sim_report report;
		bt_hash_set_secret((uint64_t)i * 77); /* the order of hashes must not matter */
		ck_assert_int_eq(bt_sim_run(&options, &report, NULL), 0);
		ck_assert_str_eq(bt_strbuf_c(&report.complaint), "");
		bt_sim_report_finish(&report);
	}
	ck_assert(bt_str_equal(bt_strbuf_str(&logs[0]), bt_strbuf_str(&logs[1])));
	ck_assert(!bt_str_equal(bt_strbuf_str(&logs[0]), bt_strbuf_str(&logs[2])));
	for (int i = 0; i < 3; i++) {
		bt_strbuf_finish(&logs[i]);
	}
}
END_TEST

BT_TEST_MAIN("sim_broken", test_sim_broken__nothing, test_sim_broken__member_is_bound_alone,
	test_sim_broken__cache_forgets_pods, test_sim_broken__nodes_look_larger,
	test_sim_broken__queue_loses_pods, test_sim_broken__pods_are_bound_twice,
	test_sim_broken__wake_ups_are_lost, test_sim_broken__nominations_stay,
	test_sim_broken__pods_stay, test_sim_broken__leftovers_stay,
	test_sim_broken__allocations_under_way_are_forgotten,
	test_sim_broken__allocations_under_way_never_end,
	test_sim_broken__reservations_are_taken_away, test_sim_broken__a_kind_is_missed,
	test_sim_broken__same_seed_same_bytes)
