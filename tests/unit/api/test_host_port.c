/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resources.h"

#include "api_test.h"
#include "test_main.h"

static struct bt_arena arena;

/** Returns the only host port of a pod with one container port, or NULL. */
static const struct bt_host_port *port_of(const char *port_json)
{
	struct bt_strbuf json = {0};
	bt_host_port_list ports;

	bt_strbuf_printf(&json, "{'spec':{'containers':[{'name':'c','ports':[%s]}]}}", port_json);
	ports = bt_pod_host_ports(&api_pod(&arena, bt_strbuf_c(&json))->spec, &arena);
	bt_strbuf_finish(&json);
	return ports.count == 0 ? NULL : &ports.items[0];
}

START_TEST(test_host_port__edge_01b_36_conflicts)
{
	static const struct {
		const char *used;
		const char *wanted;
		bool conflict;
	} rows[] = {
		{"{'protocol':'TCP','hostIP':'127.0.0.1','hostPort':80}", "{'hostPort':80}", true},
		{"{'protocol':'TCP','hostIP':'127.0.0.1','hostPort':80}", "{'hostPort':81}", false},
		{"{'protocol':'UDP','hostIP':'127.0.0.1','hostPort':80}",
			"{'protocol':'TCP','hostIP':'0.0.0.0','hostPort':80}", false},
		{"{'protocol':'TCP','hostIP':'0.0.0.0','hostPort':80}",
			"{'protocol':'TCP','hostIP':'127.0.0.1','hostPort':80}", true},
		{"{'protocol':'TCP','hostIP':'10.0.0.1','hostPort':80}",
			"{'protocol':'TCP','hostIP':'127.0.0.1','hostPort':80}", false},
		{"{'hostIP':'::','hostPort':80}", "{'hostIP':'127.0.0.1','hostPort':80}", false},
		{"{'hostIP':'::','hostPort':80}", "{'hostPort':80}", true},
		{"{'hostIP':'127.0.0.1','hostPort':80}", "{'hostIP':'127.0.0.1','hostPort':80}",
			true},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		ck_assert_msg(bt_host_port_conflicts(port_of(rows[i].wanted),
				      port_of(rows[i].used)) == rows[i].conflict,
			"%s against %s", rows[i].wanted, rows[i].used);
	}
	ck_assert_ptr_null(port_of("{'hostPort':0}"));
	ck_assert_ptr_null(port_of("{'hostPort':-1}"));
}
END_TEST

START_TEST(test_host_port__edge_01b_37_normalised)
{
	/*
	 * The tests of nodes cover the set of used ports. This test covers the values that a pod
	 * with empty fields adds and removes.
	 */
	const struct bt_host_port *plain = port_of("{'hostPort':79}");
	const struct bt_host_port *full =
		port_of("{'protocol':'TCP','hostIP':'0.0.0.0','hostPort':79}");

	api_check_str("ip", plain->ip, "0.0.0.0");
	api_check_str("protocol", plain->protocol, "TCP");
	ck_assert(
		bt_str_equal(plain->ip, full->ip) && bt_str_equal(plain->protocol, full->protocol));
	ck_assert_int_eq(plain->port, full->port);
}
END_TEST

START_TEST(test_host_port__edge_01b_38_which_containers)
{
	const struct bt_pod *pod = api_pod(&arena,
		"{'spec':{'containers':[{'name':'c','ports':[{'containerPort':5},{'hostPort':1,'"
		"containerPort':5},"
		"{'hostPort':2,'protocol':'UDP','hostIP':'10.0.0.1'}]}],'initContainers':[{'name':'"
		"i','ports':[{'hostPort':3}]},"
		"{'name':'s','restartPolicy':'Always','ports':[{'hostPort':4}]},"
		"{'name':'t','restartPolicy':'always','ports':[{'hostPort':5}]}]}}");
	bt_host_port_list ports = bt_pod_host_ports(&pod->spec, &arena);

	ck_assert_uint_eq(ports.count, 3);
	ck_assert_int_eq(ports.items[0].port, 4);
	ck_assert_int_eq(ports.items[1].port, 1);
	ck_assert_int_eq(ports.items[2].port, 2);
	api_check_str("protocol", ports.items[2].protocol, "UDP");
	api_check_str("ip", ports.items[2].ip, "10.0.0.1");
}
END_TEST

BT_TEST_MAIN("host_port", test_host_port__edge_01b_36_conflicts,
	test_host_port__edge_01b_37_normalised, test_host_port__edge_01b_38_which_containers)
