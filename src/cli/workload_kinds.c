/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "api/defaulting.h"
#include "api/identity.h"
#include "api/selector.h"
#include "api/toleration.h"
#include "cli/workload.h"

/** A DaemonSet while its nodes are gone through. */
struct daemon {
	struct bt_expansion *expansion;
	struct bt_pod_maker maker;
	struct bt_pod_spec spec; /* of the template, the controller's tolerations added */
	struct bt_required_node_affinity affinity;
	struct bt_arena scratch;
};

/** Tolerations that every daemon pod gets; the last one only on the host's network. */
static const struct bt_toleration daemon_tolerations[] = {
	{.key = BT_STR_INIT("node.kubernetes.io/not-ready"),
		.operator_ = BT_STR_INIT("Exists"),
		.effect = BT_STR_INIT("NoExecute")},
	{.key = BT_STR_INIT("node.kubernetes.io/unreachable"),
		.operator_ = BT_STR_INIT("Exists"),
		.effect = BT_STR_INIT("NoExecute")},
	{.key = BT_STR_INIT("node.kubernetes.io/disk-pressure"),
		.operator_ = BT_STR_INIT("Exists"),
		.effect = BT_STR_INIT("NoSchedule")},
	{.key = BT_STR_INIT("node.kubernetes.io/memory-pressure"),
		.operator_ = BT_STR_INIT("Exists"),
		.effect = BT_STR_INIT("NoSchedule")},
	{.key = BT_STR_INIT("node.kubernetes.io/pid-pressure"),
		.operator_ = BT_STR_INIT("Exists"),
		.effect = BT_STR_INIT("NoSchedule")},
	{.key = BT_STR_INIT("node.kubernetes.io/unschedulable"),
		.operator_ = BT_STR_INIT("Exists"),
		.effect = BT_STR_INIT("NoSchedule")},
	{.key = BT_STR_INIT("node.kubernetes.io/network-unavailable"),
		.operator_ = BT_STR_INIT("Exists"),
		.effect = BT_STR_INIT("NoSchedule")},
};

/** The node that a daemon pod was made for: it is bound, or its affinity names the node. */
static struct bt_str target_node(const struct bt_pod *pod)
{
	const struct bt_affinity *affinity = pod->spec.affinity;
	if (pod->spec.node_name.length != 0 || affinity == NULL ||
		affinity->node_affinity == NULL || affinity->node_affinity->required == NULL) {
		return pod->spec.node_name;
	}
	const struct bt_node_selector *required = affinity->node_affinity->required;
	for (uint32_t i = 0; i < required->terms.count; i++) {
		const struct bt_node_selector_term *term = &required->terms.items[i];
		for (uint32_t f = 0; f < term->match_fields.count; f++) {
			if (bt_str_equal_c(term->match_fields.items[f].key, "metadata.name") &&
				term->match_fields.items[f].values.count == 1) {
				return term->match_fields.items[f].values.items[0];
			}
		}
	}
	return BT_STR("");
}

static void mark_covered_nodes(struct daemon *daemon)
{
	struct bt_expansion *expansion = daemon->expansion;
	BT_FOR_EACH_OWNED(expansion, daemon->maker.owner, index)
	{
		const struct bt_pod *pod = bt_expansion_pod_at(expansion, index);
		if (pod == NULL || !bt_pod_is_active(pod)) {
			continue;
		}
		uint32_t node = bt_manifests_find(
			expansion->cluster, BT_KIND_NODE, BT_STR(""), target_node(pod));
		if (node != BT_MANIFESTS_NONE) {
			expansion->covered_for[node] = daemon->maker.owner + 1;
		}
	}
}

/** What the controller asks before it makes a pod: node name, node affinity, hard taints. */
static bool matches_node(struct daemon *daemon, const struct bt_node *node)
{
	struct bt_str wanted = daemon->spec.node_name;
	if (wanted.length != 0 && !bt_str_equal(wanted, node->metadata.name)) {
		return false;
	}
	if (!bt_required_node_affinity_matches(&daemon->affinity, node->metadata.name,
		    &node->metadata.labels, &daemon->scratch, NULL)) {
		return false;
	}
	return bt_find_untolerated_taint(&node->spec.taints, &daemon->spec.tolerations,
		       BT_TAINT_HARD, daemon->expansion->taint_comparison) == NULL;
}

static int visit_node(struct daemon *daemon, uint32_t index, struct berth_error *err)
{
	struct bt_expansion *expansion = daemon->expansion;
	const struct bt_node *node =
		bt_object_value(expansion->cluster->objects.items[index].object, BT_KIND_NODE);
	if (expansion->covered_for[index] == daemon->maker.owner + 1 ||
		!matches_node(daemon, node)) {
		return 0;
	}
	struct bt_pod *pod;
	struct bt_str name = bt_pod_maker_next_name(expansion, &daemon->maker);
	int result = bt_expansion_add(expansion, &daemon->maker, name, &pod, err);
	if (result == 0) {
		/* Required node affinity for exactly this node, in place of the template's.
		 * Everything else stays.
		 */
		const struct bt_affinity *old = daemon->spec.affinity;
		struct bt_str node_name = node->metadata.name;
		struct bt_arena *arena = &expansion->arena;
		struct bt_affinity *affinity = BT_ARENA_NEW(arena, struct bt_affinity);
		struct bt_node_affinity *node_affinity =
			BT_ARENA_NEW(arena, struct bt_node_affinity);
		struct bt_node_selector *selector = BT_ARENA_NEW(arena, struct bt_node_selector);
		struct bt_node_selector_term *term =
			BT_ARENA_NEW(arena, struct bt_node_selector_term);
		struct bt_node_selector_requirement *field =
			BT_ARENA_NEW(arena, struct bt_node_selector_requirement);
		struct bt_str *value = BT_ARENA_NEW(arena, struct bt_str);
		if (old != NULL) {
			*affinity = *old;
			if (old->node_affinity != NULL) {
				*node_affinity = *old->node_affinity;
			}
		}
		*value = node_name;
		field->key = BT_STR("metadata.name");
		field->operator_ = BT_STR("In");
		field->values.items = value;
		field->values.count = 1;
		field->values.present = true;
		term->match_fields.items = field;
		term->match_fields.count = 1;
		term->match_fields.present = true;
		selector->terms.items = term;
		selector->terms.count = 1;
		selector->terms.present = true;
		node_affinity->required = selector;
		affinity->node_affinity = node_affinity;
		pod->spec.affinity = affinity;
	}
	return result;
}

static int visit_nodes(struct daemon *daemon, struct berth_error *err)
{
	struct bt_expansion *expansion = daemon->expansion;
	expansion->daemon_checks += expansion->nodes.count;
	if (expansion->daemon_checks > BT_WORKLOAD_DAEMON_CHECKS_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE,
			"more than %d pairs of DaemonSet and node", BT_WORKLOAD_DAEMON_CHECKS_MAX);
	}
	for (uint32_t i = 0; i < expansion->nodes.count; i++) {
		int result = visit_node(daemon, expansion->nodes.items[i], err);
		if (result < 0) {
			return result;
		}
	}
	return 0;
}

int bt_expand_daemon_set(struct bt_expansion *expansion, uint32_t owner, struct berth_error *err)
{
	const struct bt_manifests_object *object = &expansion->cluster->objects.items[owner];
	const struct bt_daemon_set *set = bt_object_value(object->object, BT_KIND_DAEMON_SET);
	const struct bt_pod_template *template_ = &set->spec.template_;
	struct daemon daemon = {.expansion = expansion, .spec = template_->spec};
	char hash[BT_HASH_SUFFIX_LENGTH + 1];
	bt_arena_init(&daemon.scratch, 0);
	struct bt_pod_spec *spec = &daemon.spec;
	uint32_t old_count = spec->tolerations.count;
	uint32_t added = BT_ARRAY_LENGTH(daemon_tolerations) - (spec->host_network ? 0 : 1);
	struct bt_toleration *items = BT_ARENA_NEW_ARRAY(
		&expansion->arena, struct bt_toleration, (size_t)old_count + added);
	if (old_count != 0) {
		memcpy(items, spec->tolerations.items, old_count * sizeof(items[0]));
	}
	memcpy(items + old_count, daemon_tolerations, added * sizeof(items[0]));
	spec->tolerations.items = items;
	spec->tolerations.count = old_count + added;
	spec->tolerations.present = true;
	daemon.maker = bt_pod_maker_init(
		expansion, owner, BT_STR("apps/v1"), &template_->metadata, &daemon.spec);
	bt_suffix_make_hash(object->name, hash);
	struct bt_str_pair pair = {
		BT_STR("controller-revision-hash"), bt_arena_printf(&expansion->arena, "%s", hash)};
	daemon.maker.labels = bt_labels_with(&daemon.maker.labels, &pair, 1, &expansion->arena);
	daemon.affinity = bt_required_node_affinity_parse(&daemon.spec, &daemon.scratch);
	mark_covered_nodes(&daemon);
	int result = visit_nodes(&daemon, err);
	bt_arena_finish(&daemon.scratch);
	return result;
}

/** The set's claims as volumes of one pod; they replace the template's volumes of the same names.
 */
static void mount_claims(
	struct bt_expansion *expansion, const struct bt_stateful_set_spec *spec, struct bt_pod *pod)
{
	uint32_t claim_count = spec->volume_claim_templates.count;
	if (claim_count == 0) {
		return;
	}
	uint32_t old_count = pod->spec.volumes.count;
	struct bt_volume *volumes = BT_ARENA_NEW_ARRAY(
		&expansion->arena, struct bt_volume, (size_t)claim_count + old_count);
	uint32_t count = 0;
	for (uint32_t i = 0; i < claim_count; i++) {
		struct bt_str name = spec->volume_claim_templates.items[i].metadata.name;
		struct bt_pvc_volume_source *source =
			BT_ARENA_NEW(&expansion->arena, struct bt_pvc_volume_source);
		source->claim_name = bt_arena_printf(&expansion->arena, "%.*s-%.*s",
			BT_STR_ARG(name), BT_STR_ARG(pod->metadata.name));
		volumes[count].name = name;
		volumes[count].persistent_volume_claim = source;
		count++;
	}
	for (uint32_t v = 0; v < old_count; v++) {
		const struct bt_volume *volume = &pod->spec.volumes.items[v];
		bool replaced = false;
		for (uint32_t i = 0; i < claim_count; i++) {
			replaced = replaced || bt_str_equal(volume->name, volumes[i].name);
		}
		if (!replaced) {
			volumes[count++] = *volume;
		}
	}
	pod->spec.volumes.items = volumes;
	pod->spec.volumes.count = count;
	pod->spec.volumes.present = true;
}

static int add_ordinal(struct bt_expansion *expansion, const struct bt_pod_maker *maker,
	const struct bt_stateful_set_spec *spec, struct bt_str revision, int64_t ordinal,
	struct berth_error *err)
{
	struct bt_str name = bt_arena_printf(
		&expansion->arena, "%.*s%lld", BT_STR_ARG(maker->prefix), (long long)ordinal);
	if (bt_expansion_has_pod(expansion, maker->namespace_, name)) {
		return 0;
	}
	struct bt_pod *pod;
	int result = bt_expansion_add(expansion, maker, name, &pod, err);
	if (result < 0) {
		return result;
	}
	const struct bt_str_pair pairs[] = {
		{BT_STR("apps.kubernetes.io/pod-index"),
			bt_arena_printf(&expansion->arena, "%lld", (long long)ordinal)},
		{BT_STR("controller-revision-hash"), revision},
		{BT_STR("statefulset.kubernetes.io/pod-name"), name},
	};
	pod->metadata.generate_name = BT_STR("");
	pod->metadata.labels =
		bt_labels_with(&maker->labels, pairs, BT_ARRAY_LENGTH(pairs), &expansion->arena);
	mount_claims(expansion, spec, pod);
	return 0;
}

int bt_expand_stateful_set(struct bt_expansion *expansion, uint32_t owner, struct berth_error *err)
{
	const struct bt_manifests_object *object = &expansion->cluster->objects.items[owner];
	const struct bt_stateful_set *set = bt_object_value(object->object, BT_KIND_STATEFUL_SET);
	const struct bt_stateful_set_spec *spec = &set->spec;
	struct bt_pod_maker maker = bt_pod_maker_init(expansion, owner, BT_STR("apps/v1"),
		&spec->template_.metadata, &spec->template_.spec);
	char hash[BT_HASH_SUFFIX_LENGTH + 1];
	bt_suffix_make_hash(object->name, hash);
	struct bt_str revision =
		bt_arena_printf(&expansion->arena, "%.*s-%s", BT_STR_ARG(object->name), hash);
	int64_t start = spec->ordinals != NULL ? spec->ordinals->start : 0;
	int64_t replicas = spec->replicas.present ? spec->replicas.value : 1;
	uint32_t extras = bt_expansion_extras(expansion, owner);
	for (int64_t i = object->pods_exist ? replicas : 0; i < replicas || extras != 0; i++) {
		uint32_t count = expansion->pods.count;
		int result = add_ordinal(expansion, &maker, spec, revision, start + i, err);
		if (result < 0) {
			return result;
		}
		if (i >= replicas && expansion->pods.count > count) {
			expansion->pods.items[count].is_extra = true;
			extras--;
		}
	}
	return 0;
}

#define INDEX_KEY "batch.kubernetes.io/job-completion-index"

/** A Job, or the run that a CronJob would start. */
struct job {
	struct bt_expansion *expansion;
	const struct bt_job_spec *spec;
	struct bt_pod_maker maker;
	struct bt_str name;
	struct bt_str completed_indexes;
	int64_t succeeded;
	int64_t active;
	BT_VEC(int64_t) used_indexes; /* of pods that run or succeeded */
};

static bool is_finished(const struct bt_job_status *status)
{
	for (uint32_t i = 0; i < status->conditions.count; i++) {
		const struct bt_job_condition *condition = &status->conditions.items[i];
		if (bt_str_equal_c(condition->status, "True") &&
			(bt_str_equal_c(condition->type, "Complete") ||
				bt_str_equal_c(condition->type, "Failed"))) {
			return true;
		}
	}
	return false;
}

static int64_t index_of(const struct bt_object_meta *pod)
{
	const struct bt_str *text = bt_str_map_find(&pod->annotations, BT_STR(INDEX_KEY));
	int64_t index;
	return text != NULL && bt_str_parse_int64(*text, &index) ? index : -1;
}

static int compare_int64(const void *a, const void *b)
{
	const int64_t *first = a;
	const int64_t *second = b;
	return (*first > *second) - (*first < *second);
}

/** --- indexes --- */

/** "1,3-5,7": ascending. Takes the next range off the text; false at its end. */
static bool next_range(struct bt_str *text, int64_t *out_first, int64_t *out_last)
{
	while (text->length != 0) {
		int64_t comma = bt_str_find_char(*text, ',');
		uint32_t length = comma < 0 ? text->length : (uint32_t)comma;
		struct bt_str range = bt_str_sub(*text, 0, length);
		int64_t dash = bt_str_find_char(range, '-');
		*text = bt_str_sub(*text, length + 1, text->length);
		if (dash < 0) {
			if (bt_str_parse_int64(range, out_first)) {
				*out_last = *out_first;
				return true;
			}
		} else if (bt_str_parse_int64(bt_str_sub(range, 0, (uint32_t)dash), out_first) &&
			bt_str_parse_int64(
				bt_str_sub(range, (uint32_t)dash + 1, range.length), out_last)) {
			return true;
		}
	}
	return false;
}

static int add_index(struct job *job, int64_t index, struct berth_error *err)
{
	struct bt_arena *arena = &job->expansion->arena;
	struct bt_pod_maker maker = job->maker;
	maker.prefix =
		bt_arena_printf(arena, "%.*s-%lld-", BT_STR_ARG(job->name), (long long)index);
	struct bt_pod *pod;
	struct bt_str name = bt_pod_maker_next_name(job->expansion, &maker);
	int result = bt_expansion_add(job->expansion, &maker, name, &pod, err);
	if (result == 0) {
		struct bt_str_pair pair = {
			BT_STR(INDEX_KEY), bt_arena_printf(arena, "%lld", (long long)index)};
		pod->metadata.labels = bt_labels_with(&maker.labels, &pair, 1, arena);
		pod->metadata.annotations =
			bt_labels_with(&maker.metadata->annotations, &pair, 1, arena);
	}
	return result;
}

/** The lowest indexes that neither run nor are done. */
static int add_indexes(struct job *job, int64_t count, struct berth_error *err)
{
	struct bt_str completed = job->completed_indexes;
	int64_t first = -1;
	int64_t last = -1;
	int64_t completions = job->spec->completions.present ? job->spec->completions.value : 0;
	bool has_range = next_range(&completed, &first, &last);
	uint32_t used = 0;
	for (int64_t index = 0; index < completions && count > 0; index++) {
		while (has_range && last < index) {
			has_range = next_range(&completed, &first, &last);
		}
		if (has_range && first <= index) {
			index = last < completions ? last : completions;
			continue;
		}
		while (used < job->used_indexes.count && job->used_indexes.items[used] < index) {
			used++;
		}
		if (used < job->used_indexes.count && job->used_indexes.items[used] == index) {
			continue;
		}
		int result = add_index(job, index, err);
		if (result < 0) {
			return result;
		}
		count--;
	}
	return 0;
}

/** --- jobs --- */

static int add_pods(struct job *job, struct berth_error *err)
{
	struct bt_arena *arena = &job->expansion->arena;
	const struct bt_str_pair pairs[] = {
		{BT_STR("batch.kubernetes.io/controller-uid"), job->maker.reference.uid},
		{BT_STR("batch.kubernetes.io/job-name"), job->name},
		{BT_STR("controller-uid"), job->maker.reference.uid},
		{BT_STR("job-name"), job->name},
	};
	job->maker.labels =
		bt_labels_with(&job->maker.labels, pairs, BT_ARRAY_LENGTH(pairs), arena);
	/* Pods that the controller would have running, those there are taken off. */
	const struct bt_job_spec *spec = job->spec;
	int64_t wanted = spec->parallelism.present ? spec->parallelism.value : 1;
	if (spec->completions.present) {
		int64_t left = (int64_t)spec->completions.value - job->succeeded;
		wanted = left < wanted ? left : wanted;
	} else if (!spec->parallelism.present) {
		wanted -= job->succeeded; /* neither is given: one completion */
	} else if (job->succeeded > 0) {
		wanted = 0; /* a work queue: after the first success nobody is added */
	}
	int64_t count = wanted - job->active;
	if (bt_str_equal_c(job->spec->completion_mode, "Indexed")) {
		return add_indexes(job, count, err);
	}
	for (int64_t i = 0; i < count; i++) {
		struct bt_pod *pod;
		struct bt_str name = bt_pod_maker_next_name(job->expansion, &job->maker);
		int result = bt_expansion_add(job->expansion, &job->maker, name, &pod, err);
		if (result < 0) {
			return result;
		}
	}
	return 0;
}

static bool is_suspended(struct bt_opt_bool suspend)
{
	return suspend.present && suspend.value;
}

int bt_expand_job(struct bt_expansion *expansion, uint32_t owner, struct berth_error *err)
{
	const struct bt_manifests_object *object = &expansion->cluster->objects.items[owner];
	const struct bt_job *value = bt_object_value(object->object, BT_KIND_JOB);
	const struct bt_pod_template *template_ = &value->spec.template_;
	if (is_suspended(value->spec.suspend) || is_finished(&value->status)) {
		return 0;
	}
	struct job job = {
		.expansion = expansion,
		.spec = &value->spec,
		.maker = bt_pod_maker_init(expansion, owner, BT_STR("batch/v1"),
			&template_->metadata, &template_->spec),
		.name = object->name,
		.completed_indexes = value->status.completed_indexes,
		.succeeded = value->status.succeeded,
	};
	/* Count what exists of a Job in the input. */
	int64_t succeeded = 0;
	BT_FOR_EACH_OWNED(job.expansion, job.maker.owner, index)
	{
		const struct bt_pod *pod = bt_expansion_pod_at(job.expansion, index);
		if (pod == NULL) {
			continue;
		}
		bool has_succeeded = bt_str_equal_c(pod->status.phase, "Succeeded");
		succeeded += has_succeeded;
		job.active += bt_pod_is_active(pod);
		if (has_succeeded || bt_pod_is_active(pod)) {
			bt_vec_push(&job.used_indexes, index_of(&pod->metadata));
		}
	}
	if (succeeded > job.succeeded) {
		job.succeeded = succeeded;
	}
	if (job.used_indexes.count > 1) {
		qsort(job.used_indexes.items, job.used_indexes.count, sizeof(int64_t),
			compare_int64);
	}
	int result = add_pods(&job, err);
	bt_vec_finish(&job.used_indexes);
	return result;
}

int bt_expand_cron_job(struct bt_expansion *expansion, uint32_t owner, struct berth_error *err)
{
	const struct bt_manifests_object *object = &expansion->cluster->objects.items[owner];
	const struct bt_cron_job *value = bt_object_value(object->object, BT_KIND_CRON_JOB);
	const struct bt_job_spec *spec = &value->spec.job_template.spec;
	if (is_suspended(value->spec.suspend) || is_suspended(spec->suspend)) {
		return 0;
	}
	BT_FOR_EACH_OWNED(expansion, owner, index)
	{
		const struct bt_manifests_object *owned = &expansion->cluster->objects.items[index];
		if (owned->kind != BT_KIND_JOB) {
			continue;
		}
		const struct bt_job *run = bt_object_value(owned->object, BT_KIND_JOB);
		if (!is_finished(&run->status)) {
			return 0; /* that one is the run */
		}
	}
	struct job job = {
		.expansion = expansion,
		.spec = spec,
		.maker = bt_pod_maker_init(expansion, owner, BT_STR("batch/v1"),
			&spec->template_.metadata, &spec->template_.spec),
		.name = bt_arena_printf(
			&expansion->arena, "%.*s-00000000", BT_STR_ARG(object->name)),
	};
	job.maker.reference.kind = BT_STR("Job");
	job.maker.reference.name = job.name;
	job.maker.reference.uid = bt_manifests_make_uid(expansion->cluster);
	job.maker.prefix = bt_arena_printf(&expansion->arena, "%.*s-", BT_STR_ARG(job.name));
	return add_pods(&job, err);
}
