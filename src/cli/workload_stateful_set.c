/* SPDX-License-Identifier: Apache-2.0 */
#include "api/identity.h"
#include "cli/suffix.h"
#include "cli/workload_private.h"

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
