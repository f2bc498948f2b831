/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_LISTER_H
#define BERTH_LISTER_H
/**
 * @file
 * Listers: read access to the objects of one kind, like the listers of informers upstream. Spec 08
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
 * Lists the objects of one kind; programs may supply their own listers. A `const void *` points to
 * the structure of the kind: const struct berth_pod *, const struct berth_pvc *, const struct
 * berth_pdb *, and so on, borrowed until the owner of the objects changes something. A lister
 * without functions (all zero) has no objects; as an optional parameter or member it stands for the
 * default lister.
 */
struct berth_lister {
	void *context; /**< handed to the functions */
	/**
	 * Gets an object by name; @p object_namespace is "" for kinds without namespaces. NULL: not
	 * found.
	 */
	const void *(*get)(
		void *context, struct berth_str object_namespace, struct berth_str object_name);
	/**
	 * Visits the objects of a namespace, unordered; of all namespaces when @p
	 * object_namespace is absent (data NULL). Stops when @p visit returns false.
	 */
	void (*list)(void *context, struct berth_str object_namespace, berth_lister_visit_fn visit,
		void *visit_context);
};

/**
 * A lister over the objects of the scheduler that @p handle belongs to. @p kind: "Pod" (only get;
 * the newest version of bound and unbound pods), "PersistentVolume", "PersistentVolumeClaim",
 * "StorageClass", "CSINode", "CSIDriver", "CSIStorageCapacity", "PodDisruptionBudget". Other kinds
 * give a lister without functions. Valid as long as the handle.
 */
BERTH_API struct berth_lister berth_handle_lister(
	const struct berth_handle *handle, const char *kind);

/** The object of this name; NULL if there is no such object or if the lister has no get. */
BERTH_API const void *berth_lister_get(const struct berth_lister *lister,
	struct berth_str object_namespace, struct berth_str object_name);
/** Visits the objects; visits nothing if the lister has no list. */
BERTH_API void berth_lister_list(const struct berth_lister *lister,
	struct berth_str object_namespace, berth_lister_visit_fn visit, void *visit_context);

#ifdef __cplusplus
}
#endif
#endif
