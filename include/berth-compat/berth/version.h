/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_VERSION_H
#define BERTH_VERSION_H
/**
 * @file
 * The version, which libberth now has in berth/api.h.
 */
#include "berth/api.h"
#endif
