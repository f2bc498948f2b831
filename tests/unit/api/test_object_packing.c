/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "api/object.h"
#include "api/pod.h"
#include "api/pod_common.h"
#include "api_test.h"
#include "base/prng.h"
#include "codec/message_pack.h"
#include "codec/wire.h"
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

	ck_assert_int_eq(bt_object_decode_protobuf(BT_KIND_NODE, bytes, NULL, &plain, NULL), 0);
	ck_assert_int_eq(bt_object_decode_protobuf(BT_KIND_NODE, bytes, &commons, &node, NULL), 0);
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

/** Creates a pod with a spec of a megabyte, whose content differs for each kind. */
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

/** Appends a field with the message, and empties the message. */
static void add_message(struct bt_strbuf *out, uint32_t number, struct bt_strbuf *message)
{
	bt_wire_write_bytes(out, number, bt_strbuf_str(message));
	bt_strbuf_reset(message);
}

/** Appends a map entry. */
static void add_pair(struct bt_strbuf *out, uint32_t number, const char *key, struct bt_str value)
{
	struct bt_strbuf entry = {0};

	bt_wire_write_bytes(&entry, 1, bt_str_from(key));
	bt_wire_write_bytes(&entry, 2, value);
	add_message(out, number, &entry);
	bt_strbuf_finish(&entry);
}

/** Decodes a node as the nodes of one pool have it: name, uid, host name and podCIDR differ. */
static struct bt_object *make_node(struct bt_pod_commons *commons, unsigned int number)
{
	static const char *const conditions[][3] = {
		{"Ready", "KubeletReady", "kubelet is posting ready status"},
		{"MemoryPressure", "KubeletHasSufficientMemory",
			"kubelet has sufficient memory available"},
		{"DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
	};
	struct bt_str name = bt_arena_printf(&arena, "node-%u", number);
	struct bt_strbuf part = {0};
	struct bt_strbuf inner = {0};
	struct bt_strbuf bytes = {0};
	struct bt_object *node;

	bt_wire_write_bytes(&part, 1, name);
	bt_wire_write_bytes(&part, 5,
		bt_arena_printf(&arena, "%08x-0000-4000-8000-000000000000", number * 2654435761U));
	add_pair(&part, 11, "kubernetes.io/hostname", name);
	add_pair(&part, 11, "topology.kubernetes.io/region", BT_STR("region-1"));
	add_message(&bytes, 1, &part);
	bt_wire_write_bytes(&part, 1, bt_arena_printf(&arena, "10.%u.0.0/24", number % 250));
	add_message(&bytes, 2, &part);
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(conditions); i++) {
		bt_wire_write_bytes(&inner, 1, bt_str_from(conditions[i][0]));
		bt_wire_write_bytes(&inner, 2, BT_STR("True"));
		bt_wire_write_bytes(&inner, 5, bt_str_from(conditions[i][1]));
		bt_wire_write_bytes(&inner, 6, bt_str_from(conditions[i][2]));
		add_message(&part, 4, &inner);
	}
	add_message(&bytes, 4, &part);
	ck_assert_int_eq(bt_object_decode_protobuf(
				 BT_KIND_NODE, bt_strbuf_str(&bytes), commons, &node, NULL),
		0);
	bt_strbuf_finish(&part);
	bt_strbuf_finish(&inner);
	bt_strbuf_finish(&bytes);
	return node;
}

START_TEST(test_packed_bases__alike_nodes_take_little_memory)
{
	struct bt_pod_commons commons = {0};
	struct bt_object *nodes[20];
	struct bt_object *again[BT_ARRAY_LENGTH(nodes)];

	for (unsigned int i = 0; i < BT_ARRAY_LENGTH(nodes); i++) {
		nodes[i] = make_node(&commons, i + 10);
		again[i] = make_node(&commons, i + 10);
		bt_object_allow_pack(nodes[i]);
		ck_assert_uint_lt(bt_object_bytes(nodes[i]), 200);
	}
	/* The objects keep their shared parts after the commons are freed. */
	bt_pod_commons_finish(&commons);
	for (unsigned int i = 0; i < BT_ARRAY_LENGTH(nodes); i++) {
		(void)bt_object_unpack(nodes[i]);
		ck_assert(bt_message_equal(
			bt_kind_info(BT_KIND_NODE)->message, nodes[i]->value, again[i]->value));
		bt_object_allow_pack(nodes[i]);
		ck_assert_ptr_null(nodes[i]->value);
		bt_object_release_packable(nodes[i]);
		bt_object_release(again[i]);
	}
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_packed_bases__unlike_bytes_replace_the_oldest_base)
{
	static char text[BT_DELTA_BASE_BYTES_MAX + 1];
	struct bt_pod_commons commons = {0};
	struct bt_packed_bases *bases = bt_packed_bases_share(&commons, false, NULL);
	struct bt_packed_base *first = NULL;
	struct bt_strbuf delta = {0};
	struct bt_strbuf back = {0};

	for (uint32_t i = 0; i <= BT_PACKED_BASES; i++) {
		memset(text, 'a' + (int)i, 1000);
		for (uint32_t turn = 0; turn < 2; turn++) {
			struct bt_str bytes = {text, 1000 - turn};
			bt_strbuf_reset(&delta);
			bt_strbuf_reset(&back);
			struct bt_packed_base *base = bt_packed_bases_encode(bases, bytes, &delta);
			ck_assert_ptr_nonnull(base);
			ck_assert_ptr_eq(base, bases->items[i % BT_PACKED_BASES]);
			bt_delta_decode((struct bt_str){base->bytes, base->length},
				bt_strbuf_str(&delta), &back);
			ck_assert(bt_str_equal(bt_strbuf_str(&back), bytes));
			first = i == 0 && turn == 0 ? base : first;
			if (base != first || turn != 0) {
				bt_packed_base_release(base);
			}
		}
	}
	ck_assert_int_eq(first->bytes[0], 'a'); /* the reference of first keeps the replaced base */
	bt_packed_base_release(first);
	bt_strbuf_reset(&delta);
	ck_assert_ptr_null(
		bt_packed_bases_encode(bases, (struct bt_str){text, sizeof(text)}, &delta));
	ck_assert_uint_eq(delta.length, sizeof(text));
	bt_strbuf_finish(&delta);
	bt_strbuf_finish(&back);
	bt_packed_bases_release(bases);
	bt_pod_commons_finish(&commons);
}
END_TEST

/** Random texts of few letters, and random edits of them, so that many parts are equal. */
START_TEST(test_delta__decoded_equals_encoded)
{
	static char base[2 * BT_DELTA_BASE_BYTES_MAX];
	static char bytes[sizeof(base)];
	struct bt_strbuf delta = {0};
	struct bt_strbuf back = {0};
	struct bt_prng prng;
	uint32_t copied = 0;

	bt_prng_init(&prng, 7);
	for (uint32_t round = 0; round < 2000; round++) {
		uint32_t length =
			(uint32_t)bt_prng_below(&prng, round % 50 == 0 ? sizeof(base) : 400);
		uint32_t letters = 1 + (uint32_t)bt_prng_below(&prng, 26);
		for (uint32_t i = 0; i < length; i++) {
			base[i] = (char)('a' + bt_prng_below(&prng, letters));
		}
		uint32_t count = 0;
		for (uint32_t i = 0; i < length; i++) {
			uint64_t dice = bt_prng_below(&prng, 40);
			if (dice != 0 && count < sizeof(bytes)) {
				bytes[count++] = dice == 1 ? '!' : base[i];
			}
			if (dice == 2 && count < sizeof(bytes)) {
				bytes[count++] = '?';
			}
			i = dice == 3 ? (uint32_t)bt_prng_below(&prng, length) : i;
			if (dice == 3 && bt_prng_below(&prng, 4) == 0) {
				break;
			}
		}
		struct bt_str from = {base, length};
		bt_strbuf_reset(&delta);
		bt_strbuf_reset(&back);
		bt_delta_encode(from, (struct bt_str){bytes, count}, &delta);
		bt_delta_decode(from, bt_strbuf_str(&delta), &back);
		ck_assert(bt_str_equal(bt_strbuf_str(&back), (struct bt_str){bytes, count}));
		copied += delta.length < count / 2;
	}
	ck_assert_uint_gt(copied, 100);
	bt_strbuf_finish(&delta);
	bt_strbuf_finish(&back);
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
	test_packed_bases__alike_nodes_take_little_memory,
	test_packed_bases__unlike_bytes_replace_the_oldest_base, test_delta__decoded_equals_encoded,
	test_message_pack__unpacked_equals_packed)
