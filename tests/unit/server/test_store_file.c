/* SPDX-License-Identifier: Apache-2.0 */
/* For mkdtemp and pwrite. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/prng.h"
#include "base/strbuf.h"
#include "server/store.h"
#include "test_main.h"

static char folder[] = "/tmp/berth-store-XXXXXX";
static char path[64];

static void make_folder(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/berth-store-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/db", folder);
}

static void remove_folder(void)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(suffixes); i++) {
		char name[80];

		(void)snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
		(void)unlink(name);
	}
	ck_assert_int_eq(rmdir(folder), 0);
}

static struct bt_store *open_store(void)
{
	struct bt_store *store = bt_store_create(&bt_store_default_options);
	struct berth_error err = BERTH_ERROR_INIT;

	if (bt_store_open(store, path, &err) != 0) {
		ck_abort_msg("%s", berth_error_message(&err));
	}
	return store;
}

static void expect_refusal(int code, const char *text)
{
	struct bt_store *store = bt_store_create(&bt_store_default_options);
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_int_eq(bt_store_open(store, path, &err), code);
	ck_assert_msg(strstr(berth_error_message(&err), path) != NULL &&
			strstr(berth_error_message(&err), text) != NULL,
		"%s", berth_error_message(&err));
	berth_error_finish(&err);
	bt_store_destroy(store);
}

static void sync_store(struct bt_store *store)
{
	struct berth_error err = BERTH_ERROR_INIT;

	if (bt_store_sync(store, &err) != 0) {
		ck_abort_msg("%s", berth_error_message(&err));
	}
	ck_assert(!bt_store_needs_sync(store));
}

static void run_sql(const char *sql)
{
	sqlite3 *database = NULL;

	ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_close(database), SQLITE_OK);
}

START_TEST(test_store_file__comes_back_as_it_was)
{
	struct bt_store *store;
	const struct bt_stored *stored;
	uint32_t pods;
	uint32_t nodes;

	make_folder();
	store = open_store();
	pods = bt_store_collection(store, BT_STR("pods"));
	nodes = bt_store_collection(store, BT_STR("nodes"));
	ck_assert(!bt_store_needs_sync(store));
	bt_store_put(store, pods, BT_STR("a/x"), BT_STR("{\"n\":1}"), 0);
	bt_store_put(store, nodes, BT_STR("n"), BT_STR("{\"n\":2}"), 0);
	bt_store_put(store, pods, BT_STR("a/x"), BT_STR("{\"n\":3}"), 0);
	bt_store_put(store, pods, BT_STR("a/y"), BT_STR("{\"n\":4}"), 0);
	sync_store(store);
	bt_store_remove(store, nodes, BT_STR("n"), BT_STR("{\"n\":5}"), 0);
	bt_store_remove(store, pods, BT_STR("a/y"), BT_STR("{\"n\":6}"), 0);
	bt_store_put(store, pods, BT_STR("a/y"), BT_STR("{\"n\":7}"), 0);
	ck_assert(bt_store_needs_sync(store));
	sync_store(store);
	bt_store_destroy(store);

	/* Register the collections in another order than before. */
	store = bt_store_create(&bt_store_default_options);
	nodes = bt_store_collection(store, BT_STR("nodes"));
	pods = bt_store_collection(store, BT_STR("pods"));
	ck_assert_int_eq(bt_store_open(store, path, NULL), 0);
	ck_assert_uint_eq(bt_store_rv(store), 8);
	ck_assert_uint_eq(bt_store_count(store, nodes), 0);
	ck_assert_uint_eq(bt_store_count(store, pods), 2);
	stored = bt_store_find(store, pods, BT_STR("a/x"));
	ck_assert_uint_eq(stored->rv, 4);
	ck_assert(bt_str_equal(bt_stored_text(stored), BT_STR("{\"n\":3}")));
	stored = bt_store_find(store, pods, BT_STR("a/y"));
	ck_assert_uint_eq(stored->rv, 8);
	ck_assert_uint_eq(bt_store_window_start(store, pods), 8);
	ck_assert_uint_eq(bt_store_window_start(store, nodes), 8);
	bt_store_destroy(store);
	remove_folder();
}
END_TEST

#define ADDRESS_KEY(address_) "k:{\\\"ip\\\":" address_ "}"
#define FIELDS_WITH(time_, address_) \
	"[{\"manager\":\"m\",\"time\":\"" time_ \
	"\",\"fieldsV1\":{\"" ADDRESS_KEY(address_) "\":{}}}]"
#define ADDRESS "\\\"10.0.0.1\\\""
#define FIELDS(time_) FIELDS_WITH(time_, ADDRESS)
#define FIRST_TIME "2026-11-21T00:00:00Z"
#define SECOND_TIME "2026-11-22T00:00:00Z"
#define OWNED(time_, name_) \
	"{\"metadata\":{\"managedFields\":" FIELDS(time_) ",\"name\":\"" name_ "\"}}"

static void expect_whole(struct bt_store *store, const char *key, const char *text)
{
	struct bt_strbuf whole = {0};

	bt_stored_append_complete(
		bt_store_find(store, bt_store_collection(store, BT_STR("pods")), bt_str_from(key)),
		&whole);
	ck_assert_str_eq(bt_strbuf_c(&whole), text);
	bt_strbuf_finish(&whole);
}

static int64_t query(const char *sql)
{
	sqlite3 *database = NULL;
	sqlite3_stmt *statement = NULL;
	int64_t number;

	ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
	ck_assert_int_eq(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
	number = sqlite3_column_int64(statement, 0);
	ck_assert_int_eq(sqlite3_finalize(statement), SQLITE_OK);
	ck_assert_int_eq(sqlite3_close(database), SQLITE_OK);
	return number;
}

/** Equal managedFields share one row, which is deleted with the last object that has them. */
START_TEST(test_store_file__owners_are_shared)
{
	struct bt_store *store;
	uint32_t pods;

	make_folder();
	store = open_store();
	pods = bt_store_collection(store, BT_STR("pods"));
	bt_store_put(store, pods, BT_STR("a/x"), BT_STR(OWNED(FIRST_TIME, "x")), 0);
	bt_store_put(store, pods, BT_STR("a/y"), BT_STR(OWNED(SECOND_TIME, "y")), 0);
	bt_store_put(store, pods, BT_STR("a/z"), BT_STR("{\"metadata\":{\"name\":\"z\"}}"), 0);
	sync_store(store);
	bt_store_destroy(store);
	ck_assert_int_eq(query("SELECT count(*) FROM owners"), 1);
	ck_assert_int_eq(query("SELECT count(*) FROM objects WHERE text LIKE '%managed%'"), 0);

	store = open_store();
	pods = bt_store_collection(store, BT_STR("pods"));
	expect_whole(store, "a/x", OWNED(FIRST_TIME, "x"));
	expect_whole(store, "a/y", OWNED(SECOND_TIME, "y"));
	expect_whole(store, "a/z", "{\"metadata\":{\"name\":\"z\"}}");
	bt_store_remove(store, pods, BT_STR("a/x"), BT_STR("{\"metadata\":{}}"), 0);
	bt_store_put_owned(
		store, pods, BT_STR("a/y"), BT_STR("{\"metadata\":{\"name\":\"new\"}}"), NULL, 0);
	sync_store(store);
	bt_store_destroy(store);
	ck_assert_int_eq(query("SELECT count(*) FROM owners"), 1);

	store = open_store();
	pods = bt_store_collection(store, BT_STR("pods"));
	expect_whole(store, "a/y", OWNED(SECOND_TIME, "new"));
	bt_store_remove(store, pods, BT_STR("a/y"), BT_STR("{\"metadata\":{}}"), 0);
	sync_store(store);
	bt_store_destroy(store);
	/* Opening the file finds owners that no object has; the next sync deletes them. */
	store = open_store();
	pods = bt_store_collection(store, BT_STR("pods"));
	bt_store_put(store, pods, BT_STR("a/v"), BT_STR("{}"), 0);
	sync_store(store);
	bt_store_destroy(store);
	ck_assert_int_eq(query("SELECT count(*) FROM owners"), 0);
	ck_assert_int_eq(query("SELECT count(*) FROM objects"), 2);
	remove_folder();
}
END_TEST

/** A failed sync writes neither objects nor owners. */
START_TEST(test_store_file__failed_sync_is_repeated)
{
	struct bt_store *store;
	uint32_t pods;
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct rlimit before;
	struct rlimit none;

	make_folder();
	store = open_store();
	pods = bt_store_collection(store, BT_STR("pods"));
	bt_store_put(store, pods, BT_STR("a/x"), BT_STR(OWNED(FIRST_TIME, "x")), 0);
	ck_assert_int_eq(sigaction(SIGXFSZ, &ignore, NULL), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = (struct rlimit){0, before.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	ck_assert_int_eq(bt_store_sync(store, NULL), BERTH_ERR_IO);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert(bt_store_needs_sync(store));
	bt_store_put(store, pods, BT_STR("a/y"), BT_STR(OWNED(SECOND_TIME, "y")), 0);
	sync_store(store);
	bt_store_destroy(store);
	store = open_store();
	expect_whole(store, "a/x", OWNED(FIRST_TIME, "x"));
	expect_whole(store, "a/y", OWNED(SECOND_TIME, "y"));
	bt_store_destroy(store);
	remove_folder();
}
END_TEST

START_TEST(test_store_file__reads_version_1)
{
	struct bt_store *store;
	uint32_t pods;

	make_folder();
	run_sql("CREATE TABLE meta(rv INTEGER NOT NULL); INSERT INTO meta(rv) VALUES(9);"
		"CREATE TABLE collections(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
		"CREATE TABLE objects(id INTEGER PRIMARY KEY, collection INTEGER NOT NULL,"
		" key TEXT NOT NULL, rv INTEGER NOT NULL, text TEXT NOT NULL,"
		" UNIQUE(collection, key));"
		"PRAGMA application_id = 1650815604; PRAGMA user_version = 1;"
		"INSERT INTO collections VALUES(1, 'nodes'), (2, 'pods');"
		"INSERT INTO objects VALUES(1, 2, 'a/y', 7, '" OWNED(
			SECOND_TIME, "y") "'),"
					  " (2, 1, 'n', 8, '{}'), (3, 2, 'a/x', 5, '" OWNED(
						  FIRST_TIME, "x") "');");
	for (int i = 0; i < 2; i++) {
		store = open_store();
		pods = bt_store_collection(store, BT_STR("pods"));
		ck_assert_uint_eq(bt_store_rv(store), 9 + (uint64_t)i);
		ck_assert_uint_eq(bt_store_count(store, pods), 2);
		ck_assert_uint_eq(bt_store_find(store, pods, BT_STR("a/y"))->rv, 7);
		expect_whole(store, "a/x", OWNED(FIRST_TIME, "x"));
		expect_whole(store, "a/y", OWNED(SECOND_TIME, "y"));
		bt_store_put(store, pods, BT_STR("a/x"), BT_STR(OWNED(FIRST_TIME, "x")), 0);
		sync_store(store);
		bt_store_destroy(store);
	}
	ck_assert_int_eq(query("PRAGMA user_version"), 3);
	ck_assert_int_eq(query("SELECT count(*) FROM objects"), 3);
	remove_folder();
}
END_TEST

/**
 * In version 2, addresses were part of the owners' texts, and the column owner_values was called
 * `times`.
 */
START_TEST(test_store_file__reads_version_2)
{
	make_folder();
	struct bt_store *store = open_store();
	uint32_t pods = bt_store_collection(store, BT_STR("pods"));
	bt_store_put(store, pods, BT_STR("a/x"), BT_STR(OWNED(FIRST_TIME, "x")), 0);
	sync_store(store);
	bt_store_destroy(store);
	run_sql("ALTER TABLE objects RENAME COLUMN owner_values TO times;"
		"UPDATE objects SET times = '" FIRST_TIME "';"
		"UPDATE owners SET text = '" FIELDS("") "';"
							"PRAGMA user_version = 2");
	for (int i = 0; i < 2; i++) {
		store = open_store();
		expect_whole(store, "a/x", OWNED(FIRST_TIME, "x"));
		bt_store_destroy(store);
	}
	ck_assert_int_eq(query("PRAGMA user_version"), 3);
	remove_folder();
}
END_TEST

START_TEST(test_store_file__only_the_owner_reads_it)
{
	static const char *const suffixes[] = {"", "-wal"};
	struct bt_store *store;

	make_folder();
	mode_t mask = umask(022);
	store = open_store();
	(void)umask(mask);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(suffixes); i++) {
		struct stat status;
		char name[80];

		(void)snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
		ck_assert_msg(stat(name, &status) == 0, "%s", name);
		ck_assert_uint_eq(status.st_mode & 0777, 0600);
	}
	bt_store_destroy(store);
	remove_folder();
}
END_TEST

START_TEST(test_store_file__rv_never_goes_back)
{
	struct bt_store *store;
	uint32_t pods;

	make_folder();
	store = open_store();
	pods = bt_store_collection(store, BT_STR("pods"));
	bt_store_put(store, pods, BT_STR("a/x"), BT_STR("{}"), 0);
	bt_store_remove(store, pods, BT_STR("a/x"), BT_STR("{}"), 0);
	sync_store(store);
	bt_store_destroy(store);
	store = open_store();
	ck_assert_uint_eq(bt_store_rv(store), 3);
	bt_store_destroy(store);
	remove_folder();
}
END_TEST

START_TEST(test_store_file__large_texts)
{
	struct bt_store *store;
	uint32_t maps;
	char *text = malloc(BT_STORE_TEXT_BYTES_MAX);
	const struct bt_stored *stored;

	ck_assert_ptr_nonnull(text);
	memset(text, 'x', BT_STORE_TEXT_BYTES_MAX);
	text[0] = '{';
	make_folder();
	store = open_store();
	maps = bt_store_collection(store, BT_STR("configmaps"));
	bt_store_put(store, maps, BT_STR("a/x"), (struct bt_str){text, BT_STORE_TEXT_BYTES_MAX}, 0);
	sync_store(store);
	bt_store_destroy(store);
	store = open_store();
	maps = bt_store_collection(store, BT_STR("configmaps"));
	stored = bt_store_find(store, maps, BT_STR("a/x"));
	ck_assert_ptr_nonnull(stored);
	ck_assert_uint_eq(stored->text_length, BT_STORE_TEXT_BYTES_MAX);
	ck_assert_mem_eq(bt_stored_text(stored).data, text, BT_STORE_TEXT_BYTES_MAX);
	bt_store_destroy(store);
	remove_folder();
	free(text);
}
END_TEST

/* --- refusals --- */

START_TEST(test_store_file__in_use)
{
	struct bt_store *store;

	make_folder();
	store = open_store();
	expect_refusal(BERTH_ERR_STATE, "in use by another process");
	bt_store_destroy(store);
	bt_store_destroy(open_store());
	remove_folder();
}
END_TEST

static void write_file(const char *data, size_t length)
{
	FILE *file = fopen(path, "wb");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(data, 1, length, file), length);
	ck_assert_int_eq(fclose(file), 0);
}

START_TEST(test_store_file__not_ours)
{
	char text[4096];

	make_folder();
	memset(text, 'z', sizeof(text));
	write_file(text, sizeof(text));
	expect_refusal(BERTH_ERR_INVALID, "not a database of berth");
	ck_assert_int_eq(unlink(path), 0);
	run_sql("CREATE TABLE foreign_things(a)");
	expect_refusal(BERTH_ERR_INVALID, "not a database of berth");
	run_sql("PRAGMA application_id = 1650815604; PRAGMA user_version = 4");
	expect_refusal(BERTH_ERR_INVALID, "a newer berth");
	run_sql("PRAGMA user_version = 0");
	expect_refusal(BERTH_ERR_INVALID, "damaged");
	ck_assert_int_eq(unlink(path), 0);
	remove_folder();
	/* The folder of the file does not exist. */
	expect_refusal(BERTH_ERR_IO, "cannot open it");
}
END_TEST

static void fill_store(uint32_t count)
{
	struct bt_store *store = open_store();
	uint32_t pods = bt_store_collection(store, BT_STR("pods"));
	char text[1500];

	memset(text, 'x', sizeof(text));
	text[0] = '{';
	for (uint32_t i = 0; i < count; i++) {
		char key[32];

		(void)snprintf(key, sizeof(key), "a/%u", i);
		bt_store_put(store, pods, bt_str_from(key), (struct bt_str){text, sizeof(text)}, 0);
	}
	bt_store_put(store, pods, BT_STR("b/1"), BT_STR(OWNED(FIRST_TIME, "x")), 0);
	sync_store(store);
	bt_store_destroy(store);
}

START_TEST(test_store_file__damaged_rows)
{
	static const char *const damages[] = {
		"UPDATE objects SET text = '' WHERE key = 'a/1'",
		"UPDATE objects SET text = 'null' WHERE key = 'a/1'",
		"UPDATE objects SET rv = 999999 WHERE key = 'a/1'",
		"UPDATE objects SET rv = -1 WHERE key = 'a/1'",
		"UPDATE objects SET key = '' WHERE key = 'a/1'",
		"UPDATE objects SET key = hex(zeroblob(400)) WHERE key = 'a/1'",
		"UPDATE objects SET collection = 7 WHERE key = 'a/1'",
		"UPDATE collections SET id = 700000",
		"UPDATE meta SET rv = 0",
		"DELETE FROM meta",
		"UPDATE objects SET key = CAST(X'612f30' AS BLOB) WHERE key = 'a/1'",
		"UPDATE objects SET owners = 7 WHERE key = 'a/1'",
		"UPDATE objects SET owners = NULL WHERE key = 'b/1'",
		"UPDATE objects SET owner_values = '' WHERE key = 'b/1'",
		"UPDATE objects SET owner_values = '" FIRST_TIME "' WHERE key = 'b/1'",
		"UPDATE objects SET owner_values = '" FIRST_TIME "10.0.0.1' WHERE key = 'b/1'",
		"UPDATE objects SET owner_values = '" FIRST_TIME "10\"0 ' WHERE key = 'b/1'",
		"UPDATE objects SET owner_values = owner_values || '10 ' WHERE key = 'b/1'",
		"UPDATE objects SET text = '{}' WHERE key = 'b/1'",
		"UPDATE owners SET text = ''",
		"UPDATE owners SET text = '[{'",
		"UPDATE owners SET text = '[' || char(1) || ']'",
		"UPDATE owners SET text = replace(text, char(1), '')",
		"UPDATE owners SET id = -1",
		"INSERT INTO owners SELECT 9, text FROM owners",
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(damages); i++) {
		make_folder();
		fill_store(3);
		run_sql(damages[i]);
		expect_refusal(BERTH_ERR_INVALID, "damaged");
		remove_folder();
	}
}
END_TEST

/** Random damage of the file: opening gives an error or a store, and never crashes. */
START_TEST(test_store_file__damaged_bytes)
{
	uint32_t refused = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct bt_store *store;
		struct bt_prng prng;
		int fd;
		off_t size;

		make_folder();
		fill_store(50);
		bt_prng_init(&prng, seed);
		fd = open(path, O_RDWR);
		ck_assert_int_ge(fd, 0);
		size = lseek(fd, 0, SEEK_END);
		for (int i = 0; i < 20; i++) {
			char byte = (char)bt_prng_next(&prng);
			off_t at = (off_t)bt_prng_below(&prng, (uint64_t)size);

			ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
		}
		if (seed % 8 == 0) {
			ck_assert_int_eq(ftruncate(fd, size / 2), 0);
		}
		ck_assert_int_eq(close(fd), 0);
		store = bt_store_create(&bt_store_default_options);
		refused += bt_store_open(store, path, NULL) != 0;
		bt_store_destroy(store);
		remove_folder();
	}
	ck_assert_uint_ge(refused, 5);
}
END_TEST

/* --- kill -9 --- */

/** Writes and syncs until killed; writes each durable RV to the pipe. */
static void write_until_killed(int out, uint64_t seed)
{
	struct bt_store *store = open_store();
	uint32_t pods = bt_store_collection(store, BT_STR("pods"));
	struct bt_prng prng;

	bt_prng_init(&prng, seed);
	for (;;) {
		uint32_t count = 1 + (uint32_t)bt_prng_below(&prng, 8);
		uint64_t rv;

		for (uint32_t i = 0; i < count; i++) {
			char text[2048];
			char key[32];

			rv = bt_store_next_rv(store);
			(void)snprintf(text, sizeof(text), "{\"rv\":%llu,\"fill\":\"%*d\"}",
				(unsigned long long)rv, 1500, 1);
			/* The key follows from the RV: one of 50 keys. */
			(void)snprintf(key, sizeof(key), "a/%u", (uint32_t)(rv * 31 % 50));
			bt_store_put(store, pods, bt_str_from(key), bt_str_from(text), 0);
		}
		rv = bt_store_rv(store);
		if (bt_store_sync(store, NULL) != 0 || write(out, &rv, sizeof(rv)) != sizeof(rv)) {
			_exit(1);
		}
	}
}

START_TEST(test_store_file__killed_writers_lose_nothing)
{
	uint64_t acknowledged = 1;

	make_folder();
	for (uint64_t round = 0; round < 12; round++) {
		struct bt_store *store;
		uint32_t pods;
		int ends[2];
		pid_t child;
		uint64_t rv;
		struct timespec delay = {0, (long)(20 + 17 * round) * 1000000};

		ck_assert_int_eq(pipe(ends), 0);
		child = fork();
		ck_assert_int_ge(child, 0);
		if (child == 0) {
			(void)close(ends[0]);
			write_until_killed(ends[1], round + 1);
		}
		ck_assert_int_eq(close(ends[1]), 0);
		(void)nanosleep(&delay, NULL);
		ck_assert_int_eq(kill(child, SIGKILL), 0);
		ck_assert_int_eq(waitpid(child, NULL, 0), child);
		while (read(ends[0], &rv, sizeof(rv)) == sizeof(rv)) {
			ck_assert_uint_gt(rv, acknowledged);
			acknowledged = rv;
		}
		ck_assert_int_eq(close(ends[0]), 0);

		store = open_store();
		pods = bt_store_collection(store, BT_STR("pods"));
		ck_assert_uint_ge(bt_store_rv(store), acknowledged);
		/*
		 * The last 50 acknowledged RVs belong to 50 different keys, so each key's object
		 * must have that RV or a later RV.
		 */
		for (uint64_t at = acknowledged; at > 1 && at + 50 > acknowledged; at--) {
			char key[32];
			const struct bt_stored *stored;

			(void)snprintf(key, sizeof(key), "a/%u", (uint32_t)(at * 31 % 50));
			stored = bt_store_find(store, pods, bt_str_from(key));
			if (stored == NULL || stored->rv < at ||
				strtoull(bt_stored_text(stored).data + 6, NULL, 10) != stored->rv) {
				ck_abort_msg("round %llu: RV %llu is lost",
					(unsigned long long)round, (unsigned long long)at);
			}
		}
		bt_store_destroy(store);
	}
	ck_assert_uint_gt(acknowledged, 1);
	(void)printf("%llu writes acknowledged\n", (unsigned long long)acknowledged);
	remove_folder();
}
END_TEST

BT_TEST_MAIN("store_file", test_store_file__comes_back_as_it_was,
	test_store_file__owners_are_shared, test_store_file__failed_sync_is_repeated,
	test_store_file__reads_version_1, test_store_file__reads_version_2,
	test_store_file__only_the_owner_reads_it, test_store_file__rv_never_goes_back,
	test_store_file__large_texts, test_store_file__in_use, test_store_file__not_ours,
	test_store_file__damaged_rows, test_store_file__damaged_bytes,
	test_store_file__killed_writers_lose_nothing)
