/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds of dynamic resource allocation: refusals, defaults, immutable fields. Spec: 12 section 3.2,
 * 14b sections 3.3 and 5.
 */
#include <string.h>

#include "base/strbuf.h"
#include "kinds_rows.h"
#include "test_main.h"

#define CLAIMS "resourceclaims.resource.k8s.io"
#define CLASSES "deviceclasses.resource.k8s.io"
#define SLICES "resourceslices.resource.k8s.io"
#define RULES "devicetaintrules.resource.k8s.io"

#define CLAIM(devices) "{'metadata':{'name':'r'},'spec':{'devices':{" devices "}}}"
#define REQUESTS(requests) CLAIM("'requests':[" requests "]")
#define EXACT(text) REQUESTS("{'name':'x','exactly':{'deviceClassName':'d'" text "}}")
#define X "'requests':[{'name':'x','exactly':{'deviceClassName':'d'}}]"
#define ALTERNATIVES \
	"'requests':[{'name':'x','firstAvailable':[{'name':'a','deviceClassName':'d'}]}]"
#define EXPRESSION(text) EXACT(",'selectors':[{'cel':{'expression':'" text "'}}]")
#define SELECTOR_PLACE "spec.devices.requests[0].exactly.selectors[0].cel.expression: "

static const struct refusal_row claim_rows[] = {
	{"syntax", CLAIMS, "default/", EXPRESSION("device.driver =="), 422,
		SELECTOR_PLACE "Invalid value: \"device.driver ==\": compilation failed: ERROR: "
			       "<input>:1:"},
	{"type", CLAIMS, "default/", EXPRESSION("device.driver"), 422,
		SELECTOR_PLACE "Invalid value: \"device.driver\": must evaluate to bool or the "
			       "unknown type, not string"},
	{"no expression", CLAIMS, "default/", EXPRESSION(""), 422,
		SELECTOR_PLACE
		"Invalid value: \"\": compilation failed: ERROR: <input>:1:0: Syntax error"},
	{"empty selector", CLAIMS, "default/", EXACT(",'selectors':[{}]"), 422,
		"spec.devices.requests[0].exactly.selectors[0].cel: Required value"},
	{"selector of an alternative", CLAIMS, "default/",
		REQUESTS("{'name':'x','firstAvailable':[{'name':'a','deviceClassName':'d',"
			 "'selectors':[{'cel':{'expression':'1'}}]}]}"),
		422, "spec.devices.requests[0].firstAvailable[0].selectors[0].cel.expression: "},
	{"neither", CLAIMS, "default/", REQUESTS("{'name':'x'}"), 422,
		"spec.devices.requests[0]: Required value: exactly one of `exactly` or "
		"`firstAvailable` is required"},
	{"both", CLAIMS, "default/",
		REQUESTS("{'name':'x','exactly':{'deviceClassName':'d'},'firstAvailable':[{'name':"
			 "'a','deviceClassName':'d'}]}"),
		422, "exactly one of `exactly` or `firstAvailable` is required"},
	{"alternatives of one name", CLAIMS, "default/",
		REQUESTS("{'name':'x','firstAvailable':[{'name':'a','deviceClassName':'d'},"
			 "{'name':'a','deviceClassName':'d'}]}"),
		422, "spec.devices.requests[0].firstAvailable[1].name: Duplicate value: \"a\""},
	{"mode", CLAIMS, "default/", EXACT(",'allocationMode':'Some'"), 422,
		"spec.devices.requests[0].exactly.allocationMode: Unsupported value: \"Some\": "
		"supported values: \"All\", \"ExactCount\""},
	{"count of all", CLAIMS, "default/", EXACT(",'allocationMode':'All','count':2"), 422,
		"spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified"},
	{"toleration", CLAIMS, "default/",
		EXACT(",'tolerations':[{'key':'k','operator':'Exists','value':'v'}]"), 422,
		"spec.devices.requests[0].exactly.tolerations[0].value: Invalid value: \"v\": must "
		"be empty for operator `Exists`"},
	{"admin access", CLAIMS, "default/", EXACT(",'adminAccess':true"), 422,
		"spec.devices.requests[0].exactly.adminAccess: Forbidden: admin access to devices "
		"requires the `resource.kubernetes.io/admin-access: true` label on the containing "
		"namespace"},
	{"capacity", CLAIMS, "default/", EXACT(",'capacity':{'requests':{'memory':'-1'}}"), 422,
		"spec.devices.requests[0].exactly.capacity.requests[memory]: Invalid value: "
		"\"-1\": must be greater than or equal to 0"},
	{"constraint of nothing", CLAIMS, "default/", CLAIM(X ",'constraints':[{}]"), 422,
		"spec.devices.constraints[0]: Required value"},
	{"constraint name", CLAIMS, "default/",
		CLAIM(X ",'constraints':[{'matchAttribute':'model'}]"), 422,
		"spec.devices.constraints[0].matchAttribute: Invalid value: \"model\""},
	{"constraint of others", CLAIMS, "default/",
		CLAIM(X ",'constraints':[{'requests':['y'],'matchAttribute':'d/model'}]"), 422,
		"spec.devices.constraints[0].requests[0]: Invalid value: \"y\": must be the name"},
	{"alternative of another", CLAIMS, "default/",
		CLAIM(ALTERNATIVES ",'config':[{'requests':['x/b'],'opaque':{'driver':'d',"
				   "'parameters':{}}}]"),
		422, "spec.devices.config[0].requests[0]: Invalid value: \"x/b\""},
	{"config of nothing", CLAIMS, "default/", CLAIM(X ",'config':[{}]"), 422,
		"spec.devices.config[0].opaque: Required value"},
	{"config without driver", CLAIMS, "default/",
		CLAIM(X ",'config':[{'opaque':{'parameters':{}}}]"), 422,
		"spec.devices.config[0].opaque.driver: Required value"},
	{"parameters", CLAIMS, "default/",
		CLAIM(X ",'config':[{'opaque':{'driver':'d','parameters':[1]}}]"), 422,
		"spec.devices.config[0].opaque.parameters: Invalid value: [1]: must be a valid "
		"JSON "
		"object"},
	{"template", "resourceclaimtemplates.resource.k8s.io", "default/",
		"{'metadata':{'name':'t'},'spec':{'spec':{'devices':{'requests':[{'name':'x'}]}}}}",
		422, "spec.spec.devices.requests[0]: Required value"},
};

START_TEST(test_kinds_devices__claims)
{
	rows_check_refusals(claim_rows, ROW_COUNT(claim_rows));
}
END_TEST

#define SLICE(text) "{'metadata':{'name':'s'},'spec':{" text "}}"
#define POOL "'driver':'d.x','pool':{'name':'p','resourceSliceCount':1},"
#define DEVICES(text) SLICE(POOL "'nodeName':'n','devices':[" text "]")

static const struct refusal_row device_rows[] = {
	{"class expression", CLASSES, "",
		"{'metadata':{'name':'c'},'spec':{'selectors':[{'cel':{'expression':'x'}}]}}", 422,
		"spec.selectors[0].cel.expression: Invalid value: \"x\": compilation failed: "},
	{"class resource", CLASSES, "",
		"{'metadata':{'name':'c'},'spec':{'extendedResourceName':'a/b/c'}}", 422,
		"spec.extendedResourceName: Invalid value: \"a/b/c\""},
	{"rule effect", RULES, "", "{'metadata':{'name':'r'},'spec':{'taint':{'key':'k'}}}", 422,
		"spec.taint.effect: "},
	{"slice without driver", SLICES, "",
		SLICE("'pool':{'name':'p','resourceSliceCount':1},'nodeName':'n'"), 422,
		"spec.driver: Required value"},
	{"slice count", SLICES, "", SLICE("'driver':'d.x','pool':{'name':'p'},'nodeName':'n'"), 422,
		"spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero"},
	{"generation", SLICES, "",
		SLICE("'driver':'d.x','pool':{'name':'p','resourceSliceCount':1,'generation':-1},"
		      "'nodeName':'n'"),
		422, "spec.pool.generation: Invalid value: -1"},
	{"pool name", SLICES, "",
		SLICE("'driver':'d.x','pool':{'name':'a//b','resourceSliceCount':1},'nodeName':"
		      "'n'"),
		422, "spec.pool.name: Invalid value: \"a//b\""},
	{"no nodes", SLICES, "", SLICE(POOL "'devices':[]"), 422,
		"spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`"},
	{"two kinds of nodes", SLICES, "", SLICE(POOL "'nodeName':'n','allNodes':true"), 422,
		"spec: Invalid value: 2: exactly one of `nodeName`"},
	{"terms", SLICES, "",
		SLICE(POOL "'nodeSelector':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a',"
			   "'operator':'Exists'}]},{'matchExpressions':[{'key':'b','operator':"
			   "'Exists'}]}]}"),
		422, "spec.nodeSelector.nodeSelectorTerms: Invalid value: "},
	{"device name", SLICES, "", DEVICES("{'name':'A'}"), 422,
		"spec.devices[0].name: Invalid value: \"A\""},
	{"device twice", SLICES, "", DEVICES("{'name':'a'},{'name':'a'}"), 422,
		"spec.devices[1].name: Duplicate value: \"a\""},
	{"attribute name", SLICES, "", DEVICES("{'name':'a','attributes':{'1a':{'int':1}}}"), 422,
		"spec.devices[0].attributes[1a]: Invalid value: \"1a\""},
	{"attribute of nothing", SLICES, "", DEVICES("{'name':'a','attributes':{'b':{}}}"), 422,
		"spec.devices[0].attributes[b]: Required value: exactly one value must be "
		"specified"},
	{"two values", SLICES, "",
		DEVICES("{'name':'a','attributes':{'b':{'int':1,'string':'x'}}}"), 422,
		"spec.devices[0].attributes[b]: Invalid value: "},
	{"node of a device", SLICES, "", DEVICES("{'name':'a','nodeName':'m'}"), 422,
		"spec.devices[0]: Invalid value: "},
	{"no node of a device", SLICES, "",
		SLICE(POOL "'perDeviceNodeSelection':true,'devices':[{'name':'a'}]"), 422,
		"spec.devices[0]: Required value: exactly one of "},
	{"devices and counters", SLICES, "",
		SLICE(POOL "'nodeName':'n','devices':[{'name':'a'}],'sharedCounters':[{'name':'c',"
			   "'counters':{'m':{'value':'1'}}}]"),
		422, "spec: Invalid value: "},
	{"counters of nothing", SLICES, "",
		SLICE(POOL "'nodeName':'n','sharedCounters':[{'name':'c'}]"), 422,
		"spec.sharedCounters[0].counters: Required value"},
	{"taint", SLICES, "", DEVICES("{'name':'a','taints':[{'key':'k','effect':'Never'}]}"), 422,
		"spec.devices[0].taints[0].effect: Unsupported value: \"Never\""},
};

START_TEST(test_kinds_devices__devices)
{
	rows_check_refusals(device_rows, ROW_COUNT(device_rows));
}
END_TEST

/** --- limits --- */

/** Returns count copies of element with commas between; # in element is the copy's number. */
static const char *repeated(struct bt_strbuf *out, uint32_t count, const char *element)
{
	bt_strbuf_reset(out);
	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_append_c(out, i != 0 ? "," : "");
		for (const char *c = element; *c != '\0'; c++) {
			if (*c == '#') {
				bt_strbuf_printf(out, "%u", i);
			} else {
				bt_strbuf_append_char(out, *c);
			}
		}
	}
	return bt_strbuf_c(out);
}

START_TEST(test_kinds_devices__how_many)
{
	static const struct {
		const char *resource;
		const char *key;
		const char *before;
		const char *element;
		const char *after;
		uint32_t max;
		const char *message; /* expected with one item more than max */
	} rows[] = {
		{CLAIMS, "default/", "{'metadata':{'name':'r'},'spec':{'devices':{'requests':[",
			"{'name':'x#','exactly':{'deviceClassName':'d'}}", "]}}}", 32,
			"spec.devices.requests: Too many: 33: must have at most 32 items"},
		{CLAIMS, "default/",
			"{'metadata':{'name':'r'},'spec':{'devices':{'requests':[{'name':'x',"
			"'firstAvailable':[",
			"{'name':'a#','deviceClassName':'d'}", "]}]}}}", 8,
			"spec.devices.requests[0].firstAvailable: Too many: 9: must have at most 8 "
			"items"},
		{CLAIMS, "default/",
			"{'metadata':{'name':'r'},'spec':{'devices':{" X ",'constraints':[",
			"{'matchAttribute':'d/a#'}", "]}}}", 32,
			"spec.devices.constraints: Too many: 33"},
		{CLASSES, "", "{'metadata':{'name':'c'},'spec':{'selectors':[",
			"{'cel':{'expression':'# == 1'}}", "]}}", 32,
			"spec.selectors: Too many: 33"},
		{SLICES, "", "{'metadata':{'name':'s'},'spec':{" POOL "'allNodes':true,'devices':[",
			"{'name':'d#'}", "]}}", 128, "spec.devices: Too many: 129"},
		{SLICES, "", "{'metadata':{'name':'s'},'spec':{" POOL "'allNodes':true,'devices':[",
			"{'name':'d#','taints':[{'key':'k','effect':'None'}]}", "]}}", 64,
			"spec.devices: Too many: 65"},
		{SLICES, "",
			"{'metadata':{'name':'s'},'spec':{" POOL
			"'allNodes':true,'devices':[{'name':'a','attributes':{",
			"'a#':{'bool':true}", "}}]}}", 32,
			"spec.devices[0]: Invalid value: 33: the total number of attributes"},
	};
	struct bt_strbuf elements = {0};
	for (uint32_t i = 0; i < ROW_COUNT(rows); i++) {
		for (uint32_t more = 0; more < 2; more++) {
			struct bt_strbuf body = {0};
			struct api_fixture f;
			rows_init(&f);
			bt_strbuf_printf(&body, "%s%s%s", rows[i].before,
				repeated(&elements, rows[i].max + more, rows[i].element),
				rows[i].after);
			uint16_t code =
				api_create(&f, rows[i].resource, rows[i].key, bt_strbuf_c(&body));
			ck_assert_msg(code == (more != 0 ? 422 : 201), "row %u: %u %s", i, code,
				api_text(&f, "message"));
			ck_assert_msg(more == 0 ||
					strstr(api_text(&f, "message"), rows[i].message) != NULL,
				"row %u: %s", i, api_text(&f, "message"));
			bt_strbuf_finish(&body);
			api_fixture_finish(&f);
		}
	}
	bt_strbuf_finish(&elements);
}
END_TEST

/** The server answers no other request while it compiles expressions, so their cost is bounded. */
START_TEST(test_kinds_devices__expressions_of_an_object_are_bounded_together)
{
	static const char bound[] = "the expressions of the object are too complex together";
	struct bt_strbuf selectors = {0};
	struct bt_strbuf body = {0};
	for (uint32_t more = 0; more < 2; more++) {
		struct api_fixture f;
		rows_init(&f);
		(void)repeated(&selectors, 16 + more, "{'cel':{'expression':'no.such(#)'}}");
		bt_strbuf_reset(&body);
		bt_strbuf_printf(&body,
			REQUESTS("{'name':'a','exactly':{'deviceClassName':'d','selectors':[%s]}},"
				 "{'name':'b','exactly':{'deviceClassName':'d','selectors':[%s]}}"),
			bt_strbuf_c(&selectors), bt_strbuf_c(&selectors));
		ck_assert_uint_eq(api_create(&f, CLAIMS, "default/", bt_strbuf_c(&body)), 422);
		ck_assert_int_eq(strstr(api_text(&f, "message"), bound) != NULL, more != 0);
		api_fixture_finish(&f);
	}
	bt_strbuf_finish(&selectors);
	bt_strbuf_finish(&body);
}
END_TEST

START_TEST(test_kinds_devices__admin_access_where_the_namespace_says_so)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "namespaces", "",
		"{'metadata':{'name':'admins','labels':{'resource.kubernetes.io/admin-access':"
		"'true'}}}");
	rows_create(&f, CLAIMS, "admins/", EXACT(",'adminAccess':true"));
	api_fixture_finish(&f);
}
END_TEST

/** --- updates --- */

#define ALLOCATION \
	"'allocation':{'devices':{'results':[{'request':'x','driver':'d.x','pool':'p'," \
	"'device':'a'}]}}"
#define CONSUMER(uid) "{'resource':'pods','name':'n','uid':'" uid "'}"

START_TEST(test_kinds_devices__status_of_claims)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, CLAIMS, "default/", EXACT(""));
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, CLAIMS "/status", "default/r",
				  "{'status':{'reservedFor':[" CONSUMER("1") "]}}"),
		422);
	ck_assert_ptr_nonnull(strstr(api_text(&f, "message"),
		"status.reservedFor: Forbidden: may not be specified when `allocated` is not set"));
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, CLAIMS "/status", "default/r",
				  "{'status':{" ALLOCATION
				  ",'reservedFor':[" CONSUMER("1") "," CONSUMER("1") "]}}"),
		422);
	ck_assert_ptr_nonnull(strstr(
		api_text(&f, "message"), "status.reservedFor[1].uid: Duplicate value: \"1\""));
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, CLAIMS "/status", "default/r",
				  "{'metadata':{'labels':{'a':'b'}},'status':{" ALLOCATION
				  ",'reservedFor':[" CONSUMER("1") "]}}"),
		200);
	rows_expect(&f, "only the status", "metadata.labels", "");
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, CLAIMS "/status", "default/r",
			"{'status':{'allocation':{'nodeSelector':{'nodeSelectorTerms':[]}}}}"),
		422);
	ck_assert_ptr_nonnull(strstr(api_text(&f, "message"), "status.allocation: Invalid value"));
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_STRATEGIC, CLAIMS "/status", "default/r",
				  "{'status':{'reservedFor':[{'$patch':'delete','uid':'1'}]}}"),
		200);
	rows_expect(&f, "nobody", "status.reservedFor", "");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, CLAIMS "/status", "default/r",
				  "{'status':{'allocation':null}}"),
		200);
	rows_expect(&f, "free", "status", "{}");
	api_fixture_finish(&f);
}
END_TEST

static const struct update_row update_rows[] = {
	{"driver", SLICES, "", DEVICES("{'name':'a'}"), "s", "{'spec':{'driver':'e.x'}}",
		"spec.driver: Invalid value: "},
	{"pool", SLICES, "", DEVICES("{'name':'a'}"), "s", "{'spec':{'pool':{'name':'q'}}}",
		"spec.pool.name: Invalid value: "},
	{"node", SLICES, "", DEVICES("{'name':'a'}"), "s", "{'spec':{'nodeName':'m'}}",
		"spec.nodeName: Invalid value: "},
	{"devices", SLICES, "", DEVICES("{'name':'a'}"), "s",
		"{'spec':{'pool':{'generation':2},'devices':[{'name':'b'}]}}", NULL},
	{"class", CLASSES, "", "{'metadata':{'name':'c'},'spec':{}}", "c",
		"{'spec':{'extendedResourceName':'a.b/c'}}", NULL},
};

START_TEST(test_kinds_devices__updates)
{
	rows_check_updates(update_rows, ROW_COUNT(update_rows));
}
END_TEST

static const struct value_row value_rows[] = {
	{"toleration", CLAIMS, "default/", EXACT(",'tolerations':[{'key':'k'}]"),
		"spec.devices.requests.0.exactly.tolerations", "[{'key':'k','operator':'Equal'}]"},
	{"rule", RULES, "",
		"{'metadata':{'name':'r'},'spec':{'taint':{'key':'k','effect':'NoSchedule',"
		"'timeAdded':'2026-01-02T03:04:05Z'}},'status':{'conditions':[{'type':'x'}]}}",
		"status", "{}"},
	{"generation of a slice", SLICES, "", DEVICES("{'name':'a'}"), "metadata.generation", "1"},
	{"generation of a rule", RULES, "",
		"{'metadata':{'name':'r'},'spec':{'taint':{'key':'k','effect':'NoSchedule'}}}",
		"metadata.generation", "1"},
};

START_TEST(test_kinds_devices__values)
{
	rows_check_values(value_rows, ROW_COUNT(value_rows));
}
END_TEST

BT_TEST_MAIN("kinds_devices", test_kinds_devices__claims, test_kinds_devices__devices,
	test_kinds_devices__how_many,
	test_kinds_devices__expressions_of_an_object_are_bounded_together,
	test_kinds_devices__admin_access_where_the_namespace_says_so,
	test_kinds_devices__status_of_claims, test_kinds_devices__updates,
	test_kinds_devices__values)
