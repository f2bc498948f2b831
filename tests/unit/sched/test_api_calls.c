/* SPDX-License-Identifier: Apache-2.0 */
/** The queue of API calls without a scheduler. Spec 03 section 11. */
#include "sched/api_calls.h"

#include "base/prng.h"
#include "sched_world.h"
#include "test_main.h"
#include "validate/validate.h"

static struct bt_arena arena;
static struct bt_strbuf ends; /* "<type> <uid> <result> <message>\n" */
static struct bt_api_calls calls;

static void note_end(
	void *context, const struct bt_api_call *call, int result, struct bt_str message)
{
	ck_assert_ptr_eq(context, &ends);
	bt_strbuf_printf(&ends, "%s %.*s %d %.*s\n", bt_api_call_type_name(call->type),
		BT_STR_ARG(call->pod->meta->uid), result, BT_STR_ARG(message));
}

static void init(void)
{
	const struct bt_api_calls_observer observer = {&ends, note_end};

	arena = (struct bt_arena){0};
	bt_api_calls_init(&calls, &observer);
}

static void finish(void)
{
	const char *reason;

	ck_assert_msg(bt_api_calls_validate(&calls, &reason), "%s", reason);
	bt_api_calls_finish(&calls);
	bt_strbuf_finish(&ends);
	bt_arena_finish(&arena);
}

/** Returns the ends since the last call. */
static const char *take_ends(void)
{
	const char *text = bt_arena_str(&arena, bt_strbuf_str(&ends)).data;

	bt_strbuf_reset(&ends);
	return text;
}

/** Returns a pod. status: members of the pod's status. */
static struct bt_object *pod_of(const char *uid, const char *status)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_object *object = NULL;
	struct bt_json_reader reader;
	struct bt_str json = bt_arena_printf(&arena,
		"{'metadata':{'name':'p','namespace':'default','uid':'%s'},'status':{%s}}", uid,
		status);

	bt_json_reader_init(&reader, world_json(&arena, json.data));
	ck_assert_msg(bt_object_decode_as(BT_KIND_POD, &reader, &object, &err) == 0, "%s",
		berth_error_message(&err));
	return object;
}

#define CONDITION(message) \
	"'conditions':[{'type':'PodScheduled','status':'False','reason':'Unschedulable'," \
	"'message':'" message "'}]"

/**
 * Adds a patch of a pod's status. message NULL: no condition; node NULL: the nomination does not
 * change.
 */
static int patch(const char *uid, const char *status, const char *message, const char *node)
{
	struct bt_object *pod = pod_of(uid, status);
	struct bt_pod_condition condition = {
		.type = BT_STR("PodScheduled"),
		.status = BT_STR("False"),
		.reason = BT_STR("Unschedulable"),
		.message = bt_str_from(message != NULL ? message : ""),
	};
	struct bt_post_filter_result nomination = {
		node != NULL, BT_NOMINATING_OVERRIDE, bt_str_from(node != NULL ? node : "")};
	int result = bt_api_calls_add(&calls,
		bt_api_call_create_patch(pod, message != NULL ? &condition : NULL, &nomination));

	bt_object_release(pod);
	return result;
}

static int binding(const char *uid, const char *node)
{
	struct bt_object *pod = pod_of(uid, "");
	int result =
		bt_api_calls_add(&calls, bt_api_call_create_binding(pod, NULL, bt_str_from(node)));

	bt_object_release(pod);
	return result;
}

/** Pops the next call: "bind <uid> <node>", "patch <uid> <message or -> <node or ->", or "-". */
static const char *pop(void)
{
	const struct bt_api_call *call = bt_api_calls_pop(&calls, 0);

	if (call == NULL) {
		return "-";
	}
	ck_assert_ptr_eq(bt_api_calls_in_flight(&calls, call->pod->meta->uid), call);
	if (call->type == BT_API_CALL_POD_BINDING) {
		return bt_arena_printf(&arena, "bind %.*s %.*s", BT_STR_ARG(call->pod->meta->uid),
			BT_STR_ARG(call->node_name))
			.data;
	}
	struct bt_str node =
		call->nomination.present ? call->nomination.nominated_node_name : BT_STR("-");
	return bt_arena_printf(&arena, "patch %.*s %.*s %.*s", BT_STR_ARG(call->pod->meta->uid),
		BT_STR_ARG(call->has_condition ? call->condition.message : BT_STR("-")),
		BT_STR_ARG(node))
		.data;
}

static void done(const char *uid, int result, const char *message)
{
	bt_api_calls_done(&calls, bt_str_from(uid), result, bt_str_from(message));
}

static void sync(const char *uid, const char *status)
{
	struct bt_object *pod = pod_of(uid, status);

	bt_api_calls_sync(&calls, pod);
	bt_object_release(pod);
}

START_TEST(test_api_calls__edge_03_49_a_binding_overwrites_a_pending_patch)
{
	init();
	ck_assert_int_eq(patch("u", "", "m", "n1"), 0);
	ck_assert_int_eq(binding("u", "n1"), 0);
	ck_assert_str_eq(take_ends(),
		"pod_status_patch u 2 a more relevant call was enqueued for this object: call "
		"overwritten\n");
	ck_assert_str_eq(pop(), "bind u n1");
	ck_assert_str_eq(pop(), "-");
	done("u", 0, "");
	ck_assert_str_eq(take_ends(), "pod_binding u 0 \n");
	ck_assert_str_eq(pop(), "-");
	finish();
}
END_TEST

START_TEST(test_api_calls__edge_03_49_a_patch_is_skipped_while_a_binding_is_in_flight)
{
	init();
	ck_assert_int_eq(binding("u", "n1"), 0);
	ck_assert_int_eq(patch("u", "", "m", NULL), BT_API_CALL_SKIPPED);
	ck_assert_str_eq(take_ends(),
		"pod_status_patch u 1 a more relevant call is already enqueued for this object: "
		"call skipped\n");
	ck_assert_str_eq(pop(), "bind u n1");
	ck_assert_int_eq(patch("u", "", NULL, "n2"), BT_API_CALL_SKIPPED);
	ck_assert_str_eq(take_ends(),
		"pod_status_patch u 1 a more relevant call is already enqueued for this object: "
		"call skipped\n");
	done("u", BERTH_ERR_INVALID, "no");
	ck_assert_str_eq(take_ends(),
		bt_arena_printf(&arena, "pod_binding u %d no\n", BERTH_ERR_INVALID).data);
	/* After the binding has ended, a patch is accepted again. */
	ck_assert_int_eq(patch("u", "", "m", NULL), 0);
	ck_assert_str_eq(pop(), "patch u m -");
	finish();
}
END_TEST

START_TEST(test_api_calls__edge_03_50_two_patches_make_one_request)
{
	init();
	ck_assert_int_eq(patch("u", "", "m", NULL), 0);
	ck_assert_int_eq(patch("u", "", NULL, "n1"), 0);
	ck_assert_str_eq(take_ends(),
		"pod_status_patch u 2 a call of the same type was enqueued for this object: call "
		"overwritten\n");
	ck_assert_str_eq(pop(), "patch u m n1");
	ck_assert_str_eq(pop(), "-");
	done("u", 0, "");
	ck_assert_str_eq(take_ends(), "pod_status_patch u 0 \n");
	/* The newer patch wins in both the condition and the nomination. */
	ck_assert_int_eq(patch("u", "", "a", "n1"), 0);
	ck_assert_int_eq(patch("u", "", "b", "n2"), 0);
	ck_assert_str_eq(pop(), "patch u b n2");
	finish();
}
END_TEST

START_TEST(test_api_calls__what_changes_nothing_is_skipped)
{
	static const char skipped[] = "pod_status_patch u 1 call does not need to be executed "
				      "because it has no effect: call skipped\n";

	init();
	ck_assert_int_eq(patch("u", "", NULL, NULL), BT_API_CALL_SKIPPED);
	ck_assert_str_eq(take_ends(), skipped);
	ck_assert_int_eq(patch("u", "", NULL, ""), BT_API_CALL_SKIPPED);
	ck_assert_str_eq(take_ends(), skipped);
	ck_assert_int_eq(patch("u", "'nominatedNodeName':'n1'", NULL, "n1"), BT_API_CALL_SKIPPED);
	ck_assert_str_eq(take_ends(), skipped);
	ck_assert_int_eq(patch("u", CONDITION("m"), "m", NULL), BT_API_CALL_SKIPPED);
	ck_assert_str_eq(take_ends(), skipped);
	ck_assert_uint_eq(calls.pending_counts[BT_API_CALL_POD_STATUS_PATCH], 0);
	/* A lastProbeTime makes a difference: upstream's new condition has none. */
	ck_assert_int_eq(patch("u",
				 "'conditions':[{'type':'PodScheduled','status':'False','reason':"
				 "'Unschedulable','message':'m','lastProbeTime':"
				 "'2026-01-01T00:00:00Z'}]",
				 "m", NULL),
		0);
	ck_assert_str_eq(take_ends(), "");
	finish();
}
END_TEST

START_TEST(test_api_calls__a_patch_taken_back_leaves_nothing)
{
	init();
	ck_assert_int_eq(patch("u", "", NULL, "n1"), 0);
	ck_assert_int_eq(patch("v", "", NULL, "n1"), 0);
	ck_assert_int_eq(patch("u", "", NULL, ""), BT_API_CALL_SKIPPED);
	ck_assert_str_eq(take_ends(),
		"pod_status_patch u 2 a call of the same type was enqueued for this object: call "
		"overwritten\n"
		"pod_status_patch u 1 call does not need to be executed because it has no effect: "
		"call skipped\n");
	ck_assert_str_eq(pop(), "patch v - n1");
	ck_assert_str_eq(pop(), "-");
	finish();
}
END_TEST

START_TEST(test_api_calls__the_order_is_that_of_the_first_call)
{
	init();
	(void)patch("u", "", "m", NULL);
	(void)patch("v", "", "m", NULL);
	(void)binding("w", "n1");
	(void)binding("u", "n2"); /* takes the place of the patch */
	ck_assert_uint_eq(calls.pending_counts[BT_API_CALL_POD_STATUS_PATCH], 1);
	ck_assert_uint_eq(calls.pending_counts[BT_API_CALL_POD_BINDING], 2);
	ck_assert_str_eq(pop(), "bind u n2");
	ck_assert_str_eq(pop(), "patch v m -");
	ck_assert_str_eq(pop(), "bind w n1");
	ck_assert_str_eq(pop(), "-");
	ck_assert_uint_eq(calls.pending_counts[BT_API_CALL_POD_BINDING], 0);
	finish();
}
END_TEST

START_TEST(test_api_calls__one_at_a_time_for_a_pod)
{
	init();
	(void)patch("u", "", "m", NULL);
	ck_assert_str_eq(pop(), "patch u m -");
	(void)patch("v", "", "m", NULL);
	(void)binding("u", "n1"); /* replaces no call that is in flight */
	ck_assert_str_eq(take_ends(), "");
	ck_assert_str_eq(pop(), "patch v m -");
	ck_assert_str_eq(pop(), "-");
	(void)patch("w", "", "m", NULL);
	done("u", 0, "");
	ck_assert_str_eq(take_ends(), "pod_status_patch u 0 \n");
	/* The binding is at the end of the queue now. */
	ck_assert_str_eq(pop(), "patch w m -");
	ck_assert_str_eq(pop(), "bind u n1");
	finish();
}
END_TEST

START_TEST(test_api_calls__a_patch_after_one_in_flight)
{
	init();
	(void)patch("u", "", "m", "n1");
	ck_assert_str_eq(pop(), "patch u m n1");
	(void)patch("u", "", NULL, "");
	/*
	 * The end of the patch in flight is reported now, as overwritten, and not again when the
	 * call ends.
	 */
	ck_assert_str_eq(take_ends(),
		"pod_status_patch u 2 a call of the same type was enqueued for this object: call "
		"overwritten\n");
	done("u", BERTH_ERR_INVALID, "no");
	ck_assert_str_eq(take_ends(), "");
	/*
	 * The merged patch has the condition of the first patch and the empty node name of the
	 * second patch.
	 */
	ck_assert_str_eq(pop(), "patch u m ");
	done("u", 0, "");
	ck_assert_str_eq(take_ends(), "pod_status_patch u 0 \n");
	finish();
}
END_TEST

START_TEST(test_api_calls__a_no_op_is_kept_while_another_is_in_flight)
{
	init();
	(void)patch("u", "", NULL, "n1");
	ck_assert_str_eq(pop(), "patch u - n1");
	ck_assert_int_eq(patch("u", "", NULL, ""), 0);
	sync("u", "");
	done("u", 0, "");
	(void)take_ends();
	/*
	 * The update shows the effect of the first patch, so the second patch must undo that
	 * effect.
	 */
	sync("u", "'nominatedNodeName':'n1'");
	ck_assert_str_eq(take_ends(), "");
	ck_assert_str_eq(pop(), "patch u - ");
	finish();
}
END_TEST

START_TEST(test_api_calls__sync_drops_what_is_so_by_now)
{
	init();
	(void)patch("u", "", "m", "n1");
	sync("u", CONDITION("m"));
	sync("v", CONDITION("m"));
	ck_assert_str_eq(take_ends(), "");
	sync("u", CONDITION("m") ",'nominatedNodeName':'n1'");
	ck_assert_str_eq(take_ends(),
		"pod_status_patch u 1 call does not need to be executed because after sync it has "
		"no effect: call skipped\n");
	ck_assert_str_eq(pop(), "-");
	/* A call in flight is compared with the status that it started from. */
	(void)patch("u", "", "m", NULL);
	ck_assert_str_eq(pop(), "patch u m -");
	sync("u", CONDITION("m"));
	ck_assert(!bt_api_call_is_no_op(bt_api_calls_in_flight(&calls, BT_STR("u"))));
	done("u", 0, "");
	ck_assert_str_eq(take_ends(), "pod_status_patch u 0 \n");
	/* An update of the pod does not drop a binding. */
	(void)binding("u", "n1");
	sync("u", "");
	ck_assert_str_eq(pop(), "bind u n1");
	finish();
}
END_TEST

START_TEST(test_api_calls__two_bindings_of_a_pod)
{
	init();
	(void)binding("u", "n1");
	(void)binding("u", "n2");
	ck_assert_str_eq(take_ends(),
		"pod_binding u 2 a call of the same type was enqueued for this object: call "
		"overwritten\n");
	ck_assert_str_eq(pop(), "bind u n2");
	finish();
}
END_TEST

/** The status of a pod after every call has been carried out. */
struct model {
	char node[8];
	bool in_flight;
};

static const char *status_of(const struct model *model)
{
	return bt_arena_printf(&arena, "'nominatedNodeName':'%s'", model->node).data;
}

/*
 * In whatever order calls and answers come, the last requested status is reached, with one call in
 * flight for each pod.
 */
START_TEST(test_api_calls__random_calls_take_effect)
{
	enum { PODS = 5 };
	struct model api[PODS] = {0};
	char wish[PODS][8] = {0};
	struct bt_prng prng;
	const char *reason;

	init();
	bt_prng_init(&prng, 49);
	for (uint32_t step = 0; step < 20000; step++) {
		uint32_t which = (uint32_t)bt_prng_below(&prng, PODS);
		const char *uid = bt_arena_printf(&arena, "u%u", which).data;
		struct bt_api_call *call;
		switch (bt_prng_below(&prng, 4)) {
		case 0:
			(void)snprintf(wish[which], sizeof(wish[which]), "n%u",
				(unsigned)bt_prng_below(&prng, 3));
			(void)patch(uid, status_of(&api[which]), NULL, wish[which]);
			break;
		case 1:
			call = bt_api_calls_pop(&calls, 0);
			if (call != NULL) {
				uint32_t id = (uint32_t)(call->pod->meta->uid.data[1] - '0');
				ck_assert(!api[id].in_flight);
				api[id].in_flight = true;
			}
			break;
		case 2:
			if (api[which].in_flight) {
				call = bt_api_calls_in_flight(&calls, bt_str_from(uid));
				(void)snprintf(api[which].node, sizeof(api[which].node), "%.*s",
					BT_STR_ARG(call->nomination.nominated_node_name));
				api[which].in_flight = false;
				done(uid, 0, "");
				sync(uid, status_of(&api[which]));
			}
			break;
		default:
			sync(uid, status_of(&api[which]));
			break;
		}
		ck_assert_msg(bt_api_calls_validate(&calls, &reason), "%s", reason);
		for (uint32_t i = 0; i < PODS; i++) {
			struct bt_str name = bt_arena_printf(&arena, "u%u", i);
			const struct bt_api_call *stored = bt_api_calls_find(&calls, name);
			ck_assert_str_eq(stored != NULL
					? bt_arena_str(
						  &arena, stored->nomination.nominated_node_name)
						  .data
					: api[i].node,
				wish[i]);
		}
		if (step % 64 == 0) {
			bt_strbuf_reset(&ends);
			bt_arena_reset(&arena);
		}
	}
	finish();
}
END_TEST

BT_TEST_MAIN("api_calls", test_api_calls__edge_03_49_a_binding_overwrites_a_pending_patch,
	test_api_calls__edge_03_49_a_patch_is_skipped_while_a_binding_is_in_flight,
	test_api_calls__edge_03_50_two_patches_make_one_request,
	test_api_calls__what_changes_nothing_is_skipped,
	test_api_calls__a_patch_taken_back_leaves_nothing,
	test_api_calls__the_order_is_that_of_the_first_call,
	test_api_calls__one_at_a_time_for_a_pod, test_api_calls__a_patch_after_one_in_flight,
	test_api_calls__a_no_op_is_kept_while_another_is_in_flight,
	test_api_calls__sync_drops_what_is_so_by_now, test_api_calls__two_bindings_of_a_pod,
	test_api_calls__random_calls_take_effect)
