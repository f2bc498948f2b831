/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images of nodes, spec 03b section 5.4: a record for each image name in the cluster. The
 * node_count of a record is the number of rows that list the image, so records and rows always
 * agree. (Upstream differs: the deletion of a node updates the records of the images that the
 * object of the delete event lists.)
 */
#include "state/state_private.h"

void bt_image_table_finish(struct bt_image_table *table, struct bt_symbol_table *symbols)
{
	for (uint32_t i = 0; i < table->images.count; i++) {
		if (table->images.items[i].node_count != 0) {
			bt_symbol_unref(symbols, table->images.items[i].name);
		}
	}
	bt_hash_table_finish(&table->images);
}

uint32_t bt_state_find_image(const struct bt_state *state, struct bt_str name)
{
	bt_sym symbol = bt_symbol_find(&state->symbols, name);

	if (bt_sym_is_none(symbol)) {
		return BT_IMAGE_NONE;
	}
	BT_MAP_EACH (&state->images.images.map, bt_sym_hash(symbol), index) {
		if (bt_sym_equal(state->images.images.items[index].name, symbol)) {
			return index;
		}
	}
	return BT_IMAGE_NONE;
}

/*
 * Whether the row lists the image names of the node object in the same order, as is usual when a
 * node is updated. Updates the sizes of images that no other node has, and sets *out_differs if a
 * size changed.
 */
static bool same_names(struct bt_state *state, struct bt_node_row *row, const struct bt_node *node,
	bool *out_differs)
{
	struct bt_image_table *table = &state->images;
	uint64_t mark = ++table->mark;
	uint32_t matched = 0;

	for (uint32_t i = 0; i < node->status.images.count; i++) {
		const struct bt_container_image *reported = &node->status.images.items[i];
		for (uint32_t k = 0; k < reported->names.count; k++) {
			uint32_t index = bt_state_find_image(state, reported->names.items[k]);
			if (index == BT_IMAGE_NONE) {
				return false;
			}
			struct bt_image *image = &table->images.items[index];
			if (image->mark == mark) {
				continue;
			}
			if (matched == row->images.count ||
				row->images.items[matched].image != index) {
				return false;
			}
			image->mark = mark;
			matched++;
			if (image->node_count == 1 && image->size_bytes != reported->size_bytes) {
				image->size_bytes = reported->size_bytes;
				table->version++;
				*out_differs = true;
			}
		}
	}
	return matched == row->images.count;
}

bool bt_state_set_images(struct bt_state *state, uint32_t slot, const struct bt_node *node)
{
	struct bt_image_table *table = &state->images;
	struct bt_node_row *row = &state->nodes.rows[slot];
	struct bt_node_row old = {0};
	bool differs = false;
	uint32_t count = 0; /* number of names, with repetitions */

	for (uint32_t i = 0; node != NULL && i < node->status.images.count; i++) {
		count += node->status.images.items[i].names.count;
	}

	if (row->images.count == 0 && count == 0) {
		return false;
	}
	if (node != NULL && same_names(state, row, node, &differs)) {
		return differs;
	}
	memcpy(&old.images, &row->images, sizeof(old.images));
	memset(&row->images, 0, sizeof(row->images));
	for (uint32_t i = 0; i < old.images.count; i++) {
		table->images.items[old.images.items[i].image].node_count--;
	}
	if (count != 0) {
		/*
		 * Allocate the exact size, because these lists are the largest part of a node's
		 * memory.
		 */
		row->images.items = bt_realloc_array(NULL, count, sizeof(*row->images.items));
		row->images.capacity = count;
		uint64_t mark = ++table->mark;

		for (uint32_t n = 0; n < node->status.images.count; n++) {
			const struct bt_container_image *reported = &node->status.images.items[n];
			for (uint32_t k = 0; k < reported->names.count; k++) {
				struct bt_str name = reported->names.items[k];
				uint32_t index = bt_state_find_image(state, name);
				if (index == BT_IMAGE_NONE) {
					struct bt_image fresh = {
						.name = bt_symbol_ref_str(&state->symbols, name)};
					bt_hash_table_add(&table->images, bt_sym_hash(fresh.name),
						fresh, index);
				}
				struct bt_image *image = &table->images.items[index];
				if (image->mark == mark) {
					continue;
				}
				image->mark = mark;
				/* The first node that reports a name sets its size. */
				if (image->node_count++ == 0) {
					image->size_bytes = reported->size_bytes;
				}
				struct bt_node_image entry =
					(struct bt_node_image){index, image->node_count};
				bt_vec_push(&row->images, entry);
			}
		}
	}
	for (uint32_t i = 0; i < old.images.count; i++) {
		if (table->images.items[old.images.items[i].image].node_count == 0) {
			uint32_t index = old.images.items[i].image;

			struct bt_image *image = &table->images.items[index];
			bt_hash_table_remove(&table->images, bt_sym_hash(image->name), index);
			bt_symbol_unref(&state->symbols, image->name);
			*image = (struct bt_image){0};
		}
	}
	bt_vec_finish(&old.images);
	table->version++;
	return true;
}

bool bt_state_capture_images(struct bt_state *state, uint32_t slot)
{
	struct bt_node_row *row = &state->nodes.rows[slot];
	bool differs = false;

	for (uint32_t i = 0; i < row->images.count; i++) {
		struct bt_node_image *entry = &row->images.items[i];
		uint32_t node_count = state->images.images.items[entry->image].node_count;
		if (entry->node_count != node_count) {
			entry->node_count = node_count;
			differs = true;
		}
	}
	row->images_version = state->images.version;
	return differs;
}
