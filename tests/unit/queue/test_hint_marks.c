/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks by which the queue skips hints: if an event offers no mark that a shape wants, the hint
 * must return Skip. fixture_hint checks this rule; the test calls it with random pods and events.
 * BERTH_TEST_SEED replaces the seed.
 */
#include <stdlib.h>

#include "base/prng.h"
#include "framework/hint_marks.h"
#include "hint_rows.h"

#define ROUNDS 3000

struct maker {
	struct bt_prng prng;
	struct fixture fixture;
	char pod[2048];
	char old_object[1024];
	char new_object[1024];
	char *out; /* end of the text that is being written */
	size_t left;
};

static uint32_t draw(struct maker *maker, uint32_t count)
{
	return (uint32_t)bt_prng_below(&maker->prng, count);
}

static void begin(struct maker *maker, char *text, size_t size)
{
	maker->out = text;
	maker->left = size;
	text[0] = '\0';
}

#define ADD(maker, ...) \
	do { \
		int length = snprintf((maker)->out, (maker)->left, __VA_ARGS__); \
		ck_assert(length >= 0 && (size_t)length < (maker)->left); \
		(maker)->out += length; \
		(maker)->left -= (size_t)length; \
	} while (0)

/** Appends up to three of the labels k0 to k2, with one of three values each. */
static void add_labels(struct maker *maker)
{
	const char *separator = "";

	for (uint32_t key = 0; key < 3; key++) {
		if (draw(maker, 2) == 0) {
			ADD(maker, "%s'k%u':'v%u'", separator, key, draw(maker, 3));
			separator = ",";
		}
	}
}

/** Appends an expression; one in twelve is invalid. */
static void add_expression(struct maker *maker)
{
	static const char *const operators[] = {
		"In", "In", "In", "NotIn", "Exists", "DoesNotExist"};
	uint32_t operator_ = draw(maker, BT_ARRAY_LENGTH(operators));
	bool is_invalid = draw(maker, 12) == 0;

	ADD(maker, "{'key':'k%u','operator':'%s'", draw(maker, 3), operators[operator_]);
	if ((operator_ < 4) != is_invalid) {
		ADD(maker, ",'values':['v%u'%s]", draw(maker, 3),
			draw(maker, 3) == 0 ? ",'v0'" : "");
	}
	ADD(maker, "}");
}

static void add_selector(struct maker *maker)
{
	uint32_t count = draw(maker, 3);

	ADD(maker, "{'matchLabels':{");
	add_labels(maker);
	ADD(maker, "},'matchExpressions':[");
	for (uint32_t i = 0; i < count; i++) {
		ADD(maker, "%s", i != 0 ? "," : "");
		add_expression(maker);
	}
	ADD(maker, "]}");
}

static void add_node_terms(struct maker *maker)
{
	uint32_t count = 1 + draw(maker, 2);

	ADD(maker,
		"'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
		"{'nodeSelectorTerms':[");
	for (uint32_t i = 0; i < count; i++) {
		ADD(maker, "%s{'matchExpressions':[", i != 0 ? "," : "");
		if (draw(maker, 3) != 0) {
			add_expression(maker);
		}
		ADD(maker, "]");
		if (draw(maker, 3) == 0) {
			ADD(maker,
				",'matchFields':[{'key':'metadata.name','operator':'%s',"
				"'values':['n%u']}]",
				draw(maker, 3) == 0 ? "NotIn" : "In", draw(maker, 3));
		}
		ADD(maker, "}");
	}
	ADD(maker, "]}}");
}

static void add_pod_terms(struct maker *maker, const char *name)
{
	uint32_t count = draw(maker, 3);

	ADD(maker, ",'%s':{'requiredDuringSchedulingIgnoredDuringExecution':[", name);
	for (uint32_t i = 0; i < count; i++) {
		ADD(maker, "%s{'topologyKey':'k%u'", i != 0 ? "," : "", draw(maker, 3));
		if (draw(maker, 5) != 0) {
			ADD(maker, ",'labelSelector':");
			add_selector(maker);
		}
		ADD(maker, "}");
	}
	ADD(maker, "]}");
}

static void make_pod(struct maker *maker)
{
	begin(maker, maker->pod, sizeof(maker->pod));
	ADD(maker, "{'metadata':{'name':'p','uid':'p','labels':{");
	add_labels(maker);
	ADD(maker, "}},'spec':{'nodeSelector':{");
	if (draw(maker, 2) == 0) {
		add_labels(maker);
	}
	ADD(maker, "},'affinity':{");
	add_node_terms(maker);
	add_pod_terms(maker, "podAffinity");
	add_pod_terms(maker, "podAntiAffinity");
	ADD(maker,
		"},'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'k%u',"
		"'whenUnsatisfiable':'%s','labelSelector':",
		draw(maker, 3), draw(maker, 4) == 0 ? "ScheduleAnyway" : "DoNotSchedule");
	add_selector(maker);
	ADD(maker, "%s}],'volumes':[{'name':'a','persistentVolumeClaim':{'claimName':'c%u'}}%s]}}",
		draw(maker, 5) == 0 ? ",'matchLabelKeys':['k0']" : "", draw(maker, 3),
		draw(maker, 3) == 0 ? ",{'name':'b','ephemeral':{}}" : "");
}

static void make_object(struct maker *maker, char *text, size_t size, const char *resource)
{
	begin(maker, text, size);
	if (strcmp(resource, "Node") == 0) {
		ADD(maker, "{'metadata':{'name':'n%u','labels':{", draw(maker, 3));
		add_labels(maker);
		ADD(maker, "}}}");
	} else if (strcmp(resource, "Pod") == 0) {
		ADD(maker, "{'metadata':{'name':'o','uid':'o','labels':{");
		add_labels(maker);
		ADD(maker, "}},'spec':{'nodeName':'n0'");
		if (draw(maker, 4) == 0) {
			ADD(maker,
				",'affinity':{'podAntiAffinity':{"
				"'requiredDuringSchedulingIgnoredDuringExecution':["
				"{'topologyKey':'k0','labelSelector':");
			add_selector(maker);
			ADD(maker, "}]}}");
		}
		ADD(maker, "}}");
	} else {
		ADD(maker, "{'metadata':{'name':'%s','namespace':'default'}}",
			draw(maker, 3) == 0           ? "p-b"
				: draw(maker, 2) == 0 ? "c0"
						      : "c3");
	}
}

struct event_kind {
	const char *resource;
	uint32_t action;
	bool has_old;
	bool has_new;
};

static void compare(const struct bt_plugin_ops *ops, const struct event_kind *kinds, uint32_t count)
{
	struct maker maker = {0};
	uint32_t queued = 0;
	const char *seed = getenv("BERTH_TEST_SEED");

	bt_prng_init(&maker.prng, seed != NULL ? strtoull(seed, NULL, 10) : 1);
	fixture_init(&maker.fixture, ops);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		const struct event_kind *kind = &kinds[draw(&maker, count)];

		make_pod(&maker);
		make_object(&maker, maker.old_object, sizeof(maker.old_object), kind->resource);
		make_object(&maker, maker.new_object, sizeof(maker.new_object), kind->resource);
		queued += fixture_hint(&maker.fixture, kind->resource, kind->action,
				  fixture_pending(&maker.fixture, maker.pod),
				  kind->has_old ? maker.old_object : NULL,
				  kind->has_new ? maker.new_object : NULL, NULL) == FIXTURE_QUEUE;
	}
	ck_assert_uint_gt(queued, ROUNDS / 50);
	ck_assert_uint_gt(maker.fixture.screened_count, ROUNDS / 50);
	fixture_finish(&maker.fixture);
}

static const struct event_kind node_events[] = {
	{"Node", BT_ACTION_ADD, false, true},
	{"Node", BT_ACTION_UPDATE_NODE_LABEL, true, true},
};

static const struct event_kind topology_events[] = {
	{"Node", BT_ACTION_ADD, false, true},
	{"Node", BT_ACTION_UPDATE_NODE_LABEL, true, true},
	{"Pod", BT_ACTION_ADD, false, true},
	{"Pod", BT_ACTION_UPDATE_POD_LABEL, true, true},
	{"Pod", BT_ACTION_DELETE, true, false},
};

static const struct event_kind claim_events[] = {
	{"PersistentVolumeClaim", BT_ACTION_ADD, false, true},
	{"PersistentVolumeClaim", BT_ACTION_UPDATE, true, true},
};

START_TEST(test_hint_marks__node_affinity)
{
	compare(&bt_node_affinity_plugin, node_events, BT_ARRAY_LENGTH(node_events));
}
END_TEST

START_TEST(test_hint_marks__inter_pod_affinity)
{
	compare(&bt_inter_pod_affinity_plugin, topology_events, BT_ARRAY_LENGTH(topology_events));
}
END_TEST

START_TEST(test_hint_marks__pod_topology_spread)
{
	compare(&bt_pod_topology_spread_plugin, topology_events, BT_ARRAY_LENGTH(topology_events));
}
END_TEST

START_TEST(test_hint_marks__volume_binding)
{
	compare(&bt_volume_binding_plugin, claim_events, BT_ARRAY_LENGTH(claim_events));
}
END_TEST

START_TEST(test_hint_marks__too_many_want_every_event)
{
	struct bt_hint_offers offers = {0};
	struct bt_hint_wants wants = {0};
	char text[] = "a";

	bt_hint_offer(&offers, BT_HINT_MARK_ALWAYS);
	for (uint32_t i = 0; i <= BT_HINT_WANTS; i++) {
		ck_assert(!bt_hint_is_offered(&offers, &wants));
		text[0] = (char)('a' + (int)i);
		bt_hint_want(
			&wants, bt_hint_mark(BT_MARK_POD_LABEL, bt_str_from(text), BT_STR("")));
	}
	ck_assert(bt_hint_is_offered(&offers, &wants));
}
END_TEST

BT_TEST_MAIN("hint_marks", test_hint_marks__node_affinity, test_hint_marks__inter_pod_affinity,
	test_hint_marks__pod_topology_spread, test_hint_marks__volume_binding,
	test_hint_marks__too_many_want_every_event)
