/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/vec.h"
#include "client/config_private.h"
#include "client/file.h"

/* The kubeconfig of a person: where kubectl looks, several files as one, and any context. */

#define CONTEXTS_SHOWN 10

struct merging {
	struct bt_client_config config; /* its arena */
	struct bt_kubeconfig file;
	struct bt_strbuf names; /* of the files, for messages */
	uint32_t file_count;    /* that exist */
};

/* --- reading and merging --- */

/* Of entries with the same name the first one counts. An entry starts with its name. */
#define APPEND_NEW(arena, into, from) \
	do { \
		void *both = bt_arena_alloc( \
			arena, ((size_t)(into).count + (from).count) * sizeof((into).items[0])); \
		if ((into).count != 0) { \
			memcpy(both, (into).items, (into).count * sizeof((into).items[0])); \
		} \
		(into).items = both; \
		for (uint32_t at = 0; at < (from).count; at++) { \
			bool known = false; \
			for (uint32_t other = 0; other < (into).count && !known; other++) { \
				known = bt_str_equal( \
					(into).items[other].name, (from).items[at].name); \
			} \
			if (!known) { \
				(into).items[(into).count++] = (from).items[at]; \
			} \
		} \
	} while (0)

static void merge(struct merging *merging, const struct bt_kubeconfig *next)
{
	struct bt_kubeconfig *file = &merging->file;
	struct bt_arena *arena = &merging->config.arena;

	if (merging->file_count++ == 0) {
		*file = *next;
		return;
	}
	if (file->current_context.length == 0) {
		file->current_context = next->current_context;
	}
	APPEND_NEW(arena, file->clusters, next->clusters);
	APPEND_NEW(arena, file->users, next->users);
	APPEND_NEW(arena, file->contexts, next->contexts);
}

static int read_file(struct merging *merging, const char *path, struct berth_error *err)
{
	struct bt_kubeconfig file = {0};
	struct bt_strbuf text = {0};
	struct stat status;
	int code;

	if (stat(path, &status) != 0 && errno == ENOENT) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"there is no kubeconfig %s: name another with --kubeconfig FILE", path);
	}
	code = bt_client_file_read_waiting(path, BT_CLIENT_FILE_BYTES_MAX, &text, err);
	if (code == 0) {
		code = bt_kubeconfig_read(
			bt_strbuf_str(&text), path, &merging->config.arena, &file, err);
		code = code != 0 ? bt_error_wrap(err, code, "%s", path) : 0;
	}
	bt_strbuf_finish_wiped(&text);
	if (code != 0) {
		return bt_error_wrap(err, code, "kubeconfig");
	}
	bt_strbuf_printf(&merging->names, "%s%s", merging->names.length != 0 ? ":" : "", path);
	merge(merging, &file);
	return 0;
}

/* Files that are not there are passed over, as kubectl does. */
static int read_if_there(struct merging *merging, const char *path, struct berth_error *err)
{
	struct stat status;

	return path[0] == '\0' || (stat(path, &status) != 0 && errno == ENOENT)
		? 0
		: read_file(merging, path, err);
}

static int read_list(struct merging *merging, const char *list, struct berth_error *err)
{
	char *paths = bt_strndup(list, strlen(list));
	char *rest = paths;
	int code = 0;

	while (code == 0 && rest != NULL) {
		char *path = rest;
		char *colon = strchr(rest, ':');
		rest = NULL;
		if (colon != NULL) {
			*colon = '\0';
			rest = colon + 1;
		}
		code = read_if_there(merging, path, err);
	}
	bt_free(paths);
	return code;
}

static int read_where_kubectl_looks(struct merging *merging, struct berth_error *err)
{
	const char *list = getenv("KUBECONFIG");
	const char *home = getenv("HOME");
	struct bt_strbuf path = {0};
	int code = 0;

	if (list != NULL && list[0] != '\0') {
		return read_list(merging, list, err);
	}
	if (home != NULL && home[0] != '\0') {
		bt_strbuf_printf(&path, "%s/.kube/config", home);
		code = read_if_there(merging, bt_strbuf_c(&path), err);
		bt_strbuf_finish(&path);
	}
	return code;
}

/* --- choosing --- */

static bool has_context(const struct bt_kubeconfig *file, struct bt_str name)
{
	for (uint32_t i = 0; i < file->contexts.count; i++) {
		if (bt_str_equal(file->contexts.items[i].name, name)) {
			return true;
		}
	}
	return false;
}

static int choose_context(struct merging *merging, const char *context, struct berth_error *err)
{
	struct bt_kubeconfig *file = &merging->file;
	struct bt_strbuf text = {0};
	int code = 0;

	if (context != NULL) {
		file->current_context = bt_arena_str(&merging->config.arena, bt_str_from(context));
	}
	if (file->contexts.count == 0) {
		bt_strbuf_append_c(&text, "has no contexts: it names no cluster to read");
	} else if (file->current_context.length == 0) {
		bt_strbuf_append_c(&text, "has no current-context: choose one with --context");
	} else if (!has_context(file, file->current_context)) {
		bt_strbuf_append_c(&text, "has no context ");
		bt_strbuf_append_quoted(&text, file->current_context);
	}
	if (text.length != 0) {
		for (uint32_t i = 0; i < file->contexts.count && i < CONTEXTS_SHOWN; i++) {
			bt_strbuf_append_c(&text, i == 0 ? " (it has " : ", ");
			bt_strbuf_append_quoted(&text, file->contexts.items[i].name);
		}
		if (file->contexts.count > CONTEXTS_SHOWN) {
			bt_strbuf_printf(
				&text, " and %u more", file->contexts.count - CONTEXTS_SHOWN);
		}
		bt_strbuf_append_c(&text, file->contexts.count != 0 ? ")" : "");
		code = bt_error_set(err, BERTH_ERR_INVALID, "kubeconfig %s %s",
			bt_strbuf_c(&merging->names), bt_strbuf_c(&text));
	}
	bt_strbuf_finish(&text);
	return code;
}

static int nothing_found(
	const char *folder, struct bt_client_config *config, struct berth_error *err)
{
	const char *list = getenv("KUBECONFIG");
	struct berth_error cause = BERTH_ERROR_INIT;

	if (getenv("KUBERNETES_SERVICE_HOST") != NULL) {
		int code = bt_client_config_in_cluster(folder, config, &cause);
		return code != 0 ? bt_error_move(err, &cause) : 0;
	}
	return bt_error_set(err, BERTH_ERR_NOT_FOUND,
		"there is no kubeconfig: %s; name one with --kubeconfig FILE",
		list != NULL && list[0] != '\0' ? "no file that KUBECONFIG lists exists"
						: "KUBECONFIG is not set and ~/.kube/config does "
						  "not exist");
}

static int load(struct merging *merging, const char *context, struct berth_error *err)
{
	int code = choose_context(merging, context, err);

	if (code == 0) {
		code = bt_kubeconfig_select(&merging->file, NULL, &merging->config, NULL, err);
		code = code != 0
			? bt_error_wrap(err, code, "kubeconfig %s", bt_strbuf_c(&merging->names))
			: 0;
	}
	return code;
}

int bt_client_config_load_context(const struct bt_client_config_input *input, const char *context,
	struct bt_client_config *out_config, struct berth_error *err)
{
	const char *folder = input->service_account_folder != NULL
		? input->service_account_folder
		: "/var/run/secrets/kubernetes.io/serviceaccount";
	struct merging merging = {0};
	bool is_named = input->kubeconfig != NULL && input->kubeconfig[0] != '\0';
	int code = is_named ? read_file(&merging, input->kubeconfig, err)
			    : read_where_kubectl_looks(&merging, err);

	if (code == 0 && merging.file_count == 0) {
		code = nothing_found(folder, &merging.config, err);
	} else if (code == 0) {
		code = load(&merging, context, err);
	}
	bt_strbuf_finish(&merging.names);
	if (code != 0) {
		bt_client_config_finish(&merging.config);
		return code;
	}
	*out_config = merging.config;
	return 0;
}
