/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/csi_translation.h"

#include <string.h>

#include "base/assert.h"
#include "base/strbuf.h"
#include "plugins/common_volume.h"

/* The in-tree drivers, by enum bt_in_tree_driver. Spec 07 section 4.1. */
static const struct {
	struct bt_str plugin_name;
	struct bt_str csi_name;
	struct bt_str topology_key; /* topology key of affinities; "": affinities are not changed */
	bool migrated;
} drivers[BT_IN_TREE__COUNT] = {
	[BT_IN_TREE_GCE_PD] = {BT_STR_INIT("kubernetes.io/gce-pd"),
		BT_STR_INIT("pd.csi.storage.gke.io"), BT_STR_INIT("topology.gke.io/zone"), true},
	[BT_IN_TREE_AWS_EBS] = {BT_STR_INIT("kubernetes.io/aws-ebs"),
		BT_STR_INIT("ebs.csi.aws.com"), BT_STR_INIT("topology.ebs.csi.aws.com/zone"), true},
	[BT_IN_TREE_CINDER] = {BT_STR_INIT("kubernetes.io/cinder"),
		BT_STR_INIT("cinder.csi.openstack.org"),
		BT_STR_INIT("topology.cinder.csi.openstack.org/zone"), true},
	[BT_IN_TREE_AZURE_DISK] = {BT_STR_INIT("kubernetes.io/azure-disk"),
		BT_STR_INIT("disk.csi.azure.com"), BT_STR_INIT(""), true},
	[BT_IN_TREE_PORTWORX] = {BT_STR_INIT("kubernetes.io/portworx-volume"),
		BT_STR_INIT("pxd.portworx.com"), BT_STR_INIT(""), true},
	[BT_IN_TREE_AZURE_FILE] = {BT_STR_INIT("kubernetes.io/azure-file"),
		BT_STR_INIT("file.csi.azure.com"), BT_STR_INIT(""), false},
	[BT_IN_TREE_VSPHERE] = {BT_STR_INIT("kubernetes.io/vsphere-volume"),
		BT_STR_INIT("csi.vsphere.vmware.com"), BT_STR_INIT(""), false},
};

static const struct bt_str zone_label = BT_LABEL_ZONE;
static const struct bt_str region_label = BT_LABEL_REGION;
static const struct bt_str beta_zone_label = BT_LABEL_BETA_ZONE;
static const struct bt_str beta_region_label = BT_LABEL_BETA_REGION;

/** The in-tree sources of a persistent volume or of a pod's volume; NULL: not set. */
struct in_tree_source {
	const struct bt_gce_pd_volume_source *gce_pd;
	const struct bt_aws_ebs_volume_source *aws_ebs;
	const struct bt_cinder_volume_source *cinder;
	const struct bt_azure_disk_volume_source *azure_disk;
	const struct bt_portworx_volume_source *portworx;
	const void *azure_file; /* the type differs between pods and persistent volumes */
	const struct bt_vsphere_volume_source *vsphere;
};

static struct in_tree_source source_of_volume(const struct bt_persistent_volume *volume)
{
	const struct bt_persistent_volume_source *source = &volume->spec.source;

	return (struct in_tree_source){
		.gce_pd = source->gce_persistent_disk,
		.aws_ebs = source->aws_elastic_block_store,
		.cinder = source->cinder,
		.azure_disk = source->azure_disk,
		.portworx = source->portworx_volume,
		.azure_file = source->azure_file,
		.vsphere = source->vsphere_volume,
	};
}

static struct in_tree_source source_of_inline(const struct bt_volume *volume)
{
	return (struct in_tree_source){
		.gce_pd = volume->gce_persistent_disk,
		.aws_ebs = volume->aws_elastic_block_store,
		.cinder = volume->cinder,
		.azure_disk = volume->azure_disk,
		.portworx = volume->portworx_volume,
		.azure_file = volume->azure_file,
		.vsphere = volume->vsphere_volume,
	};
}

static enum bt_in_tree_driver driver_of(const struct in_tree_source *source)
{
	const void *const members[BT_IN_TREE__COUNT] = {
		[BT_IN_TREE_GCE_PD] = source->gce_pd,
		[BT_IN_TREE_AWS_EBS] = source->aws_ebs,
		[BT_IN_TREE_CINDER] = source->cinder,
		[BT_IN_TREE_AZURE_DISK] = source->azure_disk,
		[BT_IN_TREE_PORTWORX] = source->portworx,
		[BT_IN_TREE_AZURE_FILE] = source->azure_file,
		[BT_IN_TREE_VSPHERE] = source->vsphere,
	};
	unsigned int driver = 0;

	while (driver < BT_IN_TREE__COUNT && members[driver] == NULL) {
		driver++;
	}
	return (enum bt_in_tree_driver)driver;
}

enum bt_in_tree_driver bt_in_tree_of_volume(const struct bt_persistent_volume *volume)
{
	struct in_tree_source source = source_of_volume(volume);

	return driver_of(&source);
}

enum bt_in_tree_driver bt_in_tree_of_inline(const struct bt_volume *volume)
{
	struct in_tree_source source = source_of_inline(volume);

	return driver_of(&source);
}

enum bt_in_tree_driver bt_in_tree_find(struct bt_str plugin_name)
{
	return (enum bt_in_tree_driver)BT_STR_INDEX(
		drivers, BT_IN_TREE__COUNT, plugin_name, plugin_name);
}

struct bt_str bt_in_tree_plugin_name(enum bt_in_tree_driver driver)
{
	return drivers[driver].plugin_name;
}

struct bt_str bt_in_tree_csi_name(enum bt_in_tree_driver driver)
{
	return drivers[driver].csi_name;
}

bool bt_in_tree_is_migrated(enum bt_in_tree_driver driver)
{
	return drivers[driver].migrated;
}

bool bt_csi_node_lists_migrated(const struct bt_csi_node *csi_node, enum bt_in_tree_driver driver)
{
	const struct bt_str *list = csi_node != NULL
		? bt_str_map_find(&csi_node->metadata.annotations, BT_ANNOTATION_MIGRATED_PLUGINS)
		: NULL;
	struct bt_str rest = list != NULL ? *list : (struct bt_str){0};

	while (rest.data != NULL) {
		if (bt_str_equal(bt_str_cut(&rest, ','), drivers[driver].plugin_name)) {
			return true;
		}
	}
	return false;
}

/** Returns the zones of a label: sorted, distinct, none empty. */
static bt_str_list zones_of_label(struct bt_str value, struct bt_arena *arena)
{
	bt_str_list zones = bt_zones_of_label(value, arena);

	if (zones.items[0].length == 0) {
		zones.items++;
		zones.count--;
	}
	return zones;
}

static int region_of_zones(const bt_str_list *zones, struct bt_arena *arena,
	struct bt_str *out_region, struct berth_error *err)
{
	struct bt_str *regions = BT_ARENA_NEW_ARRAY(arena, struct bt_str, zones->count);
	uint32_t count = 0;
	struct bt_strbuf text = {0};

	for (uint32_t i = 0; i < zones->count; i++) {
		/* The region of "us-east1-b" is "us-east1". Spec: 07 section 4.4. */
		struct bt_str zone = zones->items[i];
		int64_t first = bt_str_find_char(zone, '-');
		int64_t last = bt_str_find_last_char(zone, '-');

		if (first < 0 || first == last ||
			bt_str_find_char(
				bt_str_sub(zone, (uint32_t)first + 1, (uint32_t)(last - first - 1)),
				'-') >= 0) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"failed to get region from zones: zone in unexpected format, "
				"expected: "
				"{locale}-{region}-{zone}, got: %.*s",
				BT_STR_ARG(zone));
		}
		regions[count] = bt_str_sub(zone, 0, (uint32_t)last);
		/* Equal regions are neighbours, because zones are sorted. */
		if (count == 0 || !bt_str_equal(regions[count - 1], regions[count])) {
			count++;
		}
	}
	if (count == 1) {
		*out_region = regions[0];
		return 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_printf(&text, "%s%.*s:{}", i != 0 ? " " : "", BT_STR_ARG(regions[i]));
	}
	int code = bt_error_set(err, BERTH_ERR_INVALID,
		"failed to get region from zones: multiple or no regions gotten from zones, got: "
		"map[%s]",
		bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return code;
}

static int gce_pd_handle(const struct bt_persistent_volume *volume, struct bt_str pd_name,
	struct bt_arena *arena, struct bt_str *out_handle, struct berth_error *err)
{
	const struct bt_str *label = NULL;
	bt_str_list zones = {0};
	struct bt_str region = {0};

	if (volume != NULL) {
		label = bt_str_map_find(&volume->metadata.labels, beta_zone_label);
		if (label == NULL || label->length == 0) {
			label = bt_str_map_find(&volume->metadata.labels, zone_label);
		}
	}
	if (label != NULL) {
		zones = zones_of_label(*label, arena);
	}
	if (zones.count > 1) {
		int code = region_of_zones(&zones, arena, &region, err);

		if (code != 0) {
			return code;
		}
		*out_handle = bt_arena_printf(arena, "projects/UNSPECIFIED/regions/%.*s/disks/%.*s",
			BT_STR_ARG(region), BT_STR_ARG(pd_name));
		return 0;
	}
	*out_handle = bt_arena_printf(arena, "projects/UNSPECIFIED/zones/%.*s/disks/%.*s",
		BT_STR_ARG(zones.count == 1 ? zones.items[0] : BT_STR("UNSPECIFIED")),
		BT_STR_ARG(pd_name));
	return 0;
}

/**
 * Set the error `failed to translate Kubernetes ID to EBS Volume ID Invalid disk name (<id>): parse
 * "<id>": <what> "<detail>"`, with the texts of upstream's URL parser. An empty detail is left out.
 */
static int broken_disk_name(
	struct bt_str id, const char *what, struct bt_str detail, struct berth_error *err)
{
	struct bt_strbuf text = {0};

	bt_strbuf_append_c(
		&text, "failed to translate Kubernetes ID to EBS Volume ID Invalid disk name (");
	bt_strbuf_append_str(&text, id);
	bt_strbuf_append_c(&text, "): parse ");
	bt_strbuf_append_quoted(&text, id);
	bt_strbuf_append_c(&text, ": ");
	bt_strbuf_append_c(&text, what);
	if (detail.length != 0) {
		bt_strbuf_append_char(&text, ' ');
		bt_strbuf_append_quoted(&text, detail);
	}
	return bt_error_take(err, BERTH_ERR_INVALID, &text);
}

/** Get the path of a URL "aws://host/path", decoded, without leading and trailing slashes. */
static int aws_path(
	struct bt_str id, struct bt_arena *arena, struct bt_str *out_path, struct berth_error *err)
{
	struct bt_str rest = bt_str_sub(id, (uint32_t)sizeof("aws://") - 1, id.length);
	uint32_t length = 0;

	for (uint32_t i = 0; i < id.length; i++) {
		if ((unsigned char)id.data[i] < ' ' || id.data[i] == 0x7f) {
			return broken_disk_name(id, "net/url: invalid control character in URL",
				(struct bt_str){0}, err);
		}
	}
	for (uint32_t i = 0; i < rest.length; i++) {
		if (rest.data[i] == '#' || rest.data[i] == '?') {
			rest.length = i;
		}
	}
	struct bt_str path = bt_str_find_char(rest, '/') < 0
		? BT_STR("")
		: bt_str_sub(rest, (uint32_t)bt_str_find_char(rest, '/'), rest.length);
	char *decoded = bt_arena_alloc_bytes(arena, (size_t)path.length + 1);
	for (uint32_t i = 0; i < path.length; i++) {
		int high = path.data[i] == '%' && i + 2 < path.length
			? bt_hex_value(path.data[i + 1])
			: -1;
		int low = high >= 0 ? bt_hex_value(path.data[i + 2]) : -1;

		if (path.data[i] != '%') {
			decoded[length++] = path.data[i];
		} else if (low < 0) {
			return broken_disk_name(
				id, "invalid URL escape", bt_str_sub(path, i, 3), err);
		} else {
			decoded[length++] = (char)(high * 16 + low);
			i += 2;
		}
	}
	while (length != 0 && decoded[length - 1] == '/') {
		length--;
	}
	while (length != 0 && decoded[0] == '/') {
		decoded++;
		length--;
	}
	*out_path = (struct bt_str){decoded, length};
	return 0;
}

static int aws_ebs_handle(struct bt_str id, struct bt_arena *arena, struct bt_str *out_handle,
	struct berth_error *err)
{
	struct bt_str path;

	if (!bt_str_has_prefix(id, BT_STR("aws://"))) {
		*out_handle = id;
		return 0;
	}
	int code = aws_path(id, arena, &path, err);
	if (code != 0) {
		return code;
	}
	if (!bt_str_has_prefix(path, BT_STR("vol-")) || bt_str_find_char(path, '/') >= 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS "
			"volume (%.*s)",
			BT_STR_ARG(id));
	}
	*out_handle = path;
	return 0;
}

/**
 * Get the volume handle of a source of any driver but AzureFile, whose handles differ between
 * inline and persistent volumes. labels_of: the persistent volume with the zone labels; NULL for an
 * inline volume.
 */
static int source_handle(const struct in_tree_source *source,
	const struct bt_persistent_volume *labels_of, struct bt_arena *arena,
	struct bt_str *out_handle, struct berth_error *err)
{
	switch (driver_of(source)) {
	case BT_IN_TREE_GCE_PD:
		return gce_pd_handle(labels_of, source->gce_pd->pd_name, arena, out_handle, err);
	case BT_IN_TREE_AWS_EBS:
		return aws_ebs_handle(source->aws_ebs->volume_id, arena, out_handle, err);
	case BT_IN_TREE_CINDER:
		*out_handle = source->cinder->volume_id;
		return 0;
	case BT_IN_TREE_AZURE_DISK:
		if (source->azure_disk->kind.length != 0 &&
			!bt_str_equal_without_case(source->azure_disk->kind, BT_STR("managed"))) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"kind(%.*s) is not supported in csi migration",
				BT_STR_ARG(source->azure_disk->kind));
		}
		*out_handle = source->azure_disk->disk_uri;
		return 0;
	case BT_IN_TREE_PORTWORX:
		*out_handle = source->portworx->volume_id;
		return 0;
	case BT_IN_TREE_VSPHERE:
		*out_handle = source->vsphere->volume_path; /* not read: vSphere is not migrated */
		return 0;
	case BT_IN_TREE_AZURE_FILE:
	case BT_IN_TREE__COUNT:
		break;
	}
	BT_ASSERT(false);
	return BERTH_ERR_INTERNAL;
}

int bt_in_tree_volume_handle(const struct bt_persistent_volume *volume, struct bt_arena *arena,
	struct bt_str *out_handle, struct berth_error *err)
{
	struct in_tree_source source = source_of_volume(volume);
	enum bt_in_tree_driver driver = driver_of(&source);

	if (driver == BT_IN_TREE__COUNT) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"could not find in-tree plugin name from persistent volume %.*s",
			BT_STR_ARG(volume->metadata.name));
	}
	if (driver == BT_IN_TREE_AZURE_FILE) {
		*out_handle = volume->spec.source.azure_file
				      ->share_name; /* not read: AzureFile is not migrated */
		return 0;
	}
	return source_handle(&source, volume, arena, out_handle, err);
}

int bt_in_tree_inline_handle(const struct bt_volume *volume, struct bt_str pod_namespace,
	struct bt_arena *arena, struct bt_str *out_handle, struct berth_error *err)
{
	struct in_tree_source source = source_of_inline(volume);
	enum bt_in_tree_driver driver = driver_of(&source);

	if (driver == BT_IN_TREE__COUNT) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"could not find in-tree plugin name from volume %.*s",
			BT_STR_ARG(volume->name));
	}
	if (driver == BT_IN_TREE_AZURE_FILE) {
		/*
		 * The account is the part (.+) of a secret name azure-storage-account-(.+)-secret;
		 * for other secret names, the whole name.
		 */
		static const struct bt_str prefix = BT_STR_INIT("azure-storage-account-");
		static const struct bt_str suffix = BT_STR_INIT("-secret");
		struct bt_str account = volume->azure_file->secret_name;
		int64_t start = bt_str_find(account, prefix);

		if (start >= 0) {
			/*
			 * ".+" is greedy: the account ends before the last "-secret", and has at
			 * least one byte.
			 */
			struct bt_str rest = bt_str_sub(
				account, (uint32_t)start + prefix.length, account.length);
			for (uint32_t end = rest.length; end > suffix.length; end--) {
				if (bt_str_equal(
					    bt_str_sub(rest, end - suffix.length, suffix.length),
					    suffix)) {
					account = bt_str_sub(rest, 0, end - suffix.length);
					break;
				}
			}
		}
		*out_handle = bt_arena_printf(arena, "#%.*s#%.*s#%.*s#%.*s", BT_STR_ARG(account),
			BT_STR_ARG(volume->azure_file->share_name), BT_STR_ARG(volume->name),
			BT_STR_ARG(pod_namespace.length != 0 ? pod_namespace : BT_STR("default")));
		return 0;
	}
	return source_handle(&source, NULL, arena, out_handle, err);
}

/** Use of one key in the expressions of an affinity. Spec: 07 section 4.3. */
struct key_use {
	bool used;
	bool has_values;
};

static struct key_use find_key(const struct bt_node_selector *selector, struct bt_str key)
{
	struct key_use use = {0};

	for (uint32_t t = 0; selector != NULL && t < selector->terms.count; t++) {
		const struct bt_node_selector_term *term = &selector->terms.items[t];
		for (uint32_t e = 0; e < term->match_expressions.count; e++) {
			if (bt_str_equal(term->match_expressions.items[e].key, key)) {
				use.used = true;
				use.has_values |=
					term->match_expressions.items[e].values.count != 0;
			}
		}
	}
	return use;
}

static void rename_key(struct bt_node_selector *selector, struct bt_str from, struct bt_str to)
{
	for (uint32_t t = 0; t < selector->terms.count; t++) {
		struct bt_node_selector_term *term = &selector->terms.items[t];
		for (uint32_t e = 0; e < term->match_expressions.count; e++) {
			if (bt_str_equal(term->match_expressions.items[e].key, from)) {
				term->match_expressions.items[e].key = to;
			}
		}
	}
}

/** Add the requirement `key In zones` to every term; add a term if there is none. */
static void add_zones(struct bt_node_selector *selector, struct bt_str key,
	const bt_str_list *zones, struct bt_arena *arena)
{
	struct bt_node_selector_requirement wanted = {
		.key = key, .operator_ = BT_STR("In"), .values = *zones};

	if (selector->terms.count == 0) {
		selector->terms.items = BT_ARENA_NEW(arena, struct bt_node_selector_term);
		selector->terms.count = 1;
		selector->terms.present = true;
	}
	for (uint32_t t = 0; t < selector->terms.count; t++) {
		struct bt_node_selector_term *term = &selector->terms.items[t];
		uint32_t count = term->match_expressions.count;
		struct bt_node_selector_requirement *items = BT_ARENA_NEW_ARRAY(
			arena, struct bt_node_selector_requirement, (size_t)count + 1);

		if (count != 0) {
			memcpy(items, term->match_expressions.items, count * sizeof(*items));
		}
		items[count] = wanted;
		term->match_expressions.items = items;
		term->match_expressions.count = count + 1;
		term->match_expressions.present = true;
	}
}

const struct bt_node_selector *bt_in_tree_node_affinity(
	const struct bt_persistent_volume *volume, struct bt_arena *arena)
{
	enum bt_in_tree_driver driver = bt_in_tree_of_volume(volume);
	const struct bt_node_selector *required =
		volume->spec.node_affinity != NULL ? volume->spec.node_affinity->required : NULL;
	const struct bt_str_map *labels = &volume->metadata.labels;
	bt_str_list zones = {0};

	if (driver == BT_IN_TREE__COUNT || drivers[driver].topology_key.length == 0) {
		return required;
	}
	bool is_beta = !find_key(required, zone_label).used &&
		(find_key(required, beta_zone_label).used ||
			(bt_str_map_find(labels, zone_label) == NULL &&
				bt_str_map_find(labels, beta_zone_label) != NULL));
	struct bt_node_selector *rewritten = BT_ARENA_NEW(arena, struct bt_node_selector);
	if (required != NULL) {
		bt_message_copy(&bt_node_selector_message, rewritten, required, arena);
	}
	const struct bt_str *label =
		bt_str_map_find(labels, is_beta ? beta_zone_label : zone_label);
	if (find_key(rewritten, is_beta ? beta_zone_label : zone_label).has_values) {
		rename_key(rewritten, is_beta ? beta_zone_label : zone_label,
			drivers[driver].topology_key);
	} else if (label != NULL) {
		zones = zones_of_label(*label, arena);
		if (zones.count != 0) {
			add_zones(rewritten, drivers[driver].topology_key, &zones, arena);
		}
	}
	if (is_beta && find_key(rewritten, beta_region_label).has_values) {
		rename_key(rewritten, beta_region_label, region_label);
	}
	return required != NULL || zones.count != 0 ? rewritten : NULL;
}
