/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "api/object.h"
#include "api/pod.h"
#include "api/pod_common.h"
#include "api_test.h"
#include "codec/message_pack.h"
#include "test_main.h"

static struct bt_arena arena;

/**
 * Makes a pod as the ReplicaSet controller creates it; every field that differs between pods of one
 * ReplicaSet is set.
 */
static const struct bt_pod *make_pod(unsigned int number)
{
	struct bt_str text = bt_arena_printf(&arena,
		"{'metadata':{'name':'app-%u','namespace':'team','uid':'u-%u','generation':%u,"
		"'resourceVersion':'%u','creationTimestamp':'2026-01-02T03:04:05Z',"
		"'labels':{'app':'a','empty':''},'annotations':{},'finalizers':['f'],"
		"'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'app',"
		"'uid':'o','controller':true}]},"
		"'spec':{'nodeName':'n%u','priority':7,'containers':[{'name':'c','image':'i'}],"
		"'volumes':[{'name':'v-%u'},{'name':'w','persistentVolumeClaim':"
		"{'claimName':'claim','readOnly':true}}]},"
		"'status':{'phase':'Running','startTime':'2026-01-02T03:04:06Z','conditions':["
		"{'type':'PodScheduled','status':'False','reason':'Unschedulable','message':'m',"
		"'observedGeneration':-3,'lastTransitionTime':'2026-01-02T03:04:07Z'}],"
		"'containerStatuses':[{'name':'c','allocatedResources':{'cpu':'1500m','memory':"
		"'12345678901234567890123456789'},'resources':{'requests':{'cpu':'2'}}}],"
		"'allocatedResources':{'cpu':'0'}}}",
		number, number, number, number, number, number);

	return api_pod(&arena, text.data);
}

struct case_ {
	struct bt_pod_commons commons;
	struct bt_object *object;
	const struct bt_pod *pod; /* the expected value of object */
};

/**
 * Keeps the third of three pods of a ReplicaSet: after two other pods, the third is certain to
 * share the common part.
 */
static void set_up(struct case_ *case_)
{
	*case_ = (struct case_){.pod = make_pod(3)};
	for (unsigned int i = 1; i <= 2; i++) {
		bt_object_release(bt_object_create_pod(make_pod(i), NULL, &case_->commons));
	}
	case_->object = bt_object_create_pod(case_->pod, NULL, &case_->commons);
	ck_assert_ptr_nonnull(case_->object->common);
}

static void tear_down(struct case_ *case_)
{
	bt_pod_commons_finish(&case_->commons);
	bt_arena_finish(&arena);
}

static void assert_same(const struct case_ *case_)
{
	const struct bt_pod *pod = bt_object_value(case_->object, BT_KIND_POD);

	ck_assert(bt_message_equal(&bt_pod_message, pod, case_->pod));
	ck_assert_ptr_eq(case_->object->meta, &pod->metadata);
}

START_TEST(test_object_packing__packed_when_all_references_are_packable)
{
	struct case_ case_;
	struct bt_object *second;

	set_up(&case_);
	size_t bytes = bt_arena_chunk_bytes(case_.object->memory);
	second = bt_object_share(case_.object);
	bt_object_allow_pack(second);
	assert_same(&case_);
	bt_object_allow_pack(case_.object);
	ck_assert_ptr_null(case_.object->value);
	ck_assert_ptr_null(case_.object->meta);
	ck_assert(bt_str_equal_c(bt_object_name(case_.object), "app-3"));
	ck_assert(bt_str_equal_c(bt_object_namespace(case_.object), "team"));
	ck_assert(bt_object_is(case_.object, BT_KIND_POD, BT_STR("team"), BT_STR("app-3")));
	ck_assert(!bt_object_is(case_.object, BT_KIND_NODE, BT_STR("team"), BT_STR("app-3")));
	ck_assert(!bt_object_is(case_.object, BT_KIND_POD, BT_STR("app-3"), BT_STR("team")));
	ck_assert_ptr_eq(bt_object_unpack(case_.object), case_.object);
	assert_same(&case_);
	/*
	 * Thousands of objects may be unpacked at a time, so an object takes one chunk with little
	 * spare room (ASan's red zones need more).
	 */
	ck_assert(BT_HAVE_ASAN ||
		bt_arena_chunk_bytes(case_.object->memory) <
			bytes + sizeof(struct bt_pod_condition) + 128);
	ck_assert(bt_str_equal_c(bt_object_name(case_.object), "app-3"));
	bt_object_allow_pack(case_.object);
	ck_assert_ptr_null(case_.object->value);
	bt_object_release_packable(second);
	bt_object_release_packable(case_.object);
	tear_down(&case_);
}
END_TEST

START_TEST(test_object_packing__packed_when_the_last_ordinary_reference_is_released)
{
	struct case_ case_;
	struct bt_object *second;

	set_up(&case_);
	second = bt_object_share(case_.object);
	bt_object_allow_pack(case_.object);
	assert_same(&case_);
	bt_object_release(second);
	ck_assert_ptr_null(case_.object->value);
	(void)bt_object_unpack(case_.object);
	assert_same(&case_);
	bt_object_release(case_.object);
	tear_down(&case_);
}
END_TEST

START_TEST(test_object_packing__pods_without_common_part_are_packed)
{
	struct case_ case_;
	struct bt_pod_commons none = {0};

	set_up(&case_);
	bt_object_release(case_.object);
	case_.object = bt_object_create_pod(case_.pod, NULL, &none);
	ck_assert_ptr_null(case_.object->common);
	bt_object_allow_pack(case_.object);
	ck_assert_ptr_null(case_.object->value);
	ck_assert(bt_str_equal_c(bt_object_name(case_.object), "app-3"));
	ck_assert(bt_str_equal_c(bt_object_namespace(case_.object), "team"));
	ck_assert_uint_lt(bt_object_bytes(case_.object), 500);
	(void)bt_object_unpack(case_.object);
	assert_same(&case_);
	bt_object_release(case_.object);
	bt_pod_commons_finish(&none);
	tear_down(&case_);
}
END_TEST

START_TEST(test_object_packing__nodes_are_packed_if_decoded_with_commons)
{
	static const char text[] = "\n\x16\n\002n1*\000Z\016\n\005hostn\022\005n1.ab"
				   "\x12\x10\n\00510.0.\x1a\007aws://x";
	struct bt_str bytes = {text, sizeof(text) - 1};
	struct bt_pod_commons commons = {0};
	struct bt_object *plain;
	struct bt_object *node;

	ck_assert_int_eq(bt_object_decode_protobuf(BT_KIND_NODE, bytes, &plain, NULL), 0);
	ck_assert_int_eq(bt_object_decode_sharing(BT_KIND_NODE, bytes, &commons, &node, NULL), 0);
	bt_object_allow_pack(plain);
	bt_object_allow_pack(node);
	ck_assert_ptr_nonnull(plain->value);
	ck_assert_ptr_null(node->value);
	ck_assert(bt_str_equal_c(bt_object_name(node), "n1"));
	ck_assert_uint_eq(bt_object_namespace(node).length, 0);
	(void)bt_object_unpack(node);
	ck_assert(bt_message_equal(bt_kind_info(BT_KIND_NODE)->message, node->value, plain->value));
	bt_object_release(node);
	bt_object_release_packable(plain);
	bt_pod_commons_finish(&commons);
}
END_TEST

START_TEST(test_object_packing__objects_with_json_or_without_commons_are_not_packed)
{
	struct case_ case_;
	struct bt_object *alone;

	set_up(&case_);
	alone = bt_object_create(BT_KIND_POD, case_.pod);
	bt_object_allow_pack(alone);
	ck_assert_ptr_nonnull(alone->value);
	bt_object_release_packable(alone);
	case_.object->json = BT_STR("{}");
	bt_object_allow_pack(case_.object);
	assert_same(&case_);
	bt_object_release_packable(case_.object);
	tear_down(&case_);
}
END_TEST

/** Creates a pod whose spec takes a megabyte and has different content for each kind. */
static struct bt_object *make_large(struct bt_pod_commons *commons, char *name, char kind)
{
	const struct bt_pod *small =
		api_pod(&arena, "{'metadata':{'name':'p','namespace':'team'}}");
	static unsigned int count; /* each pod gets a different name */
	struct bt_pod pod = *small;

	name[0] = kind;
	pod.metadata.name = bt_arena_printf(&arena, "p-%u", count++);
	pod.spec.scheduler_name = bt_str_from(name);
	return bt_object_create_pod(&pod, NULL, commons);
}

START_TEST(test_pod_common__versions_of_one_pod_do_not_store_it)
{
	struct bt_pod_commons commons = {0};

	for (unsigned int number = 1; number <= 2; number++) {
		for (unsigned int version = 0; version < 3; version++) {
			struct bt_object *object =
				bt_object_create_pod(make_pod(number), NULL, &commons);
			ck_assert_int_eq(object->common != NULL, number == 2);
			bt_object_release(object);
		}
	}
	bt_pod_commons_finish(&commons);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_pod_common__large_parts_are_evicted)
{
	static char name[1 << 20];
	struct bt_pod_commons commons = {0};
	struct bt_object *first;
	const struct bt_pod *pod;

	memset(name, 'x', sizeof(name) - 1);
	bt_object_release(make_large(&commons, name, 'A'));
	first = make_large(&commons, name, 'A');
	ck_assert_ptr_nonnull(first->common);
	for (char kind = 'B'; kind < 'B' + 40; kind++) {
		bt_object_release(make_large(&commons, name, kind));
		bt_object_release(make_large(&commons, name, kind));
		ck_assert_uint_le(commons.bytes, BT_POD_COMMONS_BYTES_MAX);
	}
	ck_assert_uint_gt(commons.bytes, BT_POD_COMMONS_BYTES_MAX / 2);
	/* An object keeps its common part after the part is evicted from the table. */
	bt_object_allow_pack(first);
	pod = bt_object_value(bt_object_unpack(first), BT_KIND_POD);
	ck_assert_uint_eq(pod->spec.scheduler_name.length, sizeof(name) - 1);
	ck_assert_int_eq(pod->spec.scheduler_name.data[0], 'A');
	bt_object_release(first);
	bt_pod_commons_finish(&commons);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_pod_common__found_by_the_version_before)
{
	struct case_ case_;
	struct bt_pod_commons others = {0};

	set_up(&case_);
	struct bt_pod changed = *(const struct bt_pod *)case_.object->value;
	changed.spec.node_name = BT_STR("n-9");
	struct bt_object *bound = bt_object_create_pod(&changed, case_.object, &others);
	ck_assert_ptr_eq(bound->common, case_.object->common);
	changed.spec.scheduler_name = BT_STR("another");
	struct bt_object *other = bt_object_create_pod(&changed, bound, &others);
	ck_assert_ptr_null(other->common);
	ck_assert(bt_message_equal(&bt_pod_message, other->value, &changed));
	bt_object_release(case_.object);
	ck_assert(bt_str_equal(bt_object_namespace(bound), case_.pod->metadata.namespace_));
	bt_object_release(bound);
	bt_object_release(other);
	bt_pod_commons_finish(&others);
	tear_down(&case_);
}
END_TEST

START_TEST(test_pod_common__large_packed_parts_are_not_shared)
{
	static char text[BT_PACKED_COMMON_BYTES_MAX + 1];
	struct case_ case_;
	struct bt_packed_common *one;
	struct bt_packed_common *other;

	set_up(&case_);
	for (uint32_t length = sizeof(text) - 1; length <= sizeof(text); length++) {
		one = bt_pod_common_share_packed(
			case_.object->common, (struct bt_str){text, length});
		other = bt_pod_common_share_packed(
			case_.object->common, (struct bt_str){text, length});
		ck_assert((one == other) == (length <= BT_PACKED_COMMON_BYTES_MAX));
		ck_assert_uint_eq(other->length, length);
		bt_packed_common_release(one);
		bt_packed_common_release(other);
	}
	bt_object_release(case_.object);
	tear_down(&case_);
}
END_TEST

/** An absent value and an empty value differ after unpacking, too. */
START_TEST(test_message_pack__unpacked_equals_packed)
{
	static const char *const texts[] = {
		"{}",
		"{'metadata':{'labels':{},'finalizers':[],'name':''}}",
		/* The parentheses tell clang that no comma is missing. */
		("{'spec':{'priority':-2147483648,'hostUsers':false,'preemptionPolicy':'',"
		 "'tolerations':[{},{'tolerationSeconds':-9223372036854775808}],'affinity':{},"
		 "'overhead':{'cpu':'1e3','example.com/x':'0.5'}}}"),
		("{'spec':{'nodeSelector':{'a':'','b':'c'},'resources':{},'containers':[{'ports':"
		 "[{'hostPort':-1}],'resources':{'limits':{'memory':'1536Mi'}}}]}}"),
	};

	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(texts); i++) {
		const struct bt_pod *pod = api_pod(&arena, texts[i]);
		struct bt_strbuf bytes = {0};
		struct bt_pod back;
		struct bt_strbuf again = {0};
		bt_message_pack(&bt_pod_message, pod, &bytes);
		bt_message_unpack(&bt_pod_message, bt_strbuf_str(&bytes), &arena, &back);
		ck_assert_msg(bt_message_equal(&bt_pod_message, pod, &back), "%s", texts[i]);
		bt_message_pack(&bt_pod_message, &back, &again);
		ck_assert(bt_str_equal(bt_strbuf_str(&bytes), bt_strbuf_str(&again)));
		bt_strbuf_finish(&bytes);
		bt_strbuf_finish(&again);
	}
	bt_arena_finish(&arena);
}
END_TEST

BT_TEST_MAIN("object_packing", test_object_packing__packed_when_all_references_are_packable,
	test_object_packing__packed_when_the_last_ordinary_reference_is_released,
	test_object_packing__pods_without_common_part_are_packed,
	test_object_packing__nodes_are_packed_if_decoded_with_commons,
	test_object_packing__objects_with_json_or_without_commons_are_not_packed,
	test_pod_common__versions_of_one_pod_do_not_store_it,
	test_pod_common__large_parts_are_evicted, test_pod_common__found_by_the_version_before,
	test_pod_common__large_packed_parts_are_not_shared,
	test_message_pack__unpacked_equals_packed)
