/* SPDX-License-Identifier: Apache-2.0 */
/* Server-side apply and the ownership of fields. Spec: 14 section 12.5. */
#include "schema/apply.h"

#include "sample_schema.h"
#include "schema/field_set.h"
#include "test_main.h"

static struct bt_json_value *parsed(struct bt_arena *arena, const char *text)
{
	struct bt_json_value *value = NULL;
	ck_assert_msg(bt_json_parse(arena, bt_str_from(text), true, &value, NULL) == 0, "%s", text);
	return value;
}

static const char *written(struct bt_arena *arena, const struct bt_json_value *value)
{
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, &text, 0);
	bt_json_write_value(&writer, value);
	struct bt_str copy = bt_arena_str(arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return copy.data;
}

static struct bt_apply_writer writer_of(const char *manager)
{
	return (struct bt_apply_writer){.message = &sample_pod,
		.manager = bt_str_from(manager),
		.api_version = BT_STR("apps/v1"),
		.kind = BT_STR("Pod"),
		.subresource = BT_STR(""),
		.time = BT_STR("2026-11-21T00:00:00Z"),
		.ignored_member = "status"};
}

/** Returns the fields of a manager as text; "": none. */
static const char *fields_of(struct bt_arena *arena, const struct bt_json_value *object,
	const char *manager, const char *operation)
{
	const struct bt_json_value *entries = bt_json_array_at(object, "metadata.managedFields");
	for (uint32_t i = 0; i < entries->count; i++) {
		const struct bt_json_value *entry = entries->elements[i];
		if (bt_str_equal_c(bt_json_text_at(entry, "manager"), manager) &&
			bt_str_equal_c(bt_json_text_at(entry, "operation"), operation)) {
			return written(arena, bt_json_find(entry, "fieldsV1"));
		}
	}
	return "";
}

/** Returns the object without managedFields. */
static const char *content_of(struct bt_arena *arena, const struct bt_json_value *object)
{
	struct bt_json_value *copy = bt_json_clone(arena, object, false);
	(void)bt_json_remove_c(bt_json_find(copy, "metadata"), "managedFields");
	return written(arena, copy);
}

static struct bt_json_value *applied(struct bt_arena *arena, const char *manager, bool force,
	const struct bt_json_value *live, const char *text)
{
	struct bt_apply_writer writer = writer_of(manager);
	struct bt_apply_conflicts conflicts = {.count = 0};
	struct bt_json_value *object = NULL;
	int result = bt_apply(
		arena, &writer, force, live, parsed(arena, text), &object, &conflicts, NULL);
	ck_assert_msg(result == 0, "%s: %d %.*s", text, result, BT_STR_ARG(conflicts.text));
	return object;
}

START_TEST(test_apply__field_sets_travel)
{
	static const char *const rows[] = {
		"{}",
		"{\"f:metadata\":{\"f:labels\":{\".\":{},\"f:a\":{}}}}",
		("{\"f:spec\":{\"f:containers\":{\"k:{\\\"name\\\":\\\"x\\\"}\":{\".\":{},"
		 "\"f:image\":{}}}}}"),
		"{\"f:metadata\":{\"f:finalizers\":{\"v:\\\"a/b\\\"\":{}}}}",
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bt_arena arena = {0};
		const struct bt_field_set *set =
			bt_field_set_parse(&arena, parsed(&arena, rows[i]));
		ck_assert_str_eq(written(&arena, bt_field_set_format(&arena, set)), rows[i]);
		bt_arena_finish(&arena);
	}
	struct bt_arena arena = {0};
	/* other spellings of a key, other orders, and malformed entries */
	const struct bt_field_set *set = bt_field_set_parse(&arena,
		parsed(&arena,
			"{\"k:{ \\\"b\\\":1, "
			"\\\"a\\\":2}\":{},\"k:{\\\"a\\\":2,\\\"b\\\":1}\":{\"f:x\":{}},"
			"\"f:b\":{},\"f:a\":{},\"q:a\":{},\"x\":{},\"k:{\":{},\"v:{}}\":{},\"f:n\":"
			"1}"));
	ck_assert_str_eq(written(&arena, bt_field_set_format(&arena, set)),
		"{\"f:a\":{},\"f:b\":{},\"k:{\\\"a\\\":2,\\\"b\\\":1}\":{\".\":{},\"f:x\":{}}}");
	struct bt_json_value *paths = bt_json_new(&arena, BT_JSON_ARRAY);
	ck_assert_uint_eq(bt_field_set_paths(&arena, set, 3, paths), 4);
	ck_assert_str_eq(written(&arena, paths), "[\".a\",\".b\",\"[a=2,b=1]\"]");
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_apply__creates_and_owns)
{
	struct bt_arena arena = {0};
	struct bt_json_value *object = applied(&arena, "me", false, NULL,
		"{\"apiVersion\":\"apps/"
		"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"labels\":{\"a\":\"1\"},"
		"\"finalizers\":[\"x/"
		"y\"]},\"spec\":{\"replicas\":1,\"selector\":{\"a\":\"1\"},\"containers\":[{"
		"\"name\":\"c\","
		"\"command\":[\"x\"],\"ports\":[{\"containerPort\":80}]}]},\"status\":{\"a\":1}}");
	ck_assert_str_eq(written(&arena, bt_json_find_path(object, "metadata.managedFields")),
		"[{\"manager\":\"me\",\"operation\":\"Apply\",\"apiVersion\":\"apps/v1\","
		"\"time\":\"2026-11-21T00:00:00Z\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":"
		"{\"f:metadata\":{\"f:finalizers\":{\"v:\\\"x/"
		"y\\\"\":{}},\"f:labels\":{\"f:a\":{}}},"
		"\"f:spec\":{\"f:containers\":{\"k:{\\\"name\\\":\\\"c\\\"}\":{\".\":{},\"f:"
		"command\":{},\"f:name\":{},"
		"\"f:ports\":{\"k:{\\\"containerPort\\\":80,\\\"protocol\\\":\\\"TCP\\\"}\":{\".\":"
		"{},"
		"\"f:containerPort\":{}}}}},\"f:replicas\":{},\"f:selector\":{}}}}]");
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_apply__merges_and_removes)
{
	struct bt_arena arena = {0};
	struct bt_json_value *object = applied(&arena, "a", false, NULL,
		"{\"metadata\":{\"name\":\"p\",\"labels\":{\"x\":\"1\",\"y\":\"1\"}},\"spec\":{"
		"\"containers\":["
		"{\"name\":\"c1\",\"image\":\"i\"},{\"name\":\"c2\",\"image\":\"i\"}]}}");
	/* manager b applies other fields than a, and one label that a applied, too */
	object = applied(&arena, "b", false, object,
		"{\"metadata\":{\"name\":\"p\",\"labels\":{\"y\":\"1\",\"z\":\"1\"}},\"spec\":{"
		"\"containers\":["
		"{\"name\":\"c2\",\"command\":[\"x\"]}]}}");
	ck_assert_str_eq(content_of(&arena, object),
		"{\"metadata\":{\"name\":\"p\",\"labels\":{\"x\":\"1\",\"y\":\"1\",\"z\":\"1\"}},"
		"\"spec\":{\"containers\":["
		"{\"name\":\"c1\",\"image\":\"i\"},{\"name\":\"c2\",\"image\":\"i\",\"command\":["
		"\"x\"]}]}}");
	/* manager a applies an object without fields: y and c2 stay, because manager b owns them */
	object = applied(&arena, "a", false, object, "{\"metadata\":{\"name\":\"p\"}}");
	ck_assert_str_eq(content_of(&arena, object),
		"{\"metadata\":{\"name\":\"p\",\"labels\":{\"y\":\"1\",\"z\":\"1\"}},\"spec\":{"
		"\"containers\":["
		"{\"name\":\"c2\",\"command\":[\"x\"]}]}}");
	ck_assert_str_eq(fields_of(&arena, object, "a", "Apply"), "");
	/* manager b applies an object without fields as well: nothing is left */
	object = applied(&arena, "b", false, object, "{\"metadata\":{\"name\":\"p\"}}");
	ck_assert_str_eq(content_of(&arena, object), "{\"metadata\":{\"name\":\"p\"}}");
	bt_arena_finish(&arena);
}
END_TEST

/*
 * Removing the chosen strategy removes its defaults; a map keeps the entries that no manager owns.
 */
START_TEST(test_apply__removal_and_fields_without_owner)
{
	struct bt_arena arena = {0};
	struct bt_json_value *object = applied(&arena, "a", false, NULL,
		"{\"metadata\":{\"name\":\"p\",\"annotations\":{\"a\":\"1\"}},"
		"\"spec\":{\"replicas\":1,\"strategy\":{\"rollingUpdate\":{\"maxSurge\":1}}}}");
	bt_json_set_c(&arena, bt_json_find_path(object, "metadata.annotations"), "b", "2");
	bt_json_set_int64(&arena, bt_json_find_path(object, "spec.strategy.rollingUpdate"),
		"maxUnavailable", 1);
	object = applied(&arena, "a", false, object,
		"{\"metadata\":{\"name\":\"p\"},\"spec\":{\"replicas\":1,\"strategy\":{\"type\":"
		"\"Recreate\"}}}");
	ck_assert_str_eq(content_of(&arena, object),
		"{\"metadata\":{\"name\":\"p\",\"annotations\":{\"b\":\"2\"}},"
		"\"spec\":{\"replicas\":1,\"strategy\":{\"type\":\"Recreate\"}}}");
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_apply__conflicts)
{
	struct bt_arena arena = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_apply_conflicts conflicts = {.count = 0};
	struct bt_json_value *object = NULL;
	struct bt_apply_writer me = writer_of("me");
	struct bt_json_value *live = applied(&arena, "me", false, NULL,
		"{\"metadata\":{\"name\":\"p\"},\"spec\":{\"replicas\":1,\"containers\":[{\"name\":"
		"\"c\",\"image\":\"i\"}]}}");
	/* another manager scales the object */
	struct bt_json_value *scaled = bt_json_clone(&arena, live, false);
	struct bt_apply_writer berth = writer_of("berth");
	berth.subresource = BT_STR("scale");
	bt_json_set_int64(&arena, bt_json_find(scaled, "spec"), "replicas", 3);
	bt_apply_record_update(&arena, &berth, live, scaled);
	ck_assert_str_eq(
		fields_of(&arena, scaled, "berth", "Update"), "{\"f:spec\":{\"f:replicas\":{}}}");
	struct bt_json_value *wanted = parsed(&arena,
		"{\"metadata\":{\"name\":\"p\"},\"spec\":{\"replicas\":1,\"containers\":[{\"name\":"
		"\"c\",\"image\":\"i\"}]}}");
	ck_assert_int_eq(bt_apply(&arena, &me, false, scaled, wanted, &object, &conflicts, &err),
		BERTH_ERR_STATE);
	ck_assert_str_eq(conflicts.text.data,
		"Apply failed with 1 conflict: conflict with \"berth\" with subresource \"scale\" "
		"using apps/v1: .spec.replicas");
	ck_assert_str_eq(berth_error_message(&err), conflicts.text.data);
	ck_assert_uint_eq(conflicts.count, 1);
	ck_assert_str_eq(conflicts.items[0].field.data, ".spec.replicas");
	ck_assert_str_eq(conflicts.items[0].message.data,
		"conflict with \"berth\" with subresource \"scale\" using apps/v1");
	ck_assert_ptr_null(object);
	/* the same value is no conflict: both managers own the field */
	object = applied(&arena, "me", false, scaled, "{\"spec\":{\"replicas\":3}}");
	ck_assert_str_eq(
		fields_of(&arena, object, "berth", "Update"), "{\"f:spec\":{\"f:replicas\":{}}}");
	/* force takes the field from the other manager */
	object = applied(&arena, "me", true, scaled, "{\"spec\":{\"replicas\":1}}");
	ck_assert_str_eq(fields_of(&arena, object, "berth", "Update"), "");
	ck_assert_int_eq(bt_json_int64_at(object, "spec.replicas", 0), 1);
	berth_error_finish(&err);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_apply__several_conflicts)
{
	struct bt_arena arena = {0};
	struct bt_apply_conflicts conflicts = {.count = 0};
	struct bt_json_value *object = NULL;
	struct bt_apply_writer me = writer_of("me");
	struct bt_json_value *live = applied(&arena, "x", false, NULL,
		"{\"metadata\":{\"labels\":{\"a\":\"1\"}},\"spec\":{\"containers\":[{\"name\":"
		"\"c\",\"image\":\"i\"}]}}");
	live = applied(&arena, "y", false, live, "{\"spec\":{\"replicas\":1}}");
	ck_assert_int_eq(
		bt_apply(&arena, &me, false, live,
			parsed(&arena,
				"{\"metadata\":{\"labels\":{\"a\":\"2\"}},\"spec\":{\"replicas\":2,"
				"\"containers\":[{\"name\":\"c\",\"image\":\"j\"}]}}"),
			&object, &conflicts, NULL),
		BERTH_ERR_STATE);
	ck_assert_str_eq(conflicts.text.data,
		"Apply failed with 3 conflicts: conflicts with \"x\":\n- .metadata.labels.a\n"
		"- .spec.containers[name=\"c\"].image\nconflicts with \"y\":\n- .spec.replicas");
	ck_assert_uint_eq(conflicts.count, 3);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_apply__before_first_apply)
{
	struct bt_arena arena = {0};
	struct bt_apply_conflicts conflicts = {.count = 0};
	struct bt_json_value *object = NULL;
	struct bt_apply_writer me = writer_of("me");
	struct bt_json_value *live = parsed(&arena,
		"{\"metadata\":{\"name\":\"p\",\"uid\":\"u\"},\"spec\":{\"replicas\":1},\"status\":"
		"{\"a\":1}}");
	ck_assert_int_eq(
		bt_apply(&arena, &me, false, live, parsed(&arena, "{\"spec\":{\"replicas\":2}}"),
			&object, &conflicts, NULL),
		BERTH_ERR_STATE);
	ck_assert_str_eq(conflicts.text.data,
		"Apply failed with 1 conflict: conflict with \"before-first-apply\" using apps/v1: "
		".spec.replicas");
	object = applied(&arena, "me", false, live, "{\"metadata\":{\"labels\":{\"a\":\"1\"}}}");
	ck_assert_str_eq(fields_of(&arena, object, "before-first-apply", "Update"),
		"{\"f:spec\":{\".\":{},\"f:replicas\":{}},\"f:status\":{\".\":{},\"f:a\":{}}}");
	ck_assert_str_eq(content_of(&arena, object),
		"{\"metadata\":{\"name\":\"p\",\"uid\":\"u\",\"labels\":{\"a\":\"1\"}},"
		"\"spec\":{\"replicas\":1},\"status\":{\"a\":1}}");
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_apply__same_again_changes_nothing)
{
	struct bt_arena arena = {0};
	const char *body = "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"replicas\":1}}";
	struct bt_apply_writer later = writer_of("me");
	struct bt_apply_conflicts conflicts = {.count = 0};
	struct bt_json_value *first = applied(&arena, "me", false, NULL, body);
	struct bt_json_value *second = NULL;
	later.time = BT_STR("2026-11-22T00:00:00Z");
	ck_assert_int_eq(bt_apply(&arena, &later, false, first, parsed(&arena, body), &second,
				 &conflicts, NULL),
		0);
	ck_assert_str_eq(written(&arena, first), written(&arena, second));
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_apply__malformed_configurations)
{
	static const char *const rows[] = {
		"{\"metadata\":{\"managedFields\":[{}]}}",
		"{\"spec\":{\"containers\":[{\"image\":\"x\"}]}}",
		"{\"spec\":{\"containers\":[{\"name\":\"x\"},{\"name\":\"x\"}]}}",
		"{\"spec\":{\"containers\":[1]}}",
		"{\"metadata\":{\"finalizers\":[\"a\",\"a\"]}}",
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bt_arena arena = {0};
		struct bt_apply_writer me = writer_of("me");
		struct bt_apply_conflicts conflicts = {.count = 0};
		struct bt_json_value *object = NULL;
		int result = bt_apply(&arena, &me, false, NULL, parsed(&arena, rows[i]), &object,
			&conflicts, NULL);
		ck_assert_msg(result == BERTH_ERR_INVALID, "%s: %d", rows[i], result);
		bt_arena_finish(&arena);
	}
}
END_TEST

START_TEST(test_apply__custom_resources)
{
	struct bt_arena arena = {0};
	struct bt_apply_writer me = writer_of("me");
	struct bt_apply_conflicts conflicts = {.count = 0};
	struct bt_json_value *object = NULL;
	me.message = NULL;
	ck_assert_int_eq(bt_apply(&arena, &me, false, NULL,
				 parsed(&arena,
					 "{\"metadata\":{\"name\":\"x\",\"finalizers\":[\"a\"]},"
					 "\"spec\":{\"m\":{\"a\":1},\"l\":[{\"name\":\"a\"}]}}"),
				 &object, &conflicts, NULL),
		0);
	ck_assert_str_eq(fields_of(&arena, object, "me", "Apply"),
		"{\"f:metadata\":{\"f:finalizers\":{\"v:\\\"a\\\"\":{}}},"
		"\"f:spec\":{\"f:l\":{},\"f:m\":{\"f:a\":{}}}}");
	struct bt_json_value *next = NULL;
	ck_assert_int_eq(bt_apply(&arena, &me, false, object,
				 parsed(&arena,
					 "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"m\":{\"b\":1},"
					 "\"l\":[{\"name\":\"b\"}]}}"),
				 &next, &conflicts, NULL),
		0);
	ck_assert_str_eq(content_of(&arena, next),
		"{\"metadata\":{\"name\":\"x\"},\"spec\":{\"m\":{\"b\":1},\"l\":[{\"name\":\"b\"}]}"
		"}");
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_apply__updates_are_recorded)
{
	struct bt_arena arena = {0};
	struct bt_apply_writer writer = writer_of("editor");
	struct bt_json_value *live =
		parsed(&arena, "{\"metadata\":{\"name\":\"p\",\"labels\":{\"a\":\"1\"}}}");
	struct bt_json_value *next =
		parsed(&arena, "{\"metadata\":{\"name\":\"p\",\"labels\":{\"a\":\"2\"}}}");
	/* an object whose managedFields are emptied is not tracked */
	bt_apply_record_update(&arena, &writer, live, next);
	ck_assert(!bt_apply_is_tracked(next));
	bt_apply_record_update(&arena, &writer, NULL, live);
	ck_assert_str_eq(fields_of(&arena, live, "editor", "Update"),
		"{\"f:metadata\":{\"f:labels\":{\".\":{},\"f:a\":{}}}}");
	/*
	 * if the client leaves out managedFields, the stored managedFields are kept; another
	 * manager takes the field over
	 */
	writer.manager = BT_STR("other");
	bt_apply_record_update(&arena, &writer, live, next);
	ck_assert_str_eq(
		fields_of(&arena, next, "editor", "Update"), "{\"f:metadata\":{\"f:labels\":{}}}");
	ck_assert_str_eq(fields_of(&arena, next, "other", "Update"),
		"{\"f:metadata\":{\"f:labels\":{\"f:a\":{}}}}");
	/* a removed field has no owner any more */
	struct bt_json_value *bare = parsed(&arena, "{\"metadata\":{\"name\":\"p\"}}");
	bt_apply_record_update(&arena, &writer, next, bare);
	ck_assert(!bt_apply_is_tracked(bare));
	/* managedFields of [{}] empty the list of owners */
	struct bt_json_value *emptied = parsed(&arena,
		"{\"metadata\":{\"name\":\"p\",\"labels\":{\"a\":\"2\"},\"managedFields\":[{}]}}");
	bt_apply_record_update(&arena, &writer, next, emptied);
	ck_assert_str_eq(written(&arena, emptied),
		"{\"metadata\":{\"name\":\"p\",\"labels\":{\"a\":\"2\"}}}");
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_apply__many_managers_become_ancient)
{
	struct bt_arena arena = {0};
	struct bt_json_value *live =
		parsed(&arena, "{\"metadata\":{\"name\":\"p\",\"labels\":{}}}");
	for (int i = 0; i < 20; i++) {
		struct bt_json_value *next = bt_json_clone(&arena, live, false);
		struct bt_apply_writer writer = writer_of("x");
		writer.manager = bt_arena_printf(&arena, "m%02d", i);
		writer.time = bt_arena_printf(&arena, "2026-11-21T00:00:%02dZ", i);
		bt_json_set(&arena, bt_json_find_path(next, "metadata.labels"), writer.manager,
			bt_json_new_c(&arena, "1"));
		bt_apply_record_update(&arena, &writer, i == 0 ? NULL : live, next);
		live = next;
	}
	ck_assert_uint_eq(
		bt_json_array_at(live, "metadata.managedFields")->count, BT_APPLY_UPDATES_MAX);
	ck_assert_str_eq(fields_of(&arena, live, "m19", "Update"),
		"{\"f:metadata\":{\"f:labels\":{\"f:m19\":{}}}}");
	ck_assert_ptr_nonnull(
		strstr(fields_of(&arena, live, "ancient-changes", "Update"), "f:m00"));
	ck_assert_ptr_nonnull(
		strstr(fields_of(&arena, live, "ancient-changes", "Update"), "f:m10"));
	bt_arena_finish(&arena);
}
END_TEST

/* What kubectl 1.36 sends for the first apply --server-side of an object that client-side apply
 * made: spec 14 section 12.5. */
START_TEST(test_apply__migration_in_four_requests)
{
	struct bt_arena arena = {0};
	struct bt_apply_writer client = writer_of("kubectl-client-side-apply");
	const char *body = "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"replicas\":1}}";
	struct bt_json_value *live = parsed(&arena,
		"{\"metadata\":{\"name\":\"p\",\"annotations\":{\"last\":\"x\"}},\"spec\":{"
		"\"replicas\":1}}");
	bt_apply_record_update(&arena, &client, NULL, live);
	live = applied(&arena, "kubectl", false, live, body);
	live = applied(&arena, "kubectl-last-applied", false, live,
		"{\"metadata\":{\"name\":\"p\",\"annotations\":{\"last\":\"x\"}}}");
	/* the JSON patch: the client's Update fields become kubectl's Apply fields */
	struct bt_json_value *patched = bt_json_clone(&arena, live, false);
	bt_json_set_value(&arena, bt_json_find(patched, "metadata"), "managedFields",
		parsed(&arena,
			"[{\"manager\":\"kubectl\",\"operation\":\"Apply\",\"apiVersion\":\"apps/"
			"v1\","
			"\"time\":\"2026-11-21T00:00:00Z\",\"fieldsType\":\"FieldsV1\","
			"\"fieldsV1\":{"
			"\"f:metadata\":{\"f:annotations\":{\"f:last\":{}}},\"f:spec\":{\"f:"
			"replicas\":{}}}},"
			"{\"manager\":\"kubectl-last-applied\",\"operation\":\"Apply\","
			"\"apiVersion\":\"apps/v1\","
			"\"time\":\"2026-11-21T00:00:00Z\",\"fieldsType\":\"FieldsV1\","
			"\"fieldsV1\":{"
			"\"f:metadata\":{\"f:annotations\":{\"f:last\":{}}}}}]"));
	struct bt_apply_writer patcher = writer_of("kubectl");
	bt_apply_record_update(&arena, &patcher, live, patched);
	ck_assert_str_eq(fields_of(&arena, patched, "kubectl-client-side-apply", "Update"), "");
	live = applied(&arena, "kubectl", false, patched, body);
	ck_assert_str_eq(content_of(&arena, live),
		"{\"metadata\":{\"name\":\"p\",\"annotations\":{\"last\":\"x\"}},\"spec\":{"
		"\"replicas\":1}}");
	ck_assert_str_eq(
		fields_of(&arena, live, "kubectl", "Apply"), "{\"f:spec\":{\"f:replicas\":{}}}");
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_apply__what_kubectl_applied_by_client_is_its_own)
{
	static const char live_text[] =
		"{\"metadata\":{\"name\":\"p\",\"annotations\":{"
		"\"kubectl.kubernetes.io/last-applied-configuration\":"
		"\"{\\\"spec\\\":{\\\"replicas\\\":1},\\\"metadata\\\":{\\\"labels\\\":"
		"{\\\"a\\\":\\\"1\\\"}}}\"},"
		"\"labels\":{\"a\":\"1\",\"b\":\"1\"}},\"spec\":{\"replicas\":1}}";
	struct bt_arena arena = {0};
	struct bt_apply_conflicts conflicts = {.count = 0};
	struct bt_json_value *object = NULL;
	struct bt_apply_writer kubectl = writer_of("kubectl");
	struct bt_apply_writer other = writer_of("other");
	struct bt_json_value *live = parsed(&arena, live_text);
	object = applied(&arena, "kubectl", false, live, "{\"spec\":{\"replicas\":2}}");
	ck_assert_str_eq(
		fields_of(&arena, object, "kubectl", "Apply"), "{\"f:spec\":{\"f:replicas\":{}}}");
	ck_assert_str_eq(fields_of(&arena, object, "kubectl-client-side-apply", "Update"),
		"{\"f:metadata\":{\"f:labels\":{\"f:a\":{}}}}");
	ck_assert_str_eq(bt_json_find(bt_json_find_path(object, "metadata.annotations"),
				 "kubectl.kubernetes.io/last-applied-configuration")
				 ->text.data,
		"{\"apiVersion\":\"apps/v1\",\"kind\":\"Pod\",\"spec\":{\"replicas\":2}}\n");
	/* kubectl does not get fields outside of the annotation, nor fields of other managers */
	ck_assert_int_eq(
		bt_apply(&arena, &kubectl, false, live,
			parsed(&arena, "{\"metadata\":{\"labels\":{\"a\":\"2\",\"b\":\"2\"}}}"),
			&object, &conflicts, NULL),
		BERTH_ERR_STATE);
	ck_assert_str_eq(conflicts.text.data,
		"Apply failed with 1 conflict: conflict with \"before-first-apply\" using apps/v1: "
		".metadata.labels.b");
	ck_assert_int_eq(
		bt_apply(&arena, &other, false, live, parsed(&arena, "{\"spec\":{\"replicas\":2}}"),
			&object, &conflicts, NULL),
		BERTH_ERR_STATE);
	ck_assert_str_eq(conflicts.text.data,
		"Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using "
		"apps/v1: .spec.replicas");
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_apply__annotations_that_hold_no_configuration)
{
	static const char *const rows[] = {"x", "[]", "null", "\\\"x\\\"", "{\\\"spec\\\":3}",
		"{\\\"spec\\\":{\\\"containers\\\":[3,null,{}]}}", "{"};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bt_arena arena = {0};
		struct bt_apply_writer kubectl = writer_of("kubectl");
		struct bt_apply_conflicts conflicts = {.count = 0};
		struct bt_json_value *object = NULL;
		struct bt_json_value *live = parsed(&arena,
			bt_arena_printf(&arena,
				"{\"metadata\":{\"annotations\":{\"kubectl.kubernetes.io/"
				"last-applied-configuration\":\"%s\"}},\"spec\":{\"replicas\":1}}",
				rows[i])
				.data);
		ck_assert_msg(bt_apply(&arena, &kubectl, false, live,
				      parsed(&arena, "{\"spec\":{\"replicas\":2}}"), &object,
				      &conflicts, NULL) == BERTH_ERR_STATE,
			"%s", rows[i]);
		bt_arena_finish(&arena);
	}
}
END_TEST

START_TEST(test_apply__types_of_the_api)
{
	struct bt_arena arena = {0};
	struct bt_apply_writer me = writer_of("me");
	struct bt_apply_conflicts conflicts = {.count = 0};
	struct bt_json_value *object = NULL;
	me.message = bt_schema_find(BT_STR("v1"), BT_STR("Service"));
	ck_assert_int_eq(bt_apply(&arena, &me, false, NULL,
				 parsed(&arena,
					 "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"ports\":[{"
					 "\"port\":80}],"
					 "\"selector\":{\"a\":\"1\"}}}"),
				 &object, &conflicts, NULL),
		0);
	ck_assert_str_eq(fields_of(&arena, object, "me", "Apply"),
		"{\"f:spec\":{\"f:ports\":{\"k:{\\\"port\\\":80,\\\"protocol\\\":\\\"TCP\\\"}\":"
		"{\".\":{},\"f:port\":{}}},\"f:selector\":{}}}");
	me.message = bt_schema_find(BT_STR("v1"), BT_STR("Node"));
	ck_assert_int_eq(
		bt_apply(&arena, &me, false, NULL,
			parsed(&arena,
				"{\"metadata\":{\"labels\":{\"a\":\"1\"}},\"spec\":{\"taints\":["
				"{\"key\":\"k\",\"effect\":\"NoSchedule\"}]}}"),
			&object, &conflicts, NULL),
		0);
	ck_assert_str_eq(fields_of(&arena, object, "me", "Apply"),
		"{\"f:metadata\":{\"f:labels\":{\"f:a\":{}}},\"f:spec\":{\"f:taints\":{}}}");
	bt_arena_finish(&arena);
}
END_TEST

BT_TEST_MAIN("apply", test_apply__field_sets_travel, test_apply__creates_and_owns,
	test_apply__merges_and_removes, test_apply__removal_and_fields_without_owner,
	test_apply__conflicts, test_apply__several_conflicts, test_apply__before_first_apply,
	test_apply__same_again_changes_nothing, test_apply__malformed_configurations,
	test_apply__custom_resources, test_apply__updates_are_recorded,
	test_apply__many_managers_become_ancient, test_apply__migration_in_four_requests,
	test_apply__what_kubectl_applied_by_client_is_its_own,
	test_apply__annotations_that_hold_no_configuration, test_apply__types_of_the_api)
