/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_API_H
#define BERTH_API_H
/**
 * @file
 * Marks of public functions. The only public header that names compiler extensions; gcc, clang and
 * what imitates them.
 *
 * Rules for all of libberth: no I/O, no threads and no clock inside (the plugin loader of
 * registry.h, an explicit call, opens files); times are parameters in nanoseconds. One thread at a
 * time may use objects that belong together. Running out of memory ends the process.
 */

/** The function is exported by the library. Plugin objects use it on what they export, too. */
#define BERTH_API __attribute__((visibility("default")))

/** Not looking at the result is a mistake. */
#define BERTH_MUST_USE __attribute__((warn_unused_result))

/** Arguments are checked against the format as for printf. */
#define BERTH_PRINTF(format_index, first_argument) \
	__attribute__((format(printf, format_index, first_argument)))
#endif
