/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_CSI_TRANSLATOR_H
#define BERTH_CSI_TRANSLATOR_H
/**
 * @file
 * InTreeToCSITranslator: translates in-tree volumes to CSI volumes. Spec 07 section 4, upstream
 * v1.36.
 */
#include <stdbool.h>

#include "berth/api.h"
#include "berth/error.h"
#include "berth/object.h"
#include "berth/storage.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A volume in a pod's spec (spec.volumes[]). Opaque; belongs to a berth_pod. */
struct berth_volume;

/** Number of volumes of a pod. */
BERTH_API uint32_t berth_pod_volume_count(const struct berth_pod *pod);
/** A volume of the pod, 0 <= index < count. */
BERTH_API const struct berth_volume *berth_pod_volume_at(
	const struct berth_pod *pod, uint32_t index);

/** The functions of a translator; programs may supply their own. */
struct berth_csi_translator_ops {
	/** Whether the source of @p pv is one of the seven in-tree sources. */
	bool (*is_pv_migratable)(void *context, const struct berth_pv *pv);
	/**
	 * Name of the in-tree plugin of @p pv, e.g. "kubernetes.io/gce-pd"; when @p pv is NULL, of
	 * @p volume. BERTH_ERR_NOT_FOUND: `could not find in-tree plugin name from persistent
	 * volume <name>`, `... from volume <name>`; BERTH_ERR_INVALID: `both persistent volume and
	 * volume are nil`.
	 */
	int (*get_in_tree_plugin_name_from_spec)(void *context, const struct berth_pv *pv,
		const struct berth_volume *volume, struct berth_str *out_name,
		struct berth_error *err);
	/**
	 * Creates a copy of @p pv in which CSI driver and handle replace the in-tree source, and
	 * the keys of the node affinity are rewritten. @p out_object is owned.
	 */
	int (*translate_in_tree_pv_to_csi)(void *context, const struct berth_pv *pv,
		struct berth_object **out_object, struct berth_error *err);
};

/** The translator that berth itself uses; its context is NULL. */
BERTH_API const struct berth_csi_translator_ops *berth_csi_translator(void);

/**
 * Whether the source is one of the seven in-tree sources; whether the node has migrated the source
 * to CSI is not checked.
 */
BERTH_API bool berth_csi_translator_is_pv_migratable(const struct berth_pv *pv);
/** See struct berth_csi_translator_ops. The name is a constant. */
BERTH_API int berth_csi_translator_get_in_tree_plugin_name_from_spec(const struct berth_pv *pv,
	const struct berth_volume *volume, struct berth_str *out_name, struct berth_error *err);
/**
 * Creates the translated copy: spec.csi with driver and volumeHandle (spec 07 section 4.4) replaces
 * the source, and the node affinity has the driver's topology keys (section 4.3).
 * BERTH_ERR_NOT_FOUND: @p pv has none of the seven in-tree sources: `could not find in-tree plugin
 * translation logic for <name>`. Section 4.4 has the errors for a source that gives no valid
 * volumeHandle. @p out_object is owned: berth_object_release().
 */
BERTH_API BERTH_MUST_USE int berth_csi_translator_translate_in_tree_pv_to_csi(
	const struct berth_pv *pv, struct berth_object **out_object, struct berth_error *err);

#ifdef __cplusplus
}
#endif
#endif
