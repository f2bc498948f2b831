/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_SERVER_KINDS_ROWS_H
#define BT_TESTS_UNIT_SERVER_KINDS_ROWS_H
/** Tables: what is created, and what came of it. JSON with ' in place of ". */
#include "api_fixture.h"

#define ROW_COUNT(rows) ((uint32_t)(sizeof(rows) / sizeof((rows)[0])))

/** What an object holds after its creation. */
struct value_row {
	const char *name;
	const char *resource;
	const char *key; /* "default/" or "" */
	const char *body;
	const char *path;
	const char *expected; /* "": absent */
};

/** How a creation is refused. */
struct refusal_row {
	const char *name;
	const char *resource;
	const char *key;
	const char *body;
	uint16_t code;
	const char *message; /* a part of it */
};

/** How an update of an object is answered. */
struct update_row {
	const char *name;
	const char *resource;
	const char *key;
	const char *body;
	const char *object_key;
	const char *patch;   /* merge patch */
	const char *message; /* NULL: it is taken; a part of the 422 */
};

/** An API whose admission is complete. */
void rows_init(struct api_fixture *fixture);
/** Create, and expect 201. */
void rows_create(
	struct api_fixture *fixture, const char *resource, const char *key, const char *body);
/** The value at path of the last answer is the expected JSON. */
void rows_expect(
	struct api_fixture *fixture, const char *name, const char *path, const char *expected);
void rows_check_values(const struct value_row *rows, uint32_t count);
void rows_check_refusals(const struct refusal_row *rows, uint32_t count);
void rows_check_updates(const struct update_row *rows, uint32_t count);
/** A pod "p" in default with this spec ("'containers':[..]" included). */
#define POD(spec) "{'metadata':{'name':'p'},'spec':{" spec "}}"
#define CONTAINER "'containers':[{'name':'c','image':'i:1'}]"
#endif
