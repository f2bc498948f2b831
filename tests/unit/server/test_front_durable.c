/* SPDX-License-Identifier: Apache-2.0 */
/* For mkdtemp. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "front_fixture.h"
#include "test_main.h"

#define CONFIGMAPS "/api/v1/namespaces/default/configmaps"

static char folder[32];
static char path[64];

static void make_folder(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/berth-front-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/db", folder);
}

static void remove_folder(void)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(suffixes); i++) {
		char name[80];
		(void)snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
		(void)unlink(name); /* not all of the files exist */
	}
	ck_assert_int_eq(rmdir(folder), 0);
}

START_TEST(test_front_durable__answers_wait_for_the_sync)
{
	struct front_fixture fixture;
	make_folder();
	front_fixture_init_file(&fixture, path);
	ck_assert_int_eq(bt_front_flush(fixture.front, NULL), 0);
	/* with nothing to write, the answer comes at once */
	struct bt_front_call *call = front_start(&fixture, "GET", CONFIGMAPS, BT_STR(""));
	ck_assert(fixture.answered);
	bt_front_end(call);
	call = front_start(&fixture, "POST", CONFIGMAPS, BT_STR("{\"metadata\":{\"name\":\"a\"}}"));
	ck_assert(!fixture.answered);
	ck_assert_int_eq(bt_front_flush(fixture.front, NULL), 0);
	ck_assert(fixture.answered);
	ck_assert_uint_eq(fixture.code, 201);
	ck_assert(!bt_store_needs_sync(fixture.store));
	bt_front_end(call);
	/*
	 * one client closes its request before the flush, the next client reads an object that is
	 * not durable yet
	 */
	call = front_start(&fixture, "POST", CONFIGMAPS, BT_STR("{\"metadata\":{\"name\":\"b\"}}"));
	bt_front_end(call);
	call = front_start(&fixture, "GET", CONFIGMAPS "/b", BT_STR(""));
	ck_assert(!fixture.answered);
	ck_assert_int_eq(bt_front_flush(fixture.front, NULL), 0);
	ck_assert_uint_eq(fixture.code, 200);
	bt_front_end(call);
	front_fixture_finish(&fixture);
	/* the object is there after a restart */
	front_fixture_init_file(&fixture, path);
	ck_assert_uint_eq(front_ask(&fixture, "GET", CONFIGMAPS "/b", BT_STR("")), 200);
	front_fixture_finish(&fixture);
	remove_folder();
}
END_TEST

START_TEST(test_front_durable__failing_sync)
{
	struct front_fixture fixture;
	struct rlimit before;
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction kept;
	struct berth_error err = BERTH_ERROR_INIT;
	make_folder();
	front_fixture_init_file(&fixture, path);
	ck_assert_int_eq(bt_front_flush(fixture.front, NULL), 0);
	struct bt_front_call *call = front_start(
		&fixture, "POST", CONFIGMAPS, BT_STR("{\"metadata\":{\"name\":\"a\"}}"));
	ck_assert(!fixture.answered);
	/* no file may grow: acts like a full disk */
	ck_assert_int_eq(sigaction(SIGXFSZ, &ignore, &kept), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	struct rlimit none = {0, before.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	int result = bt_front_flush(fixture.front, &err);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert_int_eq(sigaction(SIGXFSZ, &kept, NULL), 0);
	ck_assert_int_lt(result, 0);
	ck_assert_ptr_nonnull(strstr(berth_error_message(&err), path));
	berth_error_finish(&err);
	ck_assert_uint_eq(fixture.code, 500);
	ck_assert_ptr_nonnull(strstr(front_body(&fixture), "\"reason\":\"InternalError\""));
	bt_front_end(call);
	/* after a failed write every request fails */
	ck_assert_int_lt(bt_front_flush(fixture.front, NULL), 0);
	call = front_start(&fixture, "GET", CONFIGMAPS, BT_STR(""));
	ck_assert_uint_eq(fixture.code, 500);
	bt_front_end(call);
	front_fixture_finish(&fixture);
	remove_folder();
}
END_TEST

BT_TEST_MAIN("front_durable", test_front_durable__answers_wait_for_the_sync,
	test_front_durable__failing_sync)
