/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_ERROR_H
#define BERTH_ERROR_H
/**
 * @file
 * Operating errors: wrong input, missing files, broken streams.
 *
 * A function that can fail takes `struct berth_error *err` last (NULL allowed) and returns 0 or one
 * of the negative codes below. On success err is untouched; on failure it is set exactly once and
 * other out parameters are untouched. Scheduling verdicts (Unschedulable, Skip, ...) are not
 * errors: see status.h.
 *
 * @code{.c}
 * static int read_object(struct berth_str text, struct berth_object **out_object)
 * {
 *     struct berth_error err = BERTH_ERROR_INIT;
 *     int result = berth_object_decode(text, out_object, &err);
 *
 *     if (result != BERTH_OK) {
 *         fprintf(stderr, "%s\n", berth_error_message(&err));
 *         berth_error_finish(&err);
 *     }
 *     return result;
 * }
 * @endcode
 */
#include "berth/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Kind of an error; the message gives the details. */
enum berth_error_code {
	BERTH_OK = 0,             /**< no error */
	BERTH_ERR_SYNTAX = -1,    /**< the bytes are not well-formed JSON, YAML, ... */
	BERTH_ERR_INVALID = -2,   /**< well-formed, but a value is not allowed */
	BERTH_ERR_TOO_LARGE = -3, /**< a documented limit was exceeded */
	BERTH_ERR_NOT_FOUND = -4, /**< a named object, file or entry does not exist */
	BERTH_ERR_EXISTS = -5,    /**< a named object or entry exists already */
	BERTH_ERR_IO = -6,        /**< a call of the operating system failed */
	BERTH_ERR_STATE = -7,     /**< the operation is not allowed in the present state */
	BERTH_ERR_INTERNAL = -8,  /**< a plugin or a component failed unexpectedly */
	/** ErrNoNodesAvailable: `no nodes available to schedule pods` (spec 03 section 3.1). */
	BERTH_ERR_NO_NODES_AVAILABLE = -9,
	BERTH_ERR_NODE_NOT_FOUND = -10, /**< `node not found`: the node info has no node object */
	BERTH_ERR_FIT = -11,            /**< FitError: no node fits the pod */
};

/**
 * code is BERTH_OK and message NULL if there is no error (all-zero memory is a valid empty error).
 * message is owned by the error; release with berth_error_finish().
 */
struct berth_error {
	int code;      /**< enum berth_error_code */
	char *message; /**< owned; NULL: no error */
};

/** An empty error. */
#define BERTH_ERROR_INIT \
	{ \
		0, 0 \
	}

/** Releases the message and leaves an empty error. NULL and empty errors are accepted. */
BERTH_API void berth_error_finish(struct berth_error *err);

/**
 * Sets the code and the message of @p err, which must be empty, and returns @p code (one of the
 * negative codes). If @p err is NULL, only returns the code. The format must be a literal.
 */
BERTH_API BERTH_PRINTF(3, 4) int berth_error_set(
	struct berth_error *err, int code, const char *format, ...);

/** The message, or "" for an empty or NULL error. Borrowed until the error changes. */
BERTH_API const char *berth_error_message(const struct berth_error *err);

#ifdef __cplusplus
}
#endif
#endif
