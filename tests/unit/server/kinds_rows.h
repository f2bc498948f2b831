/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_SERVER_KINDS_ROWS_H
#define BT_TESTS_UNIT_SERVER_KINDS_ROWS_H
/**
 * Rows of tests: objects to create or update, and the expected result. JSON has ' in place of ".
 */
#include "api_fixture.h"

#define ROW_COUNT(rows) ((uint32_t)(sizeof(rows) / sizeof((rows)[0])))

/** A value that an object must have after its creation. */
struct value_row {
	const char *name;
	const char *resource;
	const char *key; /* "default/" or "" */
	const char *body;
	const char *path;
	const char *expected; /* "": absent */
};

/** A creation that must be refused. */
struct refusal_row {
	const char *name;
	const char *resource;
	const char *key;
	const char *body;
	uint16_t code;
	const char *message; /* a part of the message */
};

/** An update of an object and the expected answer. */
struct update_row {
	const char *name;
	const char *resource;
	const char *key;
	const char *body;
	const char *object_key;
	const char *patch;   /* merge patch */
	const char *message; /* a part of the message of the 422; NULL: the update is accepted */
};

/** Makes an API with all admission plugins. */
void rows_init(struct api_fixture *fixture);
/** Creates an object and expects 201. */
void rows_create(
	struct api_fixture *fixture, const char *resource, const char *key, const char *body);
/** Expects this JSON at path in the last answer. */
void rows_expect(
	struct api_fixture *fixture, const char *name, const char *path, const char *expected);
void rows_check_values(const struct value_row *rows, uint32_t count);
void rows_check_refusals(const struct refusal_row *rows, uint32_t count);
void rows_check_updates(const struct update_row *rows, uint32_t count);
/** A pod "p" in default with this spec ("'containers':[..]" included). */
#define POD(spec) "{'metadata':{'name':'p'},'spec':{" spec "}}"
#define CONTAINER "'containers':[{'name':'c','image':'i:1'}]"
#endif
