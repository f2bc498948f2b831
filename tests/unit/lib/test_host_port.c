/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 01b section 7. */
#include "berth/node_info.h"

#include "objects.h"

struct triple {
	const char *protocol;
	const char *ip;
	int32_t port;
};

static void add(struct berth_host_port_info *info, struct triple triple)
{
	berth_host_port_info_add(
		info, berth_str_from(triple.ip), berth_str_from(triple.protocol), triple.port);
}

/* seed-map 003.95; spec 01b edge 36 */
START_TEST(test_host_port__edge_36_conflicts)
{
	static const struct {
		struct triple used;
		struct triple wanted;
		bool conflicts;
	} rows[] = {
		{{"TCP", "127.0.0.1", 80}, {"", "", 80}, true},
		{{"TCP", "127.0.0.1", 80}, {"", "", 81}, false},
		{{"TCP", "127.0.0.1", 80}, {"", "", 0}, false},
		{{"UDP", "127.0.0.1", 80}, {"TCP", "0.0.0.0", 80}, false},
		{{"TCP", "0.0.0.0", 80}, {"TCP", "127.0.0.1", 80}, true},
		{{"TCP", "10.0.0.1", 80}, {"TCP", "127.0.0.1", 80}, false},
		{{"TCP", "10.0.0.1", 80}, {"TCP", "10.0.0.1", 80}, true},
		{{"TCP", "::", 80}, {"TCP", "127.0.0.1", 80}, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct berth_host_port_info info = {0};
		bool conflicts;

		add(&info, rows[i].used);
		conflicts = berth_host_port_info_check_conflict(&info,
			berth_str_from(rows[i].wanted.ip), berth_str_from(rows[i].wanted.protocol),
			rows[i].wanted.port);
		ck_assert_msg(conflicts == rows[i].conflicts, "row %zu", i);
		berth_host_port_info_finish(&info);
	}
}
END_TEST

/* seed-map 003.95; spec 01b edge 37 */
START_TEST(test_host_port__edge_37_length)
{
	static const struct triple triples[] = {{"TCP", "127.0.0.1", 79}, {"UDP", "127.0.0.1", 80},
		{"TCP", "127.0.0.1", 81}, {"TCP", "127.0.0.1", 82}, {"TCP", "0.0.0.0", 79},
		{"UDP", "0.0.0.0", 80}, {"TCP", "0.0.0.0", 81}, {"TCP", "0.0.0.0", 82},
		{"TCP", "0.0.0.0", 0}, {"TCP", "0.0.0.0", -1}};
	struct berth_host_port_info info = {0};
	struct berth_host_port_info copy;

	for (size_t i = 0; i < sizeof(triples) / sizeof(triples[0]); i++) {
		add(&info, triples[i]);
		add(&info, triples[i]);
	}
	ck_assert_uint_eq(info.count, 8);
	ck_assert_int_eq(info.ports[0].port, 79);
	CHECK_TEXT(info.ports[0].ip, "0.0.0.0");
	CHECK_TEXT(info.ports[1].ip, "127.0.0.1");
	berth_host_port_info_clone(&info, &copy);
	for (size_t i = 0; i < sizeof(triples) / sizeof(triples[0]); i++) {
		struct berth_str ip = berth_str_from(triples[i].ip);
		struct berth_str protocol = berth_str_from(triples[i].protocol);

		berth_host_port_info_remove(&info,
			berth_str_equal_c(ip, "0.0.0.0") ? BERTH_STR("") : ip,
			berth_str_equal_c(protocol, "TCP") ? BERTH_STR("") : protocol,
			triples[i].port);
	}
	ck_assert_uint_eq(info.count, 0);
	berth_host_port_info_remove(&info, BERTH_STR(""), BERTH_STR(""), 1);
	ck_assert_uint_eq(copy.count, 8);
	berth_host_port_info_finish(&copy);
	berth_host_port_info_finish(&info);
	berth_host_port_info_finish(NULL);
}
END_TEST

BT_TEST_MAIN("lib_host_port", test_host_port__edge_36_conflicts, test_host_port__edge_37_length)
