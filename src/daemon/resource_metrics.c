/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/resource_metrics.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api/resources.h"
#include "base/nanoseconds.h"
#include "metrics/metrics.h"

enum process_family {
	PROCESS_CPU,
	PROCESS_OPEN_FILES,
	PROCESS_MAX_FILES,
	PROCESS_VIRTUAL,
	PROCESS_MAX_VIRTUAL,
	PROCESS_RESIDENT,
	PROCESS_START,
	PROCESS__COUNT,
};

static const struct {
	const char *name;
	const char *help;
} process_families[] = {
	[PROCESS_CPU] = {"process_cpu_seconds_total",
		"Total user and system CPU time spent in seconds."},
	[PROCESS_OPEN_FILES] = {"process_open_fds", "Number of open file descriptors."},
	[PROCESS_MAX_FILES] = {"process_max_fds", "Maximum number of open file descriptors."},
	[PROCESS_VIRTUAL] = {"process_virtual_memory_bytes", "Virtual memory size in bytes."},
	[PROCESS_MAX_VIRTUAL] = {"process_virtual_memory_max_bytes",
		"Maximum amount of virtual memory available in bytes."},
	[PROCESS_RESIDENT] = {"process_resident_memory_bytes", "Resident memory size in bytes."},
	[PROCESS_START] = {"process_start_time_seconds",
		"Start time of the process since unix epoch in seconds."},
};

static struct bt_metric *register_process(struct bt_metrics *metrics, enum process_family family)
{
	const struct bt_metric_description description = {
		.name = process_families[family].name,
		.help = process_families[family].help,
		.type = family == PROCESS_CPU ? BT_METRIC_COUNTER : BT_METRIC_GAUGE,
		.is_constant = family == PROCESS_START,
	};
	return bt_metrics_register(metrics, &description);
}

static void set_process(struct bt_metrics *metrics, enum process_family family, double value)
{
	bt_metric_set(bt_metric_only(register_process(metrics, family)), value);
}

static double limit_value(rlim_t limit)
{
	return limit == RLIM_INFINITY ? (double)UINT64_MAX : (double)limit;
}

static void collect_process(void *context)
{
	struct bt_metrics *metrics = context;
	double ticks = (double)sysconf(_SC_CLK_TCK);
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		set_process(metrics, PROCESS_MAX_FILES, limit_value(limit.rlim_cur));
	}
	if (getrlimit(RLIMIT_AS, &limit) == 0) {
		set_process(metrics, PROCESS_MAX_VIRTUAL, limit_value(limit.rlim_cur));
	}
	DIR *directory = opendir("/proc/self/fd");
	if (directory != NULL) {
		int64_t open_files = -1; /* without the descriptor for reading the directory */
		for (const struct dirent *entry = readdir(directory); entry != NULL;
			entry = readdir(directory)) {
			open_files += entry->d_name[0] != '.';
		}
		(void)closedir(directory); /* open for reading only */
		set_process(metrics, PROCESS_OPEN_FILES, (double)open_files);
	}
	/*
	 * The process name may contain any character, so fields are counted from the last closing
	 * parenthesis, which ends the name. The third field, the state, is a letter.
	 */
	char text[4096];
	uint64_t fields[25] = {0};
	FILE *file = fopen("/proc/self/stat", "re");
	size_t length = 0;

	if (file != NULL) {
		length = fread(text, 1, sizeof(text) - 1, file);
		(void)fclose(file); /* open for reading only */
	}
	text[length] = '\0';
	const char *at = strrchr(text, ')');
	if (at == NULL) {
		return;
	}
	at = strchr(at, ' ');
	for (uint32_t i = 3; at != NULL && i < BT_ARRAY_LENGTH(fields); i++) {
		fields[i] = strtoull(at + 1, NULL, 10);
		at = strchr(at + 1, ' ');
	}
	set_process(metrics, PROCESS_CPU, (double)(fields[14] + fields[15]) / ticks);
	set_process(metrics, PROCESS_VIRTUAL, (double)fields[23]);
	set_process(metrics, PROCESS_RESIDENT, (double)fields[24] * (double)sysconf(_SC_PAGESIZE));
}

static const struct bt_metric_description build_family = {
	.name = "kubernetes_build_info",
	.help = "A metric with a constant '1' value labeled by major, minor, git version, git "
		"commit, git tree state, build date, Go version, and compiler from which "
		"Kubernetes was built, and platform on which it is running.",
	.type = BT_METRIC_GAUGE,
	.stability = BT_METRIC_BETA,
	.labels = {"major", "minor", "git_version", "git_commit", "git_tree_state", "build_date",
		"go_version", "compiler", "platform"},
	.is_constant = true,
};

static const struct bt_metric_description version_family = {
	.name = "version_info",
	.help = "Provides the compatibility version info of the component. The component label "
		"is the name of the component, usually kube, but is relevant for "
		"aggregated-apiservers.",
	.type = BT_METRIC_GAUGE,
	.stability = BT_METRIC_ALPHA,
	.labels = {"component", "binary", "emulation", "min_compat"},
	.is_constant = true,
};

static const struct bt_metric_description feature_family = {
	.name = "kubernetes_feature_enabled",
	.help = "This metric records the data about the stage and enablement of a k8s feature.",
	.type = BT_METRIC_GAUGE,
	.stability = BT_METRIC_BETA,
	.labels = {"name", "stage"},
	.is_constant = true,
};

static void set_feature(
	struct bt_metric *family, const char *name, enum bt_gate_stage stage, bool is_enabled)
{
	const struct bt_str values[] = {bt_str_from(name), bt_str_from(bt_gate_stage_name(stage))};

	bt_metric_set(bt_metric_cell(family, values), is_enabled);
}

void bt_process_metrics_register(struct bt_metrics *metrics, int64_t started_ns,
	const struct bt_build *build, const struct bt_versions *versions,
	const struct bt_gates *gates)
{
	for (uint32_t i = 0; i < PROCESS__COUNT; i++) {
		(void)register_process(metrics, (enum process_family)i);
	}
	set_process(metrics, PROCESS_START, (double)(started_ns / BT_NS_PER_MS) / 1000);
	bt_metrics_add_collector(metrics, collect_process, metrics);
	char minor[16];
	int length = snprintf(minor, sizeof(minor), "%d", BT_KUBERNETES_MINOR);
	const struct bt_str values[] = {
		BT_STR("1"),
		{minor, (uint32_t)length},
		versions->git_version,
		bt_str_from(build->git_commit),
		bt_str_from(build->git_tree_state),
		build->build_date,
		bt_str_from(build->toolchain),
		bt_str_from(build->compiler),
		bt_str_from(build->platform),
	};

	bt_metric_set(bt_metric_cell(bt_metrics_register(metrics, &build_family), values), 1);
	char emulation[16];
	char compatibility[16];
	(void)snprintf(emulation, sizeof(emulation), "1.%d", versions->release.emulated_minor);
	(void)snprintf(compatibility, sizeof(compatibility), "1.%d",
		versions->release.min_compatibility_minor);
	const struct bt_str version_values[] = {
		BT_STR("kube"),
		bt_versions_binary(versions),
		bt_str_from(emulation),
		bt_str_from(compatibility),
	};
	bt_metric_set(
		bt_metric_cell(bt_metrics_register(metrics, &version_family), version_values), 1);
	struct bt_metric *family = bt_metrics_register(metrics, &feature_family);
	set_feature(family, "AllAlpha", BT_GATE_STAGE_ALPHA, gates->all_alpha);
	set_feature(family, "AllBeta", BT_GATE_STAGE_BETA, gates->all_beta);
	for (uint32_t i = 0; i < BT_GATE__COUNT; i++) {
		enum bt_gate gate = (enum bt_gate)i;
		enum bt_gate_stage stage =
			bt_gate_state_at(gate, versions->release.emulated_minor).stage;

		if (stage != BT_GATE_STAGE_NONE) {
			set_feature(
				family, bt_gate_name(gate), stage, bt_gate_enabled(gates, gate));
		}
	}
}

#define LIMIT_NAME "kube_pod_resource_limit"
#define REQUEST_NAME "kube_pod_resource_request"

/** Order by namespace, node and name, as the labels are written. */
BT_COMPARE(compare_pods, struct bt_pod_sample_texts,
	BT_ORDER_BY(bt_str_compare(a->namespace_, b->namespace_),
		bt_str_compare(a->node_name, b->node_name), bt_str_compare(a->name, b->name)))

static const char *unit_of(struct bt_str resource)
{
	static const struct bt_str in_bytes[] = {
		BT_STR_INIT("memory"), BT_STR_INIT("storage"), BT_STR_INIT("ephemeral-storage")};

	if (bt_str_equal(resource, BT_STR("cpu"))) {
		return "cores";
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(in_bytes); i++) {
		if (bt_str_equal(resource, in_bytes[i])) {
			return "bytes";
		}
	}
	if (bt_resource_is_hugepage(resource)) {
		return "bytes";
	}
	return bt_resource_is_attachable_volume(resource) ? "integer" : "";
}

static void write_label(struct bt_strbuf *out, const char *before, struct bt_str value)
{
	bt_strbuf_append_c(out, before);
	bt_metrics_append_escaped(out, value, true);
}

static struct bt_str write_samples(struct bt_pod_samples *list, const struct bt_pod *pod,
	const char *name, const struct bt_resource_list *amounts)
{
	bt_strbuf_reset(&list->text);
	for (uint32_t i = 0; i < amounts->count; i++) {
		if (!bt_quantity_is_zero(&amounts->items[i].quantity)) {
			const struct bt_resource_entry *entry = &amounts->items[i];
			struct bt_strbuf *out = &list->text;
			bt_strbuf_append_c(out, name);
			write_label(out, "{namespace=\"", pod->metadata.namespace_);
			write_label(out, "\",node=\"", pod->spec.node_name);
			write_label(out, "\",pod=\"", pod->metadata.name);
			bt_strbuf_append_c(out, "\",priority=\"");
			if (pod->spec.priority.present) {
				bt_strbuf_printf(out, "%d", (int)pod->spec.priority.value);
			}
			write_label(out, "\",resource=\"", entry->name);
			write_label(out, "\",scheduler=\"", pod->spec.scheduler_name);
			bt_strbuf_printf(out, "\",unit=\"%s\"} ", unit_of(entry->name));
			bt_metrics_append_number(out,
				bt_str_equal(entry->name, BT_STR("cpu"))
					? (double)bt_quantity_milli(&entry->quantity) / 1000
					: (double)bt_quantity_value(&entry->quantity),
				false);
			bt_strbuf_append_char(out, '\n');
		}
	}
	return bt_arena_str(&list->arena, bt_strbuf_str(&list->text));
}

void bt_pod_samples_add(struct bt_pod_samples *list, const struct bt_pod *pod)
{
	static const struct bt_request_options options = {0};
	struct bt_pod_sample_texts samples;

	if (pod->spec.node_name.length != 0 && bt_pod_is_terminal(pod)) {
		return;
	}
	bt_arena_reset(&list->scratch);
	samples.namespace_ = bt_arena_str(&list->arena, pod->metadata.namespace_);
	samples.node_name = bt_arena_str(&list->arena, pod->spec.node_name);
	samples.name = bt_arena_str(&list->arena, pod->metadata.name);
	struct bt_resource_list amounts = bt_pod_limits(pod, &options, &list->scratch);
	samples.limits = write_samples(list, pod, LIMIT_NAME, &amounts);
	amounts = bt_pod_requests(pod, &options, &list->scratch);
	samples.requests = write_samples(list, pod, REQUEST_NAME, &amounts);
	bt_vec_push(&list->pods, samples);
}

/** Append samples of a family. If *has_header is false, append the family's header first. */
static void write_family(const char *name, const char *help, struct bt_str samples,
	bool *has_header, struct bt_strbuf *out)
{
	if (samples.length == 0) {
		return;
	}
	if (!*has_header) {
		bt_strbuf_printf(out, "# HELP %s [STABLE] %s\n# TYPE %s gauge\n", name, help, name);
		*has_header = true;
	}
	bt_strbuf_append_str(out, samples);
}

void bt_pod_samples_write(struct bt_pod_samples *list, struct bt_strbuf *out)
{
	bool has_limits = false;
	bool has_requests = false;

	if (list->pods.count != 0) {
		qsort(list->pods.items, list->pods.count, sizeof(list->pods.items[0]),
			compare_pods);
	}
	for (uint32_t i = 0; i < list->pods.count; i++) {
		write_family(LIMIT_NAME,
			"Resources limit for workloads on the cluster, broken down by pod. This "
			"shows the resource usage the scheduler and kubelet expect per pod for "
			"resources along with the unit for the resource if any.",
			list->pods.items[i].limits, &has_limits, out);
	}
	for (uint32_t i = 0; i < list->pods.count; i++) {
		write_family(REQUEST_NAME,
			"Resources requested by workloads on the cluster, broken down by pod. "
			"This shows the resource usage the scheduler and kubelet expect per pod "
			"for resources along with the unit for the resource if any.",
			list->pods.items[i].requests, &has_requests, out);
	}
	bt_vec_finish(&list->pods);
	bt_arena_finish(&list->arena);
	bt_arena_finish(&list->scratch);
	bt_strbuf_finish(&list->text);
}
