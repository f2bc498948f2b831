/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_ARENA_H
#define BERTH_ARENA_H
/**
 * @file
 * Arenas: included from berth/str.h of libberth.
 */
#include "berth/str.h"
#endif
