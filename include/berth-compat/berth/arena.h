/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_ARENA_H
#define BERTH_ARENA_H
/**
 * @file
 * Arenas, which libberth now has in berth/str.h.
 */
#include "berth/str.h"
#endif
