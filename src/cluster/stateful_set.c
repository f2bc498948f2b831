/* SPDX-License-Identifier: Apache-2.0 */
/**
 * StatefulSets: pods with names that stay, one after the other. Spec: 14b section 6.3. Revisions
 * are names only (a hash of the template): a pod below the partition that is lost comes back with
 * the new template.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cluster/owners.h"
#include "cluster/pod_index.h"
#include "cluster/replicas.h"
#include "cluster/tree.h"

/** Creations of one sync. */
#define BURST 250
#define COMPONENT "statefulset-controller"

struct stateful_sets {
	const struct bt_api_resource *sets;
	const struct bt_api_resource *pods;
	const struct bt_api_resource *claims;
	struct bt_selector_table selectors;
};

struct member {
	const struct bt_indexed_pod *pod;
	int64_t ordinal;
};

/** One sync. */
struct pass {
	struct stateful_sets *self;
	struct bt_hub *hub;
	struct bt_arena *arena;
	const struct bt_json_value *set;
	struct bt_json_value *owner_reference;
	struct bt_str key;
	struct bt_str update_revision;
	struct bt_str current_revision;
	struct member *members; /* by ordinal */
	uint32_t member_count;
	int64_t start;
	int64_t replicas;
	int64_t min_ready_seconds;
	int64_t now_seconds;
	int64_t wait_until_seconds;
	uint32_t made;
	bool ordered;
	bool failed;
};

static void *create(struct bt_hub *hub)
{
	struct stateful_sets *self = BT_NEW(struct stateful_sets);
	const struct bt_resources *resources = bt_api_resources(bt_hub_api(hub));

	self->sets = bt_resources_builtin(resources, "apps", "statefulsets");
	self->pods = bt_resources_builtin(resources, "", "pods");
	self->claims = bt_resources_builtin(resources, "", "persistentvolumeclaims");
	bt_selector_table_init(&self->selectors);
	return self;
}

static void destroy(void *data)
{
	struct stateful_sets *self = data;

	bt_selector_table_finish(&self->selectors);
	bt_free(self);
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct stateful_sets *self = data;

	if (observed->resource == self->sets) {
		bt_owners_observe(hub, observed, &self->selectors, false);
	} else {
		bt_owners_enqueue(hub, observed, "StatefulSet", &self->selectors);
	}
}

/** The number behind "<set>-"; -1: it has none. */
static int64_t ordinal_of(struct bt_str set_name, struct bt_str pod_name)
{
	int64_t ordinal;

	if (pod_name.length < set_name.length + 2 || !bt_str_has_prefix(pod_name, set_name) ||
		pod_name.data[set_name.length] != '-' || pod_name.data[set_name.length + 1] < '0' ||
		pod_name.data[set_name.length + 1] > '9' ||
		!bt_str_parse_int64(
			bt_str_sub(pod_name, set_name.length + 1, pod_name.length), &ordinal) ||
		ordinal > INT32_MAX) {
		return -1;
	}
	return ordinal;
}

static bool is_member_name(struct bt_str set_name, struct bt_str pod_name)
{
	return ordinal_of(set_name, pod_name) >= 0;
}

static int compare_members(const void *left, const void *right)
{
	const struct member *a = left;
	const struct member *b = right;
	return (a->ordinal > b->ordinal) - (a->ordinal < b->ordinal);
}

/* --- making a pod --- */

static void tell(struct pass *pass, const char *type, const char *reason, struct bt_str message)
{
	bt_hub_event(pass->hub, COMPONENT, pass->self->sets, pass->set, type, reason, message);
}

static struct bt_json_value *build_claim(
	struct pass *pass, const struct bt_json_value *template_, struct bt_str name)
{
	struct bt_arena *arena = pass->arena;
	struct bt_json_value *claim = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *metadata = bt_json_ensure_object(arena, claim, "metadata");
	struct bt_json_value *labels =
		bt_json_clone(arena, bt_json_object_at(template_, "metadata.labels"), false);
	const struct bt_json_value *selected =
		bt_json_object_at(pass->set, "spec.selector.matchLabels");

	for (uint32_t i = 0; i < selected->count; i++) {
		bt_json_set(arena, labels, selected->members[i].name,
			bt_json_clone(arena, selected->members[i].value, false));
	}
	bt_json_set_str(arena, metadata, "name", name);
	bt_json_set_value(arena, metadata, "labels", labels);
	bt_json_set_value(arena, metadata, "annotations",
		bt_json_clone(arena, bt_json_object_at(template_, "metadata.annotations"), false));
	bt_json_set_value(arena, claim, "spec",
		bt_json_clone(arena, bt_json_object_at(template_, "spec"), false));
	return claim;
}

/** The claim is there, or made. */
static bool ensure_claim(struct pass *pass, const struct bt_json_value *template_,
	struct bt_str name, struct bt_str pod_name)
{
	struct bt_str namespace_ = bt_key_namespace(pass->key);
	struct bt_str claim_key = bt_api_key(pass->arena, namespace_, name);
	struct bt_str set_name = bt_key_name(pass->key);
	struct bt_api_answer answer;
	bool made;

	if (bt_store_find(bt_api_store(bt_hub_api(pass->hub)), pass->self->claims->collection,
		    claim_key) != NULL) {
		return true;
	}
	made = bt_hub_create(pass->hub, pass->self->claims, namespace_,
		       build_claim(pass, template_, name), pass->arena, &answer) == 201;
	tell(pass, made ? "Normal" : "Warning", made ? "SuccessfulCreate" : "FailedCreate",
		bt_arena_printf(pass->arena,
			"create Claim %.*s Pod %.*s in StatefulSet %.*s %s%.*s", BT_STR_ARG(name),
			BT_STR_ARG(pod_name), BT_STR_ARG(set_name),
			made ? "success" : "failed error: ", BT_STR_ARG(answer.failure.message)));
	bt_api_answer_finish(&answer);
	return made;
}

/** The volume of a claim replaces one of its name. */
static void mount_claim(struct bt_arena *arena, struct bt_json_value *spec, struct bt_str volume,
	struct bt_str claim)
{
	struct bt_json_value *volumes = bt_json_ensure_array(arena, spec, "volumes");
	struct bt_json_value *entry = bt_json_new(arena, BT_JSON_OBJECT);

	for (uint32_t i = volumes->count; i > 0; i--) {
		if (bt_str_equal(bt_json_text_at(volumes->elements[i - 1], "name"), volume)) {
			bt_json_remove_at(volumes, i - 1);
		}
	}
	bt_json_set_str(arena, entry, "name", volume);
	bt_json_set_str(arena, bt_json_ensure_object(arena, entry, "persistentVolumeClaim"),
		"claimName", claim);
	bt_json_append(arena, volumes, entry);
}

/** Every claim of the pod; spec (may be NULL): of the pod, which mounts them. */
static bool ensure_claims(struct pass *pass, struct bt_str pod_name, struct bt_json_value *spec)
{
	const struct bt_json_value *templates =
		bt_json_array_at(pass->set, "spec.volumeClaimTemplates");
	bool made = true;

	for (uint32_t i = 0; i < templates->count && made; i++) {
		const struct bt_json_value *template_ = templates->elements[i];
		struct bt_str volume = bt_json_text_at(template_, "metadata.name");
		struct bt_str claim = bt_arena_printf(
			pass->arena, "%.*s-%.*s", BT_STR_ARG(volume), BT_STR_ARG(pod_name));
		if (spec != NULL) {
			mount_claim(pass->arena, spec, volume, claim);
		}
		made = ensure_claim(pass, template_, claim, pod_name);
	}
	return made;
}

static bool make_pod(struct pass *pass, int64_t ordinal)
{
	struct bt_arena *arena = pass->arena;
	struct bt_str set_name = bt_key_name(pass->key);
	struct bt_str name = bt_arena_printf(arena, "%.*s-%" PRId64, BT_STR_ARG(set_name), ordinal);
	struct bt_json_value *pod = bt_tree_from_template(arena,
		bt_json_object_at(pass->set, "spec.template"), pass->owner_reference, name, false);
	struct bt_json_value *labels = bt_json_ensure_object(
		arena, bt_json_ensure_object(arena, pod, "metadata"), "labels");
	struct bt_json_value *spec = bt_json_ensure_object(arena, pod, "spec");
	struct bt_api_answer answer;
	bool made;

	bt_json_set_str(arena, labels, "statefulset.kubernetes.io/pod-name", name);
	bt_json_set_str(arena, labels, "apps.kubernetes.io/pod-index",
		bt_arena_printf(arena, "%" PRId64, ordinal));
	bt_json_set_str(arena, labels, "controller-revision-hash", pass->update_revision);
	bt_json_set_str(arena, spec, "hostname", name);
	bt_json_set_str(arena, spec, "subdomain", bt_json_text_at(pass->set, "spec.serviceName"));
	if (!ensure_claims(pass, name, spec)) {
		return false;
	}
	made = bt_hub_create(pass->hub, pass->self->pods, bt_key_namespace(pass->key), pod, arena,
		       &answer) == 201;
	tell(pass, made ? "Normal" : "Warning", made ? "SuccessfulCreate" : "FailedCreate",
		bt_arena_printf(arena, "create Pod %.*s in StatefulSet %.*s %s%.*s",
			BT_STR_ARG(name), BT_STR_ARG(set_name),
			made ? "successful" : "failed error: ",
			BT_STR_ARG(answer.failure.message)));
	bt_api_answer_finish(&answer);
	return made;
}

static void remove_pod(struct pass *pass, const struct bt_indexed_pod *pod)
{
	struct bt_str name = bt_key_name(pod->key);
	uint16_t code =
		bt_hub_delete(pass->hub, pass->self->pods, pod->key, -1, pod->uid, pass->arena);

	if (code != 200 && code != 404) {
		pass->failed = true;
		return;
	}
	tell(pass, "Normal", "SuccessfulDelete",
		bt_arena_printf(pass->arena, "delete Pod %.*s in StatefulSet %.*s successful",
			BT_STR_ARG(name), BT_STR_ARG(bt_key_name(pass->key))));
}

/* --- order --- */

static bool is_healthy(struct pass *pass, const struct bt_indexed_pod *pod)
{
	return pod->phase == BT_POD_RUNNING && !pod->deleting &&
		bt_replicas_is_available(
			pod, pass->min_ready_seconds, pass->now_seconds, &pass->wait_until_seconds);
}

/** One place of the set; false: later ones must wait. */
static bool fill_place(struct pass *pass, int64_t ordinal, const struct bt_indexed_pod *pod)
{
	if (pod == NULL) {
		if (!make_pod(pass, ordinal)) {
			pass->failed = true;
			return false;
		}
		pass->made++;
		return !pass->ordered && pass->made < BURST;
	}
	if (!pod->deleting && (pod->phase == BT_POD_FAILED || pod->phase == BT_POD_SUCCEEDED)) {
		remove_pod(pass, pod);
		return !pass->ordered;
	}
	/* A claim that is lost before its pod runs is made again. */
	if (pod->phase == BT_POD_PENDING && !pod->deleting &&
		!ensure_claims(pass, bt_key_name(pod->key), NULL)) {
		pass->failed = true;
	}
	return !pass->ordered || is_healthy(pass, pod);
}

/** Every place from the lowest on; false: not all are filled. */
static bool fill_places(struct pass *pass)
{
	uint32_t at = 0;

	while (at < pass->member_count && pass->members[at].ordinal < pass->start) {
		at++;
	}
	for (int64_t i = 0; i < pass->replicas; i++) {
		int64_t ordinal = pass->start + i;
		const struct bt_indexed_pod *pod = NULL;
		if (at < pass->member_count && pass->members[at].ordinal == ordinal) {
			pod = pass->members[at++].pod;
		}
		if (!fill_place(pass, ordinal, pod)) {
			return false;
		}
	}
	return true;
}

/** What is outside of the places goes, highest first; false: something still does. */
static bool remove_surplus(struct pass *pass)
{
	bool none = true;

	for (uint32_t i = pass->member_count; i > 0; i--) {
		const struct member *member = &pass->members[i - 1];
		if (member->ordinal >= pass->start &&
			member->ordinal < pass->start + pass->replicas) {
			continue;
		}
		none = false;
		if (!member->pod->deleting) {
			remove_pod(pass, member->pod);
		}
		if (pass->ordered) {
			return false;
		}
	}
	return none;
}

/** The highest pod of an old revision goes when all above it are well. */
static void update_pods(struct pass *pass)
{
	int64_t partition =
		bt_json_int64_at(pass->set, "spec.updateStrategy.rollingUpdate.partition", 0);

	if (bt_str_equal_c(bt_json_text_at(pass->set, "spec.updateStrategy.type"), "OnDelete")) {
		return;
	}
	for (uint32_t i = pass->member_count; i > 0; i--) {
		const struct member *member = &pass->members[i - 1];
		if (member->ordinal < pass->start + partition) {
			return;
		}
		if (!bt_str_equal(member->pod->hash, pass->update_revision) &&
			!member->pod->deleting) {
			remove_pod(pass, member->pod);
			return;
		}
		if (!is_healthy(pass, member->pod)) {
			return;
		}
	}
}

/* --- status --- */

static bool write_status(struct pass *pass)
{
	struct bt_arena *arena = pass->arena;
	struct bt_json_value *status = bt_json_new(arena, BT_JSON_OBJECT);
	int64_t ready = 0;
	int64_t available = 0;
	int64_t current = 0;
	int64_t updated = 0;

	for (uint32_t i = 0; i < pass->member_count; i++) {
		const struct bt_indexed_pod *pod = pass->members[i].pod;
		if (pod->phase == BT_POD_RUNNING && pod->ready) {
			ready++;
			available += bt_replicas_is_available(pod, pass->min_ready_seconds,
				pass->now_seconds, &pass->wait_until_seconds);
		}
		if (!pod->deleting) {
			current += bt_str_equal(pod->hash, pass->current_revision);
			updated += bt_str_equal(pod->hash, pass->update_revision);
		}
	}
	if (!bt_str_equal_c(bt_json_text_at(pass->set, "spec.updateStrategy.type"), "OnDelete") &&
		updated == pass->member_count && ready == pass->member_count) {
		/* The update is complete. */
		pass->current_revision = pass->update_revision;
		current = updated;
	}
	bt_json_set_int64(arena, status, "observedGeneration",
		bt_json_int64_at(pass->set, "metadata.generation", 0));
	bt_json_set_int64(arena, status, "replicas", pass->member_count);
	bt_json_set_int64(arena, status, "readyReplicas", ready);
	bt_json_set_int64(arena, status, "availableReplicas", available);
	bt_json_set_int64(arena, status, "currentReplicas", current);
	bt_json_set_int64(arena, status, "updatedReplicas", updated);
	bt_json_set_str(arena, status, "currentRevision", pass->current_revision);
	bt_json_set_str(arena, status, "updateRevision", pass->update_revision);
	bt_json_set_int64(arena, status, "collisionCount",
		bt_json_int64_at(pass->set, "status.collisionCount", 0));
	return bt_tree_write_status(pass->hub, pass->self->sets, pass->set, status, arena);
}

static bool sync(
	void *data, struct bt_hub *hub, struct bt_str key, struct bt_arena *arena, int64_t now_ns)
{
	struct stateful_sets *self = data;
	struct pass pass = {
		.self = self,
		.hub = hub,
		.arena = arena,
		.key = key,
		.now_seconds = now_ns / BT_NS_PER_SECOND,
		.wait_until_seconds = INT64_MAX,
	};
	bool written;

	pass.set = bt_api_read(bt_hub_api(hub), self->sets, key, arena);
	if (pass.set == NULL || bt_selector_table_find(&self->selectors, key) == NULL) {
		return true;
	}
	pass.owner_reference = bt_controller_owner_reference(arena, self->sets, pass.set);
	if (!bt_tree_is_deleting(pass.set) &&
		bt_owners_adopt_pods(
			hub, &self->selectors, key, pass.owner_reference, is_member_name, arena)) {
		return true;
	}
	struct bt_str hash = bt_tree_template_hash(
		pass.arena, bt_json_object_at(pass.set, "spec.template"), NULL, 0);
	struct bt_str current = bt_json_text_at(pass.set, "status.currentRevision");

	pass.update_revision = bt_arena_printf(pass.arena, "%.*s-%.*s",
		BT_STR_ARG(bt_str_sub(bt_key_name(pass.key), 0, 52)), BT_STR_ARG(hash));
	pass.current_revision = current.length != 0 ? current : pass.update_revision;
	pass.start = bt_json_int64_at(pass.set, "spec.ordinals.start", 0);
	pass.replicas = bt_json_int64_at(pass.set, "spec.replicas", 1);
	pass.min_ready_seconds = bt_json_int64_at(pass.set, "spec.minReadySeconds", 0);
	pass.ordered =
		!bt_str_equal_c(bt_json_text_at(pass.set, "spec.podManagementPolicy"), "Parallel");
	const struct bt_indexed_pod *first =
		bt_pod_index_of_owner(pass.hub, bt_json_text_at(pass.set, "metadata.uid"));
	const struct bt_indexed_pod *pod;
	uint32_t count = 0;

	for (pod = first; pod != NULL; pod = pod->next_of_owner) {
		count++;
	}
	pass.members = BT_ARENA_NEW_ARRAY(pass.arena, struct member, count);
	for (pod = first; pod != NULL; pod = pod->next_of_owner) {
		int64_t ordinal = ordinal_of(bt_key_name(pass.key), bt_key_name(pod->key));
		if (ordinal >= 0) {
			pass.members[pass.member_count++] = (struct member){pod, ordinal};
		}
	}
	qsort(pass.members, pass.member_count, sizeof(*pass.members), compare_members);
	if (!bt_tree_is_deleting(pass.set) && fill_places(&pass) && remove_surplus(&pass)) {
		update_pods(&pass);
	}
	written = write_status(&pass);
	if (pass.wait_until_seconds != INT64_MAX) {
		bt_hub_enqueue_at(hub, key, bt_ns_of_seconds(pass.wait_until_seconds));
	} else if (pass.made == BURST) {
		bt_hub_enqueue(hub, key);
	}
	return written && !pass.failed;
}

static const char *const resources[] = {"apps/statefulsets", "pods", NULL};

const struct bt_controller_ops bt_stateful_set_controller = {
	.name = "statefulset-controller",
	.resources = resources,
	.create = create,
	.destroy = destroy,
	.observe = observe,
	.sync = sync,
};
