/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_VERSION_H
#define BERTH_VERSION_H
/**
 * @file
 * Version of the library, and what concerns the whole process. Until 1.0 the binary interface may
 * change with every minor version.
 */
#include <stdint.h>

#include "berth/api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BERTH_VERSION_MAJOR 0 /**< of the headers */
#define BERTH_VERSION_MINOR 1 /**< of the headers */
#define BERTH_VERSION_PATCH 0 /**< of the headers */

/** "0.1.0": the library that is running, which need not be the one the headers came with. */
BERTH_API const char *berth_version(void);

/** "v1.36": the Kubernetes release whose rules it follows. */
BERTH_API const char *berth_kubernetes_version(void);

/**
 * Tables are hashed with this; give a random number, before anything else is called, where names
 * may come from somebody who would choose them to collide. Results do not depend on it.
 */
BERTH_API void berth_set_hash_secret(uint64_t secret);

#ifdef __cplusplus
}
#endif
#endif
