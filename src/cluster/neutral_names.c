/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/snapshot.h"

#include <stdlib.h>

#include "codec/json.h"

/**
 * Numbers with more digits than SHORT_DIGITS are renamed, because they may be account numbers or
 * dates.
 */
#define SHORT_DIGITS 4
#define FIRST_LONG_NUMBER 10000
#define UUID_LENGTH 36
/** A word with fewer colons is no IPv6 or MAC address: "registry:5000" has one colon. */
#define COLONS_OF_ADDRESS 2

/**
 * Names and keys that a scheduler gives a meaning to, or that every cluster has. A text that equals
 * one of these names is not renamed. The names are not searched for inside longer texts, because
 * composed names do not contain them.
 */
static const char *const known_names[] = {"", "-9223372036854775808", "0.0.0.0",
	"::", "metadata.name", "default-scheduler", "system-cluster-critical",
	"system-node-critical", "kubernetes.io/aws-ebs", "kubernetes.io/gce-pd",
	"kubernetes.io/cinder", "kubernetes.io/azure-disk", "kubernetes.io/azure-file",
	"kubernetes.io/vsphere-volume", "kubernetes.io/portworx-volume",
	"kubernetes.io/no-provisioner", "pd.csi.storage.gke.io", "topology.gke.io/zone",
	"ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone", "cinder.csi.openstack.org",
	"topology.cinder.csi.openstack.org/zone", "disk.csi.azure.com",
	"topology.disk.csi.azure.com/zone", "pxd.portworx.com", "file.csi.azure.com",
	"csi.vsphere.vmware.com", "pod-template-hash"};

/**
 * Words of the API in fields that may also hold other texts, because users may add words or because
 * files may hold invalid words.
 */
static const char *const known_terms[] = {"cpu", "memory", "ephemeral-storage", "pods", "storage",
	"v1", "apps/v1", "batch/v1", "policy/v1", "Pod", "Node", "ReplicaSet", "Deployment",
	"StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicationController", "Workload",
	"PodGroup", "ResourceClaim", "PodScheduled", "DisruptionTarget", "Ready", "ContainersReady",
	"Initialized", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable",
	"Complete", "Failed", "Suspended", "FailureTarget", "SuccessCriteriaMet", "Unschedulable",
	"SchedulingGated", "PodResizePending", "PodResizeInProgress", "Infeasible", "Deferred",
	"PersistentVolume", "PersistentVolumeClaim",
	/* values of enumerated fields */
	"True", "False", "Unknown", "true", "false", "yes", "In", "NotIn", "Exists", "DoesNotExist",
	"Equal", "Gt", "Lt", "NoSchedule", "PreferNoSchedule", "NoExecute", "None", "Always",
	"IfNotPresent", "Never", "OnFailure", "Restart", "RestartAllContainers", "TCP", "UDP",
	"SCTP", "PreemptLowerPriority", "DoNotSchedule", "ScheduleAnyway", "Honor", "Ignore",
	"Pending", "Running", "Succeeded", "Guaranteed", "Burstable", "BestEffort", "Indexed",
	"NonIndexed", "Recreate", "AlwaysAllow", "IfHealthyBudget", "RollingUpdate", "OnDelete",
	"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod", "Filesystem", "Block",
	"Available", "Bound", "Released", "Lost", "Immediate", "WaitForFirstConsumer", "Shared",
	"Dedicated", "Managed", "ExactCount", "All", "FromClass", "FromClaim",
	"ExtendWebSocketsToKubelet", "InPlacePodLevelResourcesVerticalScaling",
	"InPlacePodVerticalScalingInitContainers", "RestartAllContainersOnContainerExits",
	"UserNamespacesHostNetworkSupport", "@hourly", "@daily", "@midnight", "@weekly", "@monthly",
	"@yearly", "@annually", "MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN", "MON-FRI",
	"SAT-SUN"};

/** Domains and prefixes of the keys that Kubernetes defines, and the texts that may follow them. */
static const char *const known_domains[] = {"kubernetes.io/", "beta.kubernetes.io/",
	"node.kubernetes.io/", "node-role.kubernetes.io/", "topology.kubernetes.io/",
	"failure-domain.beta.kubernetes.io/", "apps.kubernetes.io/", "batch.kubernetes.io/",
	"statefulset.kubernetes.io/", "deviceclass.resource.kubernetes.io/", "pv.kubernetes.io/",
	"volume.kubernetes.io/", "volume.beta.kubernetes.io/", "storageclass.kubernetes.io/",
	"storage.alpha.kubernetes.io/", "resource.kubernetes.io/", "scheduler.alpha.kubernetes.io/",
	"node.cloudprovider.kubernetes.io/", "attachable-volumes-csi-", "attachable-volumes-",
	"hugepages-", "requests.hugepages-", "requests."};
static const char *const known_rests[] = {"hostname", "os", "arch", "zone", "region",
	"metadata.name", "instance-type", "not-ready", "unreachable", "unschedulable",
	"memory-pressure", "disk-pressure", "pid-pressure", "network-unavailable", "out-of-service",
	"uninitialized", "control-plane", "master", "pod-index", "pod-name", "job-completion-index",
	"job-name", "controller-uid", "pv-protection", "pvc-protection", "windows-build",
	"shutdown", "aws-ebs", "gce-pd", "azure-disk"};

/** Parts of volume handles and names that plugins compose. */
static const char *const known_words[] = {
	"default", "latest", "aws", "vol", "projects", "UNSPECIFIED", "zones", "regions", "disks"};

bool bt_neutral_names_is_term(struct bt_str text)
{
	return bt_str_is_one_of(text, known_terms, BT_ARRAY_LENGTH(known_terms));
}

/** --- words --- */

static bool is_hex_digit(char byte)
{
	return bt_is_digit(byte) || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}

static bool is_word_byte(char byte)
{
	return bt_is_digit(byte) || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
		(unsigned char)byte >= 0x80;
}

static bool ends_at(struct bt_str text, uint32_t at)
{
	return at == text.length || !is_word_byte(text.data[at]);
}

static bool is_uuid_at(struct bt_str text, uint32_t at)
{
	if (text.length - at < UUID_LENGTH || !ends_at(text, at + UUID_LENGTH)) {
		return false;
	}
	for (uint32_t i = 0; i < UUID_LENGTH; i++) {
		char byte = text.data[at + i];
		bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
		if (is_dash ? byte != '-' : !is_hex_digit(byte)) {
			return false;
		}
	}
	return true;
}

/**
 * Returns the length of the IPv4 address at `at`: four numbers, all separated by '.' or all by '-'.
 * 0: there is no address.
 */
static uint32_t address_length(struct bt_str text, uint32_t at)
{
	uint32_t end = at;
	char separator = '\0';
	for (int part = 0; part < 4; part++) {
		uint32_t digits = 0;
		if (part > 0) {
			if (end == text.length ||
				(text.data[end] != '.' && text.data[end] != '-') ||
				(separator != '\0' && text.data[end] != separator)) {
				return 0;
			}
			separator = text.data[end++];
		}
		while (end < text.length && digits <= 3 && bt_is_digit(text.data[end])) {
			end++;
			digits++;
		}
		if (digits == 0 || digits > 3) {
			return 0;
		}
	}
	return ends_at(text, end) ? end - at : 0;
}

/** Returns the length of the word that begins at `at`. */
static uint32_t word_length(struct bt_str text, uint32_t at)
{
	if (is_uuid_at(text, at)) {
		return UUID_LENGTH;
	}
	uint32_t address = address_length(text, at);
	if (address == 0) {
		uint32_t end = at;
		uint32_t colons = 0;
		while (end < text.length &&
			(is_hex_digit(text.data[end]) || text.data[end] == ':')) {
			colons += text.data[end++] == ':';
		}
		address = colons >= COLONS_OF_ADDRESS && ends_at(text, end) ? end - at : 0;
	}
	uint32_t end = at;
	while (end < text.length && is_word_byte(text.data[end])) {
		end++;
	}
	return address != 0 ? address : end - at;
}

static bool is_short_number(struct bt_str word)
{
	struct bt_str rest = word;
	while (rest.length > SHORT_DIGITS && rest.data[0] == '0') {
		rest = bt_str_sub(rest, 1, rest.length);
	}
	return rest.length <= SHORT_DIGITS && bt_str_is_digits(word);
}

/**
 * Finds the next word at or after `at` that must be renamed. Leading zeros of a number are not part
 * of the word, because the value of the number may matter.
 */
static bool find_next(struct bt_str text, uint32_t at, struct bt_str *out_word)
{
	while (at < text.length) {
		struct bt_str word = bt_str_sub(text, at, 1);
		if (is_word_byte(text.data[at])) {
			word.length = word_length(text, at);
			if (!(is_short_number(word) ||
				    bt_str_is_one_of(
					    word, known_words, BT_ARRAY_LENGTH(known_words)))) {
				uint32_t zeros = 0;
				while (bt_str_is_digits(word) && word.data[zeros] == '0') {
					zeros++; /* zeros alone are a short number */
				}
				*out_word = bt_str_sub(word, zeros, word.length);
				return true;
			}
		}
		at += word.length;
	}
	return false;
}

/** Returns whether the text is the size of hugepages: "2Mi". */
static bool is_page_size(struct bt_str text)
{
	struct bt_str rest =
		bt_str_has_suffix(text, BT_STR("i")) ? bt_str_sub(text, 0, text.length - 1) : text;
	if (rest.length > 1 &&
		bt_str_find_char(BT_STR("KMGTPE"), rest.data[rest.length - 1]) >= 0) {
		rest.length--;
	}
	return is_short_number(rest);
}

/** Returns how many bytes at the start of a text are not renamed. */
static uint32_t known_length(struct bt_str text, bool is_term)
{
	if (bt_str_is_one_of(text, known_names, BT_ARRAY_LENGTH(known_names)) ||
		(is_term && bt_neutral_names_is_term(text))) {
		return text.length;
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(known_domains); i++) {
		struct bt_str domain = bt_str_from(known_domains[i]);
		if (bt_str_has_prefix(text, domain)) {
			struct bt_str rest = bt_str_sub(text, domain.length, text.length);
			return bt_str_is_one_of(rest, known_rests, BT_ARRAY_LENGTH(known_rests)) ||
					(bt_str_has_suffix(domain, BT_STR("hugepages-")) &&
						is_page_size(rest))
				? text.length
				: domain.length;
		}
	}
	return 0;
}

/** --- collecting --- */

void bt_neutral_names_finish(struct bt_neutral_names *names)
{
	bt_vec_finish(&names->words);
	bt_map_finish(&names->map);
	bt_arena_finish(&names->arena);
}

/** Returns the index of the word, which is added if missing. */
static uint32_t find_or_add(struct bt_neutral_names *names, struct bt_str word)
{
	uint64_t hash = bt_str_hash(word);
	BT_MAP_EACH (&names->map, hash, index) {
		if (bt_str_equal(names->words.items[index].original, word)) {
			return index;
		}
	}
	int64_t value; /* a number above INT64_MAX counts as a word */
	struct bt_neutral_word entry = {
		.original = bt_arena_str(&names->arena, word),
		.is_number = bt_str_is_digits(word) && bt_str_parse_int64(word, &value),
	};
	/* bt_neutral_names_sort replaces the codes of the words that were collected before. */
	entry.code = entry.is_number ? FIRST_LONG_NUMBER + names->number_count
				     : names->words.count - names->number_count;
	names->number_count += entry.is_number;
	bt_vec_push(&names->words, entry);
	bt_map_insert(&names->map, hash, names->words.count - 1);
	return names->words.count - 1;
}

static uint32_t end_of(struct bt_str text, struct bt_str word)
{
	return (uint32_t)(word.data - text.data) + word.length;
}

void bt_neutral_names_collect(struct bt_neutral_names *names, struct bt_str text, bool is_term)
{
	struct bt_str word;
	for (uint32_t at = known_length(text, is_term); find_next(text, at, &word);
		at = end_of(text, word)) {
		(void)find_or_add(names, word);
	}
}

/** --- ordering the words --- */

/** Orders numbers by value, then words by bytes. */
static int compare_words(const void *a, const void *b)
{
	const struct bt_neutral_word *first = a;
	const struct bt_neutral_word *second = b;
	if (first->is_number != second->is_number) {
		return first->is_number ? -1 : 1;
	}
	if (first->is_number && first->original.length != second->original.length) {
		return first->original.length < second->original.length ? -1 : 1;
	}
	return bt_str_compare(first->original, second->original);
}

void bt_neutral_names_sort(struct bt_neutral_names *names)
{
	struct bt_strbuf prefix = {0};
	bool is_taken; /* an original word looks like a neutral word with this prefix */
	do {
		bt_strbuf_append_char(&prefix, 'x');
		is_taken = false;
		for (uint32_t i = 0; i < names->words.count && !is_taken; i++) {
			struct bt_str word = names->words.items[i].original;
			is_taken = bt_str_has_prefix(word, bt_strbuf_str(&prefix)) &&
				bt_str_is_digits(
					bt_str_sub(word, (uint32_t)prefix.length, word.length));
		}
	} while (is_taken);
	names->prefix = bt_arena_take_strbuf(&names->arena, &prefix);
	if (names->words.count > 1) {
		qsort(names->words.items, names->words.count, sizeof(names->words.items[0]),
			compare_words);
	}
	bt_map_reset(&names->map);
	for (uint32_t i = 0; i < names->words.count; i++) {
		struct bt_neutral_word *word = &names->words.items[i];
		/* Numbers were sorted before words. */
		word->code = word->is_number ? FIRST_LONG_NUMBER + i : i - names->number_count;
		bt_map_insert(&names->map, bt_str_hash(word->original), i);
	}
	names->width = 1;
	for (uint32_t rest = names->words.count; rest >= 10; rest /= 10) {
		names->width++;
	}
}

/** --- renaming --- */

static void append_word(const struct bt_neutral_names *names, const struct bt_neutral_word *word,
	struct bt_strbuf *out)
{
	if (word->is_number) {
		bt_strbuf_printf(out, "%u", word->code);
	} else {
		bt_strbuf_printf(
			out, "%.*s%0*u", BT_STR_ARG(names->prefix), (int)names->width, word->code);
	}
}

struct bt_str bt_neutral_names_rename(
	struct bt_neutral_names *names, struct bt_str text, bool is_term, struct bt_arena *arena)
{
	struct bt_strbuf out = {0};
	struct bt_str word;
	uint32_t done = 0;
	for (uint32_t at = known_length(text, is_term); find_next(text, at, &word);
		at = end_of(text, word)) {
		uint32_t index = find_or_add(names, word);
		bt_strbuf_append_str(
			&out, bt_str_sub(text, done, (uint32_t)(word.data - text.data) - done));
		append_word(names, &names->words.items[index], &out);
		done = end_of(text, word);
	}
	bt_strbuf_append_str(&out, bt_str_sub(text, done, text.length));
	return bt_arena_take_strbuf(arena, &out);
}

void bt_neutral_names_append_map(const struct bt_neutral_names *names, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	struct bt_strbuf word = {0};
	bt_json_writer_init(&writer, out, 1);
	bt_json_begin_object(&writer);
	for (uint32_t i = 0; i < names->words.count; i++) {
		bt_strbuf_reset(&word);
		append_word(names, &names->words.items[i], &word);
		bt_json_write(
			&writer, "%s: %s", bt_strbuf_str(&word), names->words.items[i].original);
	}
	bt_json_end_object(&writer);
	bt_strbuf_append_char(out, '\n');
	bt_strbuf_finish(&word);
}
