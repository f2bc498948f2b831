/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/source.h"

int bt_source_check(
	const struct bt_source *source, const struct bt_command *command, struct berth_error *err)
{
	if (source->kubeconfig != NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"--kubeconfig: this program was built without a client of API servers");
	}
	if (source->files.list.count == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"no input: name files with -f (see \"berth %s --help\")", command->name);
	}
	return 0;
}

int bt_source_read(
	const struct bt_source *source, struct bt_cluster *cluster, struct berth_error *err)
{
	cluster->input.recursive = source->recursive;
	for (uint32_t i = 0; i < source->files.list.count; i++) {
		int result = bt_cluster_read(cluster, source->files.list.items[i], err);
		if (result < 0) {
			return result;
		}
	}
	if (cluster->objects.count == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "no objects in the input");
	}
	return 0;
}

void bt_source_finish(struct bt_source *source)
{
	bt_vec_finish(&source->files.list);
}
