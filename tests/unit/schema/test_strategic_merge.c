/* SPDX-License-Identifier: Apache-2.0 */
/* Strategic merge patch, rule by rule. Spec: 14 section 12.3. */
#include "schema/strategic_merge.h"

#include "base/prng.h"
#include "sample_schema.h"
#include "test_main.h"

static struct bt_json_value *parsed(struct bt_arena *arena, const char *text)
{
	struct bt_json_value *value = NULL;
	ck_assert_msg(bt_json_parse(arena, bt_str_from(text), true, &value, NULL) == 0, "%s", text);
	return value;
}

struct row {
	const char *name;
	const char *object;
	const char *patch;
	const char *result; /* the merged object, or the error's message */
	int code;
};

static void check_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct row *row = &rows[i];
		struct bt_arena arena = {0};
		struct bt_strbuf text = {0};
		struct bt_json_writer writer;
		struct berth_error err = BERTH_ERROR_INIT;
		struct bt_json_value *result = NULL;
		int code = bt_strategic_merge(&arena, &sample_pod, parsed(&arena, row->object),
			parsed(&arena, row->patch), &result, &err);
		ck_assert_msg(code == row->code, "%s: code %d %s", row->name, code,
			berth_error_message(&err));
		if (code == 0) {
			bt_json_writer_init(&writer, &text, 0);
			bt_json_write_value(&writer, result);
			ck_assert_msg(bt_str_equal_c(bt_strbuf_str(&text), row->result), "%s: %s",
				row->name, bt_strbuf_c(&text));
		} else {
			ck_assert_msg(
				bt_str_equal_c(bt_str_from(berth_error_message(&err)), row->result),
				"%s: %s", row->name, berth_error_message(&err));
		}
		berth_error_finish(&err);
		bt_strbuf_finish(&text);
		bt_arena_finish(&arena);
	}
}

#define CHECK(rows) check_rows((rows), sizeof(rows) / sizeof((rows)[0]))

START_TEST(test_strategic_merge__objects)
{
	static const struct row rows[] = {
		{"merges", "{\"spec\":{\"replicas\":1}}",
			"{\"metadata\":{\"labels\":{\"a\":\"1\"}}}",
			"{\"spec\":{\"replicas\":1},\"metadata\":{\"labels\":{\"a\":\"1\"}}}", 0},
		{"null_removes", "{\"metadata\":{\"labels\":{\"a\":\"1\",\"b\":\"2\"}}}",
			"{\"metadata\":{\"labels\":{\"a\":null,\"c\":null}}}",
			"{\"metadata\":{\"labels\":{\"b\":\"2\"}}}", 0},
		{"null_in_new_object", "{\"metadata\":{}}",
			"{\"metadata\":{\"labels\":{\"a\":null,\"b\":\"2\"}},\"spec\":{"
	                "\"selector\":"
			"{\"c\":null}}}",
			"{\"metadata\":{\"labels\":{\"b\":\"2\"}},\"spec\":{\"selector\":{}}}", 0},
		{"delete_object", "{\"spec\":{\"strategy\":{\"type\":\"x\"}}}",
			"{\"spec\":{\"strategy\":{\"$patch\":\"delete\"}}}",
			"{\"spec\":{\"strategy\":{}}}", 0},
		{"replace_object", "{\"spec\":{\"strategy\":{\"type\":\"x\",\"y\":1}}}",
			"{\"spec\":{\"strategy\":{\"$patch\":\"replace\",\"type\":\"z\"}}}",
			"{\"spec\":{\"strategy\":{\"type\":\"z\"}}}", 0},
		{"strategy_replace", "{\"spec\":{\"selector\":{\"a\":\"1\"}}}",
			"{\"spec\":{\"selector\":{\"b\":\"2\"}}}",
			"{\"spec\":{\"selector\":{\"b\":\"2\"}}}", 0},
		{"retain_keys",
			"{\"spec\":{\"strategy\":{\"type\":\"RollingUpdate\",\"rollingUpdate\":{"
			"\"maxSurge\":1}}}}",
			"{\"spec\":{\"strategy\":{\"$retainKeys\":[\"type\"],\"type\":\"Recreate\"}"
			"}}",
			"{\"spec\":{\"strategy\":{\"type\":\"Recreate\"}}}", 0},
		{"retain_keys_contradicted", "{\"spec\":{\"strategy\":{}}}",
			"{\"spec\":{\"strategy\":{\"$retainKeys\":[\"x\"],\"type\":\"Recreate\"}}}",
			"patch content doesn't match retainKeys list", BERTH_ERR_STATE},
		{"retain_keys_no_list", "{\"spec\":{\"strategy\":{}}}",
			"{\"spec\":{\"strategy\":{\"$retainKeys\":\"x\"}}}",
			"invalid patch format of retainKeys", BERTH_ERR_INVALID},
		{"unknown_directive", "{\"spec\":{}}", "{\"spec\":{\"$patch\":\"fold\",\"a\":[1]}}",
			"unknown patch type: fold in map: map[$patch:fold a:[1]]",
			BERTH_ERR_INTERNAL},
		{"unknown_members", "{\"x\":{\"l\":[1,2],\"m\":{\"a\":1}}}",
			"{\"x\":{\"l\":[3],\"m\":{\"b\":2}}}",
			"{\"x\":{\"l\":[3],\"m\":{\"a\":1,\"b\":2}}}", 0},
		{"no_object", "{}", "[]",
			"json: cannot unmarshal array into Go value of type map[string]interface "
			"{}",
			BERTH_ERR_SYNTAX},
		{"directives_stripped", "{}",
			"{\"spec\":{\"$retainKeys\":[\"a\"],\"containers\":[{\"name\":\"a\",\"$"
			"patch\":\"delete\"},"
			"{\"name\":\"b\",\"limits\":{\"$patch\":\"replace\",\"cpu\":\"1\"}}]}}",
			"{\"spec\":{\"containers\":[{\"name\":\"b\",\"limits\":{\"cpu\":\"1\"}}]}}",
			0},
	};
	CHECK(rows);
}
END_TEST

START_TEST(test_strategic_merge__lists)
{
	static const struct row rows[] = {
		{"merge_by_key",
			"{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"x\"},{\"name\":"
			"\"b\"}]}}",
			"{\"spec\":{\"containers\":[{\"name\":\"b\",\"image\":\"y\"}]}}",
			"{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"x\"},{\"name\":"
			"\"b\",\"image\":\"y\"}]}}",
			0},
		{"new_element_first", "{\"spec\":{\"containers\":[{\"name\":\"a\"}]}}",
			"{\"spec\":{\"containers\":[{\"name\":\"n\"}]}}",
			"{\"spec\":{\"containers\":[{\"name\":\"n\"},{\"name\":\"a\"}]}}", 0},
		{"set_image",
			"{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":"
			"\"c\"}]}}",
			"{\"spec\":{\"$setElementOrder/"
			"containers\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}],"
			"\"containers\":[{\"name\":\"b\",\"image\":\"y\"}]}}",
			"{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\",\"image\":"
			"\"y\"},{\"name\":\"c\"}]}}",
			0},
		{"reorder",
			"{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":"
			"\"s\"}]}}",
			"{\"spec\":{\"$setElementOrder/"
			"containers\":[{\"name\":\"b\"},{\"name\":\"a\"}]}}",
			"{\"spec\":{\"containers\":[{\"name\":\"b\"},{\"name\":\"a\"},{\"name\":"
			"\"s\"}]}}",
			0},
		{"delete_element",
			"{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]}}",
			"{\"spec\":{\"$setElementOrder/containers\":[{\"name\":\"b\"}],"
			"\"containers\":[{\"name\":\"a\",\"$patch\":\"delete\"}]}}",
			"{\"spec\":{\"containers\":[{\"name\":\"b\"}]}}", 0},
		{"replace_list", "{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]}}",
			"{\"spec\":{\"containers\":[{\"name\":\"c\"},{\"$patch\":\"replace\"}]}}",
			"{\"spec\":{\"containers\":[{\"name\":\"c\"}]}}", 0},
		{"number_key",
			"{\"spec\":{\"containers\":[{\"name\":\"a\",\"ports\":[{\"containerPort\":"
			"80}]}]}}",
			"{\"spec\":{\"containers\":[{\"name\":\"a\",\"ports\":[{\"containerPort\":"
			"80,\"name\":\"h\"}]}]}}",
			"{\"spec\":{\"containers\":[{\"name\":\"a\",\"ports\":[{\"containerPort\":"
			"80,\"name\":\"h\"}]}]}}",
			0},
		{"other_lists_replaced", "{\"spec\":{\"tolerations\":[{\"key\":\"a\"}]}}",
			"{\"spec\":{\"tolerations\":[{\"key\":\"b\"}]}}",
			"{\"spec\":{\"tolerations\":[{\"key\":\"b\"}]}}", 0},
		{"order_contradicted", "{\"spec\":{\"containers\":[]}}",
			"{\"spec\":{\"$setElementOrder/"
			"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}],"
			"\"containers\":[{\"name\":\"b\"},{\"name\":\"a\"}]}}",
			"The order in patch list:\n[map[name:b] map[name:a]]\n doesn't match "
			"$setElementOrder list:\n[map[name:a] map[name:b]]\n",
			BERTH_ERR_INTERNAL},
		{"order_no_list", "{\"spec\":{}}", "{\"spec\":{\"$setElementOrder/containers\":1}}",
			"invalid patch format of setElementOrder list", BERTH_ERR_INVALID},
		{"delete_values_no_list", "{}", "{\"$deleteFromPrimitiveList/a\":{}}",
			"invalid patch format of primitive list", BERTH_ERR_INVALID},
		{"scalar_in_list_of_maps", "{\"spec\":{\"containers\":[]}}",
			"{\"spec\":{\"containers\":[1]}}",
			"list elements of a strategic merge patch have the wrong type",
			BERTH_ERR_INVALID},
		{"retain_keys_in_element",
			"{\"spec\":{\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}]}}",
			"{\"spec\":{\"volumes\":[{\"$retainKeys\":[\"name\",\"hostPath\"],\"name\":"
			"\"v\",\"hostPath\":{\"path\":\"/\"}}]}}",
			"{\"spec\":{\"volumes\":[{\"name\":\"v\",\"hostPath\":{\"path\":\"/\"}}]}}",
			0},
		{"interleaved", "{\"metadata\":{\"finalizers\":[\"a\",\"s1\",\"b\",\"s2\"]}}",
			"{\"metadata\":{\"$setElementOrder/"
			"finalizers\":[\"a\",\"n\",\"b\"],\"finalizers\":[\"n\"]}}",
			"{\"metadata\":{\"finalizers\":[\"a\",\"n\",\"s1\",\"b\",\"s2\"]}}", 0},
	};
	CHECK(rows);
}
END_TEST

START_TEST(test_strategic_merge__edge_14_21_missing_merge_key)
{
	static const struct row rows[] = {
		{"no_name", "{\"spec\":{\"containers\":[{\"name\":\"a\"}]}}",
			"{\"spec\":{\"containers\":[{\"image\":\"x\"}]}}",
			"map: map[image:x] does not contain declared merge key: name",
			BERTH_ERR_INTERNAL},
		{"delete_without_name", "{\"spec\":{\"containers\":[{\"name\":\"a\"}]}}",
			"{\"spec\":{\"containers\":[{\"$patch\":\"delete\"}]}}",
			"map: map[$patch:delete] does not contain declared merge key: name",
			BERTH_ERR_INTERNAL},
	};
	CHECK(rows);
}
END_TEST

START_TEST(test_strategic_merge__edge_14_22_finalizers)
{
	static const struct row rows[] = {
		{"union", "{\"metadata\":{\"finalizers\":[\"k/a\"]}}",
			"{\"metadata\":{\"finalizers\":[\"k/b\"]}}",
			"{\"metadata\":{\"finalizers\":[\"k/b\",\"k/a\"]}}", 0},
		{"delete", "{\"metadata\":{\"finalizers\":[\"k/b\",\"k/a\"]}}",
			"{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"k/a\"]}}",
			"{\"metadata\":{\"finalizers\":[\"k/b\"]}}", 0},
		{"delete_with_order", "{\"metadata\":{\"finalizers\":[\"a\",\"b\",\"c\"]}}",
			"{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"a\"],"
			"\"$setElementOrder/finalizers\":[\"c\",\"b\"]}}",
			"{\"metadata\":{\"finalizers\":[\"c\",\"b\"]}}", 0},
	};
	CHECK(rows);
}
END_TEST

START_TEST(test_strategic_merge__edge_14_23_labels_replaced)
{
	static const struct row rows[] = {
		{"only", "{\"metadata\":{\"labels\":{\"a\":\"1\",\"b\":\"2\"}}}",
			"{\"metadata\":{\"labels\":{\"$patch\":\"replace\",\"only\":\"1\"}}}",
			"{\"metadata\":{\"labels\":{\"only\":\"1\"}}}", 0},
	};
	CHECK(rows);
}
END_TEST

/** --- comparison with a plain model: digits as names, the order rule in its simplest form --- */

struct digits {
	int count;
	int items[16];
};

static int place_of(const struct digits *list, int item)
{
	for (int i = 0; i < list->count; i++) {
		if (list->items[i] == item) {
			return i;
		}
	}
	return -1;
}

static void push(struct digits *list, int item)
{
	list->items[list->count++] = item;
}

static struct digits random_digits(struct bt_prng *prng)
{
	struct digits list = {0};
	uint64_t count = bt_prng_below(prng, 6);
	for (uint64_t i = 0; i < count; i++) {
		int item = (int)bt_prng_below(prng, 8);
		if (place_of(&list, item) < 0) {
			push(&list, item);
		}
	}
	return list;
}

static struct digits model(
	const struct digits *object, const struct digits *patch, const struct digits *deleted)
{
	struct digits others = {0};
	struct digits named = {0};
	struct digits result = {0};
	for (int i = 0; i < object->count; i++) {
		int item = object->items[i];
		if (place_of(patch, item) < 0 && place_of(deleted, item) < 0) {
			push(&others, item);
		}
	}
	for (int i = 0; i < patch->count; i++) {
		if (place_of(deleted, patch->items[i]) < 0) {
			push(&named, patch->items[i]);
		}
	}
	int o = 0;
	int n = 0;
	while (o < others.count || n < named.count) {
		bool take_other = n == named.count;
		if (o < others.count && n < named.count) {
			int left = place_of(object, others.items[o]);
			int right = place_of(object, named.items[n]);
			take_other = right >= 0 && left < right;
		}
		push(&result, take_other ? others.items[o++] : named.items[n++]);
	}
	return result;
}

static void print_digits(struct bt_strbuf *out, const struct digits *list)
{
	bt_strbuf_append_char(out, '[');
	for (int i = 0; i < list->count; i++) {
		bt_strbuf_printf(out, "%s\"%d\"", i != 0 ? "," : "", list->items[i]);
	}
	bt_strbuf_append_char(out, ']');
}

START_TEST(test_strategic_merge__random_lists_as_a_plain_model)
{
	struct bt_prng prng;
	bt_prng_init(&prng, 14);
	for (int round = 0; round < 5000; round++) {
		struct bt_arena arena = {0};
		struct bt_strbuf text[3] = {0};
		struct digits object = random_digits(&prng);
		struct digits patch = random_digits(&prng);
		struct digits deleted = random_digits(&prng);
		struct digits expected = model(&object, &patch, &deleted);
		struct bt_json_value *result = NULL;
		bt_strbuf_append_c(&text[0], "{\"metadata\":{\"finalizers\":");
		print_digits(&text[0], &object);
		bt_strbuf_append_c(&text[0], "}}");
		bt_strbuf_append_c(
			&text[1], "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":");
		print_digits(&text[1], &deleted);
		bt_strbuf_append_c(&text[1], "}}");
		/* the second patch must not add again what the first patch deletes */
		bt_strbuf_append_c(&text[2], "{\"metadata\":{\"finalizers\":");
		struct digits kept = {0};
		for (int i = 0; i < patch.count; i++) {
			if (place_of(&deleted, patch.items[i]) < 0) {
				push(&kept, patch.items[i]);
			}
		}
		print_digits(&text[2], &kept);
		bt_strbuf_append_c(&text[2], "}}");
		struct bt_json_value *value = parsed(&arena, bt_strbuf_c(&text[0]));
		for (int i = 1; i < 3; i++) {
			ck_assert_int_eq(
				bt_strategic_merge(&arena, &sample_pod, value,
					parsed(&arena, bt_strbuf_c(&text[i])), &result, NULL),
				0);
			value = result;
		}
		const struct bt_json_value *list = bt_json_find_path(result, "metadata.finalizers");
		bool same = (int)list->count == expected.count;
		for (int i = 0; same && i < expected.count; i++) {
			same = list->elements[i]->text.data[0] == '0' + expected.items[i];
		}
		if (!same) {
			ck_abort_msg("%s %s %s", bt_strbuf_c(&text[0]), bt_strbuf_c(&text[1]),
				bt_strbuf_c(&text[2]));
		}
		for (int i = 0; i < 3; i++) {
			bt_strbuf_finish(&text[i]);
		}
		bt_arena_finish(&arena);
	}
}
END_TEST

/* Comparing these lists pair by pair would take minutes. */
START_TEST(test_strategic_merge__long_lists)
{
	enum { COUNT = 100000 };
	struct bt_arena arena = {0};
	struct bt_json_value *trees[2];
	struct bt_json_value *result = NULL;
	for (int t = 0; t < 2; t++) {
		trees[t] = bt_json_new(&arena, BT_JSON_OBJECT);
		struct bt_json_value *spec = bt_json_ensure_object(&arena, trees[t], "spec");
		struct bt_json_value *list = bt_json_ensure_array(&arena, spec, "containers");
		for (int i = 0; i < COUNT; i++) {
			struct bt_json_value *element = bt_json_new(&arena, BT_JSON_OBJECT);
			bt_json_set_str(&arena, element, "name",
				bt_arena_printf(&arena, "c%d", t == 0 ? i : COUNT + COUNT / 2 - i));
			bt_json_append(&arena, list, element);
		}
	}
	ck_assert_int_eq(
		bt_strategic_merge(&arena, &sample_pod, trees[0], trees[1], &result, NULL), 0);
	ck_assert_uint_eq(
		bt_json_find_path(result, "spec.containers")->count, COUNT + COUNT / 2 + 1);
	bt_arena_finish(&arena);
}
END_TEST

/** --- the API's tables: the merging fields listed in spec 14 section 12.3 --- */

struct field_row {
	const char *api_version;
	const char *kind;
	const char *path;
	const char *key; /* merge key; "": scalars; NULL: not merged */
};

/** Checks whether the list keeps its elements when a patch adds one. */
static void check_field(const struct field_row *row)
{
	struct bt_arena arena = {0};
	struct bt_json_value *trees[2];
	struct bt_json_value *result = NULL;
	char path[128];
	const struct bt_schema_message *message =
		bt_schema_find(bt_str_from(row->api_version), bt_str_from(row->kind));
	ck_assert_msg(message != NULL, "%s", row->kind);
	(void)snprintf(path, sizeof(path), "%s", row->path);
	for (int i = 0; i < 2; i++) {
		struct bt_str rest = bt_str_from(path);
		trees[i] = bt_json_new(&arena, BT_JSON_OBJECT);
		struct bt_json_value *at = trees[i];
		for (int64_t dot = bt_str_find_char(rest, '.'); dot >= 0;
			dot = bt_str_find_char(rest, '.')) {
			struct bt_json_value *child = bt_json_new(&arena, BT_JSON_OBJECT);
			bt_json_set(&arena, at, bt_str_sub(rest, 0, (uint32_t)dot), child);
			rest = bt_str_sub(rest, (uint32_t)dot + 1, rest.length);
			at = child;
		}
		struct bt_json_value *list = bt_json_new(&arena, BT_JSON_ARRAY);
		struct bt_json_value *element = bt_json_new_c(&arena, i == 0 ? "x" : "y");
		if (row->key == NULL || row->key[0] != '\0') {
			struct bt_json_value *object = bt_json_new(&arena, BT_JSON_OBJECT);
			bt_json_set_value(
				&arena, object, row->key != NULL ? row->key : "key", element);
			element = object;
		}
		bt_json_append(&arena, list, element);
		bt_json_set(&arena, at, rest, list);
	}
	int code = bt_strategic_merge(&arena, message, trees[0], trees[1], &result, NULL);
	ck_assert_msg(code == 0, "%s %s: %d", row->kind, row->path, code);
	uint32_t count = bt_json_array_at(result, row->path)->count;
	ck_assert_msg(
		count == (row->key != NULL ? 2 : 1), "%s %s: %u", row->kind, row->path, count);
	bt_arena_finish(&arena);
}

START_TEST(test_strategic_merge__fields_of_the_api)
{
	static const struct field_row rows[] = {
		{"v1", "Pod", "metadata.ownerReferences", "uid"},
		{"v1", "Pod", "metadata.finalizers", ""},
		{"v1", "Pod", "spec.containers", "name"},
		{"v1", "Pod", "spec.initContainers", "name"},
		{"v1", "Pod", "spec.ephemeralContainers", "name"},
		{"v1", "Pod", "spec.volumes", "name"},
		{"v1", "Pod", "spec.imagePullSecrets", "name"},
		{"v1", "Pod", "spec.hostAliases", "ip"},
		{"v1", "Pod", "spec.topologySpreadConstraints", "topologyKey"},
		{"v1", "Pod", "spec.schedulingGates", "name"},
		{"v1", "Pod", "spec.resourceClaims", "name"},
		{"v1", "Pod", "spec.tolerations", NULL},
		{"v1", "Pod", "status.conditions", "type"},
		{"v1", "Pod", "status.podIPs", "ip"},
		{"v1", "Pod", "status.hostIPs", "ip"},
		{"v1", "Pod", "status.resourceClaimStatuses", "name"},
		{"v1", "Node", "spec.podCIDRs", ""},
		{"v1", "Node", "spec.taints", NULL},
		{"v1", "Node", "status.conditions", "type"},
		{"v1", "Node", "status.addresses", "type"},
		{"v1", "Service", "spec.ports", "port"},
		{"v1", "Service", "status.conditions", "type"},
		{"v1", "ServiceAccount", "secrets", "name"},
		{"v1", "Namespace", "status.conditions", "type"},
		{"v1", "PersistentVolumeClaim", "status.conditions", "type"},
		{"v1", "ReplicationController", "status.conditions", "type"},
		{"apps/v1", "Deployment", "status.conditions", "type"},
		{"apps/v1", "Deployment", "spec.template.spec.containers", "name"},
		{"apps/v1", "ReplicaSet", "status.conditions", "type"},
		{"apps/v1", "StatefulSet", "status.conditions", "type"},
		{"apps/v1", "DaemonSet", "status.conditions", "type"},
		{"batch/v1", "Job", "status.conditions", "type"},
		{"policy/v1", "PodDisruptionBudget", "status.conditions", "type"},
		{"storage.k8s.io/v1", "CSINode", "spec.drivers", "name"},
		{"resource.k8s.io/v1", "ResourceClaim", "status.reservedFor", "uid"},
		{"scheduling.k8s.io/v1alpha2", "PodGroup", "status.conditions", "type"},
		{"scheduling.k8s.io/v1alpha2", "PodGroup", "spec.resourceClaims", "name"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		check_field(&rows[i]);
	}
}
END_TEST

BT_TEST_MAIN("strategic_merge", test_strategic_merge__objects, test_strategic_merge__lists,
	test_strategic_merge__edge_14_21_missing_merge_key,
	test_strategic_merge__edge_14_22_finalizers,
	test_strategic_merge__edge_14_23_labels_replaced, test_strategic_merge__fields_of_the_api,
	test_strategic_merge__random_lists_as_a_plain_model, test_strategic_merge__long_lists)
