/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_HOST_PORT_H
#define BERTH_HOST_PORT_H
/**
 * @file
 * Host ports, which libberth now has in berth/node_info.h.
 */
#include "berth/node_info.h"
#endif
