/* SPDX-License-Identifier: Apache-2.0 */
#include "copied.h"

#include <check.h>

static uint32_t index_of(const struct copied *copied, struct bt_str namespace_, struct bt_str name)
{
	for (uint32_t i = 0; i < copied->objects.count; i++) {
		const struct bt_object_meta *meta = copied->objects.items[i]->meta;
		if (bt_str_equal(meta->namespace_, namespace_) && bt_str_equal(meta->name, name)) {
			return i;
		}
	}
	return UINT32_MAX;
}

static void take_new(struct copied *copied, uint32_t index, struct bt_object *new_object)
{
	if (index == UINT32_MAX) {
		bt_vec_push(&copied->objects, bt_object_share(new_object));
		return;
	}
	bt_object_release(copied->objects.items[index]);
	copied->objects.items[index] = bt_object_share(new_object);
}

static void changed(
	void *context, struct bt_object *old, struct bt_object *new_object, bool is_stale)
{
	struct copied *copied = context;
	const struct bt_object_meta *meta = new_object != NULL ? new_object->meta : old->meta;
	uint32_t index = index_of(copied, meta->namespace_, meta->name);

	if ((index == UINT32_MAX) != (old == NULL)) {
		ck_abort_msg("%.*s was told out of order", BT_STR_ARG(meta->name));
	}
	if (new_object != NULL && old != NULL && copied->objects.items[index] != old) {
		ck_abort_msg("%.*s: another old state", BT_STR_ARG(meta->name));
	}
	if (new_object != NULL) {
		copied->added += old == NULL;
		copied->updated += old != NULL;
		take_new(copied, index, new_object);
		return;
	}
	copied->deleted++;
	copied->stale += is_stale;
	bt_object_release(copied->objects.items[index]);
	bt_vec_remove_swap(&copied->objects, index);
}

static void synced(void *context)
{
	((struct copied *)context)->synced++;
}

static void resumed(void *context, int64_t silent_ns, bool is_list)
{
	if (!is_list) {
		((struct copied *)context)->silent_ns = silent_ns;
	}
}

struct bt_reflector_sink copied_sink(struct copied *copied)
{
	return (struct bt_reflector_sink){
		.context = copied, .changed = changed, .synced = synced, .resumed = resumed};
}

void copied_check(const struct copied *copied)
{
	if (bt_reflector_count(copied->reflector) != copied->objects.count) {
		ck_abort_msg("the copy has another size");
	}
	for (uint32_t i = 0; i < copied->objects.count; i++) {
		struct bt_object *object = copied->objects.items[i];
		if (bt_reflector_find(copied->reflector, object->meta->namespace_,
			    object->meta->name) != object) {
			ck_abort_msg("%.*s differs", BT_STR_ARG(object->meta->name));
		}
	}
}

const struct bt_object *copied_find(
	const struct copied *copied, struct bt_str namespace_, struct bt_str name)
{
	uint32_t index = index_of(copied, namespace_, name);

	return index != UINT32_MAX ? copied->objects.items[index] : NULL;
}

void copied_finish(struct copied *copied)
{
	for (uint32_t i = 0; i < copied->objects.count; i++) {
		bt_object_release(copied->objects.items[i]);
	}
	bt_vec_finish(&copied->objects);
}
