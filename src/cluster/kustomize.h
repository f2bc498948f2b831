/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_KUSTOMIZE_H
#define BT_CLUSTER_KUSTOMIZE_H
/**
 * Renders kustomizations. "kubectl kustomize" is called if kubectl is on the PATH. Otherwise this
 * code supports the usual fields: resources and bases, namespace, namePrefix, nameSuffix, labels,
 * commonLabels, commonAnnotations, images, replicas, patches (strategic merge and JSON 6902),
 * components, replacements, configMapGenerator and secretGenerator. When an object's name changes,
 * references to the object change, too.
 */
#include "base/strbuf.h"
#include "berth/error.h"
#include "codec/json_edit.h"

/** Maximum depth of folders that are resources of other folders' kustomizations. */
#define BT_KUSTOMIZE_DEPTH_MAX 16

/**
 * Appends the objects of a folder's kustomization: as YAML if kubectl rendered them, else as JSON.
 * Without kubectl, a field that is not supported is an error, which names the field.
 */
BT_MUST_USE int bt_kustomize(const char *folder, struct bt_strbuf *out, struct berth_error *err);
/** As bt_kustomize, but never calls kubectl. */
BT_MUST_USE int bt_kustomize_here(
	const char *folder, struct bt_strbuf *out, struct berth_error *err);

/** --- operations on objects, for kustomize.c; implemented in kustomize_edit.c --- */

struct bt_kustomize_name {
	struct bt_str name;
	struct bt_str namespace_;
};

/** An object while kustomizations change it. */
struct bt_kustomized {
	struct bt_json_value *object;
	/** The object's former names, oldest first: as read, then the name after each folder. */
	struct bt_kustomize_name names[BT_KUSTOMIZE_DEPTH_MAX + 3];
	uint32_t name_count;
	bool hashed; /* generated: the final name ends with a hash of the content */
};

/**
 * Returns whether `named` has the kind of the resource, and a name and namespace that the resource
 * has had.
 */
bool bt_kustomized_is_named(
	const struct bt_kustomized *resource, const struct bt_json_value *named);
/** Records the current name. If the list is full, the current name replaces the last entry. */
void bt_kustomized_record_name(struct bt_kustomized *resource);
/**
 * Copies the members of `texts` into object[member], which is created if missing. Members with the
 * same name are replaced.
 */
void bt_kustomize_add_texts(struct bt_arena *arena, struct bt_json_value *object,
	const char *member, const struct bt_json_value *texts);
/** Encodes the values as base64. */
void bt_kustomize_encode(struct bt_arena *arena, struct bt_json_value *data);
/**
 * Sets the namespace, and adds prefix and suffix to the name; "": no change. Names of Namespaces,
 * CustomResourceDefinitions and APIServices get neither prefix nor suffix.
 */
void bt_kustomize_rename(struct bt_arena *arena, struct bt_kustomized *resource,
	struct bt_str namespace_, struct bt_str prefix, struct bt_str suffix);
/**
 * Adds labels to the object. selectors: also adds the labels to the object's selectors. templates:
 * also adds the labels to the object's pod templates.
 */
void bt_kustomize_label(struct bt_arena *arena, struct bt_json_value *object,
	const struct bt_json_value *labels, bool selectors, bool templates);
/** Adds annotations to the object and its templates. */
void bt_kustomize_annotate(struct bt_arena *arena, struct bt_json_value *object,
	const struct bt_json_value *annotations);
/** Changes the images of containers by a list of {name, newName, newTag, digest}. */
void bt_kustomize_set_images(
	struct bt_arena *arena, struct bt_json_value *object, const struct bt_json_value *images);
/**
 * Applies an entry of replacements, {source, targets}. An error names the missing object or field.
 * Defined in kustomize_replace.c.
 */
BT_MUST_USE int bt_kustomize_replace(struct bt_arena *arena, struct bt_kustomized *resources,
	uint32_t count, const struct bt_json_value *replacement, struct berth_error *err);
/**
 * Updates references to names that changed since names were last recorded, then records the current
 * names. namespace_: the namespace that all objects were moved to; "": none.
 */
void bt_kustomize_update_references(struct bt_arena *arena, struct bt_kustomized *resources,
	uint32_t count, struct bt_str namespace_);
/**
 * Called for the outermost folder: appends the hashes of generated objects to their names, and
 * sorts the objects as kubectl does.
 */
void bt_kustomize_finish_names(
	struct bt_arena *arena, struct bt_kustomized *resources, uint32_t count);
#endif
