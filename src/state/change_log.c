/* SPDX-License-Identifier: Apache-2.0 */
#include "state/change_log.h"

#include "base/alloc.h"
#include "base/assert.h"

void bt_change_log_init(struct bt_change_log *log, uint32_t capacity)
{
	BT_ASSERT(capacity != 0 && (capacity & (capacity - 1)) == 0);
	*log = (struct bt_change_log){
		.ring = BT_NEW_ARRAY(struct bt_change, capacity),
		.capacity = capacity,
	};
}

void bt_change_log_finish(struct bt_change_log *log)
{
	bt_free(log->ring);
	*log = (struct bt_change_log){0};
}

void bt_change_log_append(struct bt_change_log *log, uint32_t slot, uint32_t kinds)
{
	log->ring[log->sequence & (log->capacity - 1)] = (struct bt_change){slot, kinds};
	log->sequence++;
}
