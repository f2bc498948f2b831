/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/explain/explain_report.h"

#include <string.h>

#include "api/identity.h"
#include "api/suggest.h"
#include "api/text_template.h"

/** Limit of names in one message. */
#define LISTED_MAX 8
/** Limit of names that a misspelt name is compared with. */
#define WORDS_MAX 100000
/** Longest chain: Pod, ReplicaSet or Job, Deployment or CronJob. */
#define OWNERS_MAX 3

struct candidate {
	struct bt_str namespace_;
	struct bt_str name;
	uint32_t pending; /* UINT32_MAX: bound or finished */
	uint32_t object;
	bool placed;  /* placed by the simulation */
	bool over;    /* Succeeded or Failed */
	bool leaving; /* being deleted */
};

struct search {
	const struct bt_simulation *simulation;
	const struct bt_pod_reference *reference;
	struct bt_str namespace_;       /* "": any */
	BT_VEC(struct candidate) found; /* found pods: pending ones first, in queue order */
	uint32_t pod_count;             /* all pods in these namespaces */
	uint32_t pending_count;
};

/** --- searching pods --- */

static bool is_of_workload(const struct bt_manifests *cluster, const struct bt_object_meta *pod,
	const struct bt_pod_reference *reference)
{
	const struct bt_object_meta *owned = pod;
	for (int i = 0; i < OWNERS_MAX; i++) {
		const struct bt_owner_reference *controller = bt_object_controller(owned);
		if (controller == NULL) {
			return false;
		}
		if (bt_str_equal_c(controller->kind, bt_kind_info(reference->kind)->name) &&
			bt_str_equal(controller->name, reference->name)) {
			return true;
		}
		bool is_job = bt_str_equal_c(controller->kind, "Job");
		if (!is_job && !bt_str_equal_c(controller->kind, "ReplicaSet")) {
			return false;
		}
		uint32_t owner =
			bt_manifests_find(cluster, is_job ? BT_KIND_JOB : BT_KIND_REPLICA_SET,
				pod->namespace_, controller->name);
		if (owner == BT_MANIFESTS_NONE) {
			/*
			 * The ReplicaSet or Job is missing in the input, so derive the name of the
			 * Deployment or CronJob from the name of the ReplicaSet or Job.
			 */
			if (reference->kind == BT_KIND_DEPLOYMENT) {
				struct bt_str deployment =
					bt_manifests_deployment_of(pod, controller->name);
				return bt_str_equal_c(controller->kind, "ReplicaSet") &&
					deployment.length != 0 &&
					bt_str_equal(deployment, reference->name);
			}
			/* A CronJob's Jobs are named "<name>-<number>". */
			struct bt_str made = controller->name;
			uint32_t length = reference->name.length;
			return reference->kind == BT_KIND_CRON_JOB &&
				bt_str_equal_c(controller->kind, "Job") &&
				made.length >= length + 2 &&
				bt_str_has_prefix(made, reference->name) &&
				made.data[length] == '-' &&
				bt_str_is_digits(bt_str_sub(made, length + 1, BT_STR_MAX));
		}
		owned = cluster->objects.items[owner].object->meta;
	}
	return false;
}

static void update_best(struct search *search, const struct bt_pod *pod, struct candidate candidate)
{
	const struct bt_pod_reference *reference = search->reference;
	if (search->namespace_.length != 0 &&
		!bt_str_equal(search->namespace_, candidate.namespace_)) {
		return;
	}
	candidate.leaving = bt_pod_is_terminating(pod);
	search->pod_count++;
	search->pending_count += candidate.pending != UINT32_MAX;
	bool wanted;
	if (reference == NULL) {
		wanted = candidate.pending != UINT32_MAX && !candidate.leaving;
	} else if (reference->kind == BT_KIND_POD) {
		wanted = bt_str_equal(candidate.name, reference->name);
	} else {
		/* The manifest of the pod may lack the namespace; the candidate has it. */
		struct bt_object_meta meta = pod->metadata;
		meta.namespace_ = candidate.namespace_;
		wanted = is_of_workload(search->simulation->cluster, &meta, reference);
	}
	if (wanted) {
		bt_vec_push(&search->found, candidate);
	}
}

static void search_pods(struct search *search)
{
	const struct bt_simulation *simulation = search->simulation;
	const struct bt_manifests *cluster = simulation->cluster;
	for (uint32_t i = 0; i < simulation->pods.count; i++) {
		const struct bt_pod *pod = simulation->pods.items[i].pod;
		update_best(search, pod,
			(struct candidate){.namespace_ = pod->metadata.namespace_,
				.name = pod->metadata.name,
				.pending = i,
				.placed = simulation->pods.items[i].fate == BT_FATE_SCHEDULED});
	}
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		if (object->kind != BT_KIND_POD) {
			continue;
		}
		const struct bt_pod *pod = bt_object_value(object->object, BT_KIND_POD);
		bool over = bt_pod_is_terminal(pod);
		if (over || bt_pod_is_assigned(pod)) {
			update_best(search, pod,
				(struct candidate){.namespace_ = object->namespace_,
					.name = object->name,
					.pending = UINT32_MAX,
					.object = i,
					.over = over});
		}
	}
}

/** --- messages --- */

static void append_name(struct bt_strbuf *out, struct bt_str namespace_, struct bt_str name)
{
	bt_text_append(out, "[%p/]%p", bt_str_sub(namespace_, 0, BT_MANIFESTS_NAME_BYTES_MAX),
		bt_str_sub(name, 0, BT_MANIFESTS_NAME_BYTES_MAX));
}

/** Append "48 pods, 12 of them pending". */
static void append_counts(const struct search *search, struct bt_strbuf *text)
{
	bt_text_append(text, "%u {pod|pods}, %u of them pending[, in namespace %p]",
		search->pod_count, search->pending_count,
		bt_str_sub(search->namespace_, 0, BT_MANIFESTS_NAME_BYTES_MAX));
}

static void append_list(
	const struct search *search, bool namespaces_only, uint32_t count, struct bt_strbuf *text)
{
	for (uint32_t i = 0; i < count && i < LISTED_MAX; i++) {
		const struct candidate *candidate = &search->found.items[i];
		bt_strbuf_append_c(text, i != 0 ? ", " : "");
		append_name(text, namespaces_only ? BT_STR("") : candidate->namespace_,
			namespaces_only ? candidate->namespace_ : candidate->name);
	}
	bt_text_append(text, "[ and %u more]", count > LISTED_MAX ? count - LISTED_MAX : 0);
}

/** Names for suggestions: either of pods of the simulation, or of workloads of the cluster. */
struct words {
	BT_VEC(const char *) list;
	BT_VEC(struct candidate) objects; /* in the order of list */
};

static void add_word(struct words *words, struct bt_str namespace_, struct bt_str name)
{
	if (words->list.count < WORDS_MAX) {
		struct candidate object = {.namespace_ = namespace_, .name = name};
		bt_vec_push(&words->list, name.data); /* a copy, since it has to end with a zero */
		bt_vec_push(&words->objects, object);
	}
}

/**
 * Find the workload with exactly this name, because users may name a workload without its kind when
 * they mean its pods. NULL: none.
 */
static const struct bt_manifests_object *find_workload(
	const struct bt_manifests *cluster, struct bt_str namespace_, struct bt_str name)
{
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		if (bt_kind_creates_pods(object->kind) && bt_str_equal(object->name, name) &&
			(namespace_.length == 0 || bt_str_equal(object->namespace_, namespace_))) {
			return object;
		}
	}
	return NULL;
}

static void append_suggestion(const struct search *search, struct bt_strbuf *text)
{
	const struct bt_simulation *simulation = search->simulation;
	const struct bt_pod_reference *reference = search->reference;
	const struct bt_manifests_object *workload = reference->kind == BT_KIND_POD
		? find_workload(simulation->cluster, search->namespace_, reference->name)
		: NULL;
	if (workload != NULL) {
		bt_strbuf_append_c(text, "; did you mean ");
		bt_strbuf_append_lower(text, bt_str_from(bt_kind_info(workload->kind)->name));
		bt_strbuf_append_char(text, '/');
		append_name(text, workload->namespace_, workload->name);
		bt_strbuf_append_char(text, '?');
		return;
	}
	struct words words = {0};
	enum bt_kind kind = reference->kind;
	const struct bt_manifests *cluster = simulation->cluster;
	for (uint32_t i = 0; kind == BT_KIND_POD && i < simulation->pods.count; i++) {
		const struct bt_object_meta *meta = &simulation->pods.items[i].pod->metadata;
		add_word(&words, meta->namespace_, meta->name);
	}
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		if (object->kind == kind) {
			add_word(&words, object->namespace_, object->name);
		}
	}
	/*
	 * Find the same or a similar name in any namespace, else a name that begins with
	 * the given one; NULL: none.
	 */
	char *given = bt_strndup(
		reference->name.data != NULL ? reference->name.data : "", reference->name.length);
	const char *close = bt_suggest(given, words.list.items, words.list.count);
	const struct candidate *alike = NULL;
	bt_free(given);
	for (uint32_t i = 0; i < words.list.count && alike == NULL; i++) {
		struct bt_str word = words.objects.items[i].name;
		if (bt_str_equal(word, reference->name) ||
			(close != NULL && bt_str_equal_c(word, close))) {
			alike = &words.objects.items[i];
		}
	}
	for (uint32_t i = 0; i < words.list.count && alike == NULL; i++) {
		if (bt_str_has_prefix(words.objects.items[i].name, reference->name)) {
			alike = &words.objects.items[i];
		}
	}
	if (alike != NULL) {
		bt_strbuf_append_c(text, "; did you mean ");
		append_name(text, alike->namespace_, alike->name);
		bt_strbuf_append_char(text, '?');
	}
	bt_vec_finish(&words.list);
	bt_vec_finish(&words.objects);
}

/** --- choosing one pod --- */

static int refuse_finished(const struct search *search, struct berth_error *err)
{
	const struct candidate *candidate = &search->found.items[0];
	const struct bt_pod *pod = bt_object_value(
		search->simulation->cluster->objects.items[candidate->object].object, BT_KIND_POD);
	struct bt_strbuf text = {0};
	bt_strbuf_append_c(&text, "Pod ");
	append_name(&text, candidate->namespace_, candidate->name);
	bt_strbuf_printf(&text, " has %s: a finished pod is not scheduled again",
		bt_str_equal_c(pod->status.phase, "Failed") ? "failed" : "succeeded");
	return bt_error_take(err, BERTH_ERR_INVALID, &text);
}

static int in_several_namespaces(
	const struct search *search, uint32_t namespace_count, struct berth_error *err)
{
	const struct bt_pod_reference *reference = search->reference;
	struct bt_strbuf text = {0};
	bt_text_append(&text, "pods [%?of a %c ]named ", reference->kind != BT_KIND_POD,
		bt_kind_info(reference->kind)->name);
	append_name(&text, BT_STR(""), reference->name);
	bt_strbuf_append_c(&text, " are in several namespaces, say which with -n: ");
	append_list(search, true, namespace_count, &text);
	return bt_error_take(err, BERTH_ERR_INVALID, &text);
}

static int choose(struct search *search, struct bt_pod_choice *out, struct berth_error *err)
{
	if (search->found.count == 0) {
		const struct bt_pod_reference *reference = search->reference;
		struct bt_strbuf text = {0};
		const struct bt_manifests_object *workload = reference->kind != BT_KIND_POD
			? find_workload(
				  search->simulation->cluster, search->namespace_, reference->name)
			: NULL;
		if (workload != NULL && workload->kind == reference->kind) {
			bt_strbuf_printf(&text, "%s ", bt_kind_info(workload->kind)->name);
			append_name(&text, workload->namespace_, workload->name);
			bt_strbuf_append_c(&text,
				" has no pods: it wants none, is paused or suspended, or no node "
				"matches");
			return bt_error_take(err, BERTH_ERR_INVALID, &text);
		}
		bt_text_append(&text, "there is no %c ",
			reference->kind == BT_KIND_POD ? "pod"
						       : bt_kind_info(reference->kind)->name);
		append_name(&text, search->namespace_, reference->name);
		bt_strbuf_append_c(&text, " among the objects read (");
		append_counts(search, &text);
		bt_strbuf_append_char(&text, ')');
		append_suggestion(search, &text);
		return bt_error_take(err, BERTH_ERR_INVALID, &text);
	}
	if (search->reference->kind != BT_KIND_POD) {
		/*
		 * The best pod of a workload (see bt_pod_choice): a pending pod, else a running
		 * pod, else a pod that is being deleted, that the simulation placed, or that is
		 * finished.
		 */
		struct candidate best = search->found.items[0];
		uint32_t best_rank = UINT32_MAX;
		for (uint32_t i = 0; i < search->found.count; i++) {
			const struct candidate *candidate = &search->found.items[i];
			uint32_t rank = candidate->over ? 4 : 0;
			rank += candidate->placed ? 3 : 0;
			rank += candidate->leaving ? 2 : 0;
			rank += candidate->pending == UINT32_MAX ? 1 : 0;
			if (rank < best_rank) {
				best = *candidate;
				best_rank = rank;
			}
		}
		uint32_t namespace_count;
		out->of_workload = true;
		out->workload_kind = search->reference->kind;
		out->workload_namespace = best.namespace_;
		out->workload_name = search->reference->name;
		for (uint32_t i = 0; i < search->found.count; i++) {
			out->workload_pods += !search->found.items[i].over;
			out->workload_pending += search->found.items[i].pending != UINT32_MAX;
			out->workload_fits += search->found.items[i].placed;
		}
		out->pending = best.pending;
		out->object = best.object;
		/* Keep one pod of each namespace in found. */
		uint32_t kept = 0;
		for (uint32_t i = 0; i < search->found.count; i++) {
			bool seen = false;
			for (uint32_t k = 0; k < kept && k <= LISTED_MAX && !seen; k++) {
				seen = bt_str_equal(search->found.items[k].namespace_,
					search->found.items[i].namespace_);
			}
			if (!seen) {
				search->found.items[kept++] = search->found.items[i];
			}
		}
		namespace_count = kept;
		if (namespace_count > 1) {
			return in_several_namespaces(search, namespace_count, err);
		}
		search->found.items[0] = best;
		return best.over ? refuse_finished(search, err) : 0;
	}
	if (search->found.count > 1) {
		return in_several_namespaces(search, search->found.count, err);
	}
	out->pending = search->found.items[0].pending;
	out->object = search->found.items[0].object;
	return search->found.items[0].over ? refuse_finished(search, err) : 0;
}

int bt_pod_choose(const struct bt_simulation *simulation, const struct bt_pod_reference *reference,
	const char *namespace_, struct bt_pod_choice *out, struct berth_error *err)
{
	struct search search = {.simulation = simulation,
		.reference = reference,
		.namespace_ = bt_str_from(namespace_ != NULL ? namespace_ : "")};
	int result;
	*out = (struct bt_pod_choice){.pending = UINT32_MAX};
	if (reference == NULL) {
		search_pods(&search);
		struct bt_strbuf text = {0};
		if (search.found.count == 1) {
			out->pending = search.found.items[0].pending;
			out->object = search.found.items[0].object;
			result = 0;
		} else {
			if (search.pod_count == 0) {
				bt_text_append(&text, "there are no pods[ in namespace %p]",
					bt_str_sub(
						search.namespace_, 0, BT_MANIFESTS_NAME_BYTES_MAX));
			} else if (search.found.count == 0) {
				bt_strbuf_append_c(&text, "no pod waits for a node (");
				append_counts(&search, &text);
				bt_strbuf_append_c(&text, "): name one to see where it would go");
			} else {
				bt_text_append(&text, "%u pods wait for a node, name one of them: ",
					search.found.count);
				append_list(&search, false, search.found.count, &text);
			}
			result = bt_error_take(err, BERTH_ERR_INVALID, &text);
		}
	} else {
		search.namespace_ = reference->namespace_;
		search_pods(&search);
		struct bt_pod_reference other = {.kind = BT_KIND_POD,
			.namespace_ = reference->other_namespace,
			.name = reference->name};
		bool has_other = reference->other_namespace.length != 0;
		if (search.found.count == 0 && !has_other && reference->kind == BT_KIND_POD) {
			/* The reference may be the name of a workload without its kind. */
			const struct bt_manifests_object *workload = find_workload(
				simulation->cluster, search.namespace_, reference->name);
			has_other = workload != NULL;
			other.kind = has_other ? workload->kind : BT_KIND_POD;
			other.namespace_ = search.namespace_;
		}
		if (search.found.count == 0 && has_other) {
			struct search second = {.simulation = simulation,
				.reference = &other,
				.namespace_ = other.namespace_};
			search_pods(&second);
			result = second.found.count != 0 ? choose(&second, out, err)
							 : choose(&search, out, err);
			bt_vec_finish(&second.found);
		} else {
			result = choose(&search, out, err);
		}
	}
	bt_vec_finish(&search.found);
	return result;
}
