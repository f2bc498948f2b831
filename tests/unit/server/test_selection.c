/* SPDX-License-Identifier: Apache-2.0 */
#include "server/selection.h"

#include "base/prng.h"
#include "test_main.h"

static const struct bt_api_resource pods = {.group = "", .name = "pods", .namespaced = true};
static const struct bt_api_resource nodes = {.group = "", .name = "nodes"};
static const struct bt_api_resource secrets = {.group = "", .name = "secrets", .namespaced = true};
static const struct bt_api_resource jobs = {.group = "batch", .name = "jobs", .namespaced = true};
static const struct bt_api_resource new_events = {
	.group = "events.k8s.io", .name = "events", .namespaced = true};
static const struct bt_api_resource maps = {.group = "", .name = "configmaps", .namespaced = true};
static const struct bt_api_resource classes = {.group = "storage.k8s.io", .name = "storageclasses"};

/** Stores the text with every ' replaced by "; returns the stored object. */
static struct bt_stored *make(struct bt_store *store, const char *key, const char *text)
{
	char copy[4096];
	size_t length = strlen(text);

	ck_assert_uint_lt(length, sizeof(copy));
	for (size_t i = 0; i < length; i++) {
		copy[i] = text[i] == '\'' ? '"' : text[i];
	}
	return bt_store_put(store, bt_store_collection(store, BT_STR("x")), bt_str_from(key),
		(struct bt_str){copy, (uint32_t)length}, 0);
}

static bool matches(const struct bt_api_resource *resource, const char *labels, const char *fields,
	const char *key, const char *text)
{
	struct bt_store *store = bt_store_create(&bt_store_default_options);
	struct bt_arena arena = {0};
	struct bt_failure failure = {0};
	struct bt_selection selection;
	bool result;

	if (!bt_selection_parse(&selection, resource, BT_STR(""), bt_str_from(labels),
		    bt_str_from(fields), &arena, &failure)) {
		ck_abort_msg("%s %s: %.*s", labels != NULL ? labels : "",
			fields != NULL ? fields : "", BT_STR_ARG(failure.message));
	}
	struct bt_stored *stored = make(store, key, text);
	const char *status = strstr(text, "'status':");

	result = bt_selection_matches(&selection, stored);
	if (status != NULL) {
		stored->status_bytes = (uint32_t)strlen(status) - 9;
		ck_assert(bt_selection_matches(&selection, stored) == result);
	}
	bt_selection_finish(&selection);
	bt_arena_finish(&arena);
	bt_store_destroy(store);
	return result;
}

static void expect_failure(const struct bt_api_resource *resource, const char *labels,
	const char *fields, const char *message)
{
	struct bt_arena arena = {0};
	struct bt_failure failure = {0};
	struct bt_selection selection;

	ck_assert(!bt_selection_parse(&selection, resource, BT_STR(""), bt_str_from(labels),
		bt_str_from(fields), &arena, &failure));
	ck_assert_uint_eq(failure.code, 400);
	ck_assert_str_eq(failure.reason, "BadRequest");
	ck_assert_msg(bt_str_equal_c(failure.message, message), "expected %s, got %.*s", message,
		BT_STR_ARG(failure.message));
	bt_arena_finish(&arena);
}

static const char labelled[] =
	"{'metadata':{'name':'p','annotations':{'labels':'x'},'labels':{'a':'b','n':'5',"
	"'e\\u0061':'y','empty':''},'uid':'u'},'spec':{'labels':{'z':'z'}}}";

START_TEST(test_selection__label_operators)
{
	static const struct {
		const char *selector;
		bool expected;
	} rows[] = {
		{"", true},
		{"a", true},
		{"z", false},
		{"!z", true},
		{"!a", false},
		{"a=b", true},
		{"a==b", true},
		{"a!=b", false},
		{"z!=b", true},
		{"a in (x,b)", true},
		{"a in (x)", false},
		{"z in (x)", false},
		{"a notin (x)", true},
		{"a notin (x, b)", false},
		{"z notin (x)", true},
		{"n>4", true},
		{"n>5", false},
		{"n<6", true},
		{"a<6", false},
		{"z<6", false},
		{"empty=", true},
		{"empty", true},
		{"a=", false},
		{"empty in ()", true},
		{"empty in (x,)", true},
		{"ea=y", true},
		{"a=b,n=5", true},
		{"a=b,n=6", false},
		{"a=b,a!=c,a in (b)", true},
		{"a=b,a=c", false},
		{"  a  =  b ,  ! z ", true},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		ck_assert_msg(
			matches(&pods, rows[i].selector, NULL, "d/p", labelled) == rows[i].expected,
			"%s", rows[i].selector);
	}
}
END_TEST

START_TEST(test_selection__edge_14_41_three_requirements)
{
	struct bt_arena arena = {0};
	struct bt_selector selector;

	ck_assert_int_eq(bt_selector_parse(BT_STR("a in (b,c),!d,e"), &arena, &selector, NULL), 0);
	ck_assert_uint_eq(selector.requirement_count, 3);
	ck_assert_int_eq(selector.requirements[0].operator_, BT_SELECTOR_IN);
	ck_assert_uint_eq(selector.requirements[0].value_count, 2);
	ck_assert(bt_str_equal(selector.requirements[0].values[1], BT_STR("c")));
	ck_assert_int_eq(selector.requirements[1].operator_, BT_SELECTOR_DOES_NOT_EXIST);
	ck_assert(bt_str_equal(selector.requirements[1].key, BT_STR("d")));
	ck_assert_int_eq(selector.requirements[2].operator_, BT_SELECTOR_EXISTS);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_selection__label_errors)
{
	expect_failure(&pods, "a,==", NULL, "found '==', expected: identifier after ','");
	expect_failure(&pods, "a,", NULL, "found '', expected: identifier after ','");
	expect_failure(
		&pods, "==", NULL, "found '==', expected: !, identifier, or 'end of string'");
	expect_failure(&pods, "a=b c", NULL, "found 'c', expected: ',' or 'end of string'");
	expect_failure(&pods, "!a=b", NULL, "found '=', expected: ',' or 'end of string'");
	expect_failure(
		&pods, "a in b", NULL, "unable to parse requirement: found 'b', expected: '('");
	expect_failure(&pods, "a in (b", NULL,
		"unable to parse requirement: found '', expected: ',' or ')'");
	expect_failure(
		&pods, "a=(", NULL, "unable to parse requirement: found '(', expected: identifier");
	expect_failure(&pods, "a b", NULL,
		"unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt");
	expect_failure(&pods, "a>x", NULL,
		"unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' "
		"operators, the value must be an integer");
}
END_TEST

static const char pod_text[] =
	"{'metadata':{'name':'p','namespace':'d'},'spec':{'containers':[{'name':'c','nodeName':'no'"
	"}],'nodeName':'n1','restartPolicy':'Always'},'status':{'podIPs':[{'ip':'1'},{'ip':'2'}],"
	"'phase':'Running'}}";

START_TEST(test_selection__fields)
{
	static const struct {
		const struct bt_api_resource *resource;
		const char *selector;
		const char *key;
		const char *text;
		bool expected;
	} rows[] = {
		{&pods, "spec.nodeName=n1", "d/p", pod_text, true},
		{&pods, "spec.host=n1", "d/p", pod_text, true},
		{&pods, "spec.host=n1,spec.nodeName=n2", "d/p", pod_text, false},
		{&pods, "spec.host=n1,spec.nodeName=n1", "d/p", pod_text, true},
		{&pods, "spec.nodeName=", "d/p", pod_text, false},
		{&pods, "spec.nodeName=", "d/p", "{'metadata':{}}", true},
		{&pods, "spec.nodeName!=n2,status.phase!=Failed,status.phase!=Succeeded", "d/p",
			pod_text, true},
		{&pods, "status.phase!=Running,spec.nodeName=n1", "d/p", pod_text, false},
		{&pods, "spec.hostNetwork=false", "d/p", pod_text, true},
		{&pods, "spec.hostNetwork=true", "d/p", "{'spec':{'hostNetwork':true}}", true},
		{&pods, "status.podIPs=1\\,2", "d/p", pod_text, true},
		{&pods, "metadata.name=p,metadata.namespace=d", "d/p", pod_text, true},
		{&pods, "metadata.name=q", "d/p", pod_text, false},
		{&pods, "metadata.name!=q,metadata.namespace!=e", "d/p", pod_text, true},
		{&pods, "metadata.name=p,metadata.name=q", "d/p", pod_text, false},
		{&pods, "metadata.namespace=e", "d/p", pod_text, false},
		{&nodes, "spec.unschedulable=false", "n", "{'spec':{}}", true},
		{&nodes, "spec.unschedulable=true", "n", "{'spec':{'unschedulable':true}}", true},
		{&nodes, "metadata.name=n", "n", "{}", true},
		{&secrets, "type=Opaque", "d/s", "{'data':{},'type':'Opaque'}", true},
		{&secrets, "type!=Opaque", "d/s", "{'data':{},'type':'Opaque'}", false},
		{&jobs, "status.successful=0", "d/j", "{}", true},
		{&jobs, "status.successful=3", "d/j", "{'status':{'succeeded':3}}", true},
		{&new_events, "regarding.name=p,reportingController=k", "d/e",
			"{'involvedObject':{'name':'p'},'reportingComponent':'k'}", true},
		{&new_events, "regarding.name!=p", "d/e", "{'involvedObject':{'name':'p'}}", false},
		{&classes, "metadata.name=c,metadata.namespace=", "c", "{}", true},
		{&pods, "spec.nodeName=a", "d/p", "{'spec':'text','status':5}", false},
		{&pods, "spec.nodeName=", "d/p", "{'spec':{'nodeName':null}}", true},
		{&pods, "status.phase=", "d/p", "{'spec':{},'status':5}", true},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		ck_assert_msg(matches(rows[i].resource, NULL, rows[i].selector, rows[i].key,
				      rows[i].text) == rows[i].expected,
			"%s", rows[i].selector);
	}
	ck_assert(matches(&pods, "a=b,n", "spec.nodeName=n", "d/p",
		"{'spec':{'nodeName':'n'},'metadata':{'labels':{'a':'b','n':''}}}"));
	ck_assert(!matches(&pods, "a=c", "spec.nodeName=n", "d/p",
		"{'spec':{'nodeName':'n'},'metadata':{'labels':{'a':'b'}}}"));
}
END_TEST

START_TEST(test_selection__field_errors)
{
	expect_failure(&pods, NULL, "zzz", "invalid selector: 'zzz'; can't understand 'zzz'");
	expect_failure(&pods, NULL, "spec.foo=a", "field label not supported: spec.foo");
	expect_failure(&nodes, NULL, "metadata.namespace=a",
		"field label not supported: metadata.namespace");
	expect_failure(&maps, NULL, "spec.x=a",
		"\"spec.x\" is not a known field selector: only \"metadata.name\", "
		"\"metadata.namespace\"");
}
END_TEST

START_TEST(test_selection__custom_selectable_fields)
{
	static const char version[] = "{\"selectableFields\":[{\"jsonPath\":\".spec.a.color\"},"
				      "{\"jsonPath\":\".a.b.c.d.e.f.g.h.i\"}]}";
	struct bt_api_resource custom = {.group = "x.io", .name = "things", .namespaced = true};
	struct bt_arena arena = {0};
	struct bt_json_value *value;

	ck_assert_int_eq(bt_json_parse(&arena, bt_str_from(version), true, &value, NULL), 0);
	custom.definition_version = value;
	ck_assert(matches(
		&custom, NULL, "spec.a.color=red", "d/t", "{'spec':{'a':{'color':'red'}}}"));
	ck_assert(!matches(&custom, NULL, "spec.a.color=red", "d/t", "{'spec':{'color':'red'}}"));
	ck_assert(matches(&custom, NULL, "a.b.c.d.e.f.g.h.i=1", "d/t",
		"{'a':{'b':{'c':{'d':{'e':{'f':{'g':{'h':{'i':1}}}}}}}}}"));
	expect_failure(&custom, NULL, "spec.b=red", "field label not supported: spec.b");
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_selection__namespace_and_prefix)
{
	struct bt_arena arena = {0};
	struct bt_failure failure = {0};
	struct bt_selection selection;

	ck_assert(bt_selection_parse(
		&selection, &pods, BT_STR("d"), BT_STR(""), BT_STR(""), &arena, &failure));
	ck_assert_uint_eq(selection.labels.requirement_count + selection.field_count, 0);
	ck_assert(bt_str_equal(selection.prefix, BT_STR("d/")));
	bt_selection_finish(&selection);
	ck_assert(bt_selection_parse(&selection, &pods, BT_STR(""), BT_STR(""),
		BT_STR("metadata.namespace=e"), &arena, &failure));
	ck_assert(bt_str_equal(selection.prefix, BT_STR("e/")));
	bt_selection_finish(&selection);
	ck_assert(bt_selection_parse(&selection, &pods, BT_STR("d"), BT_STR(""),
		BT_STR("metadata.namespace=e"), &arena, &failure));
	ck_assert(selection.nothing);
	bt_selection_finish(&selection);
	bt_arena_finish(&arena);
}
END_TEST

/** The selection accepts any bytes in place of an object without a crash. */
START_TEST(test_selection__broken_texts)
{
	struct bt_store *store = bt_store_create(&bt_store_default_options);
	struct bt_arena arena = {0};
	struct bt_failure failure = {0};
	struct bt_selection selection;
	struct bt_prng prng;

	bt_prng_init(&prng, 7);
	ck_assert(bt_selection_parse(&selection, &pods, BT_STR(""), BT_STR("a=b,!c"),
		BT_STR("status.podIPs=1\\,2,spec.nodeName=n1"), &arena, &failure));
	for (uint32_t round = 0; round < 20000; round++) {
		char text[sizeof(pod_text)];

		memcpy(text, pod_text, sizeof(text));
		for (uint32_t i = 0; i < 3; i++) {
			text[bt_prng_below(&prng, sizeof(text) - 1)] =
				"'{}[],:\\n\x01\xff"[bt_prng_below(&prng, 10)];
		}
		(void)bt_selection_matches(&selection, make(store, "d/p", text));
	}
	bt_selection_finish(&selection);
	bt_arena_finish(&arena);
	bt_store_destroy(store);
}
END_TEST

BT_TEST_MAIN("selection", test_selection__label_operators,
	test_selection__edge_14_41_three_requirements, test_selection__label_errors,
	test_selection__fields, test_selection__field_errors,
	test_selection__custom_selectable_fields, test_selection__namespace_and_prefix,
	test_selection__broken_texts)
