/* SPDX-License-Identifier: Apache-2.0 */
/* Which pods share a shape, and what a shape contains. */
#include "state/shape.h"
#include "base/prng.h"
#include "state_fixture.h"

#include "test_main.h"

/* Returns the shape of a pending pod; the shape is referenced until the end of the test. */
static uint32_t shape_of(struct fixture *f, const struct bt_pod *pod, bool keep_node_name)
{
	return bt_shape_ref_pod(&f->state->shapes, pod, keep_node_name);
}

#define CONTAINER \
	"'containers':[{'name':'c','resources':{'requests':{'cpu':'1','example.com/x':'2'}}}]"
#define CLAIMS(claims) CONTAINER ",'resourceClaims':[" claims "]"

START_TEST(test_shape__what_shapes_distinguish)
{
	static const struct {
		const char *name;
		const char *metadata;
		const char *spec;
		const char *status;
		bool shared;
	} rows[] = {
		{"same", "", CONTAINER, "", true},
		{"labels", "'labels':{'a':'b'}", CONTAINER, "", true},
		{"phase and start", "", CONTAINER,
			"'phase':'Running','startTime':'2026-01-01T00:00:00Z'", true},
		{"other conditions", "", CONTAINER,
			"'conditions':[{'type':'Ready','status':'True'}]", true},
		{"service account volume", "",
			CONTAINER ",'volumes':[{'name':'kube-api-access-x7x8q'}]", "", true},
		{"priority", "", CONTAINER ",'priority':5", "", false},
		{"claim", "",
			CONTAINER
			",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]",
			"", false},
		{"resize condition", "", CONTAINER,
			"'conditions':[{'type':'PodResizePending','status':'True','reason':'"
			"Infeasible'}]",
			false},
		{"container status", "", CONTAINER,
			"'containerStatuses':[{'name':'c','resources':{'requests':{'cpu':'2'}}}]",
			false},
	};
	struct fixture f;
	uint32_t first;

	fixture_init(&f);
	first = shape_of(&f, make_pod(&f, "first", "", CONTAINER), true);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_pod *pod = make_pod_with(
			&f, "p", "n1", rows[i].metadata, rows[i].spec, rows[i].status);
		uint32_t id = shape_of(&f, pod, false);
		bool shared = id == first;
		ck_assert_msg(shared == rows[i].shared, "%s", rows[i].name);
		bt_shape_unref(&f.state->shapes, id);
	}
	bt_shape_unref(&f.state->shapes, first);
	ck_assert_uint_eq(f.state->shapes.shapes.map.count, 0);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_shape__names_of_resource_claims_do_not_count)
{
	struct fixture f;
	uint32_t first;

	fixture_init(&f);
	first = shape_of(
		&f, make_pod(&f, "p", "", CLAIMS("{'name':'x','resourceClaimName':'one'}")), true);
	ck_assert_uint_eq(first,
		shape_of(&f,
			make_pod(&f, "q", "", CLAIMS("{'name':'x','resourceClaimName':'two'}")),
			true));
	ck_assert_uint_ne(first, shape_of(&f, make_pod(&f, "r", "", CLAIMS("{'name':'y'}")), true));
	ck_assert_uint_ne(first, shape_of(&f, make_pod(&f, "s", "", CONTAINER), true));
	fixture_finish(&f);
}
END_TEST

START_TEST(test_shape__node_name_counts_only_for_pods_to_schedule)
{
	struct fixture f;
	struct bt_pod *pod;
	uint32_t bound;
	uint32_t pending;

	fixture_init(&f);
	pod = make_pod(&f, "p", "n1", CONTAINER);
	bound = shape_of(&f, pod, false);
	pending = shape_of(&f, pod, true);
	ck_assert_uint_ne(bound, pending);
	ck_assert_uint_eq(
		bt_shape_pod(bt_shape_at(&f.state->shapes, bound))->spec.node_name.length, 0);
	ck_assert(bt_str_equal_c(
		bt_shape_pod(bt_shape_at(&f.state->shapes, pending))->spec.node_name, "n1"));
	bt_shape_unref(&f.state->shapes, bound);
	bt_shape_unref(&f.state->shapes, pending);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_shape__ids_are_reused_and_serials_are_not)
{
	struct fixture f;
	uint32_t id;
	uint64_t serial;

	fixture_init(&f);
	id = shape_of(&f, make_pod(&f, "p", "", CONTAINER), true);
	bt_shape_ref(&f.state->shapes, id);
	bt_shape_unref(&f.state->shapes, id);
	serial = bt_shape_at(&f.state->shapes, id)->serial;
	bt_shape_unref(&f.state->shapes, id);
	ck_assert_uint_eq(shape_of(&f, make_pod(&f, "p", "", CONTAINER), true), id);
	ck_assert_uint_ne(bt_shape_at(&f.state->shapes, id)->serial, serial);
	bt_shape_unref(&f.state->shapes, id);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_shape__contribution)
{
	struct fixture f;
	const struct bt_shape *shape;
	uint32_t id;

	fixture_init(&f);
	id = shape_of(&f,
		make_pod(&f, "p", "",
			"'initContainers':[{'name':'s','restartPolicy':'Always','ports':[{'"
			"hostPort':81}]},"
			"{'name':'i','ports':[{'hostPort':99}]}],"
			"'containers':[{'name':'c','ports':[{'hostPort':80,'hostIP':'10.0.0.1','"
			"protocol':'UDP'},"
			"{'containerPort':7}],'resources':{'requests':"
			"{'cpu':'1','ephemeral-storage':'5','z.com/b':'2','a.com/"
			"b':'1','hugepages-2Mi':'2Mi'}}}],"
			"'volumes':[{'name':'a','persistentVolumeClaim':{'claimName':'c1'}},{'name'"
			":'e','emptyDir':{}},"
			"{'name':'b','persistentVolumeClaim':{'claimName':'c1'}}]"),
		true);
	shape = bt_shape_at(&f.state->shapes, id);
	ck_assert_int_eq(shape->requested[BT_CPU_MILLI], 1000);
	ck_assert_int_eq(shape->requested[BT_EPHEMERAL_BYTES], 5);
	ck_assert_int_eq(shape->non_zero[BT_CPU_MILLI], 1100);
	ck_assert_uint_eq(shape->scalar_count, 3);
	/* Names are in ascending order. */
	ck_assert_uint_eq(shape->scalars[0].resource,
		bt_node_table_find_scalar(&f.state->nodes, BT_STR("a.com/b")));
	ck_assert_uint_eq(shape->scalars[1].resource,
		bt_node_table_find_scalar(&f.state->nodes, BT_STR("hugepages-2Mi")));
	ck_assert_int_eq(shape->scalars[2].value, 2);
	/*
	 * Spec 01b edge 38: sidecars come first; ordinary init containers and ports without
	 * hostPort are left out.
	 */
	ck_assert_uint_eq(shape->host_ports.count, 2);
	ck_assert_int_eq(shape->host_ports.items[0].port, 81);
	ck_assert(bt_str_equal_c(shape->host_ports.items[0].ip, "0.0.0.0"));
	ck_assert(bt_str_equal_c(shape->host_ports.items[1].protocol, "UDP"));
	ck_assert_uint_eq(shape->claim_names.count, 2);
	ck_assert(!shape->has_affinity && !shape->has_required_anti_affinity);
	ck_assert_uint_eq(bt_shape_pod(shape)->spec.volumes.count, 3);
	bt_shape_unref(&f.state->shapes, id);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_shape__packed_shapes_keep_their_content)
{
	static const char *const specs[] = {
		CONTAINER,
		CONTAINER ",'priority':5",
		CLAIMS("{'name':'x'}"),
		"'containers':[{'name':'c','resources':{'requests':{'memory':'1.5Gi'}}}]",
		CONTAINER ",'tolerations':[{'key':'k','operator':'Exists','tolerationSeconds':3}]",
		CONTAINER ",'volumes':[{'name':'v','emptyDir':{}}]",
		/* specs that are not packed */
		"'containers':[{'name':'c','ports':[{'hostPort':80}]}]",
		CONTAINER ",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]",
		CONTAINER ",'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuring"
			  "Execution':[{'topologyKey':'zone'}]}}",
	};
	enum { SPECS = BT_ARRAY_LENGTH(specs), PACKED = SPECS - 3 };
	struct fixture f;
	struct bt_shape_table *table;
	struct bt_pod *pods[SPECS];
	uint32_t ids[SPECS];
	uint32_t counts[SPECS] = {0};
	bool is_seen[SPECS] = {false}; /* content was read, or the shape had three references */
	struct bt_prng prng;

	bt_prng_init(&prng, 1);
	fixture_init(&f);
	table = &f.state->shapes;
	for (uint32_t i = 0; i < SPECS; i++) {
		pods[i] = make_pod(&f, "p", "", specs[i]);
	}
	for (uint32_t step = 0; step < 20000; step++) {
		uint32_t i = (uint32_t)bt_prng_below(&prng, SPECS);
		const struct bt_shape *shape = counts[i] != 0 ? bt_shape_at(table, ids[i]) : NULL;
		uint32_t action = (uint32_t)bt_prng_below(&prng, 16);
		uint32_t id = BT_SHAPE_NONE;

		if (action == 0 && shape != NULL) {
			struct bt_pod expected = {.spec = bt_shape_pod(shape)->spec};

			expected.metadata = pods[i]->metadata;
			ck_assert(bt_message_equal(&bt_pod_message, &expected, pods[i]));
			is_seen[i] = true;
		} else if (action < 9 && shape != NULL) {
			bt_shape_unref(table, ids[i]);
			counts[i]--;
			continue;
		} else if (action == 15) {
			uint32_t guess = (uint32_t)bt_prng_below(&prng, 2 * SPECS);

			id = bt_shape_ref_pending(table, pods[i], guess);
		} else {
			id = bt_shape_ref_pod(table, pods[i], false);
		}
		if (id == BT_SHAPE_NONE) {
			continue;
		}
		ck_assert(counts[i] == 0 || id == ids[i]);
		is_seen[i] = action == 15 || (counts[i] != 0 && (is_seen[i] || counts[i] >= 2));
		ids[i] = id;
		counts[i]++;
		ck_assert_int_eq(bt_shape_at(table, id)->pod == NULL, i < PACKED && !is_seen[i]);
	}
	for (uint32_t i = 0; i < SPECS; i++) {
		while (counts[i]-- != 0) {
			bt_shape_unref(table, ids[i]);
		}
	}
	ck_assert_uint_eq(table->shapes.map.count, 0);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_label_set__equal_labels_share)
{
	struct fixture f;
	struct bt_label_set_table *table;
	uint32_t a;
	uint32_t b;
	uint32_t c;

	fixture_init(&f);
	table = &f.state->label_sets;
	a = bt_label_set_ref_map(table,
		&make_pod_with(&f, "a", "", "'labels':{'x':'1','y':'2'}", "", "")->metadata.labels);
	b = bt_label_set_ref_map(table,
		&make_pod_with(&f, "b", "", "'labels':{'y':'2','x':'1'}", "", "")->metadata.labels);
	c = bt_label_set_ref_map(table,
		&make_pod_with(&f, "c", "", "'labels':{'x':'1','y':'3'}", "", "")->metadata.labels);
	ck_assert_uint_eq(a, b);
	ck_assert_uint_ne(a, c);
	ck_assert(bt_str_equal_c(table->sets.items[a].labels.items[1].value, "2"));
	ck_assert(bt_str_equal_c(
		bt_symbol_text(table->symbols, table->sets.items[c].symbols[1].value), "3"));
	bt_label_set_unref(table, a);
	bt_label_set_unref(table, b);
	bt_label_set_unref(table, c);
	ck_assert_uint_eq(table->sets.map.count, 0);
	ck_assert_uint_eq(f.state->symbols.map.count, 0);
	fixture_finish(&f);
}
END_TEST

/* The namespaces in which a term selects pods; the term's pod is in "ns". */
START_TEST(test_affinity_terms__edge_01b_45_namespaces)
{
	static const struct {
		const char *term; /* members beside the topology key */
		bool own;
		bool other;     /* in namespace "other", without labels */
		bool labelled;  /* in a namespace labelled team=a */
		uint32_t named; /* number of names in the term */
	} rows[] = {
		{"", true, false, false, 0},
		{"'namespaces':[]", true, false, false, 0},
		{"'namespaces':[],'namespaceSelector':{}", true, true, true, 0},
		{"'namespaceSelector':{}", true, true, true, 0},
		{"'namespaceSelector':{'matchLabels':{'team':'a'}}", false, false, true, 0},
		{"'namespaces':['other']", false, true, false, 1},
		{"'namespaces':['other'],'namespaceSelector':{'matchLabels':{'team':'a'}}", false,
			true, true, 1},
	};
	struct bt_str_pair team[] = {{BT_STR("team"), BT_STR("a")}};
	const struct bt_str_map no_labels = {0};
	const struct bt_str_map labels = {.items = team, .count = 1};

	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct fixture f;
		fixture_init(&f);
		struct bt_str spec = bt_arena_printf(&f.arena,
			"'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution"
			"':[{'topologyKey':'zone','labelSelector':{}%s%s}]}}",
			rows[i].term[0] != '\0' ? "," : "", rows[i].term);
		const struct bt_pod *pod = make_pod(&f, "p", "", spec.data);
		const struct bt_affinity_terms *terms =
			bt_affinity_terms_parse(&pod->spec, &f.arena);
		ck_assert_uint_eq(terms->groups[BT_AFFINITY_REQUIRED].count, 1);
		const struct bt_affinity_term *term = &terms->groups[BT_AFFINITY_REQUIRED].items[0];
		ck_assert_uint_eq(term->namespace_count, rows[i].named);
		ck_assert_msg(bt_affinity_term_matches(term, BT_STR("ns"), BT_STR("ns"), &no_labels,
				      &no_labels) == rows[i].own,
			"own: %s", rows[i].term);
		ck_assert_msg(bt_affinity_term_matches(term, BT_STR("ns"), BT_STR("other"),
				      &no_labels, &no_labels) == rows[i].other,
			"other: %s", rows[i].term);
		ck_assert_msg(bt_affinity_term_matches(term, BT_STR("ns"), BT_STR("labelled"),
				      &no_labels, &labels) == rows[i].labelled,
			"labelled: %s", rows[i].term);
		fixture_finish(&f);
	}
}
END_TEST

BT_TEST_MAIN("shape", test_shape__what_shapes_distinguish,
	test_shape__names_of_resource_claims_do_not_count,
	test_shape__node_name_counts_only_for_pods_to_schedule,
	test_shape__ids_are_reused_and_serials_are_not, test_shape__contribution,
	test_shape__packed_shapes_keep_their_content, test_label_set__equal_labels_share,
	test_affinity_terms__edge_01b_45_namespaces)
