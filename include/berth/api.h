/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_API_H
#define BERTH_API_H
/**
 * @file
 * Attributes of public functions, and the rules for all of libberth. No other public header uses
 * compiler extensions (of gcc, clang and compatible compilers).
 *
 * The library does no I/O, starts no threads and reads no clock (only the plugin loader of
 * registry.h opens files); times are parameters in nanoseconds. One thread at a time may use
 * objects that belong together. Running out of memory ends the process. "owned: f()" in a comment
 * means that the caller owns the object and must release it with f(); "borrowed" means that the
 * caller must not release it.
 *
 * @code{.c}
 * static const char *rules(void)
 * {
 *     return berth_kubernetes_version();
 * }
 * @endcode
 */
#include <stdint.h>

/** Exports a function from the library. Plugin objects mark their exports with it, too. */
#define BERTH_API __attribute__((visibility("default")))

/** The caller must use the result of the function. */
#define BERTH_MUST_USE __attribute__((warn_unused_result))

/** The compiler checks the arguments against the format, as for printf. */
#define BERTH_PRINTF(format_index, first_argument) \
	__attribute__((format(printf, format_index, first_argument)))

#ifdef __cplusplus
extern "C" {
#endif

#define BERTH_VERSION_MAJOR 0 /**< version of the headers */
#define BERTH_VERSION_MINOR 1 /**< version of the headers */
#define BERTH_VERSION_PATCH 0 /**< version of the headers */

/** Version of the loaded library, e.g. "0.1.0"; it may differ from the version of the headers. */
BERTH_API const char *berth_version(void);

/** The Kubernetes release whose rules the library follows: "v1.36". */
BERTH_API const char *berth_kubernetes_version(void);

/**
 * Sets the secret of all hash tables. If users can choose names that collide, call this function
 * with a random number before any other function of the library. Results do not depend on the
 * secret.
 */
BERTH_API void berth_set_hash_secret(uint64_t secret);

#ifdef __cplusplus
}
#endif
#endif
