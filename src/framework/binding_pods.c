/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/binding_pods.h"

#include <stddef.h>

#include "base/alloc.h"

static struct bt_str uid_of(const struct bt_binding_pod *pod)
{
	return (struct bt_str){pod->uid, pod->uid_length};
}

static uint64_t hash_of_pod(const void *owner, uint32_t value)
{
	const struct bt_binding_pods *binding = owner;

	return bt_str_hash(uid_of(&binding->pods.items[value]));
}

void bt_binding_pods_init(struct bt_binding_pods *binding)
{
	*binding = (struct bt_binding_pods){0};
	bt_map_init(&binding->by_uid, hash_of_pod, binding);
}

void bt_binding_pods_finish(struct bt_binding_pods *binding)
{
	for (uint32_t i = 0; i < binding->pods.count; i++) {
		bt_free(binding->pods.items[i].uid);
	}
	bt_vec_finish(&binding->pods);
	bt_map_finish(&binding->by_uid);
}

static struct bt_binding_pod *find_pod(
	const struct bt_binding_pods *binding, struct bt_str uid, uint32_t *out_index)
{
	uint64_t hash = bt_str_hash(uid);

	for (uint32_t it = bt_map_first(&binding->by_uid, hash); it != BT_MAP_NONE;
		it = bt_map_next(&binding->by_uid, hash, it)) {
		uint32_t index = bt_map_value(&binding->by_uid, it);

		if (bt_str_equal(uid_of(&binding->pods.items[index]), uid)) {
			*out_index = index;
			return &binding->pods.items[index];
		}
	}
	return NULL;
}

void bt_binding_pods_add(
	struct bt_binding_pods *binding, struct bt_str uid, bt_binding_cancel cancel, void *context)
{
	struct bt_binding_pod entry = {.cancel = cancel, .context = context};

	bt_binding_pods_remove(binding, uid);
	entry.uid = bt_strndup(uid.data != NULL ? uid.data : "", uid.length);
	entry.uid_length = uid.length;
	bt_vec_push(&binding->pods, entry);
	bt_map_insert(&binding->by_uid, bt_str_hash(uid), binding->pods.count - 1);
}

void bt_binding_pods_remove(struct bt_binding_pods *binding, struct bt_str uid)
{
	uint32_t index = 0;
	struct bt_binding_pod *pod = find_pod(binding, uid, &index);
	uint32_t last;

	if (pod == NULL) {
		return;
	}
	last = binding->pods.count - 1;
	(void)bt_map_remove(&binding->by_uid, bt_str_hash(uid_of(pod)), index);
	bt_free(pod->uid);
	if (index != last) {
		/* The last one moves into the gap: its index changes. */
		uint64_t hash = bt_str_hash(uid_of(&binding->pods.items[last]));

		(void)bt_map_remove(&binding->by_uid, hash, last);
		binding->pods.items[index] = binding->pods.items[last];
		bt_map_insert(&binding->by_uid, hash, index);
	}
	binding->pods.count--;
}

bool bt_binding_pods_has(const struct bt_binding_pods *binding, struct bt_str uid)
{
	uint32_t index;

	return find_pod(binding, uid, &index) != NULL;
}

bool bt_binding_pods_cancel(struct bt_binding_pods *binding, struct bt_str uid, struct bt_str cause)
{
	uint32_t index;
	struct bt_binding_pod *pod = find_pod(binding, uid, &index);

	if (pod == NULL || pod->finished) {
		return false;
	}
	if (!pod->canceled) {
		pod->canceled = true;
		if (pod->cancel != NULL) {
			pod->cancel(pod->context, cause);
		}
	}
	return true;
}

bool bt_binding_pods_mark_prebound(struct bt_binding_pods *binding, struct bt_str uid)
{
	uint32_t index;
	struct bt_binding_pod *pod = find_pod(binding, uid, &index);

	if (pod == NULL || pod->canceled) {
		return false;
	}
	pod->finished = true;
	return true;
}
