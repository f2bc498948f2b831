/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_KUSTOMIZE_H
#define BT_CLUSTER_KUSTOMIZE_H
/**
 * Kustomizations: "kubectl kustomize" reads them where kubectl is on the PATH. Without it the usual
 * fields are read here: resources and bases, namespace, namePrefix, nameSuffix, labels,
 * commonLabels, commonAnnotations, images, replicas, patches (strategic merge and JSON 6902),
 * components, replacements, configMapGenerator and secretGenerator. Names that change are changed
 * in what refers to them.
 */
#include "base/strbuf.h"
#include "berth/error.h"
#include "codec/json_edit.h"

/** Folders that name each other as resources. */
#define BT_KUSTOMIZE_DEPTH_MAX 16

/**
 * Append the objects of the kustomization in a folder as YAML (kubectl's) or JSON. An error of a
 * file that has more than is read here names the field.
 */
BT_MUST_USE int bt_kustomize(const char *folder, struct bt_strbuf *out, struct berth_error *err);
/** The same without kubectl. */
BT_MUST_USE int bt_kustomize_here(
	const char *folder, struct bt_strbuf *out, struct berth_error *err);

/** --- objects; for kustomize.c, done in kustomize_edit.c --- */

struct bt_kustomize_name {
	struct bt_str name;
	struct bt_str namespace_;
};

/** An object on its way through kustomizations. */
struct bt_kustomized {
	struct bt_json_value *object;
	/** Those it had, the first one first: once as read, once more behind each folder. */
	struct bt_kustomize_name names[BT_KUSTOMIZE_DEPTH_MAX + 3];
	uint32_t name_count;
	bool hashed; /* generated: its name gets a hash of its content at the end */
};

/** "" and "default" are one. */
bool bt_kustomize_is_namespace(struct bt_str a, struct bt_str b);
/** Remember the present name, in place of the last one if there are too many. */
void bt_kustomized_note_name(struct bt_kustomized *resource);
/** Members of texts, in the object's member of this name; those that are there are replaced. */
void bt_kustomize_add_texts(struct bt_arena *arena, struct bt_json_value *object,
	const char *member, const struct bt_json_value *texts);
/** Values become base64. */
void bt_kustomize_encode_secret(struct bt_arena *arena, struct bt_json_value *data);
/** "": it stays. Names of Namespaces, definitions and APIServices have neither prefix nor suffix.
 */
void bt_kustomize_rename(struct bt_arena *arena, struct bt_kustomized *resource,
	struct bt_str namespace_, struct bt_str prefix, struct bt_str suffix);
/** Labels of the object; selectors: and of what selects pods; templates: and of templates. */
void bt_kustomize_label(struct bt_arena *arena, struct bt_json_value *object,
	const struct bt_json_value *labels, bool selectors, bool templates);
/** Annotations of the object and its templates. */
void bt_kustomize_annotate(struct bt_arena *arena, struct bt_json_value *object,
	const struct bt_json_value *annotations);
/** Containers whose image has a name of the list {name, newName, newTag, digest}. */
void bt_kustomize_set_images(
	struct bt_arena *arena, struct bt_json_value *object, const struct bt_json_value *images);
/** An entry of replacements, {source, targets}; kustomize_replace.c. An error names what is not
 * there. */
BT_MUST_USE int bt_kustomize_replace(struct bt_arena *arena, struct bt_kustomized *resources,
	uint32_t count, const struct bt_json_value *replacement, struct berth_error *err);
/** Change references to names that are no longer the last one noted, then note the present ones.
 * namespace_: all objects were moved there; "": they were not. */
void bt_kustomize_follow_names(struct bt_arena *arena, struct bt_kustomized *resources,
	uint32_t count, struct bt_str namespace_);
/** Behind the outermost folder: hashes of generated objects, and the order that kubectl prints. */
void bt_kustomize_finish_names(
	struct bt_arena *arena, struct bt_kustomized *resources, uint32_t count);
#endif
