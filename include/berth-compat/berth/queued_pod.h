/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_QUEUED_POD_H
#define BERTH_QUEUED_POD_H
/**
 * @file
 * Queue entries, which libberth now has in berth/pod_info.h.
 */
#include "berth/pod_info.h"
#endif
