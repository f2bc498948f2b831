/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_VERSION_H
#define BERTH_VERSION_H
/**
 * @file
 * The version: included from berth/api.h of libberth.
 */
#include "berth/api.h"
#endif
