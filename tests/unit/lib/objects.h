/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_LIB_OBJECTS_H
#define BT_TESTS_UNIT_LIB_OBJECTS_H
/** Builds objects from short texts, for tests of the public headers. */
#include <stdarg.h>
#include <stdio.h>

#include "berth/error.h"
#include "berth/object.h"
#include "test_main.h"

#define CHECK_TEXT(text, expected) \
	do { \
		struct berth_str checked = (text); \
		ck_assert_msg(berth_str_equal_c(checked, (expected)), "\"%.*s\" is not \"%s\"", \
			BERTH_STR_ARG(checked), (expected)); \
	} while (0)

/** Asserts that the call fails with this code and message. err is empty before and afterwards. */
#define CHECK_FAILS(call, code_, message_) \
	do { \
		int failed = (call); \
		ck_assert_int_eq(failed, (code_)); \
		ck_assert_str_eq(berth_error_message(&err), (message_)); \
		berth_error_finish(&err); \
	} while (0)

/** Asserts that the call succeeds. */
#define CHECK_OK(call) \
	do { \
		int succeeded = (call); \
		ck_assert_msg(succeeded == 0, "%s", berth_error_message(&err)); \
	} while (0)

static inline struct berth_object *object_from(const char *text)
{
	struct berth_object *object = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	int result = berth_object_decode(berth_str_from(text), &object, &err);

	ck_assert_msg(result == 0, "%s: %s", text, berth_error_message(&err));
	return object;
}

/** Returns pod default/<name> with uid <name>; spec and labels are JSON members. */
static inline struct berth_object *pod_from(const char *name, const char *labels, const char *spec)
{
	char text[4096];
	int length = snprintf(text, sizeof(text),
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\","
		"\"namespace\":\"default\",\"uid\":\"%s\",\"labels\":{%s}},\"spec\":{%s}}",
		name, name, labels, spec);

	ck_assert(length > 0 && (size_t)length < sizeof(text));
	return object_from(text);
}

/** Returns a node; spec and status are JSON members. */
static inline struct berth_object *node_from(const char *name, const char *spec, const char *status)
{
	char text[4096];
	int length = snprintf(text, sizeof(text),
		"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\"},"
		"\"spec\":{%s},\"status\":{%s}}",
		name, spec, status);

	ck_assert(length > 0 && (size_t)length < sizeof(text));
	return object_from(text);
}
#endif
