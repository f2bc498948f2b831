/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_HOST_PORT_H
#define BERTH_HOST_PORT_H
/**
 * @file
 * Host ports: included from berth/node_info.h of libberth.
 */
#include "berth/node_info.h"
#endif
