/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/strbuf.h"
#include "server/store_private.h"

/** "bert": distinguishes berth's files from other SQLite databases. */
#define APPLICATION_ID 0x62657274
/**
 * Version 1 kept managedFields in the objects' texts and had an index of the keys. In version 2 the
 * column `owner_values` was named `times`, and the owners' texts contained uids and addresses.
 */
#define FILE_VERSION 3
/** This page size wastes little space if objects have one to two kilobytes. */
#define PAGE_BYTES 8192

/** Statements that are prepared once. */
enum statement {
	BEGIN,
	COMMIT,
	ROLLBACK,
	PUT,
	REMOVE,
	SET_RV,
	ADD_COLLECTION,
	ADD_OWNERS,
	REMOVE_OWNERS,
	STATEMENT_COUNT,
};

static const char *const statement_texts[STATEMENT_COUNT] = {
	[BEGIN] = "BEGIN IMMEDIATE",
	[COMMIT] = "COMMIT",
	[ROLLBACK] = "ROLLBACK",
	[PUT] = ("INSERT INTO objects(rv, collection, key, owners, owner_values, text)"
		 " VALUES(?1, ?2, ?3, ?4, ?5, ?6)"),
	[REMOVE] = "DELETE FROM objects WHERE rv = ?1",
	[SET_RV] = "UPDATE meta SET rv = ?1",
	[ADD_COLLECTION] = "INSERT INTO collections(id, name) VALUES(?1, ?2)",
	[ADD_OWNERS] = "INSERT INTO owners(id, text) VALUES(?1, ?2)",
	[REMOVE_OWNERS] = "DELETE FROM owners WHERE id = ?1",
};

struct bt_store_file {
	sqlite3 *database;
	char *path;
	sqlite3_stmt *statements[STATEMENT_COUNT];
	BT_VEC(uint32_t) ids; /* by collection: its id in the file; 0: not written */
	uint32_t last_id;
	int64_t last_owners; /* last id in the table `owners`; a process never reuses ids */
};

/* --- errors --- */

/**
 * Sets *err to the last error of the database. The message names the file. `action`: what failed,
 * in the message "cannot ACTION".
 */
static int failed(const struct bt_store_file *file, const char *action, struct berth_error *err)
{
	int code = sqlite3_errcode(file->database) & 0xff;
	const char *text = sqlite3_errmsg(file->database);

	switch (code) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return bt_error_set(err, BERTH_ERR_STATE,
			"%s: the database is in use by another process", file->path);
	case SQLITE_NOTADB:
		return bt_error_set(err, BERTH_ERR_INVALID, "%s: not a database of berth (%s)",
			file->path, text);
	case SQLITE_CORRUPT:
	case SQLITE_CONSTRAINT:
		return bt_error_set(err, BERTH_ERR_INVALID, "%s: the database is damaged (%s)",
			file->path, text);
	default:
		return bt_error_set(
			err, BERTH_ERR_IO, "%s: cannot %s: %s", file->path, action, text);
	}
}

BT_PRINTF(3, 4)
static int set_damaged_error(
	const struct bt_store_file *file, struct berth_error *err, const char *format, ...)
{
	struct bt_strbuf text = {0};
	va_list arguments;

	va_start(arguments, format);
	bt_strbuf_vprintf(&text, format, arguments);
	va_end(arguments);
	int code = bt_error_set(err, BERTH_ERR_INVALID, "%s: the database is damaged (%s)",
		file->path, bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return code;
}

/* --- statements --- */

BT_PRINTF(3, 4)
static int execute(
	const struct bt_store_file *file, struct berth_error *err, const char *format, ...)
{
	struct bt_strbuf sql = {0};
	va_list arguments;

	va_start(arguments, format);
	bt_strbuf_vprintf(&sql, format, arguments);
	va_end(arguments);
	bool done = sqlite3_exec(file->database, bt_strbuf_c(&sql), NULL, NULL, NULL) == SQLITE_OK;
	bt_strbuf_finish(&sql);
	return done ? 0 : failed(file, "open it", err);
}

static int prepare(const struct bt_store_file *file, const char *sql, sqlite3_stmt **out_statement,
	struct berth_error *err)
{
	return sqlite3_prepare_v3(file->database, sql, -1, SQLITE_PREPARE_PERSISTENT, out_statement,
		       NULL) == SQLITE_OK
		? 0
		: failed(file, "read it", err);
}

/**
 * Goes to the next row of a query. The caller sets *result to the result of preparing the
 * statement. Returns false if there are no more rows, or if *result is an error.
 */
static bool next_row(const struct bt_store_file *file, sqlite3_stmt *statement, int *result,
	struct berth_error *err)
{
	int step = *result == 0 ? sqlite3_step(statement) : SQLITE_DONE;

	if (step != SQLITE_ROW && step != SQLITE_DONE) {
		*result = failed(file, "read it", err);
	}
	return step == SQLITE_ROW;
}

/**
 * Runs a statement that returns no rows and resets it for the next use. types: one letter for each
 * parameter; 'n': int64_t, 'o': int64_t, where 0 means NULL, 't': struct bt_str, which is not
 * copied.
 */
static bool run(const struct bt_store_file *file, enum statement index, const char *types, ...)
{
	sqlite3_stmt *statement = file->statements[index];
	va_list values;

	va_start(values, types);
	for (int i = 0; types[i] != '\0'; i++) {
		if (types[i] == 't') {
			struct bt_str text = va_arg(values, struct bt_str);
			(void)sqlite3_bind_text(
				statement, i + 1, text.data, (int)text.length, SQLITE_STATIC);
			continue;
		}
		int64_t number = va_arg(values, int64_t);
		if (number == 0 && types[i] == 'o') {
			(void)sqlite3_bind_null(statement, i + 1);
		} else {
			(void)sqlite3_bind_int64(statement, i + 1, number);
		}
	}
	va_end(values);
	bool done = sqlite3_step(statement) == SQLITE_DONE;

	return (sqlite3_reset(statement) == SQLITE_OK) && done;
}

/** Runs a query that returns one number. */
static int query_number(const struct bt_store_file *file, const char *sql, int64_t *out_number,
	struct berth_error *err)
{
	sqlite3_stmt *statement = NULL;
	int result = prepare(file, sql, &statement, err);

	if (next_row(file, statement, &result, err)) {
		*out_number = sqlite3_column_int64(statement, 0);
	} else if (result == 0) {
		result = set_damaged_error(file, err, "no answer to %s", sql);
	}
	(void)sqlite3_finalize(statement);
	return result;
}

/* --- opening --- */

/**
 * One row per object. The primary key is the RV, so a new version of an object is appended after
 * all other rows. A batch of writes thus touches only a few pages at the end. No index is needed,
 * because keys are looked up in memory.
 */
#define CREATE_OBJECTS \
	"CREATE TABLE owners(id INTEGER PRIMARY KEY, text TEXT NOT NULL);" \
	"CREATE TABLE objects(rv INTEGER PRIMARY KEY, collection INTEGER NOT NULL," \
	" key TEXT NOT NULL, owners INTEGER, owner_values TEXT NOT NULL, text TEXT NOT NULL);"

/** Checks that the file is a database of berth; creates the tables if it is empty. */
static int check_identity(const struct bt_store_file *file, struct berth_error *err)
{
	int64_t application = 0;
	int64_t version = 0;
	int64_t tables = 0;
	int result = query_number(file, "PRAGMA application_id", &application, err);

	if (result == 0) {
		result = query_number(file, "PRAGMA user_version", &version, err);
	}
	if (result == 0) {
		result = query_number(file, "SELECT count(*) FROM sqlite_master", &tables, err);
	}
	if (result != 0) {
		return result;
	}
	if (application == 0 && version == 0 && tables == 0) {
		return execute(file, err,
			"PRAGMA page_size = %d;"
			"BEGIN IMMEDIATE;"
			"CREATE TABLE meta(rv INTEGER NOT NULL);"
			"INSERT INTO meta(rv) VALUES(1);"
			"CREATE TABLE collections(id INTEGER PRIMARY KEY, name TEXT NOT NULL "
			"UNIQUE);" CREATE_OBJECTS "PRAGMA application_id = %d;"
			"PRAGMA user_version = %d;"
			"COMMIT;",
			PAGE_BYTES, APPLICATION_ID, FILE_VERSION);
	}
	if (application != APPLICATION_ID) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"%s: not a database of berth (application id %lld)", file->path,
			(long long)application);
	}
	if (version > FILE_VERSION) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"%s: the database is of version %lld, which a newer berth wrote; this one "
			"knows version %d",
			file->path, (long long)version, FILE_VERSION);
	}
	if (version < 1) {
		return set_damaged_error(file, err, "version %lld", (long long)version);
	}
	return 0;
}

/** Lets SQLite check the pages. */
static int check_pages(const struct bt_store_file *file, struct berth_error *err)
{
	sqlite3_stmt *statement = NULL;
	int result = prepare(file, "PRAGMA quick_check(1)", &statement, err);
	const char *text = next_row(file, statement, &result, err)
		? (const char *)sqlite3_column_text(statement, 0)
		: NULL;

	if (result == 0 && (text == NULL || strcmp(text, "ok") != 0)) {
		result = set_damaged_error(file, err, "%s", text != NULL ? text : "no answer");
	}
	(void)sqlite3_finalize(statement);
	return result;
}

static struct bt_str column_text(sqlite3_stmt *statement, int column)
{
	/*
	 * sqlite3_column_text comes before sqlite3_column_bytes, because it may convert the value,
	 * which changes the length.
	 */
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return (struct bt_str){text, (uint32_t)sqlite3_column_bytes(statement, column)};
}

/**
 * Returns a pointer to the id of the collection in the file; the id is 0 if the file does not have
 * the collection yet. Restarts do not change the id, but may change `collection`.
 */
static uint32_t *id_of(struct bt_store_file *file, uint32_t collection)
{
	bt_vec_pad(&file->ids, collection + 1, 0);
	return &file->ids.items[collection];
}

static int load_collections(
	struct bt_store *store, struct bt_store_file *file, struct berth_error *err)
{
	sqlite3_stmt *statement = NULL;
	int result = prepare(file, "SELECT id, name FROM collections ORDER BY id", &statement, err);

	while (next_row(file, statement, &result, err)) {
		int64_t id = sqlite3_column_int64(statement, 0);
		struct bt_str name = column_text(statement, 1);

		if (id < 1 || id > BT_STORE_COLLECTIONS_MAX || name.length == 0 ||
			name.length > 512) {
			result = set_damaged_error(file, err, "collection %lld", (long long)id);
			break;
		}
		uint32_t *place = id_of(file, bt_store_collection(store, name));
		*place = (uint32_t)id;
		file->last_id = (uint32_t)id;
	}
	(void)sqlite3_finalize(statement);
	return result;
}

/** The owners read from the file, by id in the file. */
struct known_owners {
	BT_VEC(struct bt_owners *) items; /* one reference each */
	struct bt_map by_id;
};

static int load_owners(struct bt_store *store, struct bt_store_file *file,
	struct known_owners *known, struct berth_error *err)
{
	sqlite3_stmt *statement = NULL;
	int result = prepare(file, "SELECT id, text FROM owners ORDER BY id", &statement, err);

	while (next_row(file, statement, &result, err)) {
		int64_t id = sqlite3_column_int64(statement, 0);
		struct bt_owners *owners =
			bt_owners_restore(store->owners, column_text(statement, 1), id);

		if (owners == NULL) {
			result = set_damaged_error(file, err, "owners %lld", (long long)id);
			break;
		}
		bt_vec_push(&known->items, owners);
		bt_map_insert(&known->by_id, bt_hash_u64(0, (uint64_t)id), known->items.count - 1);
		file->last_owners = id;
	}
	(void)sqlite3_finalize(statement);
	return result;
}

/** Loads one row of objects: rv, collection, key, owners, owner_values, text. */
static int load_object(struct bt_store *store, const struct bt_store_file *file,
	sqlite3_stmt *statement, const uint32_t *collections, const struct known_owners *known,
	struct berth_error *err)
{
	int64_t rv = sqlite3_column_int64(statement, 0);
	int64_t collection = sqlite3_column_int64(statement, 1);
	struct bt_str key = column_text(statement, 2);
	struct bt_owned owned = {NULL, column_text(statement, 4)};
	struct bt_str text = column_text(statement, 5);

	if (collection < 1 || collection > file->last_id || collections[collection] == UINT32_MAX) {
		return set_damaged_error(
			file, err, "row %lld has an unknown collection", (long long)rv);
	}
	if (key.length == 0 || key.length > BT_STORE_KEY_BYTES_MAX || text.length == 0 ||
		text.length > BT_STORE_TEXT_BYTES_MAX || text.data[0] != '{') {
		return set_damaged_error(file, err, "row %lld has no valid object", (long long)rv);
	}
	if (rv < 1 || (uint64_t)rv > store->rv) {
		return set_damaged_error(
			file, err, "row %lld is newer than the database", (long long)rv);
	}
	bool has_owners = sqlite3_column_type(statement, 3) != SQLITE_NULL;
	if (has_owners) {
		int64_t id = sqlite3_column_int64(statement, 3);
		BT_MAP_EACH (&known->by_id, bt_hash_u64(0, (uint64_t)id), index) {
			if (known->items.items[index]->row == id) {
				owned.owners = known->items.items[index];
			}
		}
	}
	if ((has_owners && owned.owners == NULL) ||
		!bt_owners_fit(owned.owners, owned.values, text)) {
		return set_damaged_error(
			file, err, "row %lld does not match its owners", (long long)rv);
	}
	if (!bt_store_restore(store, collections[collection],
		    bt_stored_new(store, (uint64_t)rv, key, text, owned))) {
		return set_damaged_error(file, err, "row %lld repeats a key", (long long)rv);
	}
	return 0;
}

static int load_objects(struct bt_store *store, struct bt_store_file *file, struct berth_error *err)
{
	uint32_t *collections = BT_NEW_ARRAY(uint32_t, (size_t)file->last_id + 1);
	struct known_owners known = {.items = {0}};
	sqlite3_stmt *statement = NULL;
	int result = load_owners(store, file, &known, err);

	memset(collections, 0xff, ((size_t)file->last_id + 1) * sizeof(*collections));
	for (uint32_t i = 0; i < file->ids.count; i++) {
		collections[file->ids.items[i]] = i;
	}
	if (result == 0) {
		result = prepare(file,
			"SELECT rv, collection, key, owners, owner_values, text FROM objects ORDER "
			"BY rv",
			&statement, err);
	}
	while (next_row(file, statement, &result, err)) {
		result = load_object(store, file, statement, collections, &known, err);
	}
	(void)sqlite3_finalize(statement);
	bt_free(collections);
	for (uint32_t i = 0; i < known.items.count; i++) {
		bt_owners_unref(known.items.items[i]); /* the next sync removes unused owners */
	}
	bt_vec_finish(&known.items);
	bt_map_finish(&known.by_id);
	return result;
}

static int load(struct bt_store *store, struct bt_store_file *file, struct berth_error *err)
{
	int64_t rv = 0;
	int64_t version = 0;
	int result = check_pages(file, err);

	if (result == 0) {
		result = query_number(file, "PRAGMA user_version", &version, err);
	}
	if (result == 0 && version < FILE_VERSION) {
		/* An upgrade does not change the texts of objects and owners. */
		result = execute(file, err, "BEGIN IMMEDIATE; %s PRAGMA user_version = %d; COMMIT;",
			version == 1 ? "ALTER TABLE objects RENAME TO objects_1;" CREATE_OBJECTS
				       "INSERT INTO objects(rv, collection, key, owners, "
				       "owner_values, text)"
				       " SELECT rv, collection, key, NULL, '', text FROM objects_1"
				       " ORDER BY rv;"
				       "DROP TABLE objects_1;"
				     : "ALTER TABLE objects RENAME COLUMN times TO owner_values;",
			FILE_VERSION);
	}
	if (result == 0) {
		result = query_number(file, "SELECT rv FROM meta", &rv, err);
	}
	if (result == 0 && rv < 1) {
		result = set_damaged_error(file, err, "resource version %lld", (long long)rv);
	}
	if (result != 0) {
		return result;
	}
	store->rv = (uint64_t)rv;
	store->opened_rv = store->rv;
	for (uint32_t i = 0; i < store->collections.count; i++) {
		store->collections.items[i]->window.start = store->rv;
	}
	result = load_collections(store, file, err);
	return result != 0 ? result : load_objects(store, file, err);
}

int bt_store_open(struct bt_store *store, const char *path, struct berth_error *err)
{
	int result = 0;

	BT_ASSERT(store->file == NULL && store->rv == 1);
	struct bt_store_file *file = BT_NEW(struct bt_store_file);
	file->path = bt_strndup(path, strlen(path));
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	if (fd >= 0) { /* on failure sqlite3_open_v2 reports the error */
		(void)close(fd);
	}
	if (sqlite3_open_v2(path, &file->database,
		    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
		    NULL) != SQLITE_OK) {
		result = failed(file, "open it", err);
	}
	/*
	 * Check the identity before configuring, so that a file of another program is not changed.
	 */
	result = result == 0 ? execute(file, err, "PRAGMA locking_mode = EXCLUSIVE") : result;
	result = result == 0 ? check_identity(file, err) : result;
	result = result == 0 ? execute(file, err,
				       "PRAGMA temp_store = MEMORY;"
				       "PRAGMA trusted_schema = OFF;"
				       "PRAGMA synchronous = FULL;"
				       "PRAGMA journal_mode = WAL;"
				       "PRAGMA wal_autocheckpoint = 4000;"
				       "BEGIN EXCLUSIVE;"
				       "COMMIT;")
			     : result;
	result = result == 0 ? load(store, file, err) : result;
	for (int i = 0; i < STATEMENT_COUNT && result == 0; i++) {
		result = prepare(file, statement_texts[i], &file->statements[i], err);
	}
	if (result != 0) {
		bt_store_file_close(file);
		return result;
	}
	store->file = file;
	return 0;
}

void bt_store_file_close(struct bt_store_file *file)
{
	if (file == NULL) {
		return;
	}
	for (int i = 0; i < STATEMENT_COUNT; i++) {
		(void)sqlite3_finalize(file->statements[i]);
	}
	(void)sqlite3_close(file->database);
	bt_vec_finish(&file->ids);
	bt_free(file->path);
	bt_free(file);
}

/* --- writing --- */

static bool write_entry(
	struct bt_store *store, struct bt_store_file *file, const struct bt_pending_write *write)
{
	const struct bt_stored *entry = write->entry;
	struct bt_owners *owners = entry->owners;
	uint32_t *id = id_of(file, write->collection);

	if (*id == 0) {
		BT_ASSERT(file->last_id < BT_STORE_COLLECTIONS_MAX);
		if (!run(file, ADD_COLLECTION, "nt", (int64_t)file->last_id + 1,
			    bt_store_collection_name(store, write->collection))) {
			return false;
		}
		*id = ++file->last_id;
	}
	if (owners != NULL && owners->row == 0) {
		owners->row = ++file->last_owners;
		if (!run(file, ADD_OWNERS, "nt", owners->row,
			    (struct bt_str){owners->bytes, owners->length})) {
			return false;
		}
	}
	return run(file, PUT, "nntott", (int64_t)entry->rv, (int64_t)*id, bt_stored_key(entry),
		owners != NULL ? owners->row : INT64_C(0), bt_stored_owned(entry).values,
		bt_stored_text(entry));
}

static bool write_pending(struct bt_store *store, struct bt_store_file *file)
{
	for (uint32_t i = 0; i < store->pending.count; i++) {
		const struct bt_pending_write *write = &store->pending.items[i];

		/* the row does not exist if the replaced version was never written */
		if (write->replaced_rv != 0 &&
			!run(file, REMOVE, "n", (int64_t)write->replaced_rv)) {
			return false;
		}
		/*
		 * If a key changed several times since the last sync, only its last state is
		 * written.
		 */
		if (!write->removed &&
			bt_store_find(store, write->collection, bt_stored_key(write->entry)) ==
				write->entry &&
			!write_entry(store, file, write)) {
			return false;
		}
	}
	/*
	 * Unused owners can be deleted only now, after all rows that refer to them were replaced.
	 */
	for (uint32_t i = 0; i < store->owners->unused.count; i++) {
		if (!run(file, REMOVE_OWNERS, "n", store->owners->unused.items[i])) {
			return false;
		}
	}
	return run(file, SET_RV, "n", (int64_t)store->rv);
}

int bt_store_sync(struct bt_store *store, struct berth_error *err)
{
	struct bt_store_file *file = store->file;

	if (store->pending.count == 0) {
		return 0;
	}
	uint32_t last_id = file->last_id;
	int64_t last_owners = file->last_owners;
	if (!run(file, BEGIN, "") || !write_pending(store, file) || !run(file, COMMIT, "")) {
		int result = failed(file, "write to it", err);

		if (sqlite3_get_autocommit(file->database) == 0) {
			(void)run(file, ROLLBACK, "");
		}
		for (uint32_t i = 0; i < file->ids.count; i++) {
			if (file->ids.items[i] > last_id) {
				file->ids.items[i] = 0;
			}
		}
		file->last_id = last_id;
		bt_owner_pool_clear_rows(store->owners, last_owners);
		return result;
	}
	store->owners->unused.count = 0;
	for (uint32_t i = 0; i < store->pending.count; i++) {
		bt_stored_release(store->pending.items[i].entry);
	}
	store->pending.count = 0;
	return 0;
}
