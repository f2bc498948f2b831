/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "test_main.h"

#define IMAGE(name, bytes) "{'names':['" name "'],'sizeBytes':" bytes "}"
#define NODE(name, images) "{'metadata':{'name':'" name "'},'status':{'images':[" images "]}}"
#define C(image) "{'name':'c','image':'" image "'}"
#define POD(containers) "{'spec':{'containers':[" containers "]}}"
#define BYTES_23 "24117248"
#define BYTES_40 "41943040"
#define BYTES_250 "262144000"
#define BYTES_300 "314572800"
#define BYTES_2000 "2097152000"

START_TEST(test_image_locality__edge_05_52_spread_images)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_image_locality_plugin);
	fixture_add_node(&fixture, NODE("small", IMAGE("a:1", BYTES_40)));
	fixture_add_node(&fixture, NODE("large", IMAGE("b:1", BYTES_250)));
	ck_assert_int_eq(fixture_score(&fixture, POD(C("a:1") "," C("b:1")), "small"), 0);
	ck_assert_int_eq(fixture_score(&fixture, POD(C("a:1") "," C("b:1")), "large"), 5);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_image_locality__edge_05_53_scale)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_image_locality_plugin);
	fixture_add_node(&fixture, NODE("n1", IMAGE("a:1", BYTES_23)));
	ck_assert_int_eq(fixture_score(&fixture, POD(C("a:1")), "n1"), 0);
	fixture_finish(&fixture);
	fixture_init(&fixture, &bt_image_locality_plugin);
	fixture_add_node(
		&fixture, NODE("n1", IMAGE("a:1", BYTES_300) "," IMAGE("huge:1", BYTES_2000)));
	fixture_add_node(&fixture, NODE("n2", IMAGE("huge:1", BYTES_2000)));
	ck_assert_int_eq(fixture_score(&fixture, POD(C("a:1")), "n1"), 12);
	ck_assert_int_eq(fixture_score(&fixture, POD(C("a:1")), "n2"), 0);
	ck_assert_int_eq(fixture_score(&fixture, POD(C("huge:1")), "n2"), 100);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_image_locality__edge_05_54_image_volumes)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_image_locality_plugin);
	fixture_add_node(&fixture, NODE("n1", IMAGE("data:1", BYTES_300)));
	fixture_add_node(&fixture, NODE("n2", ""));
	ck_assert_int_eq(
		fixture_score(&fixture,
			"{'spec':{'containers':[" C("unknown") "],'volumes':[{'name':'v','image':{'"
							       "reference':'data:1'}}]}}",
			"n1"),
		12);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_image_locality__edge_05_55_repeated_image)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_image_locality_plugin);
	fixture_add_node(&fixture, NODE("n1", IMAGE("a:1", BYTES_300)));
	fixture_add_node(&fixture, NODE("n2", ""));
	/* Two containers use an image of 150 MiB: 300 MiB on a scale from 23 MiB to 2000 MiB. */
	ck_assert_int_eq(
		fixture_score(&fixture, POD(C("a:1") "," C("a:1")), "n1"), 100 * 277 / 1977);
	ck_assert_int_eq(
		fixture_score(&fixture,
			"{'spec':{'initContainers':[" C("a:1") "],'containers':[" C("a:1") "]}}",
			"n1"),
		100 * 277 / 1977);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_image_locality__edge_05_56_normalised_names)
{
	static const struct {
		const char *name;
		const char *pod;
		const char *node;
		int64_t expected;
	} rows[] = {
		{"latest", POD(C("root")), NODE("n", IMAGE("root:latest", BYTES_2000)), 100},
		{"not without", POD(C("root")), NODE("n", IMAGE("root", BYTES_2000)), 0},
		{"tag", POD(C("root:tag")), NODE("n", IMAGE("root:tag", BYTES_2000)), 100},
		{"port", POD(C("gcr.io:5000/root")),
			NODE("n", IMAGE("gcr.io:5000/root:latest", BYTES_2000)), 100},
		{"digest", POD(C("root@sha256:abc")),
			NODE("n", IMAGE("root@sha256:abc", BYTES_2000)), 100},
		{"registry counts", POD(C("nginx:1")),
			NODE("n", IMAGE("docker.io/library/nginx:1", BYTES_2000)), 0},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct fixture fixture;
		int64_t score;

		fixture_init(&fixture, &bt_image_locality_plugin);
		fixture_add_node(&fixture, rows[i].node);
		score = fixture_score(&fixture, rows[i].pod, "n");
		ck_assert_msg(
			score == rows[i].expected, "%s: %lld", rows[i].name, (long long)score);
		fixture_finish(&fixture);
	}
}
END_TEST

START_TEST(test_image_locality__pod_without_containers_and_absurd_size)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_image_locality_plugin);
	fixture_add_node(&fixture, NODE("n", IMAGE("a:1", "9223372036854775807")));
	ck_assert_int_eq(fixture_score(&fixture, "{}", "n"), 0);
	ck_assert_msg(fixture_score(&fixture, POD(C("a:1")), "n") == 0,
		"2^63 does not fit: as upstream on amd64");
	fixture_finish(&fixture);
}
END_TEST

/* More images than the plugin looks up at once; image numbers that agree in their last six bits. */
START_TEST(test_image_locality__many_images)
{
	static const uint32_t counts[] = {127, 128, 129, 200};
	struct fixture fixture;

	fixture_init(&fixture, &bt_image_locality_plugin);
	for (uint32_t i = 0; i < 3; i++) {
		struct bt_strbuf node = {0};

		bt_strbuf_printf(&node, "{'metadata':{'name':'n%u'},'status':{'images':[", i);
		for (uint32_t image = i; image < 300; image += 1 + i) {
			bt_strbuf_printf(&node, "%s{'names':['i%u:1'],'sizeBytes':%u}",
				image == i ? "" : ",", image, 300000000 + image);
		}
		bt_strbuf_append_c(&node, "]}}");
		fixture_add_node(&fixture, bt_strbuf_c(&node));
		bt_strbuf_finish(&node);
	}
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(counts); i++) {
		struct bt_strbuf pod = {0};

		bt_strbuf_append_c(&pod, "{'spec':{'containers':[");
		for (uint32_t k = 0; k < counts[i]; k++) {
			bt_strbuf_printf(&pod, "%s{'name':'c','image':'i%u:1'}", k == 0 ? "" : ",",
				k % 100 * 2);
		}
		bt_strbuf_append_c(&pod, "]}}");
		/*
		 * fixture_score also compares the column form. Node n0 was added first, when no
		 * other node had its images, so each image counts 100 MB of the maximum of 1000
		 * MiB.
		 */
		ck_assert_int_eq(fixture_score(&fixture, bt_strbuf_c(&pod), "n0"), 9);
		ck_assert_int_eq(fixture_score(&fixture, bt_strbuf_c(&pod), "n1"), 0);
		ck_assert_int_gt(fixture_score(&fixture, bt_strbuf_c(&pod), "n2"), 0);
		bt_strbuf_finish(&pod);
	}
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_image_locality__sign_is_the_set_of_names)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_image_locality_plugin);
	ck_assert_str_eq(fixture_sign(&fixture, POD(C("b") "," C("a:1") "," C("b:latest"))),
		fixture_sign(&fixture,
			"{'spec':{'initContainers':[" C("a:1") "],'containers':[" C("b") "]}}"));
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("image_locality", test_image_locality__edge_05_52_spread_images,
	test_image_locality__edge_05_53_scale, test_image_locality__edge_05_54_image_volumes,
	test_image_locality__edge_05_55_repeated_image,
	test_image_locality__edge_05_56_normalised_names,
	test_image_locality__pod_without_containers_and_absurd_size,
	test_image_locality__many_images, test_image_locality__sign_is_the_set_of_names)
