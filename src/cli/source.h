/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_SOURCE_H
#define BT_CLI_SOURCE_H
/**
 * Sources of a command's cluster: files (snapshots among them), a live API server, or both; without
 * flags, the server that kubectl would use. Files are applied on top of the server's objects, so
 * that "-f new.yaml" asks about a change.
 */
#include <stddef.h>

#include "base/flags.h"
#include "cluster/manifests.h"

struct bt_source {
	struct bt_arguments files;
	struct bt_arguments kustomizations;
	bool recursive;
	const char *kubeconfig; /* NULL: no server. "": kubectl's default */
	const char *context;    /* context of the kubeconfig; NULL: the current context */
	bool is_default; /* neither files nor a server were given, so kubectl's default server is
	                    read */
};

/**
 * The rows of a flag table that fill a struct bt_source. at: offset of this struct in the options.
 * A program built without the client refuses --kubeconfig.
 */
#define BT_SOURCE_FLAGS_AT(at) \
	{"filename", 'f', BT_FLAG_STRINGS, (at) + offsetof(struct bt_source, files), "FILE|DIR|-", \
		"file or folder of manifests, lists or snapshots; may be repeated"}, \
		{"kustomize", 'k', BT_FLAG_STRINGS, \
			(at) + offsetof(struct bt_source, kustomizations), "DIR", \
			"folder to build as \"kubectl kustomize DIR\" does; may be repeated"}, \
		{"recursive", 'R', BT_FLAG_BOOL, (at) + offsetof(struct bt_source, recursive), \
			NULL, "also read the subfolders of a folder"}, \
		{"kubeconfig", 0, BT_FLAG_STRING, (at) + offsetof(struct bt_source, kubeconfig), \
			"FILE", \
			"read the cluster of this kubeconfig; nothing is written to it (default " \
			"without -f: $KUBECONFIG, ~/.kube/config)"}, \
	{ \
		"context", 0, BT_FLAG_STRING, (at) + offsetof(struct bt_source, context), "NAME", \
			"context of the kubeconfig (default: its current one)" \
	}

/** Without --filename, --kustomize and --kubeconfig, choose the server that kubectl would use. */
void bt_source_choose(struct bt_source *source);
/**
 * Read the server first, then the files and the kustomizations, each in order. Kinds that the user
 * may not list on the server are left out with a warning, but nodes and pods are required:
 * otherwise BERTH_ERR_IO with one sentence that names the server and the cause. BERTH_ERR_INVALID
 * if the source has no object that a scheduler reads.
 */
BT_MUST_USE int bt_source_read(
	const struct bt_source *source, struct bt_manifests *cluster, struct berth_error *err);

/** Provides a cluster that is in memory already. */
struct bt_source_provider {
	int (*fill)(const void *context, struct bt_manifests *cluster, struct berth_error *err);
	const void *context;
};
/**
 * Make bt_source_read use this cluster instead of the server's. "berth view" calls this function in
 * each child process before a command runs there. The provider is copied.
 */
void bt_source_provide(const struct bt_source_provider *provider);
#endif
