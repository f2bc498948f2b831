/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_PLUGIN_ARGS_H
#define BERTH_PLUGIN_ARGS_H
/**
 * @file
 * Arguments of plugins: included from berth/plugin.h of libberth.
 */
#include "berth/plugin.h"
#endif
