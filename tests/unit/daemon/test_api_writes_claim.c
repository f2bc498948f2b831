/* SPDX-License-Identifier: Apache-2.0 */
/* Writes of DynamicResources: spec 12 sections 12 to 15, 13 section 14.7. */
#include <string.h>

#include "api/resource_claim.h"
#include "daemon/complete_object.h"
#include "test_main.h"
#include "writes_world.h"

#define CLAIMS "/apis/resource.k8s.io/v1/namespaces/wire/resourceclaims"

/**
 * The claim as the API has it, with fields that our structures lack ("ofTheFuture", driver data).
 */
#define METADATA(version, finalizers) \
	"\"metadata\":{\"name\":\"rc1\",\"namespace\":\"wire\",\"uid\":\"urc\"," \
	"\"resourceVersion\":\"" version "\",\"creationTimestamp\":\"2026-01-02T03:04:05Z\"," \
	"\"selfMade\":\"<yes>\"" finalizers "}"
#define SPEC \
	"\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\",\"ofTheFuture\":1,\"exactly\":{" \
	"\"deviceClassName\":\"gpu\",\"allocationMode\":\"ExactCount\",\"count\":1}}]}}"
#define HEAD "{\"kind\":\"ResourceClaim\",\"apiVersion\":\"resource.k8s.io/v1\","
#define FINALIZERS ",\"finalizers\":[\"resource.kubernetes.io/delete-protection\"]"
/** Go's JSON encoder writes < and > as \u003c and \u003e. */
#define METADATA_SENT(version, finalizers) \
	"\"metadata\":{\"name\":\"rc1\",\"namespace\":\"wire\",\"uid\":\"urc\"," \
	"\"resourceVersion\":\"" version "\",\"creationTimestamp\":\"2026-01-02T03:04:05Z\"," \
	"\"selfMade\":\"\\u003cyes\\u003e\"" finalizers "}"

static const char fresh[] = HEAD METADATA("7", "") "," SPEC ",\"status\":{}}";
static const char finalized[] = HEAD METADATA("8", FINALIZERS) "," SPEC ",\"status\":{}}";
static const char shared[] = HEAD METADATA("9",
	FINALIZERS) "," SPEC ",\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":"
		    "\"r\",\"driver\":\"d\","
		    "\"pool\":\"p\",\"device\":\"g0\",\"ofTheFuture\":true}]}},"
		    "\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"other\",\"uid\":\"uo\"}],"
		    "\"devices\":[{\"driver\":\"d\",\"pool\":\"p\",\"device\":\"g0\",\"data\":{"
		    "\"a\":[1.50]}}]}}";

static const struct bt_pod_info pod = {
	.uid = BT_STR_INIT("udr"), .namespace_ = BT_STR_INIT("wire"), .name = BT_STR_INIT("dr")};

struct claim_world {
	struct writes_world world;
	struct script script;
	const struct bt_claim_writer *writer;
	struct berth_error err;
	struct bt_object *answer;
};

static void init(struct claim_world *claims)
{
	struct writes_world_options options = {
		.answer = writes_world_answer_by_script, .context = &claims->script};
	claims->err = (struct berth_error)BERTH_ERROR_INIT;
	claims->answer = NULL;
	writes_world_init(&claims->world, &options);
	claims->writer = bt_api_writes_writer(claims->world.writes)->claims;
}

static void finish(struct claim_world *claims)
{
	bt_object_release(claims->answer);
	berth_error_finish(&claims->err);
	writes_world_finish(&claims->world);
}

static struct bt_object *decoded(const char *json)
{
	struct bt_object *object = NULL;
	ck_assert_int_eq(
		bt_complete_object_decode(BT_KIND_RESOURCE_CLAIM, bt_str_from(json), &object, NULL),
		0);
	return object;
}

static struct bt_resource_claim copy_of(const struct bt_object *base)
{
	return *(const struct bt_resource_claim *)bt_object_value(base, BT_KIND_RESOURCE_CLAIM);
}

/**
 * Calls the writer once; returns 0, an error, or BT_WRITE_PENDING. status: update the status
 * instead of the object; must_end: the write must end within the call.
 */
static int put(struct claim_world *claims, bool status, const struct bt_object *base,
	const struct bt_resource_claim *claim, bool must_end)
{
	const struct bt_claim_writer *writer = claims->writer;
	bt_object_release(claims->answer);
	claims->answer = NULL;
	berth_error_finish(&claims->err);
	return writer->write(writer->context, &pod,
		status ? BT_CLAIM_WRITE_STATUS : BT_CLAIM_WRITE_FINALIZERS, base, claim, must_end,
		&claims->answer, &claims->err);
}

/** Turns the loop until no request is in flight. */
static void turn(struct claim_world *claims)
{
	struct bt_attempt attempt;
	do {
		writes_world_turn(&claims->world, &attempt);
	} while (bt_api_writes_in_flight(claims->world.writes) != 0);
	bt_api_writes_deliver(claims->world.writes);
}

static int put_to_the_end(struct claim_world *claims, bool status, const struct bt_object *base,
	const struct bt_resource_claim *claim)
{
	ck_assert_int_eq(put(claims, status, base, claim, false), BT_WRITE_PENDING);
	turn(claims);
	return put(claims, status, base, claim, false);
}

static struct bt_str finalizer = BT_STR_INIT("resource.kubernetes.io/delete-protection");

static void add_finalizer(struct bt_resource_claim *claim)
{
	claim->metadata.finalizers.items = &finalizer;
	claim->metadata.finalizers.count = 1;
}

static struct scripted_answer ok(const char *body)
{
	return (struct scripted_answer){.code = 200, .body = bt_str_from(body)};
}

START_TEST(test_api_writes_claim__finalizer_then_status)
{
	struct claim_world claims = {.script = {{{"PUT " CLAIMS "/rc1/status", 1, ok(shared)},
							{"PUT " CLAIMS "/rc1", 1, ok(finalized)}},
					     2}};
	struct bt_object *base = decoded(fresh);
	struct bt_resource_claim claim = copy_of(base);
	init(&claims);
	add_finalizer(&claim);
	ck_assert_int_eq(put_to_the_end(&claims, false, base, &claim), 0);
	ck_assert_str_eq(writes_world_log(&claims.world),
		"PUT " CLAIMS "/rc1\n" HEAD METADATA_SENT("7", FINALIZERS) "," SPEC
									   ",\"status\":{}}\n");
	/* The next write starts from the object of the answer. */
	struct bt_object *answer = claims.answer;
	claims.answer = NULL;
	claim = copy_of(answer);
	ck_assert(bt_str_equal_c(claim.metadata.resource_version, "8"));
	struct bt_device_request_allocation_result device = {.request = BT_STR("r"),
		.driver = BT_STR("d"),
		.pool = BT_STR("p"),
		.device = BT_STR("g0")};
	struct bt_allocation_result allocation = {
		.devices = {.results = {.items = &device, .count = 1}}};
	struct bt_resource_claim_consumer_reference consumer = {
		.resource = BT_STR("pods"), .name = BT_STR("dr"), .uid = BT_STR("udr")};
	claim.status.allocation = &allocation;
	claim.status.reserved_for.items = &consumer;
	claim.status.reserved_for.count = 1;
	ck_assert_int_eq(put_to_the_end(&claims, true, answer, &claim), 0);
	ck_assert_str_eq(writes_world_log(&claims.world),
		"PUT " CLAIMS "/rc1/status\n" HEAD METADATA_SENT("8",
			FINALIZERS) "," SPEC ",\"status\":{\"allocation\":{\"devices\":{"
				    "\"results\":[{\"request\":\"r\","
				    "\"driver\":\"d\",\"pool\":\"p\",\"device\":\"g0\"}]}},"
				    "\"reservedFor\":[{"
				    "\"resource\":\"pods\",\"name\":\"dr\",\"uid\":\"udr\"}]}}\n");
	ck_assert(bt_str_equal_c(claims.answer->meta->resource_version, "9"));
	bt_object_release(answer);
	bt_object_release(base);
	finish(&claims);
}
END_TEST

/* The claim has other users: their reservations and the driver's data stay unchanged. */
START_TEST(test_api_writes_claim__unknown_fields_survive)
{
	struct claim_world claims = {.script = {{{"PUT", 1, ok(shared)}}, 1}};
	struct bt_object *base = decoded(shared);
	struct bt_resource_claim claim = copy_of(base);
	struct bt_resource_claim_consumer_reference consumers[2] = {
		claim.status.reserved_for.items[0],
		{.resource = BT_STR("pods"), .name = BT_STR("dr"), .uid = BT_STR("udr")},
	};
	init(&claims);
	claim.status.reserved_for.items = consumers;
	claim.status.reserved_for.count = 2;
	ck_assert_int_eq(put_to_the_end(&claims, true, base, &claim), 0);
	ck_assert_str_eq(writes_world_log(&claims.world),
		"PUT " CLAIMS "/rc1/status\n" HEAD METADATA_SENT(
			"9", FINALIZERS) "," SPEC ",\"status\":{\"allocation\":{\"devices\":{"
					 "\"results\":[{\"request\":\"r\","
					 "\"driver\":\"d\",\"pool\":\"p\",\"device\":\"g0\","
					 "\"ofTheFuture\":true}]}},"
					 "\"reservedFor\":[{\"resource\":\"pods\",\"name\":"
					 "\"other\",\"uid\":\"uo\"},"
					 "{\"resource\":\"pods\",\"name\":\"dr\",\"uid\":\"udr\"}],"
					 "\"devices\":[{"
					 "\"driver\":\"d\",\"pool\":\"p\",\"device\":\"g0\","
					 "\"data\":{\"a\":[1.50]}}]}}\n");
	bt_object_release(base);
	finish(&claims);
}
END_TEST

/* PostFilter is not called again, so the write must end within the call. */
START_TEST(test_api_writes_claim__deallocation_is_waited_for)
{
	struct claim_world claims = {.script = {{{"PUT", 1, ok(finalized)}}, 1}};
	struct bt_object *base = decoded(shared);
	struct bt_resource_claim claim = copy_of(base);
	init(&claims);
	claim.status = (struct bt_resource_claim_status){.allocation = NULL};
	ck_assert_int_eq(put(&claims, true, base, &claim, true), 0);
	ck_assert_str_eq(writes_world_log(&claims.world),
		"PUT " CLAIMS
		"/rc1/status\n" HEAD METADATA_SENT("9", FINALIZERS) "," SPEC ",\"status\":{}}\n");
	bt_object_release(base);
	finish(&claims);
}
END_TEST

START_TEST(test_api_writes_claim__edge_11b_42_conflict_and_reading_again)
{
	struct claim_world claims = {
		.script = {{{"PUT", 1, STATUS(409, "Conflict", "the object has been modified")},
				   {"GET", 1, ok(finalized)}},
			2}};
	struct bt_object *base = decoded(fresh);
	struct bt_resource_claim claim = copy_of(base);
	struct bt_str name = BT_STR("rc1");
	init(&claims);
	const struct bt_claim_writer *writer = claims.writer;
	add_finalizer(&claim);
	ck_assert_int_eq(put_to_the_end(&claims, false, base, &claim), BT_WRITE_CONFLICT);
	ck_assert_str_eq(berth_error_message(&claims.err), "the object has been modified");
	(void)writes_world_log(&claims.world);
	berth_error_finish(&claims.err);
	ck_assert_int_eq(writer->get(writer->context, &pod, BT_STR("wire"), name, false,
				 &claims.answer, &claims.err),
		BT_WRITE_PENDING);
	turn(&claims);
	ck_assert_int_eq(writer->get(writer->context, &pod, BT_STR("wire"), name, false,
				 &claims.answer, &claims.err),
		0);
	ck_assert_str_eq(writes_world_log(&claims.world), "GET " CLAIMS "/rc1\n");
	ck_assert(bt_str_equal_c(claims.answer->meta->resource_version, "8"));
	bt_object_release(base);
	finish(&claims);
}
END_TEST

START_TEST(test_api_writes_claim__errors)
{
	static const struct {
		struct scripted_answer answer;
		int result;
		const char *text;
	} rows[] = {
		{STATUS(404, "NotFound", "no such claim"), BERTH_ERR_NOT_FOUND, "no such claim"},
		{STATUS(409, "AlreadyExists", "there is one"), BERTH_ERR_EXISTS, "there is one"},
		{STATUS(403, "Forbidden", "no"), BERTH_ERR_INTERNAL, "no"},
		{{.code = 200, .body = BT_STR_INIT("{\"metadata\":[]}")}, BERTH_ERR_INVALID, ""},
		{{.code = 200, .body = BT_STR_INIT("k8s")}, BERTH_ERR_SYNTAX, ""},
	};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct claim_world claims = {.script = {{{"PUT", 1, rows[i].answer}}, 1}};
		struct bt_object *base = decoded(fresh);
		struct bt_resource_claim claim = copy_of(base);
		init(&claims);
		int result = put_to_the_end(&claims, true, base, &claim);
		ck_assert_msg(result == rows[i].result, "row %u: %d %s", i, result,
			berth_error_message(&claims.err));
		ck_assert(rows[i].text[0] == '\0' ||
			strcmp(berth_error_message(&claims.err), rows[i].text) == 0);
		ck_assert_ptr_null(claims.answer);
		bt_object_release(base);
		finish(&claims);
	}
}
END_TEST

/* A new write must not take the answer to the write of an earlier attempt. */
START_TEST(test_api_writes_claim__other_arguments_are_another_call)
{
	struct claim_world claims = {
		.script = {{{"PUT", 1, {.hangs = true}}, {"PUT", 1, ok(finalized)}}, 2}};
	struct bt_object *base = decoded(fresh);
	struct bt_resource_claim first = copy_of(base);
	struct bt_resource_claim second = copy_of(base);
	struct bt_attempt attempt;
	init(&claims);
	add_finalizer(&first);
	ck_assert_int_eq(put(&claims, false, base, &first, false), BT_WRITE_PENDING);
	while (claims.world.server.request_count == 0) {
		writes_world_turn(&claims.world, &attempt);
	}
	ck_assert_int_eq(put(&claims, false, base, &second, false), BT_WRITE_PENDING);
	ck_assert_uint_eq(bt_api_writes_in_flight(claims.world.writes), 2);
	struct scripted_answer late = ok(shared);
	scripted_server_answer_hanging(&claims.world.server, &late);
	turn(&claims);
	ck_assert_int_eq(put(&claims, false, base, &second, false), 0);
	ck_assert(bt_str_equal_c(claims.answer->meta->resource_version, "8"));
	/* A superseded write that was not sent yet is never sent. */
	claims.script.rows[0].times = 1;
	(void)writes_world_log(&claims.world);
	ck_assert_int_eq(put(&claims, true, base, &first, false), BT_WRITE_PENDING);
	ck_assert_int_eq(put(&claims, false, base, &first, false), BT_WRITE_PENDING);
	ck_assert_int_eq(put(&claims, false, base, &second, false), BT_WRITE_PENDING);
	ck_assert_uint_eq(bt_api_writes_in_flight(claims.world.writes), 2);
	bt_object_release(base);
	finish(&claims);
}
END_TEST

START_TEST(test_api_writes_claim__answer_without_waiter_is_dropped)
{
	struct claim_world claims = {.script = {{{"PUT", 1, ok(finalized)}}, 1}};
	struct bt_object *base = decoded(fresh);
	struct bt_resource_claim claim = copy_of(base);
	init(&claims);
	ck_assert_int_eq(put(&claims, false, base, &claim, false), BT_WRITE_PENDING);
	turn(&claims);
	const struct bt_scheduler_writer *writer = bt_api_writes_writer(claims.world.writes);
	ck_assert(writer->may_schedule(writer->context));
	ck_assert_int_eq(put(&claims, false, base, &claim, false), BT_WRITE_PENDING);
	bt_object_release(base);
	finish(&claims);
}
END_TEST

START_TEST(test_api_writes_claim__special_claim_comes_and_goes)
{
	struct claim_world claims = {.script = {{{"POST", 1, ok(fresh)}}, 1}};
	struct bt_owner_reference owner = {.api_version = BT_STR("v1"),
		.kind = BT_STR("Pod"),
		.name = BT_STR("ext"),
		.uid = BT_STR("ue"),
		.controller = {true, true}};
	struct bt_resource_claim claim = {
		.metadata = {.generate_name = BT_STR("ext-extended-resources-"),
			.namespace_ = BT_STR("wire"),
			.owner_references = {.items = &owner, .count = 1}}};
	init(&claims);
	const struct bt_claim_writer *writer = claims.writer;
	ck_assert_int_eq(writer->write(writer->context, &pod, BT_CLAIM_WRITE_NEW, NULL, &claim,
				 false, &claims.answer, &claims.err),
		BT_WRITE_PENDING);
	turn(&claims);
	ck_assert_int_eq(writer->write(writer->context, &pod, BT_CLAIM_WRITE_NEW, NULL, &claim,
				 false, &claims.answer, &claims.err),
		0);
	ck_assert_str_eq(writes_world_log(&claims.world),
		"POST " CLAIMS "\n" HEAD
		"\"metadata\":{\"generateName\":\"ext-extended-resources-\",\"namespace\":"
		"\"wire\",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":"
		"\"ext\",\"uid\":\"ue\",\"controller\":true}]},\"spec\":{\"devices\":{}},"
		"\"status\":{}}\n");
	ck_assert(bt_str_equal_c(claims.answer->meta->name, "rc1"));
	claim = copy_of(claims.answer);
	ck_assert_int_eq(writer->remove(writer->context, &pod, &claim, true, &claims.err), 0);
	ck_assert_str_eq(writes_world_log(&claims.world),
		"DELETE " CLAIMS "/rc1\n{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\","
		"\"preconditions\":{\"uid\":\"urc\"}}\n");
	finish(&claims);
}
END_TEST

START_TEST(test_api_writes_claim__unreserve)
{
	struct claim_world claims = {
		.script = {{{"PATCH", 1, STATUS(500, "InternalError", "x")}}, 1}};
	struct bt_object *base = decoded(shared);
	struct bt_resource_claim claim = copy_of(base);
	init(&claims);
	claims.writer->unreserve(claims.writer->context, &pod, &claim, pod.uid);
	turn(&claims);
	/* The write is not repeated, and no caller waits for it. */
	ck_assert_str_eq(writes_world_log(&claims.world),
		"PATCH " CLAIMS "/rc1/status\n{\"metadata\": {\"uid\": \"urc\"}, \"status\": { "
		"\"reservedFor\": [ {\"$patch\": \"delete\", \"uid\": \"udr\"} ] }}\n");
	bt_object_release(base);
	finish(&claims);
}
END_TEST

START_TEST(test_api_writes_claim__pod_status)
{
	struct bt_resource_entry cpu = {
		BT_STR("cpu"), bt_quantity_make(2, 0, BT_QUANTITY_DECIMAL_SI)};
	struct bt_container_extended_resource_request mapping = {.container_name = BT_STR("c"),
		.resource_name = BT_STR("example.com/gpu"),
		.request_name = BT_STR("container-0-request-0")};
	struct bt_pod_extended_resource_claim_status extended = {
		.request_mappings = {.items = &mapping, .count = 1},
		.resource_claim_name = BT_STR("ext-extended-resources-htl94")};
	struct bt_pod_extended_resource_claim_status renamed = {
		.request_mappings = {.items = &mapping, .count = 1},
		.resource_claim_name = BT_STR("other")};
	struct bt_node_allocatable_claim_status allocatable = {
		.resource_claim_name = BT_STR("rc1"), .resources = {.items = &cpu, .count = 1}};
	const struct {
		struct bt_pod_status before;
		struct bt_pod_status after;
		const char *sent; /* NULL: no request */
	} rows[] = {
		{{.phase = BT_STR("Pending")}, {.phase = BT_STR("Running")}, NULL},
		{{.phase = BT_STR("Pending")}, {.extended_resource_claim_status = &extended},
			"{\"status\":{\"extendedResourceClaimStatus\":{\"requestMappings\":[{"
			"\"containerName\":\"c\",\"requestName\":\"container-0-request-0\","
			"\"resourceName\":\"example.com/gpu\"}],\"resourceClaimName\":"
			"\"ext-extended-resources-htl94\"}}}"},
		{{.extended_resource_claim_status = &extended},
			{.extended_resource_claim_status = &renamed},
			"{\"status\":{\"extendedResourceClaimStatus\":{\"resourceClaimName\":"
			"\"other\"}}}"},
		{{.extended_resource_claim_status = &extended}, {.phase = BT_STR("")},
			"{\"status\":{\"extendedResourceClaimStatus\":null}}"},
		{{.phase = BT_STR("")},
			{.node_allocatable_resource_claim_statuses = {.items = &allocatable,
				 .count = 1}},
			"{\"status\":{\"nodeAllocatableResourceClaimStatuses\":[{"
			"\"resourceClaimName\":\"rc1\",\"resources\":{\"cpu\":\"2\"}}]}}"},
		{{.node_allocatable_resource_claim_statuses = {.items = &allocatable, .count = 1}},
			{.phase = BT_STR("")},
			"{\"status\":{\"nodeAllocatableResourceClaimStatuses\":null}}"},
	};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct claim_world claims = {.script = {{{0}}, 0}};
		char expected[512] = "";
		init(&claims);
		const struct bt_claim_writer *writer = claims.writer;
		int result = writer->patch_pod_status(
			writer->context, &pod, &rows[i].before, &rows[i].after, false, &claims.err);
		if (rows[i].sent != NULL) {
			ck_assert_int_eq(result, BT_WRITE_PENDING);
			turn(&claims);
			result = writer->patch_pod_status(writer->context, &pod, &rows[i].before,
				&rows[i].after, false, &claims.err);
			(void)snprintf(expected, sizeof(expected),
				"PATCH /api/v1/namespaces/wire/pods/dr/status\n%s\n", rows[i].sent);
		}
		ck_assert_int_eq(result, 0);
		ck_assert_str_eq(writes_world_log(&claims.world), expected);
		finish(&claims);
	}
}
END_TEST

START_TEST(test_api_writes_claim__nothing_is_written_without_the_lease)
{
	struct claim_world claims = {.script = {{{0}}, 0}};
	struct bt_object *base = decoded(fresh);
	struct bt_resource_claim claim = copy_of(base);
	init(&claims);
	claims.world.may_write = false;
	ck_assert_int_eq(put(&claims, true, base, &claim, false), BERTH_ERR_STATE);
	claims.writer->unreserve(claims.writer->context, &pod, &claim, pod.uid);
	turn(&claims);
	ck_assert_str_eq(writes_world_log(&claims.world), "");
	bt_object_release(base);
	finish(&claims);
}
END_TEST

BT_TEST_MAIN("api_writes_claim", test_api_writes_claim__finalizer_then_status,
	test_api_writes_claim__unknown_fields_survive,
	test_api_writes_claim__deallocation_is_waited_for,
	test_api_writes_claim__edge_11b_42_conflict_and_reading_again,
	test_api_writes_claim__errors, test_api_writes_claim__other_arguments_are_another_call,
	test_api_writes_claim__answer_without_waiter_is_dropped,
	test_api_writes_claim__special_claim_comes_and_goes, test_api_writes_claim__unreserve,
	test_api_writes_claim__pod_status,
	test_api_writes_claim__nothing_is_written_without_the_lease)
