/* SPDX-License-Identifier: Apache-2.0 */
#include "api/meta.h"

#include "api/field_rows.h"

static const struct bt_field owner_reference_rows[] = {
	BT_ROW_STR_ALWAYS(bt_owner_reference, api_version, "apiVersion", 5),
	BT_ROW_STR_ALWAYS(bt_owner_reference, kind, "kind", 1),
	BT_ROW_STR_ALWAYS(bt_owner_reference, name, "name", 3),
	BT_ROW_STR_ALWAYS(bt_owner_reference, uid, "uid", 4),
	BT_ROW_BOOL_NULLABLE(bt_owner_reference, controller, "controller", 6),
};
static const struct bt_message owner_reference_message =
	BT_MESSAGE(bt_owner_reference, "OwnerReference", owner_reference_rows);

static const struct bt_field object_meta_rows[] = {
	BT_ROW_STR(bt_object_meta, name, "name", 1),
	BT_ROW_STR(bt_object_meta, generate_name, "generateName", 2),
	BT_ROW_STR(bt_object_meta, namespace_, "namespace", 3),
	BT_ROW_STR(bt_object_meta, uid, "uid", 5),
	BT_ROW_STR(bt_object_meta, resource_version, "resourceVersion", 6),
	BT_ROW_I64(bt_object_meta, generation, "generation", 7),
	BT_ROW_TIME(bt_object_meta, creation_timestamp, "creationTimestamp", 8),
	BT_ROW_TIME_NULLABLE(bt_object_meta, deletion_timestamp, "deletionTimestamp", 9),
	BT_ROW_STR_MAP(bt_object_meta, labels, "labels", 11),
	BT_ROW_STR_MAP(bt_object_meta, annotations, "annotations", 12),
	BT_ROW_MSG_LIST(bt_object_meta, owner_references, "ownerReferences", 13, bt_owner_reference,
		owner_reference_message),
	BT_ROW_STR_LIST(bt_object_meta, finalizers, "finalizers", 14),
};
const struct bt_message bt_object_meta_message =
	BT_MESSAGE(bt_object_meta, "ObjectMeta", object_meta_rows);

static const struct bt_field label_selector_requirement_rows[] = {
	BT_ROW_STR_ALWAYS(bt_label_selector_requirement, key, "key", 1),
	BT_ROW_STR_ALWAYS(bt_label_selector_requirement, operator_, "operator", 2),
	BT_ROW_STR_LIST(bt_label_selector_requirement, values, "values", 3),
};
static const struct bt_message label_selector_requirement_message = BT_MESSAGE(
	bt_label_selector_requirement, "LabelSelectorRequirement", label_selector_requirement_rows);

static const struct bt_field label_selector_rows[] = {
	BT_ROW_STR_MAP(bt_label_selector, match_labels, "matchLabels", 1),
	BT_ROW_MSG_LIST(bt_label_selector, match_expressions, "matchExpressions", 2,
		bt_label_selector_requirement, label_selector_requirement_message),
};
const struct bt_message bt_label_selector_message =
	BT_MESSAGE(bt_label_selector, "LabelSelector", label_selector_rows);

static const struct bt_field node_selector_requirement_rows[] = {
	BT_ROW_STR_ALWAYS(bt_node_selector_requirement, key, "key", 1),
	BT_ROW_STR_ALWAYS(bt_node_selector_requirement, operator_, "operator", 2),
	BT_ROW_STR_LIST(bt_node_selector_requirement, values, "values", 3),
};
static const struct bt_message node_selector_requirement_message = BT_MESSAGE(
	bt_node_selector_requirement, "NodeSelectorRequirement", node_selector_requirement_rows);

static const struct bt_field node_selector_term_rows[] = {
	BT_ROW_MSG_LIST(bt_node_selector_term, match_expressions, "matchExpressions", 1,
		bt_node_selector_requirement, node_selector_requirement_message),
	BT_ROW_MSG_LIST(bt_node_selector_term, match_fields, "matchFields", 2,
		bt_node_selector_requirement, node_selector_requirement_message),
};
const struct bt_message bt_node_selector_term_message =
	BT_MESSAGE(bt_node_selector_term, "NodeSelectorTerm", node_selector_term_rows);

static const struct bt_field node_selector_rows[] = {
	BT_ROW_MSG_LIST(bt_node_selector, terms, "nodeSelectorTerms", 1, bt_node_selector_term,
		bt_node_selector_term_message),
};
const struct bt_message bt_node_selector_message =
	BT_MESSAGE(bt_node_selector, "NodeSelector", node_selector_rows);

void bt_object_ref(const struct bt_object_meta *meta, struct bt_strbuf *out)
{
	if (meta->namespace_.length != 0) {
		bt_strbuf_append_str(out, meta->namespace_);
		bt_strbuf_append_char(out, '/');
	}
	bt_strbuf_append_str(out, meta->name);
}

const struct bt_owner_reference *bt_object_controller(const struct bt_object_meta *meta)
{
	for (uint32_t i = 0; i < meta->owner_references.count; i++) {
		const struct bt_owner_reference *owner = &meta->owner_references.items[i];

		if (owner->controller.present && owner->controller.value) {
			return owner;
		}
	}
	return NULL;
}
