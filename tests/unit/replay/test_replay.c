/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Replays: which recorded changes are applied, what other decisions cause, and what is measured.
 */
#include "replay/replay.h"

#include <unistd.h>

#include "base/nanoseconds.h"
#include "config/gates.h"
#include "replay/lives.h"
#include "replay/measure.h"
#include "test_main.h"

#define HEADER "{\"berthrec\":1,\"start\":\"2026-01-01T00:00:00Z\"}\n"
#define POD(t, name, more_metadata, more_spec, cpu) \
	"{\"t\":" t ",\"add\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{" \
	"\"namespace\":\"a\",\"name\":\"" name "\",\"uid\":\"uid-" name "\"" more_metadata \
	"},\"spec\":{" more_spec "\"containers\":[{\"name\":\"c\",\"image\":\"i\"," \
	"\"resources\":{\"requests\":{\"cpu\":\"" cpu "\"}}}]}}}\n"
#define NODE_LATER(t, name, cpu) \
	"{\"t\":" t \
	",\"add\":{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" name \
	"\"},\"status\":{\"allocatable\":{\"cpu\":\"" cpu \
	"\",\"memory\":\"8Gi\",\"pods\":\"110\"}}}}\n"
#define NODE(name, cpu) NODE_LATER("0", name, cpu)
#define EVICTED \
	"{\"metadata\":{\"deletionTimestamp\":\"2026-01-01T00:00:35Z\"},\"status\":{" \
	"\"conditions\":[{" \
	"\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":\"DeletionByTaintManager\"}" \
	"]}}"
#define OWNED \
	",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\"," \
	"\"name\":\"web\",\"uid\":\"web-1\",\"controller\":true}]"
#define CHANGE(t, name, patch) \
	"{\"t\":" t ",\"change\":\"Pod\",\"name\":\"a/" name "\",\"patch\":" patch "}\n"
#define BOUND(t, name, node) CHANGE(t, name, "{\"spec\":{\"nodeName\":\"" node "\"}}")
#define SUCCEEDED(t, name) CHANGE(t, name, "{\"status\":{\"phase\":\"Succeeded\"}}")
#define REFUSED(t, name) \
	CHANGE(t, name, \
		"{\"status\":{\"conditions\":[{\"type\":\"PodScheduled\"," \
		"\"status\":\"False\",\"reason\":\"Unschedulable\"}]}}")
#define PREEMPTED(t, name) \
	CHANGE(t, name, \
		"{\"metadata\":{\"deletionTimestamp\":\"2026-01-01T00:00:35Z\"}," \
		"\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\"," \
		"\"status\":\"True\",\"reason\":\"PreemptionByScheduler\"}]}}")
#define DELETED(t, name) "{\"t\":" t ",\"delete\":\"Pod\",\"name\":\"a/" name "\"}\n"
#define END(t) "{\"t\":" t ",\"end\":true}\n"

/** Feature gates that differ from their defaults; NULL: none. */
static const char *gates;

/** The events of a replay as text: "0 p on n1; 10 p succeeded; ". */
struct story {
	struct bt_strbuf text;
	struct bt_replay_counts counts;
};

static double story_seconds(int64_t time_ns)
{
	return (double)(time_ns - INT64_C(1767225600) * BT_NS_PER_SECOND) / BT_NS_PER_SECOND;
}

static void tell_bound(void *context, const struct bt_replay_binding *binding)
{
	struct story *story = context;
	bt_strbuf_printf(&story->text, "%g %.*s on %.*s; ", story_seconds(binding->time_ns),
		BT_STR_ARG(binding->pod->metadata.name), BT_STR_ARG(binding->node_name));
	if (binding->reason.length != 0) {
		bt_strbuf_printf(&story->text, "(%.*s) ", BT_STR_ARG(binding->reason));
	}
}

static void tell_departed(void *context, const struct bt_replay_departure *departure)
{
	static const char *const ends[] = {[BT_REPLAY_SUCCEEDED] = "succeeded",
		[BT_REPLAY_DELETED] = "deleted",
		[BT_REPLAY_PREEMPTED] = "preempted",
		[BT_REPLAY_LOST] = "lost",
		[BT_REPLAY_EVICTED] = "evicted"};
	struct story *story = context;
	bt_strbuf_printf(&story->text, "%g %.*s %s; ", story_seconds(departure->time_ns),
		BT_STR_ARG(departure->pod->metadata.name), ends[departure->end]);
}

static int make_scheduler(const void *context, const struct bt_scheduler_writer *writer,
	struct bt_scheduler **out_scheduler, struct berth_error *err)
{
	const struct bt_engine_options options = {.verify = true};
	struct bt_config *const *config = context;
	return bt_scheduler_create(*config, &options, writer, out_scheduler, err);
}

/** The largest number of warnings that a replay may print. */
static unsigned warnings_max;

static void count_warning(void *context, const char *line)
{
	unsigned *count = context;
	ck_assert_msg(++*count <= warnings_max, "warning: %s", line);
}

/** Replays a recording twice and returns its story, which must be the same both times. */
static struct bt_strbuf replay(const char *recording, struct bt_replay_options options)
{
	char path[64];
	const char *const paths[] = {path};
	struct bt_strbuf first = {0};
	(void)snprintf(path, sizeof(path), "berth-replay-%ld", (long)getpid());
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(recording, file), 0);
	ck_assert_int_eq(fclose(file), 0);
	for (int i = 0; i < 2; i++) {
		struct story story = {0};
		unsigned warnings = 0;
		struct bt_lives *lives;
		struct berth_error err = BERTH_ERROR_INIT;
		struct bt_gates some = bt_gates_default();
		ck_assert(gates == NULL || bt_gates_set(&some, bt_str_from(gates), NULL) == 0);
		struct bt_config *config = bt_config_create_default(&some);
		options.paths = paths;
		options.path_count = 1;
		options.interval_ns = BT_NS_PER_SECOND;
		options.to_ns = options.to_ns != 0 ? options.to_ns : INT64_MAX;
		const struct bt_replay_sink sink = {
			.context = &story, .bound = tell_bound, .departed = tell_departed};
		options.sinks = &sink;
		options.sink_count = 1;
		int result = bt_lives_read(paths, 1, count_warning, &warnings, &lives, &err);
		if (result == 0) {
			result = bt_replay_run(
				&options, lives, make_scheduler, &config, &story.counts, &err);
			bt_lives_destroy(lives);
		}
		if (result < 0) {
			bt_strbuf_append_c(&story.text, strstr(berth_error_message(&err), ": "));
		}
		berth_error_finish(&err);
		bt_config_unref(config);
		if (i == 0) {
			first = story.text;
		} else {
			ck_assert(bt_str_equal(bt_strbuf_str(&first), bt_strbuf_str(&story.text)));
			bt_strbuf_finish(&story.text);
		}
	}
	(void)unlink(path);
	return first;
}

static void check_options(
	const char *recording, struct bt_replay_options options, const char *expected)
{
	struct bt_strbuf text = replay(recording, options);
	ck_assert_str_eq(bt_strbuf_c(&text), expected);
	bt_strbuf_finish(&text);
}

static void check(const char *recording, const char *expected)
{
	check_options(recording, (struct bt_replay_options){0}, expected);
}

START_TEST(test_replay__a_pod_runs_as_long_as_it_did)
{
	/*
	 * The recording binds pod b after pod a has ended at 60 s. The replay binds pod b to n2 at
	 * once.
	 */
	check(HEADER NODE("n1", "1") NODE("n2", "1") POD("1", "a", "", "", "1") BOUND("1.5", "a",
		      "n1") POD("2", "b", "", "", "1") SUCCEEDED("60", "a") BOUND("61", "b", "n1")
			SUCCEEDED("71", "b") DELETED("80", "a") DELETED("80", "b") END("100"),
		"1 a on n1; 2 b on n2; 12 b succeeded; 60 a succeeded; ");
}
END_TEST

START_TEST(test_replay__a_pod_that_starts_later_ends_later)
{
	/*
	 * In the recording, pod a ends at 30 s and pod b runs for 10 s beside pod a. In the replay,
	 * pod b waits for the end of pod a and then runs for 10 s.
	 */
	check(HEADER NODE("n1", "1") POD("1", "a", "", "", "1") BOUND("1", "a", "n1")
			POD("2", "b", "", "", "1") BOUND("2", "b", "n0") SUCCEEDED("12", "b")
				DELETED("13", "b") SUCCEEDED("30", "a") END("100"),
		"1 a on n1; 30 a succeeded; 30 b on n1; 40 b succeeded; ");
}
END_TEST

START_TEST(test_replay__imported_pods_say_how_long_they_run)
{
	check(HEADER NODE("n1", "1") "{\"t\":5,\"add\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\","
				     "\"metadata\":{\"namespace\":\"a\",\"name\":\"p\"}},"
				     "\"runs\":2.5}\n" END("20"),
		"5 p on n1; 7.5 p succeeded; ");
}
END_TEST

START_TEST(test_replay__services_are_deleted_when_they_were)
{
	check(HEADER NODE("n1", "1") POD("1", "a", OWNED, "", "1") BOUND("1", "a", "n1")
			POD("2", "b", OWNED, "", "1") DELETED("10", "a") BOUND("11", "b", "n1")
				DELETED("20", "b") END("30"),
		"1 a on n1; 10 a deleted; 10 b on n1; 20 b deleted; ");
}
END_TEST

START_TEST(test_replay__a_preempted_pod_comes_back)
{
	/* The recorded cluster had room for both pods; the replayed cluster has room for one. */
	check(HEADER NODE("n1", "1") POD("1", "a", OWNED, "", "1") BOUND("1", "a", "n1")
			POD("5", "b", "", "\"priority\":10,", "1") BOUND("5", "b", "n2")
				SUCCEEDED("15", "b") DELETED("40", "a") END("50"),
		"1 a on n1; 5 a preempted; 5 b on n1; 15 b succeeded; 15 a.1 on n1; "
		"40 a.1 deleted; ");
}
END_TEST

START_TEST(test_replay__a_preemption_that_does_not_happen_here)
{
	/*
	 * The recording binds pod b to n1, the replay binds it to n2. Pod c, created in place of
	 * pod a, therefore stands for pod a.
	 */
	check(HEADER NODE("n1", "1") NODE("n2", "1") POD("1", "a", OWNED, "", "1") BOUND(
		      "1", "a", "n1") POD("5", "b", "", "\"priority\":10,", "1") PREEMPTED("5", "a")
			DELETED("6", "a") POD("6.5", "c", OWNED, "", "1") BOUND("7", "b", "n1")
				BOUND("30", "c", "n1") DELETED("40", "c") END("50"),
		"1 a on n1; 5 b on n2; 40 a deleted; ");
}
END_TEST

START_TEST(test_replay__pods_are_lost_with_their_node)
{
	/* Pod a was on n1 in the recording. In the replay pod a is on n2, which is deleted. */
	check(HEADER NODE("n1", "1") NODE("n2", "2") POD("1", "a", OWNED, "", "1") BOUND("1", "a",
		      "n1") "{\"t\":5,\"delete\":\"Node\",\"name\":\"n2\"}\n" DELETED("40", "a")
			END("50"),
		"1 a on n2; 5 a lost; 5 a.1 on n1; 40 a.1 deleted; ");
	/* A DaemonSet creates no replacement for the lost pod. */
	check(HEADER NODE("n1", "1") NODE("n2", "2") POD("1", "a",
		      ",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"DaemonSet\","
		      "\"name\":\"d\",\"uid\":\"d-1\",\"controller\":true}]",
		      "", "1") BOUND("1", "a",
		      "n1") "{\"t\":5,\"delete\":\"Node\",\"name\":\"n2\"}\n" END("50"),
		"1 a on n2; 5 a lost; ");
}
END_TEST

START_TEST(test_replay__before_the_start_pods_are_where_they_were)
{
	struct bt_replay_options options = {.from_ns = 4 * BT_NS_PER_SECOND};
	check_options(HEADER NODE("n1", "1") NODE("n2", "2") POD("1", "a", "", "", "1") BOUND(
			      "2", "a", "n2") POD("3", "b", "", "", "2") POD("5", "c", "", "", "1")
			      DELETED("6", "a") DELETED("7", "c") END("9"),
		options, "5 c on n2; 6 a deleted; 7 c deleted; 7 b on n2; ");
	options.to_ns = 5500000000;
	check_options(HEADER NODE("n1", "1") POD("5", "c", "", "", "1") DELETED("7", "c") END("9"),
		options, "5 c on n1; ");
}
END_TEST

START_TEST(test_replay__the_recorded_node_wins_a_tie)
{
	const struct bt_replay_options options = {.prefers_recorded = true, .reasons_max = 10};
	check_options(HEADER NODE("n1", "1") NODE("n2", "1") NODE("n3", "1")
			      POD("1", "a", "", "", "1") BOUND("1", "a", "n3") END("9"),
		options, "1 a on n3; ");
	/*
	 * The recorded node also wins if cells (sets of equal nodes, see sched/cells.h) decide.
	 * They decide here, because pods of this shape came before.
	 */
	check_options(HEADER NODE("n1", "4") NODE("n2", "4") NODE("n3", "4") POD("1", "a", "", "",
			      "1") BOUND("1", "a", "n3") POD("2", "b", "", "", "1")
			      BOUND("2", "b", "n2") POD("3", "c", "", "", "1") BOUND("3", "c", "n1")
				      POD("4", "d", "", "", "1") BOUND("4", "d", "n2")
					      POD("5", "e", "", "", "1") BOUND("5", "e", "n2")
						      POD("6", "f", "", "", "1")
							      BOUND("6", "f", "n3") END("9"),
		options,
		"1 a on n3; 2 b on n2; 3 c on n1; 4 d on n2; "
		"5 e on n1; (n1: scores 441, n2 426) 6 f on n3; ");
	check_options(HEADER NODE("n1", "1") NODE("n2", "2") POD("1", "a", "", "", "1")
			      BOUND("1", "a", "n1") POD("2", "b", "", "", "2") BOUND("2", "b", "n2")
				      POD("3", "c", "", "", "0") BOUND("3", "c", "n3") END("9"),
		options,
		"1 a on n2; (n2: scores 435, n1 398) 3 c on n1; (n3: is not there at this time) ");
}
END_TEST

START_TEST(test_replay__pods_of_a_burst_are_decided_in_the_recorded_order)
{
	const struct bt_replay_options options = {.prefers_recorded = true, .reasons_max = 10};
	/* 0.1 ms apart counts as the same time for the queue: pod b may go first, as recorded. */
	check_options(HEADER NODE("n1", "1") POD("1", "a", "", "", "1") POD("1.0001", "b", "", "",
			      "1") BOUND("1.0002", "b", "n1") REFUSED("1.0003", "a") END("9"),
		options, "1.0002 b on n1; ");
	/* 2 ms apart does not count as the same time: pod a goes first. */
	check_options(HEADER NODE("n1", "1") POD("1", "a", "", "", "1") POD("1.002", "b", "", "",
			      "1") BOUND("1.003", "b", "n1") REFUSED("1.004", "a") END("9"),
		options, "1.003 a on n1; ");
	/* The recorded scheduler saw pod b before it tried pod a. */
	check_options(HEADER NODE("n1", "1") POD("1", "a", "", "", "1")
			      POD("1.4", "b", "", "\"priority\":1,", "1") BOUND("1.5", "b", "n1")
				      REFUSED("1.6", "a") END("9"),
		options, "1.5 b on n1; ");
	/* A later attempt that fails with the same message leaves no line in the recording. */
	check_options(HEADER NODE("n1", "1") POD("1", "a", "", "", "2") REFUSED("1.1", "a")
			      NODE_LATER("3", "n2", "2") POD("3.1", "b", "", "", "2")
				      REFUSED("3.2", "b") END("9"),
		options, "3 a on n2; ");
	/* Lines may come between the event that requeues pod a and the attempt of pod a. */
	check_options(HEADER NODE("n1", "1") POD("1", "a", "", "", "2") REFUSED("1.1", "a")
			      NODE_LATER("3", "n2", "2")
				      POD("3.01", "b", "", "\"priority\":1,", "2")
					      BOUND("3.02", "b", "n2") END("9"),
		options, "3.02 b on n2; ");
}
END_TEST

START_TEST(test_replay__a_pod_taken_away_here_and_there_goes_when_it_did)
{
	const struct bt_replay_options options = {.prefers_recorded = true, .reasons_max = 10};
	check_options(HEADER NODE("n1", "1") POD("1", "a", OWNED, "", "1") BOUND("1.1", "a", "n1")
			      POD("5", "b", "", "\"priority\":10,", "1") REFUSED("5.1", "b")
				      PREEMPTED("5.1001", "a") POD("5.2", "c", OWNED, "", "1")
					      REFUSED("5.3", "c") DELETED("6", "a")
						      BOUND("6.1", "b", "n1") DELETED("20", "b")
							      BOUND("20.5", "c", "n1") END("50"),
		options,
		"1.1 a on n1; 6 a preempted; 6.1 b on n1; 20 b deleted; 20.5 c on n1; ");
	/* A taint evicts pod a. */
	check_options(HEADER NODE("n1", "1") POD("1", "a", OWNED, "", "1")
			      BOUND("1.1", "a", "n1") "{\"t\":5,\"change\":\"Node\",\"name\":"
						      "\"n1\",\"patch\":{\"spec\":{"
						      "\"taints\":[{\"key\":\"k\","
						      "\"effect\":\"NoExecute\"}]}}}\n"
				      CHANGE("5.1", "a", EVICTED) POD("5.2", "c", OWNED, "", "1")
					      DELETED("6", "a") END("50"),
		options, "1.1 a on n1; 6 a evicted; ");
}
END_TEST

START_TEST(test_replay__other_objects_follow_the_recording)
{
	/* The node is cordoned from 2 s to 10 s. */
	check(HEADER NODE("n1", "1") "{\"t\":2,\"change\":\"Node\",\"name\":\"n1\",\"patch\":{"
				     "\"spec\":{\"unschedulable\":true}}}\n" POD("3", "a", "", "",
					     "1") "{\"t\":10,\"change\":\"Node\",\"name\":\"n1\","
						  "\"patch\":{\"spec\":{\"unschedulable\":null}}}"
						  "\n" END("20"),
		"10 a on n1; ");
	check(HEADER "{\"t\":2,\"change\":\"Node\",\"name\":\"n1\",\"patch\":{}}\n" END("3"),
		": line 2: Node n1: changes, but is not there");
}
END_TEST

#define OBJECT(t, api_version, kind, name, more) \
	"{\"t\":" t ",\"add\":{\"apiVersion\":\"" api_version "\",\"kind\":\"" kind \
	"\",\"metadata\":{" name "}" more "}}\n"
#define DEVICE_CLASS OBJECT("0", "resource.k8s.io/v1", "DeviceClass", "\"name\":\"gpu\"", "")
/** One device on a node. */
#define SLICE(node) \
	OBJECT("0", "resource.k8s.io/v1", "ResourceSlice", "\"name\":\"slice-" node "\"", \
		",\"spec\":{\"driver\":\"d\",\"nodeName\":\"" node "\",\"pool\":{\"name\":\"" node \
		"\",\"generation\":1,\"resourceSliceCount\":1},\"devices\":[{\"name\":\"g0\"}]}")
#define CLAIM_SPEC \
	",\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\",\"exactly\":{" \
	"\"deviceClassName\":\"gpu\",\"allocationMode\":\"ExactCount\",\"count\":1}}]}}"
#define CLAIM(t, name, more) \
	OBJECT(t, "resource.k8s.io/v1", "ResourceClaim", \
		"\"namespace\":\"a\",\"name\":\"" name "\",\"uid\":\"uid-" name "\"" more, \
		CLAIM_SPEC)
#define MADE_FOR(pod) \
	",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"" pod \
	"\",\"uid\":\"uid-" pod "\",\"controller\":true}]"
#define CLAIM_GONE(t, name) "{\"t\":" t ",\"delete\":\"ResourceClaim\",\"name\":\"a/" name "\"}\n"
/** The recorded writes of scheduler and controllers to a claim. */
#define ALLOCATED(t, name, node, pod) \
	"{\"t\":" t ",\"change\":\"ResourceClaim\",\"name\":\"a/" name "\",\"patch\":{" \
	"\"metadata\":{\"finalizers\":[\"resource.kubernetes.io/delete-protection\"]}," \
	"\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\"," \
	"\"driver\":\"d\",\"pool\":\"" node "\",\"device\":\"g0\"}]}}," \
	"\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"" pod "\",\"uid\":\"uid-" pod \
	"\"}]}}}\n"
#define FREED(t, name) \
	"{\"t\":" t ",\"change\":\"ResourceClaim\",\"name\":\"a/" name "\",\"patch\":{" \
	"\"metadata\":{\"finalizers\":null},\"status\":null}}\n"
#define USES(claim) "\"resourceClaims\":[{\"name\":\"x\",\"resourceClaimName\":\"" claim "\"}],"
#define USES_TEMPLATE "\"resourceClaims\":[{\"name\":\"x\",\"resourceClaimTemplateName\":\"t\"}],"
#define HAS_CLAIM(t, pod, claim) \
	CHANGE(t, pod, \
		"{\"status\":{\"resourceClaimStatuses\":[{\"name\":\"x\"," \
		"\"resourceClaimName\":\"" claim "\"}]}}")

START_TEST(test_replay__devices_are_allocated_anew)
{
	/*
	 * The recording binds pod b to n2, which does not exist here: pod b waits for the device of
	 * pod a.
	 */
	check(HEADER NODE("n1", "4") DEVICE_CLASS SLICE("n1") CLAIM("0", "ca", "") CLAIM("0", "cb",
		      "") POD("1", "a", "", USES("ca"), "1") ALLOCATED("1", "ca", "n1", "a")
			BOUND("1", "a", "n1") POD("2", "b", "", USES("cb"), "1") ALLOCATED(
				"2", "cb", "n2", "b") BOUND("2", "b", "n2") SUCCEEDED("12", "b")
				FREED("12", "cb") SUCCEEDED("60", "a") FREED("61", "ca") END("100"),
		"1 a on n1; 60 a succeeded; 60 b on n1; 70 b succeeded; ");
	/*
	 * Two pods share a claim. The pod that ends last frees the device. The recording deletes
	 * the claim when both pods have ended; the replay keeps the claim until both have ended
	 * here.
	 */
	check(HEADER NODE("n1", "2") DEVICE_CLASS SLICE("n1") CLAIM("0", "c", "") CLAIM("0", "cz",
		      "") POD("1", "a", "", USES("c"), "1") BOUND("1", "a", "n1") POD("2", "x", "",
		      "", "1") BOUND("2", "x", "n0") POD("3", "b", "", USES("c"), "1")
			BOUND("3", "b", "n2") SUCCEEDED("5", "a") SUCCEEDED("7", "b") CLAIM_GONE(
				"8", "c") SUCCEEDED("8", "x") POD("8.5", "z", "", USES("cz"), "1")
				BOUND("8.5", "z", "n2") SUCCEEDED("18.5", "z") END("100"),
		"1 a on n1; 2 x on n1; 5 a succeeded; 5 b on n1; 8 x succeeded; 9 b succeeded; "
		"9 z on n1; 18.5 z succeeded; ");
}
END_TEST

START_TEST(test_replay__claims_made_for_pods_come_and_go_with_them)
{
	/*
	 * Pod a is preempted in the replay only. The claim of pod a is deleted, and pod a.1 gets a
	 * new claim for the same device.
	 */
	check(HEADER NODE("n1", "4") DEVICE_CLASS SLICE("n1") POD("1", "a", OWNED, USES_TEMPLATE,
		      "1") CLAIM("1", "ca", MADE_FOR("a")) HAS_CLAIM("1", "a", "ca") ALLOCATED("1",
		      "ca", "n1", "a") BOUND("1", "a", "n1") POD("5", "b", "", "\"priority\":10,",
		      "4") BOUND("5", "b", "n2") SUCCEEDED("15", "b") DELETED("40", "a")
			CLAIM_GONE("40", "ca") POD("41", "c", "", USES_TEMPLATE, "1") CLAIM(
				"41", "cc", MADE_FOR("c")) HAS_CLAIM("41", "c", "cc") END("50"),
		"1 a on n1; 5 a preempted; 5 b on n1; 15 b succeeded; 15 a.1 on n1; "
		"40 a.1 deleted; 41 c on n1; ");
	/*
	 * The recording preempts pod a, the replay does not. The replay therefore ignores the
	 * deletion of a's claim. It also ignores the claim of the pod that replaces pod a. The
	 * device is free when pod a ends.
	 */
	check(HEADER NODE("n1", "1") NODE("n2", "1") DEVICE_CLASS SLICE("n1") POD("1", "a", OWNED,
		      USES_TEMPLATE,
		      "1") CLAIM("1", "ca", MADE_FOR("a")) HAS_CLAIM("1", "a", "ca") BOUND("1", "a",
		      "n1") POD("5", "b", "", "\"priority\":10,", "1") PREEMPTED("5", "a")
			DELETED("6", "a") FREED("6", "ca") CLAIM_GONE("6", "ca") POD("6.5", "c",
				OWNED, USES_TEMPLATE,
				"1") CLAIM("6.5", "cc", MADE_FOR("c")) HAS_CLAIM("6.5", "c", "cc")
				BOUND("7", "b", "n1") POD("20", "d", "", USES_TEMPLATE, "0")
					CLAIM("20", "cd", MADE_FOR("d")) HAS_CLAIM("20", "d", "cd")
						DELETED("40", "c") CLAIM_GONE("40", "cc") END("50"),
		"1 a on n1; 5 b on n2; 40 a deleted; 40 d on n1; ");
}
END_TEST

#define TAINTED(t, node, taints) \
	"{\"t\":" t ",\"change\":\"Node\",\"name\":\"" node \
	"\",\"patch\":{\"spec\":{\"taints\":" taints "}}}\n"
#define BROKEN "[{\"key\":\"broken\",\"effect\":\"NoExecute\"}]"
#define TOLERATES(seconds) \
	"\"tolerations\":[{\"key\":\"broken\",\"operator\":\"Exists\"," \
	"\"tolerationSeconds\":" seconds "}],"

START_TEST(test_replay__taints_evict)
{
	/*
	 * Pod a is evicted at once, pod b after 10 s. Pod c would be evicted after 100 s, but the
	 * taint is removed before. The replay does not repeat the recorded evictions: pod d stands
	 * for pod a, and pod e for pod b.
	 */
	check(HEADER NODE("n1", "3") POD("1", "a", OWNED, "", "1") BOUND("1", "a", "n1") POD(
		      "2", "b", OWNED, TOLERATES("10"), "1") BOUND("2", "b", "n1") POD("3", "c",
		      OWNED, TOLERATES("100"),
		      "1") BOUND("3", "c", "n1") TAINTED("5", "n1", BROKEN) NODE_LATER("6", "n2",
		      "3") CHANGE("6", "a", EVICTED) DELETED("7", "a") POD("8", "d", OWNED, "", "1")
			BOUND("8", "d", "n2") CHANGE("16", "b", EVICTED) DELETED("17", "b")
				POD("18", "e", OWNED, TOLERATES("10"), "1") BOUND("18", "e", "n2")
					TAINTED("20", "n1", "null") DELETED("40", "d")
						DELETED("41", "e") DELETED("42", "c") END("200"),
		"1 a on n1; 2 b on n1; 3 c on n1; 5 a evicted; 6 a.1 on n2; 15 b evicted; "
		"15 b.1 on n1; 40 a.1 deleted; 41 b.1 deleted; 42 c deleted; ");
	/*
	 * The pod is bound to a node that has the taint, and either ends before its eviction or is
	 * evicted before its end.
	 */
	check(HEADER NODE("n1", "1") TAINTED("0", "n1", BROKEN)
			POD("1", "a", "", TOLERATES("10"), "1") BOUND("1", "a", "n1")
				SUCCEEDED("10", "a") POD("11", "b", "", TOLERATES("10"), "1")
					BOUND("11", "b", "n0") SUCCEEDED("30", "b") END("50"),
		"1 a on n1; 10 a succeeded; 11 b on n1; 21 b evicted; ");
}
END_TEST

#define GROUP(t) \
	OBJECT(t, "scheduling.k8s.io/v1alpha2", "PodGroup", "\"namespace\":\"a\",\"name\":\"g\"", \
		",\"spec\":{\"schedulingPolicy\":{\"gang\":{\"minCount\":2}}}," \
		"\"status\":{\"conditions\":[{\"type\":\"PodGroupScheduled\"," \
		"\"status\":\"True\",\"reason\":\"Scheduled\"}]}")
#define IN_GROUP "\"schedulingGroup\":{\"podGroupName\":\"g\"},"

START_TEST(test_replay__gangs_are_decided_anew)
{
	/*
	 * The recording has two nodes, the replay one: the gang waits for room for both pods. The
	 * gang's PodGroup stays until then, although the recording deletes the group at 20 s.
	 */
	const struct bt_replay_options options = {0};
	gates = "GenericWorkload=true,GangScheduling=true";
	check_options(
		HEADER NODE("n1", "2") POD("1", "a", "", "", "1") BOUND("1", "a", "n1") GROUP(
			"2") POD("3", "b", "", IN_GROUP, "1") POD("3", "c", "", IN_GROUP,
			"1") BOUND("4", "b", "n1") BOUND("4", "c", "n2") SUCCEEDED("14",
			"b") SUCCEEDED("14",
			"c") "{\"t\":20,\"delete\":\"PodGroup\",\"name\":\"a/g\"}\n" SUCCEEDED("30",
			"a") END("50"),
		options,
		"1 a on n1; 30 a succeeded; 30 b on n1; 30 c on n1; 40 b succeeded; "
		"40 c succeeded; ");
	gates = NULL;
}
END_TEST

#define GAP(t, kind) "{\"t\":" t ",\"gap\":1,\"kind\":\"" kind "\"}\n"
#define ON_N2 "\"nodeName\":\"n2\","

START_TEST(test_replay__pods_of_a_gap_are_decided_anew)
{
	/*
	 * Pod b was created and bound while the watch was broken. Pods a and c were created with a
	 * node.
	 */
	warnings_max = 1;
	check(HEADER NODE("n1", "2") NODE("n2", "1") POD("1", "a", "", ON_N2, "1") GAP("2", "Node")
			POD("2.5", "z", "", ON_N2, "0") GAP("3", "Pod") POD(
				"3.5", "b", "", ON_N2, "1") POD("14", "c", "", ON_N2, "0")
				DELETED("20", "a") DELETED("20", "b") DELETED("20", "c") END("30"),
		"3.5 b on n1; 20 a deleted; 20 b deleted; 20 c deleted; ");
	warnings_max = 0;
}
END_TEST

START_TEST(test_measure__quantiles_of_waiting_times)
{
	static struct bt_waits waits;
	ck_assert_int_eq(bt_waits_quantile(&waits, 0.5), 0);
	for (int64_t ms = 1; ms <= 100000; ms++) {
		bt_waits_add(&waits, ms * 1000000);
	}
	for (double share = 0.01; share < 1; share += 0.01) {
		double exact = share * 100000;
		double found = (double)bt_waits_quantile(&waits, share) / 1e6;
		if (found < exact - 1 || found > exact * (1 + 1.0 / 16) + 1) {
			ck_abort_msg("%g of the pods waited %g ms, not %g", share, exact, found);
		}
	}
	ck_assert_int_eq(bt_waits_quantile(&waits, 1), INT64_C(100000000000));
	bt_waits_add(&waits, INT64_MAX);
	ck_assert_int_eq(bt_waits_quantile(&waits, 1), INT64_MAX);
}
END_TEST

BT_TEST_MAIN("replay", test_replay__a_pod_runs_as_long_as_it_did,
	test_replay__a_pod_that_starts_later_ends_later,
	test_replay__imported_pods_say_how_long_they_run,
	test_replay__services_are_deleted_when_they_were, test_replay__a_preempted_pod_comes_back,
	test_replay__a_preemption_that_does_not_happen_here,
	test_replay__pods_are_lost_with_their_node,
	test_replay__before_the_start_pods_are_where_they_were,
	test_replay__the_recorded_node_wins_a_tie,
	test_replay__pods_of_a_burst_are_decided_in_the_recorded_order,
	test_replay__a_pod_taken_away_here_and_there_goes_when_it_did,
	test_replay__other_objects_follow_the_recording,
	test_replay__devices_are_allocated_anew,
	test_replay__claims_made_for_pods_come_and_go_with_them, test_replay__taints_evict,
	test_replay__gangs_are_decided_anew, test_replay__pods_of_a_gap_are_decided_anew,
	test_measure__quantiles_of_waiting_times)
