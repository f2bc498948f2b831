/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/workload.h"

#include "api/identity.h"

/** No vowels and no 0, 1, 3: endings spell no words and look alike to nobody. */
static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";

#define BASE (sizeof(alphabet) - 1)
_Static_assert(BASE *BASE *BASE *BASE *BASE == BT_SUFFIX_COUNT, "five characters of the alphabet");

/** Not divisible by 3, so multiplying by it visits every residue; neighbours look unlike. */
#define STRIDE UINT64_C(5754853)

/** FNV-1a: bt_str_hash may differ between machines, names must not. */
static uint64_t stable_hash(struct bt_str text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (uint32_t i = 0; i < text.length; i++) {
		hash = (hash ^ (unsigned char)text.data[i]) * UINT64_C(0x100000001b3);
	}
	return hash;
}

static void spell(uint64_t number, uint32_t length, char *out)
{
	for (uint32_t i = 0; i < length; i++) {
		out[i] = alphabet[number % BASE];
		number /= BASE;
	}
	out[length] = '\0';
}

void bt_suffix_make(struct bt_str prefix, uint32_t index, char *out)
{
	uint64_t start = stable_hash(prefix) % BT_SUFFIX_COUNT;
	spell((start + index % BT_SUFFIX_COUNT * STRIDE) % BT_SUFFIX_COUNT, BT_SUFFIX_LENGTH, out);
}

void bt_suffix_make_hash(struct bt_str name, char *out)
{
	spell(stable_hash(name), BT_HASH_SUFFIX_LENGTH, out);
}

static uint64_t pod_name_hash(struct bt_str namespace_, struct bt_str name)
{
	return bt_hash_u64(bt_str_hash(name), bt_str_hash(namespace_));
}

static uint64_t pod_name_hash_of(const void *owner, uint32_t value)
{
	const struct bt_expansion *expansion = owner;
	const struct bt_object_meta *meta = &expansion->pods.items[value].pod->metadata;
	return pod_name_hash(meta->namespace_, meta->name);
}

void bt_expansion_init(struct bt_expansion *expansion, struct bt_manifests *cluster)
{
	*expansion = (struct bt_expansion){.cluster = cluster};
	bt_arena_init(&expansion->arena, 0);
	bt_map_init(&expansion->names, pod_name_hash_of, expansion);
}

void bt_expansion_finish(struct bt_expansion *expansion)
{
	bt_vec_finish(&expansion->pods);
	bt_vec_finish(&expansion->replica_sets);
	bt_vec_finish(&expansion->nodes);
	bt_free(expansion->covered_for);
	bt_map_finish(&expansion->names);
	bt_arena_finish(&expansion->arena);
}

/** --- making pods --- */

struct bt_str_map bt_labels_with(const struct bt_str_map *labels, const struct bt_str_pair *pairs,
	uint32_t count, struct bt_arena *arena)
{
	struct bt_str_pair *merged =
		BT_ARENA_NEW_ARRAY(arena, struct bt_str_pair, (size_t)labels->count + count);
	uint32_t total = 0;
	uint32_t i = 0;
	for (uint32_t p = 0; p < count; p++) {
		while (i < labels->count &&
			bt_str_compare(labels->items[i].key, pairs[p].key) < 0) {
			merged[total++] = labels->items[i++];
		}
		if (i < labels->count && bt_str_equal(labels->items[i].key, pairs[p].key)) {
			i++;
		}
		merged[total++] = pairs[p];
	}
	while (i < labels->count) {
		merged[total++] = labels->items[i++];
	}
	return (struct bt_str_map){merged, total, true};
}

struct bt_pod_maker bt_pod_maker_init(struct bt_expansion *expansion, uint32_t owner,
	struct bt_str api_version, const struct bt_object_meta *template_metadata,
	const struct bt_pod_spec *template_spec)
{
	const struct bt_manifests_object *object = &expansion->cluster->objects.items[owner];
	return (struct bt_pod_maker){
		.owner = owner,
		.namespace_ = object->namespace_,
		.prefix = bt_arena_printf(&expansion->arena, "%.*s-", BT_STR_ARG(object->name)),
		.reference =
			{
				.api_version = api_version,
				.kind = bt_str_from(bt_kind_info(object->kind)->name),
				.name = object->name,
				.uid = object->uid,
				.controller = {true, true},
			},
		.metadata = template_metadata,
		.spec = template_spec,
		.labels = template_metadata->labels,
	};
}

bool bt_expansion_has_pod(
	const struct bt_expansion *expansion, struct bt_str namespace_, struct bt_str name)
{
	uint64_t hash = pod_name_hash(namespace_, name);
	if (bt_manifests_find(expansion->cluster, BT_KIND_POD, namespace_, name) !=
		BT_MANIFESTS_NONE) {
		return true;
	}
	for (uint32_t at = bt_map_first(&expansion->names, hash); at != BT_MAP_NONE;
		at = bt_map_next(&expansion->names, hash, at)) {
		const struct bt_object_meta *meta =
			&expansion->pods.items[bt_map_value(&expansion->names, at)].pod->metadata;
		if (bt_str_equal(meta->namespace_, namespace_) && bt_str_equal(meta->name, name)) {
			return true;
		}
	}
	return false;
}

struct bt_str bt_pod_maker_next_name(struct bt_expansion *expansion, struct bt_pod_maker *maker)
{
	for (;;) {
		char suffix[BT_SUFFIX_LENGTH + 1];
		bt_suffix_make(maker->prefix, maker->next_suffix++, suffix);
		struct bt_str name = bt_arena_printf(
			&expansion->arena, "%.*s%s", BT_STR_ARG(maker->prefix), suffix);
		if (!bt_expansion_has_pod(expansion, maker->namespace_, name)) {
			return name;
		}
	}
}

int bt_expansion_add(struct bt_expansion *expansion, const struct bt_pod_maker *maker,
	struct bt_str name, struct bt_pod **out_pod, struct berth_error *err)
{
	if (expansion->pods.count >= BT_WORKLOAD_PODS_MAX ||
		expansion->arena.total_bytes > BT_WORKLOAD_BYTES_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE,
			"the workloads make more than %d pods, or pods of more than %zu bytes",
			BT_WORKLOAD_PODS_MAX, BT_WORKLOAD_BYTES_MAX);
	}
	struct bt_pod *pod = BT_ARENA_NEW(&expansion->arena, struct bt_pod);
	struct bt_owner_reference *reference =
		BT_ARENA_NEW(&expansion->arena, struct bt_owner_reference);
	*reference = maker->reference;
	pod->spec = *maker->spec;
	pod->metadata = (struct bt_object_meta){
		.name = name,
		.generate_name = maker->prefix,
		.namespace_ = maker->namespace_,
		.uid = bt_manifests_make_uid(expansion->cluster),
		.labels = maker->labels,
		.annotations = maker->metadata->annotations,
	};
	pod->metadata.owner_references.items = reference;
	pod->metadata.owner_references.count = 1;
	pod->metadata.owner_references.present = true;
	struct bt_workload_pod entry = {.pod = pod, .owner = maker->owner};
	bt_vec_push(&expansion->pods, entry);
	bt_map_insert(&expansion->names, pod_name_hash(maker->namespace_, name),
		expansion->pods.count - 1);
	*out_pod = pod;
	return 0;
}

/** --- what exists already --- */

/** The reference may be of a namesake that is long gone: then the uids differ. */
static bool is_same_owner(
	const struct bt_manifests_object *owner, const struct bt_manifests_object *owned)
{
	const struct bt_owner_reference *reference = bt_object_controller(owned->object->meta);
	if (reference == NULL || !bt_str_equal(reference->name, owner->name)) {
		return true; /* a pod of a ReplicaSet that is not in the input: found by name only
		              */
	}
	return !owner->uid_is_given || reference->uid.length == 0 ||
		bt_str_equal(reference->uid, owner->uid);
}

uint32_t bt_expansion_next_owned(
	const struct bt_expansion *expansion, uint32_t owner_index, uint32_t at, bool first)
{
	const struct bt_manifests *cluster = expansion->cluster;
	const struct bt_manifests_object *owner = &cluster->objects.items[owner_index];
	uint32_t index = first ? bt_manifests_first_owned(cluster, owner->namespace_,
					 bt_str_from(bt_kind_info(owner->kind)->name), owner->name)
			       : cluster->objects.items[at].next_owned;
	while (index != BT_MANIFESTS_NONE &&
		!is_same_owner(owner, &cluster->objects.items[index])) {
		index = cluster->objects.items[index].next_owned;
	}
	return index;
}

const struct bt_pod *bt_expansion_pod_at(const struct bt_expansion *expansion, uint32_t index)
{
	const struct bt_manifests_object *object = &expansion->cluster->objects.items[index];
	return object->kind == BT_KIND_POD ? bt_object_value(object->object, BT_KIND_POD) : NULL;
}

bool bt_pod_is_active(const struct bt_pod *pod)
{
	return !bt_pod_is_terminal(pod) && !bt_pod_is_terminating(pod);
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

/** --- replicas --- */

uint32_t bt_expansion_extras(const struct bt_expansion *expansion, uint32_t owner)
{
	return expansion->extras != NULL ? expansion->extras[owner] : 0;
}

static int add_replicas(struct bt_expansion *expansion, struct bt_pod_maker *maker,
	struct bt_opt_i32 replicas, uint32_t existing, struct berth_error *err)
{
	int64_t wanted = replicas.present ? replicas.value : 1;
	bool none_missing = expansion->cluster->objects.items[maker->owner].pods_exist;
	int64_t missing = !none_missing && wanted > existing ? wanted - existing : 0;
	int64_t total = missing + bt_expansion_extras(expansion, maker->owner);
	for (int64_t i = 0; i < total; i++) {
		struct bt_pod *pod;
		struct bt_str name = bt_pod_maker_next_name(expansion, maker);
		int result = bt_expansion_add(expansion, maker, name, &pod, err);
		if (result < 0) {
			return result;
		}
		expansion->pods.items[expansion->pods.count - 1].is_extra = i >= missing;
	}
	return 0;
}

/** The Deployment that makes the pods of this ReplicaSet is in the input. */
static bool has_deployment(const struct bt_expansion *expansion, uint32_t index)
{
	const struct bt_manifests_object *object = &expansion->cluster->objects.items[index];
	const struct bt_owner_reference *controller = bt_object_controller(object->object->meta);
	return controller != NULL && bt_str_equal_c(controller->kind, "Deployment") &&
		bt_manifests_find(expansion->cluster, BT_KIND_DEPLOYMENT, object->namespace_,
			controller->name) != BT_MANIFESTS_NONE;
}

/** --- deployments --- */

/** What the input tells about a Deployment's pods. */
struct rollout {
	uint32_t active_pods;
	uint32_t replica_set;           /* newest one in the input, or BT_MANIFESTS_NONE */
	struct bt_str replica_set_name; /* of some pod, when no ReplicaSet is in the input */
	struct bt_str template_hash;
};

/** A Deployment counts them up; one that it went back to has the highest number again. */
static int64_t revision_of(const struct bt_object_meta *meta)
{
	const struct bt_str *text =
		bt_str_map_find(&meta->annotations, BT_STR("deployment.kubernetes.io/revision"));
	int64_t revision;
	return text != NULL && bt_str_parse_int64(*text, &revision) ? revision : 0;
}

static bool is_newer(const struct bt_object_meta *a, const struct bt_object_meta *b)
{
	int64_t revision_a = revision_of(a);
	int64_t revision_b = revision_of(b);
	return revision_a != revision_b
		? revision_a > revision_b
		: bt_time_compare(&a->creation_timestamp, &b->creation_timestamp) >= 0;
}

uint32_t bt_expansion_newest_set(const struct bt_expansion *expansion, uint32_t owner)
{
	const struct bt_manifests_object *objects = expansion->cluster->objects.items;
	uint32_t newest = BT_MANIFESTS_NONE;
	BT_FOR_EACH_OWNED(expansion, owner, index)
	{
		if (objects[index].kind == BT_KIND_REPLICA_SET &&
			(newest == BT_MANIFESTS_NONE ||
				is_newer(objects[index].object->meta,
					objects[newest].object->meta))) {
			newest = index;
		}
	}
	return newest;
}

static struct rollout survey_deployment(const struct bt_expansion *expansion, uint32_t owner)
{
	const struct bt_manifests *cluster = expansion->cluster;
	struct rollout rollout = {.replica_set = bt_expansion_newest_set(expansion, owner)};
	BT_FOR_EACH_OWNED(expansion, owner, index)
	{
		const struct bt_manifests_object *object = &cluster->objects.items[index];
		const struct bt_pod *pod = bt_expansion_pod_at(expansion, index);
		const struct bt_str *hash =
			bt_str_map_find(&object->object->meta->labels, BT_STR("pod-template-hash"));
		if (pod != NULL && bt_pod_is_active(pod)) {
			rollout.active_pods++;
			rollout.replica_set_name = bt_object_controller(&pod->metadata)->name;
			rollout.template_hash = hash != NULL ? *hash : BT_STR("");
		}
		if (object->kind == BT_KIND_REPLICA_SET) {
			rollout.active_pods += count_active_pods(expansion, index);
		}
	}
	return rollout;
}

static void name_replica_set(struct bt_expansion *expansion, uint32_t owner,
	struct rollout *rollout, struct bt_str *out_uid)
{
	struct bt_manifests *cluster = expansion->cluster;
	if (rollout->replica_set != BT_MANIFESTS_NONE) {
		const struct bt_manifests_object *set =
			&cluster->objects.items[rollout->replica_set];
		const struct bt_str *hash =
			bt_str_map_find(&set->object->meta->labels, BT_STR("pod-template-hash"));
		rollout->replica_set_name = set->name;
		rollout->template_hash = hash != NULL ? *hash : BT_STR("");
		*out_uid = set->uid;
		return;
	}
	*out_uid = bt_manifests_make_uid(cluster);
	if (rollout->replica_set_name.length != 0) {
		/* Of a pod that will not be kept once it is counted. */
		rollout->replica_set_name =
			bt_arena_str(&expansion->arena, rollout->replica_set_name);
		rollout->template_hash = bt_arena_str(&expansion->arena, rollout->template_hash);
	} else {
		const struct bt_manifests_object *object = &cluster->objects.items[owner];
		char hash[BT_HASH_SUFFIX_LENGTH + 1];
		bt_suffix_make_hash(object->name, hash);
		rollout->template_hash = bt_arena_printf(&expansion->arena, "%s", hash);
		rollout->replica_set_name = bt_arena_printf(
			&expansion->arena, "%.*s-%s", BT_STR_ARG(object->name), hash);
	}
}

static int expand_deployment(
	struct bt_expansion *expansion, uint32_t owner, struct berth_error *err)
{
	const struct bt_deployment *deployment = bt_object_value(
		expansion->cluster->objects.items[owner].object, BT_KIND_DEPLOYMENT);
	const struct bt_pod_template *template_ = &deployment->spec.template_;
	if (deployment->spec.paused && bt_expansion_extras(expansion, owner) == 0) {
		return 0;
	}
	struct rollout rollout = survey_deployment(expansion, owner);
	struct bt_str uid;
	name_replica_set(expansion, owner, &rollout, &uid);
	struct bt_pod_maker maker = bt_pod_maker_init(
		expansion, owner, BT_STR("apps/v1"), &template_->metadata, &template_->spec);
	maker.reference.kind = BT_STR("ReplicaSet");
	maker.reference.name = rollout.replica_set_name;
	maker.reference.uid = uid;
	maker.prefix =
		bt_arena_printf(&expansion->arena, "%.*s-", BT_STR_ARG(rollout.replica_set_name));
	if (rollout.template_hash.length != 0) {
		struct bt_str_pair pair = {BT_STR("pod-template-hash"), rollout.template_hash};
		maker.labels = bt_labels_with(&maker.labels, &pair, 1, &expansion->arena);
	}
	if (rollout.replica_set == BT_MANIFESTS_NONE) {
		/* What plugins look up as the owner of the pods. The template is left out: nobody
		 * reads it there.
		 */
		struct bt_str template_hash = rollout.template_hash;
		struct bt_arena *arena = &expansion->arena;
		struct bt_replica_set *set = BT_ARENA_NEW(arena, struct bt_replica_set);
		set->metadata.name = maker.reference.name;
		set->metadata.namespace_ = maker.namespace_;
		set->metadata.uid = maker.reference.uid;
		set->metadata.labels = maker.labels;
		set->spec.replicas = deployment->spec.replicas;
		if (deployment->spec.selector != NULL) {
			struct bt_label_selector *selector =
				BT_ARENA_NEW(arena, struct bt_label_selector);
			struct bt_str_pair pair = {BT_STR("pod-template-hash"), template_hash};
			*selector = *deployment->spec.selector;
			selector->match_labels =
				bt_labels_with(&selector->match_labels, &pair, 1, arena);
			set->spec.selector = selector;
		}
		bt_vec_push(&expansion->replica_sets, set);
	}
	uint32_t existing = deployment->spec.paused ? UINT32_MAX : rollout.active_pods;
	return add_replicas(expansion, &maker, deployment->spec.replicas, existing, err);
}

/** --- all of them --- */

static int expand_object(struct bt_expansion *expansion, uint32_t owner, struct berth_error *err)
{
	enum bt_kind kind = expansion->cluster->objects.items[owner].kind;
	if (kind == BT_KIND_DEPLOYMENT) {
		return expand_deployment(expansion, owner, err);
	}
	if (kind == BT_KIND_REPLICA_SET) {
		const struct bt_replica_set *set = bt_object_value(
			expansion->cluster->objects.items[owner].object, BT_KIND_REPLICA_SET);
		if (has_deployment(expansion, owner) &&
			bt_expansion_extras(expansion, owner) == 0) {
			return 0;
		}
		struct bt_pod_maker maker = bt_pod_maker_init(expansion, owner, BT_STR("apps/v1"),
			&set->spec.template_.metadata, &set->spec.template_.spec);
		uint32_t existing = has_deployment(expansion, owner)
			? UINT32_MAX
			: count_active_pods(expansion, owner);
		return add_replicas(expansion, &maker, set->spec.replicas, existing, err);
	}
	if (kind == BT_KIND_REPLICATION_CONTROLLER) {
		const struct bt_replication_controller *controller =
			bt_object_value(expansion->cluster->objects.items[owner].object,
				BT_KIND_REPLICATION_CONTROLLER);
		const struct bt_pod_template *template_ = controller->spec.template_;
		if (template_ == NULL) {
			return bt_error_set(err, BERTH_ERR_INVALID, "spec.template: is required");
		}
		struct bt_pod_maker maker = bt_pod_maker_init(
			expansion, owner, BT_STR("v1"), &template_->metadata, &template_->spec);
		return add_replicas(expansion, &maker, controller->spec.replicas,
			count_active_pods(expansion, owner), err);
	}
	if (kind == BT_KIND_STATEFUL_SET) {
		return bt_expand_stateful_set(expansion, owner, err);
	}
	if (kind == BT_KIND_DAEMON_SET) {
		return bt_expand_daemon_set(expansion, owner, err);
	}
	if (kind == BT_KIND_JOB) {
		return bt_expand_job(expansion, owner, err);
	}
	if (kind == BT_KIND_CRON_JOB) {
		return bt_expand_cron_job(expansion, owner, err);
	}
	return 0;
}

int bt_expansion_run(struct bt_expansion *expansion, struct berth_error *err)
{
	const struct bt_manifests *cluster = expansion->cluster;
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		if (cluster->objects.items[i].kind == BT_KIND_NODE) {
			bt_vec_push(&expansion->nodes, i);
		}
	}
	expansion->covered_for = BT_NEW_ARRAY(uint32_t, cluster->objects.count);
	for (uint32_t i = 0; i < expansion->cluster->objects.count; i++) {
		const struct bt_manifests_object *entry = &expansion->cluster->objects.items[i];
		if ((entry->pods_exist && bt_expansion_extras(expansion, i) == 0) ||
			entry->object->meta->deletion_timestamp != NULL) {
			continue; /* nothing new for a workload that is being deleted */
		}
		int result = expand_object(expansion, i, err);
		if (result < 0) {
			return bt_manifests_wrap(expansion->cluster, i, result, err);
		}
	}
	return 0;
}
