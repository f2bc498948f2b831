/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_PLUGIN_ARGS_H
#define BERTH_PLUGIN_ARGS_H
/**
 * @file
 * Arguments of plugins, which libberth now has in berth/plugin.h.
 */
#include "berth/plugin.h"
#endif
