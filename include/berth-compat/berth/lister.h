/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_LISTER_H
#define BERTH_LISTER_H
/**
 * @file
 * Listers: what somebody knows of the objects of one kind, as informers know it upstream. Spec 08
 * section 2, spec 07 section 2.1, upstream v1.36.
 */
#include <stdbool.h>

#include "berth/api.h"
#include "berth/handle.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Called for each object of a list; false ends the walk. */
typedef bool (*berth_lister_visit_fn)(void *visit_context, const void *object);

/**
 * Objects of one kind; users may make their own. What is passed as `const void *` is the kind's
 * structure: const struct berth_pod *, const struct berth_pvc *, const struct berth_pdb *, and so
 * on, borrowed until the owner of the objects changes something. A lister without functions (all
 * zero) knows nothing; who takes it as an option takes its own default instead.
 */
struct berth_lister {
	void *context; /**< handed to the functions */
	/** By name; namespace "" for kinds without. NULL: there is none. */
	const void *(*get)(
		void *context, struct berth_str object_namespace, struct berth_str object_name);
	/** All of a namespace, or of all namespaces when it is absent (data NULL), in any order. */
	void (*list)(void *context, struct berth_str object_namespace, berth_lister_visit_fn visit,
		void *visit_context);
};

/**
 * What the scheduler behind a handle knows. @p kind: "Pod" (only get; the newest versions of pods
 * that are not bound and of those that are), "PersistentVolume", "PersistentVolumeClaim",
 * "StorageClass", "CSINode", "CSIDriver", "CSIStorageCapacity", "PodDisruptionBudget". Without
 * functions for other kinds. Valid as long as the handle.
 */
BERTH_API struct berth_lister berth_handle_lister(
	const struct berth_handle *handle, const char *kind);

/** The object, or NULL; NULL also when the lister cannot get. */
BERTH_API const void *berth_lister_get(const struct berth_lister *lister,
	struct berth_str object_namespace, struct berth_str object_name);
/** Visits the objects; none when the lister cannot list. */
BERTH_API void berth_lister_list(const struct berth_lister *lister,
	struct berth_str object_namespace, berth_lister_visit_fn visit, void *visit_context);

#ifdef __cplusplus
}
#endif
#endif
