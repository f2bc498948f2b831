/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/identity.h"
#include "api/selector.h"
#include "api/types.h"
#include "base/nanoseconds.h"
#include "base/text_set.h"
#include "cluster/cluster.h"
#include "cluster/tree.h"
#include "cluster/typed.h"
#include "cluster/workload.h"
#include "codec/json_edit.h"

/** The start time is fixed, so that every run gives the same result. */
#define START_NS (INT64_C(1700000000) * BT_NS_PER_SECOND)
/** Answers to the creation of a pod, as HTTP codes of an API server. */
#define CODE_CREATED 201
#define CODE_REFUSED 403
#define CODE_TOO_LARGE 507
/** Label in the selectors that replace the selectors of the input. */
#define OWNER_LABEL "berth.dev/owner"
#define OWNER_VALUE "expansion"

static bool has_pod(
	const struct bt_expansion *expansion, struct bt_str namespace_, struct bt_str name)
{
	uint64_t hash = bt_hash_name(namespace_, name);
	if (bt_manifests_find(expansion->cluster, BT_KIND_POD, namespace_, name) !=
		BT_MANIFESTS_NONE) {
		return true;
	}
	BT_MAP_EACH (&expansion->names, hash, index) {
		const struct bt_object_meta *meta = &expansion->pods.items[index].pod->metadata;
		if (bt_str_equal(meta->namespace_, namespace_) && bt_str_equal(meta->name, name)) {
			return true;
		}
	}
	return false;
}

static uint32_t count_active_pods(const struct bt_expansion *expansion, uint32_t owner)
{
	uint32_t count = 0;
	BT_FOR_EACH_OWNED(expansion, owner, index)
	{
		const struct bt_pod *pod = bt_expansion_pod_at(expansion, index);
		count += pod != NULL && bt_pod_is_active(pod);
	}
	return count;
}

static uint32_t extras_of(const struct bt_expansion *expansion, uint32_t owner)
{
	return expansion->extras != NULL ? expansion->extras[owner] : 0;
}

/** The current ReplicaSet and the pods that the input has for a Deployment. */
struct rollout {
	uint32_t active_pods;
	bool has_set;       /* the input has a ReplicaSet; false: `set` and `hash` are from a pod */
	struct bt_str set;  /* name; "": neither ReplicaSet nor pods */
	struct bt_str uid;  /* of the ReplicaSet; only with has_set */
	struct bt_str hash; /* of the template; may be "" */
};

static struct bt_str template_hash_of(const struct bt_object_meta *meta)
{
	const struct bt_str *hash = bt_str_map_find(&meta->labels, BT_STR("pod-template-hash"));
	return hash != NULL ? *hash : BT_STR("");
}

/** --- state of an expansion --- */

struct bt_expansion_work {
	struct bt_expansion *expansion;
	struct bt_cluster *cluster;
	struct bt_arena scratch; /* reset for each object */
	/** Uids of objects of the cluster that own pods, possibly through ReplicaSets. */
	struct bt_text_set owner_uids;
	BT_VEC(uint32_t) owner_indexes; /* the workload of each owner in the input */
	uint64_t daemon_checks;
	bool has_nodes;
	bool is_too_large;
	bool is_refused; /* error says why */
	struct berth_error error;

	/*
	 * The last pod that was created. Pods of one owner reuse its decoded spec and its
	 * admission.
	 */
	struct bt_pod last;      /* as made from the template */
	struct bt_pod_spec spec; /* as admitted */
	bool is_admitted;        /* spec is set */
	uint32_t last_owner;
	struct bt_json_value *rest; /* last spec without affinity, volumes and hostname, in
	                               rest_arena; NULL: no pod yet */
	struct bt_arena rest_arena;
	struct bt_json_value *metadata; /* last metadata, in metadata_arena; NULL: no pod yet */
	struct bt_arena metadata_arena;
	struct bt_str prefix; /* of generated names */
	uint32_t next_suffix;
};

static uint32_t find_owner(const struct bt_expansion_work *work, struct bt_str uid)
{
	uint32_t owner = bt_text_set_find(&work->owner_uids, uid);
	return owner != BT_MAP_NONE ? work->owner_indexes.items[owner] : BT_MANIFESTS_NONE;
}

static void add_owner(struct bt_expansion_work *work, struct bt_str uid, uint32_t index)
{
	bt_text_set_append(&work->owner_uids, bt_arena_str(&work->expansion->arena, uid));
	bt_vec_push(&work->owner_indexes, index);
}

/** --- pods that controllers create --- */

/**
 * Returns the workload of a pod with this owner: the Deployment if the owner is its ReplicaSet,
 * else the owner.
 */
static uint32_t find_workload(struct bt_expansion_work *work, const struct bt_json_value *reference,
	struct bt_str namespace_)
{
	struct bt_str uid = bt_json_text_at(reference, "uid");
	uint32_t index = find_owner(work, uid);
	if (index == BT_MANIFESTS_NONE) {
		struct bt_arena arena = {0};
		const struct bt_json_value *set = bt_api_read(work->cluster->api,
			bt_typed_resource(work->cluster->api, BT_KIND_REPLICA_SET),
			bt_api_key(&arena, namespace_, bt_json_text_at(reference, "name")), &arena);
		const struct bt_json_value *owners =
			bt_json_array_at(set, "metadata.ownerReferences");
		BT_ASSERT(owners->count == 1); /* the deployment controller added one owner */
		index = find_owner(work, bt_json_text_at(owners->elements[0], "uid"));
		BT_ASSERT(index != BT_MANIFESTS_NONE);
		add_owner(work, uid, index);
		bt_arena_finish(&arena);
	}
	return index;
}

/**
 * Decodes a pod into work->last. Members that equal those of the last pod are not decoded again,
 * because most members are equal: the pods of a DaemonSet differ only in affinity, and the pods of
 * a StatefulSet differ only in metadata, hostname and volumes.
 */
static bool read_pod(struct bt_expansion_work *work, const struct bt_json_value *tree)
{
	struct bt_arena *arena = &work->scratch;
	struct bt_arena *kept = &work->expansion->arena;
	const struct bt_json_value *spec = bt_json_object_at(tree, "spec");
	struct bt_json_value *own = bt_json_put(arena, NULL, "{spec: {}}");
	struct bt_json_value *own_spec = bt_json_find(own, "spec");
	struct bt_json_value *rest = bt_json_put(arena, NULL, "{spec: {}}");
	struct bt_json_value *rest_spec = bt_json_find(rest, "spec");
	struct bt_pod pod = {0};
	struct bt_pod rest_pod = {0};
	struct bt_json_value *metadata = bt_json_find(tree, "metadata");
	bool is_same_metadata = work->metadata != NULL && bt_json_equal(metadata, work->metadata);
	if (!is_same_metadata) {
		bt_json_set_value(arena, own, "metadata", metadata);
	}
	for (uint32_t i = 0; i < spec->count; i++) {
		const struct bt_json_member *member = &spec->members[i];
		bool is_own = bt_str_equal_c(member->name, "affinity") ||
			bt_str_equal_c(member->name, "volumes") ||
			bt_str_equal_c(member->name, "hostname");
		bt_json_append_member(
			arena, is_own ? own_spec : rest_spec, member->name, member->value);
	}
	bool is_known = work->rest != NULL && bt_json_equal(rest, work->rest);
	const struct bt_json_value *affinity = bt_json_find_path(tree, "spec.affinity");
	bool decoded = bt_tree_decode(kept, own, &bt_pod_message, &pod) &&
		(is_known || bt_tree_decode(kept, rest, &bt_pod_message, &rest_pod));
	if (decoded && !is_known) {
		bt_arena_reset(&work->rest_arena);
		work->rest = bt_json_clone(&work->rest_arena, rest, true);
		work->last.spec = rest_pod.spec;
	}
	if (decoded && !is_same_metadata) {
		work->is_admitted = work->is_admitted &&
			bt_str_equal(pod.metadata.namespace_, work->last.metadata.namespace_);
		work->last.metadata = (struct bt_object_meta){
			.name = pod.metadata.name,
			.generate_name = pod.metadata.generate_name,
			.namespace_ = pod.metadata.namespace_,
			.labels = pod.metadata.labels,
			.annotations = pod.metadata.annotations,
			.owner_references = pod.metadata.owner_references,
		};
		bt_arena_reset(&work->metadata_arena);
		work->metadata = bt_json_clone(&work->metadata_arena, metadata, true);
	}
	if (decoded) {
		/*
		 * The admitted spec cannot be reused if the pod has pod affinity, pod anti-affinity
		 * or topology spread constraints: admission adds labels of the pod to their
		 * selectors (matchLabelKeys).
		 */
		work->is_admitted = work->is_admitted && is_known &&
			bt_json_find(affinity, "podAffinity") == NULL &&
			bt_json_find(affinity, "podAntiAffinity") == NULL &&
			work->last.spec.topology_spread_constraints.count == 0;
		work->last_owner = find_workload(work,
			bt_json_array_at(tree, "metadata.ownerReferences")->elements[0],
			work->last.metadata.namespace_);
		work->last.spec.affinity = pod.spec.affinity;
		work->last.spec.volumes = pod.spec.volumes;
		work->spec.affinity = pod.spec.affinity;
		work->spec.volumes = pod.spec.volumes;
	}
	bt_arena_reset(arena);
	return decoded;
}

/** Returns an unused name for work->last: its generateName and a suffix. */
static struct bt_str next_name(struct bt_expansion_work *work)
{
	const struct bt_object_meta *meta = &work->last.metadata;
	if (!bt_str_equal(work->prefix, meta->generate_name)) {
		work->prefix = meta->generate_name;
		work->next_suffix = 0;
	}
	for (;;) {
		char suffix[BT_SUFFIX_LENGTH + 1];
		bt_suffix_make(work->prefix, work->next_suffix++, suffix);
		struct bt_str name = bt_arena_printf(
			&work->expansion->arena, "%.*s%s", BT_STR_ARG(work->prefix), suffix);
		if (!has_pod(work->expansion, meta->namespace_, name)) {
			return name;
		}
	}
}

/**
 * Records that a quota refuses the pod at index, or pods of the workload at index, and warns. Only
 * the first message about each object is kept.
 */
static void refuse(struct bt_expansion *expansion, uint32_t index, const char *message)
{
	for (uint32_t i = expansion->refusals.count; i > 0; i--) {
		if (expansion->refusals.items[i - 1].index == index) {
			return;
		}
	}
	struct bt_refusal refusal = {index, bt_arena_str(&expansion->arena, bt_str_from(message))};
	struct bt_strbuf line = {0};
	bt_vec_push(&expansion->refusals, refusal);
	bt_manifests_describe(expansion->cluster, index, &line);
	bt_manifests_warn(expansion->cluster, "%s: %c", bt_strbuf_str(&line), message);
	bt_strbuf_finish(&line);
}

int bt_expansion_admit(struct bt_expansion *expansion, uint32_t index, const struct bt_pod *pod,
	const struct bt_pod_spec **out_spec, struct berth_error *err)
{
	const struct bt_manifests_object *object = &expansion->cluster->objects.items[index];
	struct berth_error refusal = BERTH_ERROR_INIT;
	/* The API server from which the pod was read has set all defaults. */
	bool is_complete = object->origin.document == 0 ||
		(object->uid_is_given && pod->spec.priority.present);
	if (is_complete && !expansion->admission.has_quotas) {
		const struct bt_pod *own = bt_object_value(object->object, BT_KIND_POD);
		*out_spec = &own->spec;
		return 0;
	}
	int result = bt_pod_admission_admit(
		&expansion->admission, pod, object->uid_is_given, out_spec, &refusal);
	if (result == BERTH_ERR_STATE) {
		refuse(expansion, index, berth_error_message(&refusal));
		berth_error_finish(&refusal);
		return 0;
	}
	if (result < 0) {
		result = bt_error_move(err, &refusal);
		return bt_manifests_wrap(expansion->cluster, index, result, err);
	}
	return 0;
}

/**
 * Sets the pod's spec to the spec that the API server admits. The pod equals work->last except for
 * name and uid. Returns false if the API server or a quota refuses the pod.
 */
static bool admit(struct bt_expansion_work *work, struct bt_pod *pod)
{
	struct bt_pod_admission *admission = &work->expansion->admission;
	if (work->is_admitted && !admission->has_quotas) {
		pod->spec = work->spec;
		return true;
	}
	struct berth_error err = BERTH_ERROR_INIT;
	const struct bt_pod_spec *spec;
	int result = bt_pod_admission_admit(admission, pod, false, &spec, &err);
	if (result == BERTH_ERR_STATE) {
		refuse(work->expansion, work->last_owner, berth_error_message(&err));
		berth_error_finish(&err);
		return false;
	}
	work->is_admitted = result == 0;
	if (result == 0) {
		work->spec = pod->spec = *spec;
	} else if (!work->is_refused) {
		work->is_refused = true;
		result = bt_error_wrap(&err, result, "spec.template");
		(void)bt_manifests_wrap(work->expansion->cluster, work->last_owner, result, &err);
		(void)bt_error_move(&work->error, &err);
	}
	berth_error_finish(&err);
	return result == 0;
}

static uint16_t take_pod(void *context, const struct bt_json_value *tree, bool repeated,
	struct bt_str *out_name, struct bt_str *out_uid)
{
	struct bt_expansion *expansion = context;
	struct bt_expansion_work *work = expansion->work;
	const struct bt_object_meta *meta = &work->last.metadata;
	const struct bt_api_resource *claims =
		bt_typed_resource(work->cluster->api, BT_KIND_PERSISTENT_VOLUME_CLAIM);
	if (!repeated && !read_pod(work, tree)) {
		return CODE_TOO_LARGE; /* the template could be decoded, but the pod nests deeper */
	}
	if (expansion->pods.count >= BT_WORKLOAD_PODS_MAX ||
		expansion->arena.total_bytes > BT_WORKLOAD_BYTES_MAX ||
		bt_store_count(work->cluster->store, claims->collection) > BT_WORKLOAD_PODS_MAX) {
		work->is_too_large = true;
		return CODE_TOO_LARGE;
	}
	bool is_generated = meta->generate_name.length != 0;
	*out_name = is_generated ? next_name(work) : meta->name;
	*out_uid = bt_manifests_make_uid(expansion->cluster);
	if (!is_generated && has_pod(expansion, meta->namespace_, meta->name)) {
		return CODE_CREATED; /* the input has this pod already */
	}
	struct bt_pod *pod = BT_ARENA_NEW(&expansion->arena, struct bt_pod);
	*pod = work->last;
	pod->metadata.name = *out_name;
	pod->metadata.uid = *out_uid;
	if (!admit(work, pod)) {
		return CODE_REFUSED;
	}
	struct bt_workload_pod entry = {.pod = pod, .owner = work->last_owner};
	bt_vec_push(&expansion->pods, entry);
	bt_map_insert(&expansion->names, bt_hash_name(pod->metadata.namespace_, *out_name),
		expansion->pods.count - 1);
	return CODE_CREATED;
}

/** --- the controllers' input --- */

/**
 * Returns the object as a tree in work->scratch, without owners and (except for Jobs) without
 * status.
 */
static struct bt_json_value *tree_of(struct bt_expansion_work *work, uint32_t index)
{
	const struct bt_manifests_object *object = &work->expansion->cluster->objects.items[index];
	struct bt_object_meta *copy = bt_object_copy_value(object->object, &work->scratch);
	*copy = (struct bt_object_meta){
		.name = object->name,
		.namespace_ = object->namespace_,
		.uid = object->uid,
		.labels = object->object->meta->labels,
		.annotations = object->object->meta->annotations,
	};
	struct bt_json_value *tree = bt_typed_tree(object->kind, copy, &work->scratch);
	if (object->kind != BT_KIND_JOB) {
		(void)bt_json_remove_c(tree, "status");
	}
	return tree;
}

/**
 * Stores the tree in the expansion's cluster. index: the workload that the object's pods belong to;
 * BT_MANIFESTS_NONE: the object has no pods.
 */
static int restore(struct bt_expansion_work *work, uint32_t index, enum bt_kind kind,
	struct bt_json_value *tree, struct berth_error *err)
{
	struct bt_json_value *metadata = bt_json_ensure_object(&work->scratch, tree, "metadata");
	if (index != BT_MANIFESTS_NONE) {
		/* A copied manifest may have the same uid as the original. */
		if (find_owner(work, bt_json_text_at(metadata, "uid")) != BT_MANIFESTS_NONE) {
			bt_json_set_str(&work->scratch, metadata, "uid",
				bt_manifests_make_uid(work->expansion->cluster));
		}
		add_owner(work, bt_json_text_at(metadata, "uid"), index);
	}
	int result = bt_cluster_restore(work->cluster->api,
		bt_typed_resource(work->cluster->api, kind), tree, &work->scratch, NULL, err);
	bt_arena_reset(&work->scratch);
	return result;
}

static void set_replicas(
	struct bt_expansion_work *work, struct bt_json_value *tree, int64_t replicas)
{
	bt_json_put(&work->scratch, tree, "{spec: {replicas: %d}}",
		replicas < INT32_MAX ? replicas : (int64_t)INT32_MAX);
}

/**
 * Replaces the selector by a selector that matches no pod: the pods of the input are found by their
 * owners, and the input's selector may be wrong.
 */
static void replace_selector(struct bt_expansion_work *work, struct bt_json_value *tree)
{
	bt_json_put(&work->scratch, tree, "{spec: {selector: %v}}",
		bt_json_put(&work->scratch, NULL,
			"{matchLabels: {" OWNER_LABEL ": '" OWNER_VALUE "'}}"));
}

/** Returns whether the selector is valid, not empty, and matches pods with these labels. */
static bool is_usable(struct bt_expansion_work *work, const struct bt_label_selector *selector,
	const struct bt_str_map *labels)
{
	struct bt_selector parsed;
	return selector != NULL &&
		bt_selector_from_label_selector(selector, &work->scratch, &parsed, NULL) == 0 &&
		!parsed.nothing && !bt_selector_is_empty(&parsed) &&
		bt_selector_matches(&parsed, labels);
}

/**
 * Replaces a selector that does not match the template, because with this selector the deployment
 * controller would not find the ReplicaSets that it creates.
 */
static void repair_selector(struct bt_expansion_work *work, struct bt_json_value *tree,
	const struct bt_deployment *deployment)
{
	struct bt_arena *arena = &work->scratch;
	const struct bt_str_map *labels = &deployment->spec.template_.metadata.labels;
	const struct bt_label_selector own = {.match_labels = *labels};
	if (is_usable(work, deployment->spec.selector, labels)) {
		return;
	}
	replace_selector(work, tree);
	if (is_usable(work, &own, labels)) {
		bt_json_put(arena, tree, "{spec: {selector: {matchLabels: %v}}}",
			bt_json_clone(arena,
				bt_json_object_at(tree, "spec.template.metadata.labels"), false));
	} else {
		bt_json_put(arena, tree,
			"{spec: {template: {metadata: {labels: {" OWNER_LABEL ": '" OWNER_VALUE
			"'}}}}}");
	}
}

/** Sets strategy OnDelete, so that a rolling update does not delete pods. */
static void stop_updates(struct bt_expansion_work *work, struct bt_json_value *tree)
{
	bt_json_put(&work->scratch, tree, "{spec: {updateStrategy: %v}}",
		bt_json_put(&work->scratch, NULL, "{type: 'OnDelete'}"));
}

/** Returns how many pods to create: the missing pods and the extra pods. */
static int64_t count_missing(const struct bt_expansion *expansion, uint32_t owner,
	struct bt_opt_i32 replicas, uint32_t existing)
{
	int64_t wanted = replicas.present ? replicas.value : 1;
	bool none_missing = expansion->cluster->objects.items[owner].pods_exist;
	int64_t missing = !none_missing && wanted > existing ? wanted - existing : 0;
	return missing + extras_of(expansion, owner);
}

/**
 * Returns a tree of the Deployment's current ReplicaSet. The input must have that ReplicaSet or
 * pods of it.
 */
static struct bt_json_value *set_of_deployment(
	struct bt_expansion_work *work, uint32_t index, const struct rollout *rollout)
{
	struct bt_arena *arena = &work->scratch;
	struct bt_json_value *tree = tree_of(work, index);
	struct bt_json_value *spec = bt_json_ensure_object(&work->scratch, tree, "spec");
	(void)bt_json_remove_c(spec, "strategy");
	(void)bt_json_remove_c(spec, "paused");
	bt_json_put(arena, tree, "{kind: 'ReplicaSet', metadata: {name: %s, uid: %s}}",
		rollout->set,
		rollout->has_set ? rollout->uid : bt_manifests_make_uid(work->expansion->cluster));
	if (rollout->hash.length != 0) {
		bt_json_put(arena, spec,
			"{template: {metadata: {labels: {pod-template-hash: %s}}}}", rollout->hash);
		if (bt_json_find(spec, "selector") != NULL) {
			bt_json_put(arena, spec,
				"{selector: {matchLabels: {pod-template-hash: %s}}}",
				rollout->hash);
		}
	}
	bt_json_put(arena, tree, "{metadata: {labels: %t}}",
		bt_json_object_at(spec, "template.metadata.labels"));
	return tree;
}

static int restore_deployment(
	struct bt_expansion_work *work, uint32_t index, struct berth_error *err)
{
	struct bt_expansion *expansion = work->expansion;
	const struct bt_manifests_object *objects = expansion->cluster->objects.items;
	const struct bt_deployment *deployment =
		bt_object_value(objects[index].object, BT_KIND_DEPLOYMENT);
	bool is_paused = deployment->spec.paused;
	if (is_paused && extras_of(expansion, index) == 0) {
		return 0;
	}
	uint32_t newest = bt_expansion_newest_set(expansion, index);
	struct rollout rollout = {.has_set = newest != BT_MANIFESTS_NONE};
	BT_FOR_EACH_OWNED(expansion, index, owned)
	{
		const struct bt_pod *pod = bt_expansion_pod_at(expansion, owned);
		if (pod != NULL && bt_pod_is_active(pod)) {
			rollout.active_pods++;
			rollout.set = bt_object_controller(&pod->metadata)->name;
			rollout.hash = template_hash_of(&pod->metadata);
		}
		if (objects[owned].kind == BT_KIND_REPLICA_SET) {
			rollout.active_pods += count_active_pods(expansion, owned);
		}
	}
	if (rollout.has_set) {
		rollout.set = objects[newest].name;
		rollout.uid = objects[newest].uid;
		rollout.hash = template_hash_of(objects[newest].object->meta);
	}
	int64_t count = count_missing(expansion, index, deployment->spec.replicas,
		is_paused ? UINT32_MAX : rollout.active_pods);
	if (rollout.has_set && count == 0) {
		return 0;
	}
	bool is_new = rollout.set.length == 0;
	struct bt_json_value *tree =
		is_new ? tree_of(work, index) : set_of_deployment(work, index, &rollout);
	if (is_new) {
		repair_selector(work, tree, deployment);
	}
	(void)bt_json_remove_c(bt_json_ensure_object(&work->scratch, tree, "spec"), "paused");
	set_replicas(work, tree, count);
	return restore(work, index, is_new ? BT_KIND_DEPLOYMENT : BT_KIND_REPLICA_SET, tree, err);
}

/** Stores a ReplicaSet or ReplicationController if pods must be created for it. */
static int restore_replicas(struct bt_expansion_work *work, uint32_t index,
	struct bt_opt_i32 replicas, struct berth_error *err)
{
	const struct bt_manifests_object *object = &work->expansion->cluster->objects.items[index];
	const struct bt_owner_reference *controller = bt_object_controller(object->object->meta);
	bool is_made = controller != NULL && bt_str_equal_c(controller->kind, "Deployment") &&
		bt_manifests_find(work->expansion->cluster, BT_KIND_DEPLOYMENT, object->namespace_,
			controller->name) != BT_MANIFESTS_NONE;
	int64_t count = count_missing(work->expansion, index, replicas,
		is_made ? UINT32_MAX : count_active_pods(work->expansion, index));
	if (count == 0) {
		return 0;
	}
	struct bt_json_value *tree = tree_of(work, index);
	set_replicas(work, tree, count);
	return restore(work, index, work->expansion->cluster->objects.items[index].kind, tree, err);
}

static int restore_stateful_set(
	struct bt_expansion_work *work, uint32_t index, struct berth_error *err)
{
	struct bt_expansion *expansion = work->expansion;
	const struct bt_manifests_object *object = &expansion->cluster->objects.items[index];
	const struct bt_stateful_set *set = bt_object_value(object->object, BT_KIND_STATEFUL_SET);
	struct bt_arena *arena = &work->scratch;
	struct bt_json_value *tree = tree_of(work, index);
	int64_t start = set->spec.ordinals != NULL && set->spec.ordinals->start > 0
		? set->spec.ordinals->start
		: 0;
	int64_t replicas = set->spec.replicas.present ? set->spec.replicas.value : 1;
	int64_t count = replicas;
	/* Extra pods get the first unused ordinals after the set's range. */
	for (uint32_t left = extras_of(expansion, index); left > 0; count++) {
		struct bt_str name = bt_arena_printf(
			arena, "%.*s-%lld", BT_STR_ARG(object->name), (long long)(start + count));
		left -= !has_pod(expansion, object->namespace_, name);
	}
	if (object->pods_exist) {
		start += replicas;
		count -= replicas;
	}
	set_replicas(work, tree, count);
	replace_selector(work, tree);
	stop_updates(work, tree);
	bt_json_put(arena, tree, "{spec: {ordinals: {start: %d}, podManagementPolicy: 'Parallel'}}",
		start);
	return restore(work, index, BT_KIND_STATEFUL_SET, tree, err);
}

static int restore_daemon_set(
	struct bt_expansion_work *work, uint32_t index, struct berth_error *err)
{
	const struct bt_manifests *input = work->expansion->cluster;
	for (uint32_t i = 0; i < input->objects.count && !work->has_nodes; i++) {
		if (input->objects.items[i].kind == BT_KIND_NODE) {
			int result = restore(
				work, BT_MANIFESTS_NONE, BT_KIND_NODE, tree_of(work, i), err);
			if (result < 0) {
				return result;
			}
		}
	}
	work->has_nodes = true;
	work->daemon_checks += bt_cluster_node_count(work->cluster);
	if (work->daemon_checks > BT_WORKLOAD_DAEMON_CHECKS_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE,
			"more than %d pairs of DaemonSet and node", BT_WORKLOAD_DAEMON_CHECKS_MAX);
	}
	struct bt_json_value *tree = tree_of(work, index);
	replace_selector(work, tree);
	stop_updates(work, tree);
	return restore(work, index, BT_KIND_DAEMON_SET, tree, err);
}

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

static int restore_job(struct bt_expansion_work *work, uint32_t index, struct berth_error *err)
{
	const struct bt_job *job =
		bt_object_value(work->expansion->cluster->objects.items[index].object, BT_KIND_JOB);
	struct bt_json_value *tree = tree_of(work, index);
	int64_t succeeded = 0;
	BT_FOR_EACH_OWNED(work->expansion, index, owned)
	{
		const struct bt_pod *pod = bt_expansion_pod_at(work->expansion, owned);
		succeeded += pod != NULL && bt_str_equal_c(pod->status.phase, "Succeeded");
	}
	if (succeeded > job->status.succeeded) {
		bt_json_put(&work->scratch, tree, "{status: {succeeded: %d}}", succeeded);
	}
	return restore(work, index, BT_KIND_JOB, tree, err);
}

/** Adds one Job of the CronJob; the schedule is ignored. */
static int restore_cron_job(struct bt_expansion_work *work, uint32_t index, struct berth_error *err)
{
	struct bt_manifests *input = work->expansion->cluster;
	const struct bt_manifests_object *object = &input->objects.items[index];
	const struct bt_cron_job *value = bt_object_value(object->object, BT_KIND_CRON_JOB);
	struct bt_arena *arena = &work->scratch;
	if (value->spec.suspend.present && value->spec.suspend.value) {
		return 0;
	}
	BT_FOR_EACH_OWNED(work->expansion, index, owned)
	{
		const struct bt_manifests_object *run = &input->objects.items[owned];
		if (run->kind == BT_KIND_JOB) {
			const struct bt_job *job = bt_object_value(run->object, BT_KIND_JOB);
			if (!is_finished(&job->status)) {
				return 0; /* an unfinished Job exists */
			}
		}
	}
	return restore(work, index, BT_KIND_JOB,
		bt_json_put(arena, NULL, "{metadata: {name: %s, namespace: %s, uid: %s}, spec: %v}",
			bt_arena_printf(arena, "%.*s-00000000", BT_STR_ARG(object->name)),
			object->namespace_, bt_manifests_make_uid(input),
			bt_json_find_path(bt_json_put(arena, tree_of(work, index),
						  "{spec: {jobTemplate: {spec: {}}}}"),
				"spec.jobTemplate.spec")),
		err);
}

static int restore_workload(struct bt_expansion_work *work, uint32_t index, struct berth_error *err)
{
	const struct bt_manifests_object *entry = &work->expansion->cluster->objects.items[index];
	switch ((int)entry->kind) {
	case BT_KIND_DEPLOYMENT:
		return restore_deployment(work, index, err);
	case BT_KIND_STATEFUL_SET:
		return restore_stateful_set(work, index, err);
	case BT_KIND_DAEMON_SET:
		return restore_daemon_set(work, index, err);
	case BT_KIND_JOB:
		return restore_job(work, index, err);
	case BT_KIND_CRON_JOB:
		return restore_cron_job(work, index, err);
	default: /* ReplicaSet or ReplicationController */
		return restore_replicas(work, index, *bt_workload_replicas(entry->object), err);
	}
}

static bool is_expanded(const struct bt_expansion *expansion, uint32_t index)
{
	const struct bt_manifests_object *entry = &expansion->cluster->objects.items[index];
	return bt_workload_template(entry->object) != NULL &&
		(!entry->pods_exist || extras_of(expansion, index) != 0) &&
		entry->object->meta->deletion_timestamp == NULL;
}

/** Adds the owner's active pods of the input, which the controllers of DaemonSets and Jobs read. */
static void add_existing_pods(struct bt_expansion_work *work, uint32_t owner_index)
{
	const struct bt_manifests *input = work->expansion->cluster;
	struct bt_arena *arena = &work->scratch;
	uint32_t workload = work->owner_indexes.items[owner_index];
	const char *kind = bt_kind_info(input->objects.items[workload].kind)->name;
	BT_FOR_EACH_OWNED(work->expansion, workload, index)
	{
		const struct bt_pod *pod = bt_expansion_pod_at(work->expansion, index);
		if (pod == NULL || !bt_pod_is_active(pod)) {
			continue;
		}
		struct bt_json_value *tree = tree_of(work, index);
		bt_json_put(arena, tree,
			"{metadata: {ownerReferences: [{kind: %c, name: %s, uid: %s, "
			"controller: true}]}}",
			kind, input->objects.items[workload].name,
			work->owner_uids.items.items[owner_index]);
		bt_controllers_add_pod(work->cluster->controllers, tree);
		bt_arena_reset(arena);
	}
}

/** --- collecting the objects that the controllers created --- */

/** Sorts the pods by owner, and marks the last pods of each owner as extra. */
static void sort_pods(struct bt_expansion *expansion)
{
	uint32_t object_count = expansion->cluster->objects.count;
	uint32_t *ends = BT_NEW_ARRAY(uint32_t, (size_t)object_count + 1);
	struct bt_workload_pod *sorted =
		BT_NEW_ARRAY(struct bt_workload_pod, expansion->pods.count);
	for (uint32_t i = 0; i < expansion->pods.count; i++) {
		ends[expansion->pods.items[i].owner + 1]++;
	}
	for (uint32_t i = 0; i < object_count; i++) {
		ends[i + 1] += ends[i];
	}
	for (uint32_t i = 0; i < expansion->pods.count; i++) {
		sorted[ends[expansion->pods.items[i].owner]++] = expansion->pods.items[i];
	}
	for (uint32_t i = 0; i < object_count; i++) {
		uint32_t extras = extras_of(expansion, i);
		for (uint32_t k = ends[i]; k > 0 && extras > 0 && sorted[k - 1].owner == i; k--) {
			sorted[k - 1].is_extra = true;
			extras--;
		}
	}
	if (expansion->pods.count != 0) {
		memcpy(expansion->pods.items, sorted,
			expansion->pods.count * sizeof(expansion->pods.items[0]));
	}
	bt_free(sorted);
	bt_free(ends);
}

static int expand(struct bt_expansion_work *work, struct berth_error *err)
{
	struct bt_expansion *expansion = work->expansion;
	for (uint32_t i = 0; i < expansion->cluster->objects.count; i++) {
		int result = is_expanded(expansion, i) ? restore_workload(work, i, err) : 0;
		bt_arena_reset(&work->scratch);
		if (result < 0) {
			return bt_manifests_wrap(expansion->cluster, i, result, err);
		}
	}
	int result = bt_cluster_start(work->cluster, err);
	for (uint32_t i = 0; i < work->owner_indexes.count && result == 0; i++) {
		enum bt_kind kind =
			expansion->cluster->objects.items[work->owner_indexes.items[i]].kind;
		if (kind == BT_KIND_DAEMON_SET || kind == BT_KIND_JOB) {
			add_existing_pods(work, i);
		}
	}
	if (result == 0) {
		result = bt_cluster_run_until(work->cluster, START_NS, err);
	}
	if (work->is_refused) {
		berth_error_finish(err);
		return bt_error_move(err, &work->error);
	}
	if (result == 0 && work->is_too_large) {
		result = bt_error_set(err, BERTH_ERR_TOO_LARGE,
			"the workloads make more than %d pods or claims, or pods of more than %zu "
			"bytes",
			BT_WORKLOAD_PODS_MAX, BT_WORKLOAD_BYTES_MAX);
		return bt_manifests_wrap(expansion->cluster, work->last_owner, result, err);
	}
	/* With gate WorkloadWithJob, Jobs create PodGroups. */
	static const enum bt_kind made[] = {
		BT_KIND_REPLICA_SET, BT_KIND_PERSISTENT_VOLUME_CLAIM, BT_KIND_POD_GROUP};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(made) && result == 0; i++) {
		struct bt_store_walk walk = bt_store_walk_current(work->cluster->store,
			bt_typed_resource(work->cluster->api, made[i])->collection, BT_STR(""));
		const struct bt_stored *stored;
		while (result == 0 && (stored = bt_store_walk_next(&walk, NULL)) != NULL) {
			struct bt_object *object = bt_typed_decode(made[i], stored, err);
			if (object == NULL) {
				result = BERTH_ERR_INVALID;
				break;
			}
			if (bt_manifests_find(expansion->cluster, made[i], object->meta->namespace_,
				    object->meta->name) == BT_MANIFESTS_NONE) {
				bt_vec_push(&expansion->made, object);
			} else {
				bt_object_release(object);
			}
		}
		bt_store_walk_end(&walk);
	}
	return result;
}

int bt_expansion_open(struct bt_expansion *expansion, struct berth_error *err)
{
	static const char *const controllers[] = {
		"replicaset-controller",
		"replicationcontroller-controller",
		"deployment-controller",
		"statefulset-controller",
		"daemonset-controller",
		"job-controller",
	};
	const struct bt_manifests *input = expansion->cluster;
	const struct bt_cluster_options options = {
		.start_ns = START_NS,
		.skip_validation = true,
		.gates = expansion->gates,
		.controllers =
			{
				.names = controllers,
				.name_count = BT_ARRAY_LENGTH(controllers),
				.pods = {expansion, take_pod},
			},
	};
	struct bt_expansion_work *work = BT_NEW(struct bt_expansion_work);
	work->expansion = expansion;
	work->error = (struct berth_error)BERTH_ERROR_INIT;
	expansion->work = work;
	int result = bt_cluster_create(&options, &work->cluster, err);
	for (uint32_t i = 0; i < input->objects.count && result == 0; i++) {
		if (input->objects.items[i].kind == BT_KIND_PRIORITY_CLASS) {
			result = restore(work, BT_MANIFESTS_NONE, BT_KIND_PRIORITY_CLASS,
				tree_of(work, i), err);
		}
	}
	for (uint32_t i = 0; i < input->policies.count && result == 0; i++) {
		struct bt_api *api = work->cluster->api;
		struct bt_json_value *tree;
		result = bt_json_parse(
			&work->scratch, input->policies.items[i].json, false, &tree, err);
		if (result == 0) {
			const struct bt_api_resource *resource = bt_resources_find_kind(
				bt_api_resources(api), bt_json_find_str(tree, "apiVersion"),
				bt_json_find_str(tree, "kind"));
			result = bt_cluster_restore(api, resource, tree, &work->scratch, NULL, err);
		}
		bt_arena_reset(&work->scratch);
		result = result < 0
			? bt_input_wrap(&input->input, input->policies.items[i].origin, result, err)
			: 0;
	}
	if (result == 0) {
		bt_pod_admission_init(&expansion->admission, work->cluster->api, input->warn,
			input->warn_context);
	}
	return result;
}

/**
 * Admits the input's pods that exist in the cluster (exists true) or that are new (exists false).
 * Existing pods must be admitted first, because they use quotas already.
 */
static int admit_pods(struct bt_expansion *expansion, bool exists, struct berth_error *err)
{
	const struct bt_manifests *input = expansion->cluster;
	for (uint32_t i = 0; i < input->objects.count; i++) {
		const struct bt_manifests_object *object = &input->objects.items[i];
		if (object->kind != BT_KIND_POD) {
			continue;
		}
		struct bt_pod pod = bt_manifests_pod(object);
		if ((object->uid_is_given || bt_pod_is_assigned(&pod)) != exists) {
			continue;
		}
		int result = bt_expansion_admit(expansion, i, &pod, &expansion->specs[i], err);
		if (result < 0) {
			return result;
		}
		if (expansion->admission.arena.total_bytes > BT_WORKLOAD_BYTES_MAX) {
			return bt_error_set(err, BERTH_ERR_TOO_LARGE,
				"the pods take more than %zu bytes of memory",
				BT_WORKLOAD_BYTES_MAX);
		}
	}
	return 0;
}

int bt_expansion_run(struct bt_expansion *expansion, struct berth_error *err)
{
	uint32_t object_count = expansion->cluster->objects.count;
	uint32_t first = 0;
	expansion->specs = BT_NEW_ARRAY(const struct bt_pod_spec *, object_count);
	bt_manifests_index_owners(expansion->cluster);
	int result = bt_expansion_open(expansion, err);
	result = result < 0 ? result : admit_pods(expansion, true, err);
	result = result < 0 ? result : admit_pods(expansion, false, err);
	while (first < object_count && !is_expanded(expansion, first)) {
		first++;
	}
	if (result == 0 && first < object_count) {
		result = expand(expansion->work, err);
		if (result == 0) {
			sort_pods(expansion);
		}
	}
	return result;
}

bool bt_expansion_input_pod(
	const struct bt_expansion *expansion, uint32_t index, struct bt_pod *out_pod)
{
	*out_pod = bt_manifests_pod(&expansion->cluster->objects.items[index]);
	struct bt_str node_name = out_pod->spec.node_name;
	if (expansion->specs[index] == NULL) {
		return false;
	}
	out_pod->spec = *expansion->specs[index];
	out_pod->spec.node_name = node_name;
	return true;
}

void bt_expansion_finish(struct bt_expansion *expansion)
{
	struct bt_expansion_work *work = expansion->work;
	if (work != NULL) {
		bt_cluster_destroy(work->cluster);
		bt_text_set_finish(&work->owner_uids);
		bt_vec_finish(&work->owner_indexes);
		bt_arena_finish(&work->rest_arena);
		bt_arena_finish(&work->metadata_arena);
		bt_arena_finish(&work->scratch);
		berth_error_finish(&work->error);
		bt_free(work);
	}
	bt_pod_admission_finish(&expansion->admission);
	bt_free(expansion->specs);
	bt_vec_finish(&expansion->refusals);
	bt_vec_finish_each(&expansion->made, bt_object_release(*each));
	bt_vec_finish(&expansion->pods);
	bt_map_finish(&expansion->names);
	bt_arena_finish(&expansion->arena);
}
