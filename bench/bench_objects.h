/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_OBJECTS_H
#define BT_BENCH_OBJECTS_H
/**
 * Objects from JSON for measurements. Define BENCH_NAME first: the program's name for error
 * messages.
 */
#include <stdio.h>
#include <stdlib.h>

#include "api/object.h"
#include "base/error.h"

#ifndef BENCH_NAME
#define BENCH_NAME "bench"
#endif

/** Ends the program with the error's text if code is not 0. */
static inline void must(int code, struct berth_error *err)
{
	if (code != 0) {
		(void)fprintf(stderr, BENCH_NAME ": %s\n", berth_error_message(err));
		exit(1);
	}
}

/** Decode an object, which the caller owns. Ends the program on an error. */
static inline struct bt_object *decode(enum bt_kind kind, const char *json)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_object *object = NULL;
	struct bt_json_reader reader;

	bt_json_reader_init(&reader, bt_str_from(json));
	must(bt_object_decode_as(kind, &reader, &object, &err), &err);
	return object;
}
#endif
