/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFIG_DOCUMENT_H
#define BT_CONFIG_DOCUMENT_H
/** Internals of struct bt_config, shared by the files of this folder. */
#include "config/gates.h"
#include "config/load.h"
#include "config/schema.h"

struct bt_config {
	uint32_t ref_count;
	struct bt_arena arena; /* owns the memory of all members below */
	struct bt_gates gates;
	struct bt_config_document document;
	bool percentage_is_explicit;
	bt_str_list overridden;
};

/** Creates an empty document with one reference; gates are copied (NULL: defaults). */
struct bt_config *bt_config_create(const struct bt_gates *gates);
#endif
