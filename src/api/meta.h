/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_META_H
#define BT_API_META_H
/** Object metadata and label selectors as decoded. Spec: 01 sections 4.1, 4.2. */
#include "api/time.h"
#include "codec/message.h"

struct bt_owner_reference {
	struct bt_str api_version;
	struct bt_str kind;
	struct bt_str name;
	struct bt_str uid;
	struct bt_opt_bool controller;
};

struct bt_object_meta {
	struct bt_str name;
	struct bt_str generate_name;
	struct bt_str namespace_; /* "" for cluster-scoped kinds */
	struct bt_str uid;
	struct bt_str resource_version;
	int64_t generation;
	struct bt_time creation_timestamp;
	const struct bt_time *deletion_timestamp; /* NULL: not terminating */
	struct bt_str_map labels;
	struct bt_str_map annotations;
	BT_LIST(struct bt_owner_reference) owner_references;
	bt_str_list finalizers;
};

struct bt_label_selector_requirement {
	struct bt_str key;
	struct bt_str operator_;
	bt_str_list values;
};

struct bt_label_selector {
	struct bt_str_map match_labels;
	BT_LIST(struct bt_label_selector_requirement) match_expressions;
};

struct bt_node_selector_requirement {
	struct bt_str key;
	struct bt_str operator_;
	bt_str_list values;
};

struct bt_node_selector_term {
	BT_LIST(struct bt_node_selector_requirement) match_expressions;
	BT_LIST(struct bt_node_selector_requirement) match_fields;
};

struct bt_node_selector {
	BT_LIST(struct bt_node_selector_term) terms;
};

extern const struct bt_message bt_object_meta_message;
extern const struct bt_message bt_label_selector_message;
extern const struct bt_message bt_node_selector_message;
extern const struct bt_message bt_node_selector_term_message;

/** "namespace/name", or "name" when the namespace is empty (spec 01 section 5.15). */
void bt_object_ref(const struct bt_object_meta *meta, struct bt_strbuf *out);
/** First owner reference with controller true, or NULL. Spec 01 section 5.14. */
const struct bt_owner_reference *bt_object_controller(const struct bt_object_meta *meta);
#endif
