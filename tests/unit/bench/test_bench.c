/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nanoseconds.h"
#include "bench/bench_child.h"
#include "bench/bench_cluster.h"
#include "bench/bench_living.h"
#include "bench/bench_template.h"
#include "test_main.h"

static struct bt_bench_source source_of(const struct bt_bench_workload *workload)
{
	return (struct bt_bench_source){.workload = workload,
		.node_count = 5,
		.bound_count = 6,
		.pending_count = 7,
		.seed = 3};
}

static struct bt_object *decode(const struct bt_strbuf *text)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_object *object = NULL;
	int result = bt_object_decode(bt_strbuf_str(text), &object, &err);
	ck_assert_msg(result == 0, "%s\n%s", berth_error_message(&err), bt_strbuf_c(text));
	return object;
}

/** --- objects --- */

START_TEST(test_bench_source__every_object_can_be_read)
{
	const struct bt_bench_workload *workload;
	struct bt_strbuf text = {0};
	uint32_t count = 0;
	for (; (workload = bt_bench_workload_at(count)) != NULL; count++) {
		struct bt_bench_source source = source_of(workload);
		ck_assert_ptr_eq(bt_bench_workload_find(workload->name), workload);
		for (uint32_t i = 0; i < 13; i++) {
			bt_bench_write_pod(&source, i, &text);
			struct bt_object *object = decode(&text);
			const struct bt_pod *pod = bt_object_value(object, BT_KIND_POD);
			ck_assert_msg((pod->spec.node_name.length != 0) == (i < 6), "%s pod %u",
				workload->name, i);
			bt_object_release(object);
			bt_strbuf_reset(&text);
		}
		for (uint32_t i = 0; i < 8; i++) { /* churn writes additional nodes */
			bt_bench_write_node_turn(&source, i, i, &text);
			struct bt_object *object = decode(&text);
			ck_assert_int_eq(object->kind, BT_KIND_NODE);
			bt_object_release(object);
			bt_strbuf_reset(&text);
		}
	}
	ck_assert_uint_eq(count, 23);
	ck_assert_ptr_null(bt_bench_workload_find("none"));
	bt_strbuf_finish(&text);
}
END_TEST

/**
 * Batches and a second run write the same pods in another order: a pod must not depend on the
 * order.
 */
START_TEST(test_bench_source__order_does_not_matter)
{
	struct bt_bench_source source = source_of(bt_bench_workload_find("mixed"));
	struct bt_strbuf forth[13] = {0};
	struct bt_strbuf back = {0};
	for (uint32_t i = 0; i < 13; i++) {
		bt_bench_write_pod(&source, i, &forth[i]);
	}
	for (uint32_t i = 13; i-- > 0;) {
		bt_bench_write_pod(&source, i, &back);
		ck_assert(bt_str_equal(bt_strbuf_str(&back), bt_strbuf_str(&forth[i])));
		bt_strbuf_reset(&back);
		bt_strbuf_finish(&forth[i]);
	}
	bt_strbuf_finish(&back);
}
END_TEST

START_TEST(test_bench_source__services)
{
	static const struct {
		uint32_t bound;
		uint32_t pending;
		uint32_t extra;
	} rows[] = {{0, 0, 2}, {0, 19, 2}, {10, 10, 4}, {5000, 2000, 1000},
		{UINT32_MAX, UINT32_MAX, 1000}};
	struct bt_bench_source source = {.workload = bt_bench_workload_find("services")};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		source.bound_count = rows[i].bound;
		source.pending_count = rows[i].pending;
		ck_assert_uint_eq(bt_bench_extra_count(&source), rows[i].extra);
	}
	source.workload = bt_bench_workload_find("basic");
	ck_assert_uint_eq(bt_bench_extra_count(&source), 0);
}
END_TEST

/** The digest must change when text moves from one part to another. */
START_TEST(test_bench__digest)
{
	uint64_t one = bt_bench_digest(0, BT_STR("a"), BT_STR("b"), BT_STR("c"));
	ck_assert(one != bt_bench_digest(0, BT_STR("ab"), BT_STR(""), BT_STR("c")));
	ck_assert(one != bt_bench_digest(0, BT_STR("a"), BT_STR("bc"), BT_STR("")));
	ck_assert(one != bt_bench_digest(0, BT_STR("a"), BT_STR("b"), (struct bt_str){NULL, 0}));
	ck_assert(bt_bench_digest(one, BT_STR("x"), BT_STR("y"), BT_STR("z")) !=
		bt_bench_digest(0, BT_STR("x"), BT_STR("y"), BT_STR("z")));
	/*
	 * The digest of the same decisions must be the same on every machine and in every version,
	 * because equal digests of two results mean equal decisions.
	 */
	ck_assert_uint_eq(bt_bench_digest(0, BT_STR("default"), BT_STR("pod-1"), BT_STR("node-1")),
		UINT64_C(0x627d40b2e5e55758));
}
END_TEST

START_TEST(test_bench__compare)
{
	uint64_t timed_digests[] = {1, 2, 3};
	uint64_t other_digests[] = {1, 2, 4};
	struct bt_bench_result result = {0};
	struct bt_bench timed = {
		.result = &result, .digests = {.items = timed_digests, .count = 3}};
	struct bt_bench other = {.digests = {.items = other_digests, .count = 3}};
	struct berth_error err = BERTH_ERROR_INIT;
	ck_assert_int_eq(bt_bench_compare(&timed, &other, 2, &err), 0);
	ck_assert_uint_eq(result.checked_count, 2);
	ck_assert_int_eq(bt_bench_compare(&timed, &other, UINT32_MAX, &err), BERTH_ERR_STATE);
	ck_assert_str_eq(berth_error_message(&err),
		"the verifying run decided otherwise about pending pod number 2");
	berth_error_finish(&err);
	other.digests.count = 1;
	ck_assert_int_eq(bt_bench_compare(&timed, &other, 2, &err), BERTH_ERR_STATE);
	ck_assert_str_eq(
		berth_error_message(&err), "the verifying run made 1 decisions instead of 2");
	berth_error_finish(&err);
}
END_TEST

/** --- the bench in a child process --- */

START_TEST(test_bench__child_decides_alike)
{
	struct bt_setup setup = BT_SETUP_INIT;
	struct bt_bench_run run = {
		.setup = &setup, .source = source_of(bt_bench_workload_find("spread"))};
	struct bt_bench_result here;
	struct bt_bench_result there;
	struct berth_error err = BERTH_ERROR_INIT;
	ck_assert_int_eq(bt_bench_run(&run, &here, &err), 0);
	ck_assert_int_eq(bt_bench_run_in_child(&run, &there, &err), 0);
	ck_assert_uint_eq(here.decisions, there.decisions);
	ck_assert_uint_eq(there.scheduled_count, 7);
	run.path = "/nowhere/workload.jsonl";
	ck_assert_int_eq(bt_bench_run_in_child(&run, &there, &err), BERTH_ERR_IO);
	ck_assert_msg(bt_str_find(bt_str_from(berth_error_message(&err)),
			      BT_STR("/nowhere/workload.jsonl")) >= 0,
		"%s", berth_error_message(&err));
	berth_error_finish(&err);
	ck_assert_uint_eq(there.scheduled_count, 7); /* a failed run does not change the result */
}
END_TEST

/** --- templates --- */

static struct bt_bench_template *template_of(const char *text)
{
	struct bt_bench_template *made = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	int result = bt_bench_template_from_text("t.yaml", bt_str_from(text), &made, &err);
	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
	return made;
}

static struct bt_object *make(struct bt_bench_template *template_, uint64_t index, uint64_t serial)
{
	const struct bt_bench_stamp stamp = {
		.index = index, .count = 12, .serial = serial, .namespace_ = BT_STR("team")};
	struct bt_object *object = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	int result = bt_bench_template_make(template_, &stamp, &object, &err);
	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
	return object;
}

START_TEST(test_bench_template__numbers_and_defaults)
{
	struct bt_bench_template *made = template_of(
		"apiVersion: v1\nkind: Pod\nmetadata:\n  name: p-{{.Index}}-{{  .Index }}\n"
		"spec: {priority: {{.Index}}, containers: [{name: c, resources: {limits: {cpu: "
		"2}}}]}");
	for (uint32_t i = 0; i < 12; i += 11) {
		struct bt_object *object = make(made, i, 40 + i);
		const struct bt_pod *pod = bt_object_value(object, BT_KIND_POD);
		ck_assert(bt_str_equal_c(pod->metadata.name, i == 0 ? "p-0-0" : "p-11-11"));
		ck_assert(bt_str_equal_c(pod->metadata.namespace_, "team"));
		ck_assert(bt_str_equal_c(pod->spec.scheduler_name, "default-scheduler"));
		ck_assert_int_eq(pod->spec.priority.value, (int32_t)i);
		ck_assert_uint_eq(pod->spec.containers.items[0].resources.requests.count, 1);
		ck_assert_uint_ne(pod->metadata.uid.length, 0);
		bt_object_release(object);
	}
	bt_bench_template_destroy(made);
}
END_TEST

START_TEST(test_bench_template__generated_names)
{
	struct bt_bench_template *made = template_of(
		"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"generateName\":\"n-\"},"
		"\"status\":{\"capacity\":{\"cpu\":\"3\"}}}");
	struct bt_object *first = make(made, 0, 1);
	struct bt_object *second = make(made, 0, 2);
	const struct bt_node *node = bt_object_value(first, BT_KIND_NODE);
	ck_assert(bt_str_equal_c(node->metadata.name, "n-00001"));
	ck_assert_uint_eq(node->metadata.namespace_.length, 0);
	ck_assert_uint_eq(node->status.allocatable.count, 1);
	ck_assert(!bt_str_equal(first->meta->name, second->meta->name));
	ck_assert(!bt_str_equal(first->meta->uid, second->meta->uid));
	bt_object_release(first);
	bt_object_release(second);
	bt_bench_template_destroy(made);
}
END_TEST

START_TEST(test_bench_template__trimmed_actions_and_any_case)
{
	struct bt_bench_template *made = template_of(
		"{{- /* nothing */ -}}\n apiversion: v1\nKIND: Pod\nMetaData:\n"
		"  Name: p- {{- .Count -}}\n   -{{.Index}}\n  labels: {App: a}\n"
		"SPEC: {NodeSelector: {Disk: ssd}, initcontainers: [{NAME: i}], containers:\n"
		"  [{name: c, Resources: {REQUESTS: {cpu: 2}}}]}\n");
	for (uint32_t i = 0; i < 2; i++) {
		struct bt_object *object = make(made, i, i + 1);
		const struct bt_pod *pod = bt_object_value(object, BT_KIND_POD);
		ck_assert(bt_str_equal_c(pod->metadata.name, i == 0 ? "p-12-0" : "p-12-1"));
		ck_assert(bt_str_equal_c(pod->metadata.labels.items[0].key, "App"));
		ck_assert(bt_str_equal_c(pod->spec.node_selector.items[0].key, "Disk"));
		ck_assert(bt_str_equal_c(pod->spec.init_containers.items[0].name, "i"));
		ck_assert_uint_eq(pod->spec.containers.items[0].resources.requests.count, 1);
		bt_object_release(object);
	}
	bt_bench_template_destroy(made);
}
END_TEST

START_TEST(test_bench_template__errors)
{
	static const struct {
		const char *text;
		const char *message;
	} rows[] = {
		{"{{.Name}}", "t.yaml: template action {{.Name}} is not known, only {{.Index}}"},
		{"{{}}", "t.yaml: template action {{}} is not known, only {{.Index}}"},
		{"{{-}}", "t.yaml: template action {{-}} is not known"},
		{"{{- -}}", "t.yaml: template action {{"},
		{"{{/*}}", "t.yaml: template action {{/*}} is not known"},
		{"x {{.Index}", "t.yaml: template action without its end"},
		{"{{ range }}{{.Index}}", "t.yaml: template action {{ range }} is not known"},
		{"a: [", "t.yaml: yaml: line"},
		{"", "t.yaml: "},
		{"kind: Thing\napiVersion: v1\n", "t.yaml: "},
		{"apiVersion: v1\nkind: Node\n", "t.yaml: metadata: neither name nor generateName"},
	};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_bench_template *made = NULL;
		struct bt_object *object = NULL;
		const struct bt_bench_stamp stamp = {.serial = 1};
		struct berth_error err = BERTH_ERROR_INIT;
		int result = bt_bench_template_from_text(
			"t.yaml", bt_str_from(rows[i].text), &made, &err);
		if (result == 0) {
			result = bt_bench_template_make(made, &stamp, &object, &err);
		}
		ck_assert_msg(result < 0, "row %u", i);
		ck_assert_msg(bt_str_has_prefix(bt_str_from(berth_error_message(&err)),
				      bt_str_from(rows[i].message)),
			"row %u: %s", i, berth_error_message(&err));
		berth_error_finish(&err);
		bt_bench_template_destroy(made);
	}
}
END_TEST

/** --- the living scheduler --- */

static void add(struct bt_living *living, const char *json)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_strbuf text = {0};
	bt_strbuf_append_c(&text, json);
	int result = bt_living_add(living, decode(&text), &err);
	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
	bt_strbuf_finish(&text);
}

static enum bt_attempt_outcome step(struct bt_living *living, struct bt_attempt *out_attempt)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int result = bt_living_step(living, out_attempt, &err);
	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
	return out_attempt->outcome;
}

#define NODE \
	"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\",\"uid\":\"n\"}," \
	"\"status\":{\"allocatable\":{\"cpu\":\"1\",\"pods\":\"9\"}}}"
#define POD(name, priority) \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name \
	"\",\"namespace\":\"d\",\"uid\":\"" name \
	"\"},\"spec\":{\"schedulerName\":\"default-scheduler\",\"priority\":" priority \
	",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}"

/**
 * The living scheduler observes its own writes: a bound pod is known, a victim is removed, and the
 * preemptor takes the victim's place.
 */
START_TEST(test_bench_living__carries_out_what_is_written)
{
	struct bt_setup setup = BT_SETUP_INIT;
	struct bt_living living;
	struct bt_attempt attempt;
	struct berth_error err = BERTH_ERROR_INIT;
	setup.verify = true;
	ck_assert_int_eq(bt_living_init(&living, &setup, &err), 0);
	ck_assert_int_eq(step(&living, &attempt), BT_ATTEMPT_IDLE);
	add(&living, NODE);
	add(&living, POD("small", "0"));
	ck_assert_int_eq(step(&living, &attempt), BT_ATTEMPT_BOUND);
	ck_assert(bt_str_equal_c(attempt.node_name, "n"));
	struct bt_object *small =
		bt_scheduler_find_pod(living.scheduler, BT_STR("d"), BT_STR("small"));
	const struct bt_pod *known = bt_object_value(small, BT_KIND_POD);
	ck_assert(bt_str_equal_c(known->spec.node_name, "n"));
	add(&living, POD("great", "5"));
	ck_assert_int_eq(step(&living, &attempt), BT_ATTEMPT_FAILED);
	ck_assert_uint_eq(living.victim_count, 1);
	ck_assert_ptr_null(bt_scheduler_find_pod(living.scheduler, BT_STR("d"), BT_STR("small")));
	for (uint32_t i = 0; i < 30 && step(&living, &attempt) != BT_ATTEMPT_BOUND; i++) {
		bt_living_pass(&living, BT_NS_PER_SECOND);
	}
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_BOUND);
	ck_assert(bt_str_equal_c(attempt.name, "great"));
	ck_assert_uint_eq(living.bound_count, 2);
	bt_living_finish(&living);
}
END_TEST

BT_TEST_MAIN("bench", test_bench_source__every_object_can_be_read,
	test_bench_source__order_does_not_matter, test_bench_source__services, test_bench__digest,
	test_bench__compare, test_bench__child_decides_alike,
	test_bench_template__numbers_and_defaults, test_bench_template__generated_names,
	test_bench_template__trimmed_actions_and_any_case, test_bench_template__errors,
	test_bench_living__carries_out_what_is_written)
