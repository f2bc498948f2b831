/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <sys/stat.h>

#include "api/pod.h"
#include "base/str.h"
#include "cli/manifests.h"
#include "cli/completion/complete_private.h"

/** Somebody waits with a finger on the key: about a second of reading, less for what is packed. */
#define BYTES_MAX ((off_t)16 << 20)
#define PACKED_BYTES_MAX ((off_t)2 << 20)

/** Regular files only, and few bytes: all of it is read again with every press of the key. */
static bool is_quick(const struct bt_arguments *files)
{
	off_t bytes = 0;
	for (uint32_t i = 0; i < files->list.count; i++) {
		const char *path = files->list.items[i];
		struct stat status;
		if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) {
			return false;
		}
		size_t length = strlen(path);
		bool is_packed = length > 3 && strcmp(path + length - 3, ".gz") == 0;
		if (status.st_size > (is_packed ? PACKED_BYTES_MAX : BYTES_MAX)) {
			return false;
		}
		bytes += is_packed ? status.st_size * (BYTES_MAX / PACKED_BYTES_MAX)
				   : status.st_size;
	}
	return bytes <= BYTES_MAX;
}

/** Shells put candidates onto the line as they are, where other bytes could mean something. */
static bool is_plain(struct bt_str name)
{
	for (uint32_t i = 0; i < name.length; i++) {
		char byte = name.data[i];
		bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
		bool is_digit = byte >= '0' && byte <= '9';
		if (!is_letter && !is_digit && (i == 0 || (byte != '-' && byte != '.'))) {
			return false;
		}
	}
	return name.length != 0;
}

static void offer_pod(struct bt_complete *complete, const struct bt_complete_word *word,
	const struct bt_manifests_object *object)
{
	const struct bt_pod *pod = object->object->value;
	const char *given = complete->namespace_;
	struct bt_strbuf name = {0};
	if (!is_plain(object->name) || !is_plain(object->namespace_) ||
		(given != NULL && !bt_str_equal_c(object->namespace_, given))) {
		return;
	}
	if (given == NULL && !bt_str_equal_c(object->namespace_, "default")) {
		bt_strbuf_append_str(&name, object->namespace_);
		bt_strbuf_append_char(&name, '/');
	}
	bt_strbuf_append_str(&name, object->name);
	bt_complete_offer(complete, word, bt_strbuf_str(&name),
		pod->spec.node_name.length == 0 ? "pod without a node" : "pod on a node");
	bt_strbuf_finish(&name);
}

static void offer_objects(
	struct bt_complete *complete, const struct bt_complete_word *word, enum bt_kind kind)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_manifests cluster;
	int result = 0;
	if (!is_quick(&complete->files)) {
		return;
	}
	bt_manifests_init(&cluster);
	for (uint32_t i = 0; i < complete->files.list.count && result == 0; i++) {
		result = bt_manifests_read(&cluster, complete->files.list.items[i], &err);
	}
	for (uint32_t i = 0; i < cluster.objects.count && result == 0; i++) {
		const struct bt_manifests_object *object = &cluster.objects.items[i];
		if (object->kind != kind || object->object == NULL) {
			continue;
		}
		if (kind == BT_KIND_NODE) {
			if (is_plain(object->name)) {
				bt_complete_offer(complete, word, object->name, "node");
			}
		} else {
			offer_pod(complete, word, object);
		}
	}
	berth_error_finish(&err);
	bt_manifests_finish(&cluster);
}

void bt_complete_nodes(struct bt_complete *complete, const struct bt_complete_word *word)
{
	offer_objects(complete, word, BT_KIND_NODE);
}

void bt_complete_pods(struct bt_complete *complete, const struct bt_complete_word *word)
{
	offer_objects(complete, word, BT_KIND_POD);
}
