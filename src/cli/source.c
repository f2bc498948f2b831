/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/source.h"

#include <stdio.h>
#include <string.h>

#include "cli/console.h"
#include "client/live.h"
#include "cluster/kustomize.h"

static struct bt_source_provider provided;

void bt_source_provide(const struct bt_source_provider *provider)
{
	provided = *provider;
}

void bt_source_choose(struct bt_source *source)
{
	if (provided.fill != NULL) {
		return;
	}
	if (source->context != NULL && source->kubeconfig == NULL) {
		source->kubeconfig = "";
	}
	if (source->files.list.count == 0 && source->kustomizations.list.count == 0 &&
		source->kubeconfig == NULL) {
		source->kubeconfig = "";
		source->is_default = true;
	}
}

/** --- the server --- */

struct live_reading {
	struct bt_manifests *cluster;
	uint32_t source;
	struct bt_progress progress;
	char task[64];
};

static int take_object(void *context, struct bt_object *object, struct berth_error *err)
{
	struct live_reading *reading = context;
	return bt_manifests_take_live(reading->cluster, reading->source, object, err);
}

static void warn(void *context, const char *line)
{
	const struct live_reading *reading = context;
	bt_manifests_warn(reading->cluster, "%c", line);
}

static void show_progress(void *context, const char *resource, uint32_t count)
{
	struct live_reading *reading = context;
	(void)snprintf(reading->task, sizeof(reading->task), "reading %s", resource);
	bt_progress_show(&reading->progress, count, 0);
}

static int read_server(
	const struct bt_source *source, struct bt_manifests *cluster, struct berth_error *err)
{
	struct live_reading reading = {.cluster = cluster, .task = "reading"};
	const struct bt_live_sink sink = {&reading, take_object, warn, show_progress};
	struct bt_live *live;
	int result = bt_live_open(source->kubeconfig, source->context, &live, err);
	if (result < 0) {
		if (source->is_default && result == BERTH_ERR_NOT_FOUND) {
			berth_error_finish(err);
			return bt_error_set(err, BERTH_ERR_INVALID,
				"no input: name files with -f, or a cluster with --kubeconfig; "
				"neither KUBECONFIG nor ~/.kube/config names one");
		}
		return result;
	}
	if (source->is_default) {
		const char *context = bt_live_context(live);
		(void)fprintf(stderr, "berth: reading %s%s%s%s\n",
			context[0] != '\0' ? "context " : "", context,
			context[0] != '\0' ? ", " : "", bt_live_server(live));
	}
	reading.source = bt_manifests_add_source(cluster, bt_live_server(live));
	bt_progress_start(&reading.progress, reading.task);
	result = bt_live_read(live, &sink, err);
	bt_progress_end(&reading.progress);
	bt_live_close(live);
	return result;
}

int bt_source_read(
	const struct bt_source *source, struct bt_manifests *cluster, struct berth_error *err)
{
	int result = 0;
	if (provided.fill != NULL) {
		result = provided.fill(provided.context, cluster, err);
	} else if (source->kubeconfig != NULL) {
		result = read_server(source, cluster, err);
	}
	cluster->input.recursive = source->recursive;
	for (uint32_t i = 0; i < source->files.list.count && result == 0; i++) {
		result = bt_manifests_read(cluster, source->files.list.items[i], err);
	}
	for (uint32_t i = 0; i < source->kustomizations.list.count && result == 0; i++) {
		const char *folder = source->kustomizations.list.items[i];
		struct bt_strbuf text = {0};
		result = bt_kustomize(folder, &text, err);
		if (result == 0) {
			result = bt_manifests_read_text(cluster, folder, bt_strbuf_str(&text), err);
		}
		bt_strbuf_finish(&text);
	}
	if (result == 0 && cluster->objects.count == 0) {
		const char *only =
			source->files.list.count == 1 ? source->files.list.items[0] : "the input";
		result = bt_error_set(err, BERTH_ERR_INVALID,
			"%s: no objects that a scheduler reads: Nodes, Pods, workloads",
			strcmp(only, "-") == 0 ? "standard input" : only);
	}
	return result;
}
