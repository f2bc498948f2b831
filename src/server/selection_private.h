/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_SELECTION_PRIVATE_H
#define BT_SERVER_SELECTION_PRIVATE_H
/** Shared by selection.c and selection_field.c. */
#include "server/selection.h"

/** All requirements on one label, and the label's value in the current object. */
struct bt_selection_label {
	struct bt_str key;
	uint32_t requirement_count;
	const struct bt_requirement *requirements;
	bool is_present;
	struct bt_str value;
};

#define BT_SELECTION_PATH_MAX 8

/** How the field becomes the text that is compared. */
enum bt_selection_form {
	BT_SELECTION_TEXT,
	BT_SELECTION_BOOL,   /* "false" when absent */
	BT_SELECTION_NUMBER, /* "0" when absent */
	BT_SELECTION_IPS,    /* [{"ip":".."}], joined by commas */
};

/** All terms on one field, and the field's value in the current object. */
struct bt_selection_field {
	uint32_t depth;
	struct bt_str path[BT_SELECTION_PATH_MAX];
	enum bt_selection_form form;
	uint32_t term_count;
	const struct bt_field_term *terms;
	uint32_t matched; /* while reading: depth of the path matched so far */
	bool was_found;
	struct bt_str value;
};

enum bt_selection_place {
	BT_FIELD_OF_KEY,  /* metadata.name, metadata.namespace */
	BT_FIELD_OF_TEXT, /* out_field has depth, path and form */
	BT_FIELD_UNKNOWN,
};

/**
 * Where the field of a field label is read. Texts may be borrowed from label or live in the arena.
 */
enum bt_selection_place bt_selection_field_find(const struct bt_api_resource *resource,
	struct bt_str label, struct bt_arena *arena, struct bt_selection_field *out_field);
/** 400: the resource does not support the field label. */
uint16_t bt_selection_fail_unknown(struct bt_failure *out, struct bt_arena *arena,
	const struct bt_api_resource *resource, struct bt_str label);
/** Sets the values of the selection's labels and fields from an object's text. */
void bt_selection_read(struct bt_selection *selection, struct bt_str text);
#endif
