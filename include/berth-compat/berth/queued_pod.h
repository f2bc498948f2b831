/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_QUEUED_POD_H
#define BERTH_QUEUED_POD_H
/**
 * @file
 * Queue entries: included from berth/pod_info.h of libberth.
 */
#include "berth/pod_info.h"
#endif
