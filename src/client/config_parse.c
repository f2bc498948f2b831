/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "client/config_private.h"
#include "client/file.h"
#include "codec/base64.h"
#include "codec/yaml.h"

/*
 * Upstream's runtime scheme for kubeconfigs is named after a source line. Error messages contain
 * this name.
 */
#define SCHEME_NAME "k8s.io/client-go/tools/clientcmd/api/latest/latest.go:50"

/*
 * Refuses duplicate names. type: Go's type name of an item's content. Each item's first field is
 * its name.
 */
static int check_names(const char *type, const void *items, size_t item_size, uint32_t count,
	struct bt_arena *arena, struct berth_error *err)
{
	struct bt_str *names = BT_ARENA_NEW_ARRAY(arena, struct bt_str, count);
	struct bt_str *sorted = BT_ARENA_NEW_ARRAY(arena, struct bt_str, count);
	struct bt_strbuf text = {0};
	int code = 0;

	for (uint32_t i = 0; i < count; i++) {
		memcpy(&names[i], (const char *)items + i * item_size, sizeof(names[i]));
		sorted[i] = names[i];
	}
	if (count > 1) {
		qsort(sorted, count, sizeof(*sorted), bt_str_compare_qsort);
	}
	for (uint32_t i = 1; i < count && code == 0; i++) {
		if (!bt_str_equal(sorted[i - 1], sorted[i])) {
			continue;
		}
		/*
		 * Upstream prints whole items here, including secrets; berth prints only their
		 * names.
		 */
		bt_strbuf_append_c(&text, " in list: [");
		for (uint32_t k = 0; k < count; k++) {
			bt_strbuf_append_c(&text, k > 0 ? " " : "");
			bt_strbuf_append_str(&text, names[k]);
		}
		bt_strbuf_append_char(&text, ']');
		code = bt_error_set_quoted(
			err, BERTH_ERR_INVALID, "duplicate name ", sorted[i], bt_strbuf_c(&text));
		code = bt_error_wrap(err, code,
			"error converting *[]Named%s into *map[string]*api.%s", type, type);
	}
	bt_strbuf_finish(&text);
	return code;
}

#define CHECK_NAMES(type, list, arena, err) \
	check_names(type, (list).items, sizeof((list).items[0]), (list).count, arena, err)

/*
 * Replaces *data by the decoded base64 text, with a terminating zero. Empty data becomes absent
 * (data NULL).
 */
static int decode_data(struct bt_str *data, struct bt_arena *arena, struct berth_error *err)
{
	struct bt_str bytes;

	if (data->length == 0) {
		*data = (struct bt_str){0};
		return 0;
	}
	int code = bt_base64_decode(*data, arena, &bytes, err);
	if (code == 0) {
		*data = bt_arena_str(arena, bytes);
	}
	return code;
}

/* Appends the path segments of `more` and resolves "." and "..". out is absolute, "" for "/". */
static void append_segments(struct bt_strbuf *out, struct bt_str more)
{
	while (more.length != 0) {
		struct bt_str segment = bt_str_cut(&more, '/');
		if (segment.length == 0 || bt_str_equal_c(segment, ".")) {
			continue;
		}
		if (bt_str_equal_c(segment, "..")) {
			/* remove the last segment; ".." of "/" is "/" */
			while (out->length > 0 && out->data[out->length - 1] != '/') {
				out->length--;
			}
			if (out->length > 0) {
				out->length--;
			}
			continue;
		}
		bt_strbuf_append_char(out, '/');
		bt_strbuf_append_str(out, segment);
	}
}

/* Makes the file name absolute and zero-terminated. */
static void resolve(struct bt_str *file, struct bt_str folder, struct bt_arena *arena)
{
	struct bt_strbuf path = {0};

	if (file->length == 0) {
		return;
	}
	if (file->data[0] == '/') {
		*file = bt_arena_str(arena, *file);
		return;
	}
	bt_strbuf_append_str(&path, folder);
	append_segments(&path, *file);
	*file = bt_arena_str(arena, path.length != 0 ? bt_strbuf_str(&path) : BT_STR("/"));
	bt_strbuf_finish(&path);
}

static int resolve_paths(struct bt_kubeconfig *file, const char *path, struct bt_arena *arena,
	struct berth_error *err)
{
	struct bt_strbuf buffer = {0}; /* absolute folder of the file; "" for "/" */
	struct bt_str text = bt_str_from(path);
	int64_t slash = bt_str_find_last_char(text, '/');
	char here[PATH_MAX];

	if (text.length == 0 || text.data[0] != '/') {
		if (getcwd(here, sizeof(here)) == NULL) {
			return bt_error_set(err, BERTH_ERR_IO, "getwd: no such file or directory");
		}
		append_segments(&buffer, bt_str_from(here));
	}
	append_segments(&buffer, bt_str_sub(text, 0, slash > 0 ? (uint32_t)slash : 0));
	struct bt_str folder = bt_strbuf_str(&buffer);
	for (uint32_t i = 0; i < file->clusters.count; i++) {
		resolve(&file->clusters.items[i].cluster.ca_file, folder, arena);
	}
	for (uint32_t i = 0; i < file->users.count; i++) {
		struct bt_kubeconfig_user *user = &file->users.items[i].user;
		resolve(&user->certificate_file, folder, arena);
		resolve(&user->key_file, folder, arena);
		resolve(&user->token_file, folder, arena);
		if (user->exec != NULL && bt_str_find_char(user->exec->command, '/') >= 0) {
			struct bt_kubeconfig_exec *exec =
				BT_ARENA_NEW(arena, struct bt_kubeconfig_exec);

			*exec = *user->exec;
			resolve(&exec->command, folder, arena);
			user->exec = exec;
		}
	}
	bt_strbuf_finish(&buffer);
	return 0;
}

static int set_kubeconfig_error(struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_INVALID,
		"this is not a kubeconfig: a kubeconfig is YAML with clusters, users and "
		"contexts, as in ~/.kube/config");
}

int bt_kubeconfig_read(struct bt_str text, const char *path, struct bt_arena *arena,
	struct bt_kubeconfig *out_file, struct berth_error *err)
{
	struct bt_kubeconfig file = {0};
	struct bt_strbuf json = {0};
	int code = 0;

	if (bt_str_has_prefix(bt_str_trim(text, " \n"), BT_STR("<"))) {
		/* an HTML page, which a browser saves if the link to the kubeconfig is wrong */
		code = set_kubeconfig_error(err);
	} else {
		const struct bt_yaml_limits limits = {
			.output_bytes_max = UINT64_C(4) * BT_CLIENT_FILE_BYTES_MAX};
		bt_strbuf_reserve(&json, (size_t)text.length + text.length / 2 + 4096);
		code = bt_yaml_first_document(text, &limits, &json, err);
	}
	if (code == 0 && json.length != 0 && json.data[0] != '{' && json.data[0] != 'n') {
		code = set_kubeconfig_error(err);
	} else if (code == 0 && json.length != 0) {
		struct bt_json_reader reader;
		bt_json_reader_init(&reader, bt_strbuf_str(&json));
		code = bt_message_decode_json(&bt_kubeconfig_message, &reader, arena, &file, err);
	}
	bt_strbuf_finish_wiped(&json);
	struct bt_str kind = file.kind.length != 0 ? file.kind : BT_STR("Config");
	struct bt_str version = file.api_version.length != 0 ? file.api_version : BT_STR("v1");
	if (code == 0 && !(bt_str_equal_c(kind, "Config") && bt_str_equal_c(version, "v1"))) {
		struct bt_strbuf message = {0};
		bt_strbuf_append_c(&message, "no kind ");
		bt_strbuf_append_quoted(&message, kind);
		bt_strbuf_append_c(&message, " is registered for version ");
		bt_strbuf_append_quoted(&message, version);
		bt_strbuf_append_c(&message, " in scheme ");
		bt_strbuf_append_quoted(&message, BT_STR(SCHEME_NAME));
		code = bt_error_take(err, BERTH_ERR_INVALID, &message);
	}
	if (code == 0) {
		code = CHECK_NAMES("Cluster", file.clusters, arena, err);
	}
	if (code == 0) {
		code = CHECK_NAMES("AuthInfo", file.users, arena, err);
	}
	if (code == 0) {
		code = CHECK_NAMES("Context", file.contexts, arena, err);
	}
	if (code == 0) {
		for (uint32_t i = 0; code == 0 && i < file.clusters.count; i++) {
			code = decode_data(&file.clusters.items[i].cluster.ca_data, arena, err);
		}
		for (uint32_t i = 0; code == 0 && i < file.users.count; i++) {
			struct bt_kubeconfig_user *user = &file.users.items[i].user;
			code = decode_data(&user->certificate_data, arena, err);
			if (code == 0) {
				code = decode_data(&user->key_data, arena, err);
			}
		}
	}
	if (code == 0) {
		code = resolve_paths(&file, path, arena, err);
	}
	if (code == 0) {
		*out_file = file;
	}
	return code;
}

/* Configuration as kubectl finds it: merged files, any context. */

#define CONTEXTS_SHOWN 10

struct merging {
	struct bt_client_config config; /* filled at the end; its arena holds `file` */
	struct bt_kubeconfig file;
	struct bt_strbuf names; /* names of the files, for messages */
	uint32_t file_count;    /* files that exist */
};

/* Merges lists: the first entry of a name wins. Each entry's first field is its name. */
#define APPEND_NEW(arena, into, from) \
	do { \
		void *both = bt_arena_alloc( \
			arena, ((size_t)(into).count + (from).count) * sizeof((into).items[0])); \
		if ((into).count != 0) { \
			memcpy(both, (into).items, (into).count * sizeof((into).items[0])); \
		} \
		(into).items = both; \
		for (uint32_t at = 0; at < (from).count; at++) { \
			if (BT_STR_FIND(&(into), name, (from).items[at].name) == NULL) { \
				(into).items[(into).count++] = (from).items[at]; \
			} \
		} \
	} while (0)

static int read_file(struct merging *merging, const char *path, struct berth_error *err)
{
	struct bt_kubeconfig file = {0};
	struct bt_strbuf text = {0};
	struct stat status;

	if (stat(path, &status) != 0 && errno == ENOENT) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"there is no kubeconfig %s: name another with --kubeconfig FILE", path);
	}
	int code = bt_client_file_read_waiting(path, BT_CLIENT_FILE_BYTES_MAX, &text, err);
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
	struct bt_kubeconfig *merged = &merging->file;
	struct bt_arena *arena = &merging->config.arena;
	if (merging->file_count++ == 0) {
		*merged = file;
		return 0;
	}
	if (merged->current_context.length == 0) {
		merged->current_context = file.current_context;
	}
	APPEND_NEW(arena, merged->clusters, file.clusters);
	APPEND_NEW(arena, merged->users, file.users);
	APPEND_NEW(arena, merged->contexts, file.contexts);
	return 0;
}

/* Ignores missing files, as kubectl does. */
static int read_if_there(struct merging *merging, const char *path, struct berth_error *err)
{
	struct stat status;

	return path[0] == '\0' || (stat(path, &status) != 0 && errno == ENOENT)
		? 0
		: read_file(merging, path, err);
}

int bt_client_config_load_context(const struct bt_client_config_input *input, const char *context,
	struct bt_client_config *out_config, struct berth_error *err)
{
	struct merging merging = {0};
	struct bt_strbuf path = {0};
	const char *list = getenv("KUBECONFIG");
	const char *home = getenv("HOME");
	bool is_listed = bt_is_given(list);
	int code = 0;

	if (bt_is_given(input->kubeconfig)) {
		code = read_file(&merging, input->kubeconfig, err);
	} else if (is_listed) {
		struct bt_str rest = bt_str_from(list);
		while (code == 0 && rest.length != 0) {
			bt_strbuf_set(&path, bt_str_cut(&rest, ':'));
			code = read_if_there(&merging, bt_strbuf_c(&path), err);
		}
	} else if (bt_is_given(home)) {
		bt_strbuf_printf(&path, "%s/.kube/config", home);
		code = read_if_there(&merging, bt_strbuf_c(&path), err);
	}
	bt_strbuf_finish(&path);
	if (code == 0 && merging.file_count == 0) {
		code = getenv("KUBERNETES_SERVICE_HOST") != NULL
			? bt_client_config_in_cluster(input, &merging.config, err)
			: bt_error_set(err, BERTH_ERR_NOT_FOUND,
				  "there is no kubeconfig: %s; name one with --kubeconfig FILE",
				  is_listed ? "no file that KUBECONFIG lists exists"
					    : "KUBECONFIG is not set and ~/.kube/config does "
					      "not exist");
	} else if (code == 0) {
		struct bt_kubeconfig *file = &merging.file;
		struct bt_strbuf text = {0};

		if (bt_is_given(context)) {
			file->current_context =
				bt_arena_str(&merging.config.arena, bt_str_from(context));
		}
		if (file->contexts.count == 0) {
			bt_strbuf_append_c(&text, "has no contexts: it names no cluster to read");
		} else if (file->current_context.length == 0) {
			bt_strbuf_append_c(
				&text, "has no current-context: choose one with --context");
		} else if (BT_STR_FIND(&file->contexts, name, file->current_context) == NULL) {
			bt_strbuf_append_c(&text, "has no context ");
			bt_strbuf_append_quoted(&text, file->current_context);
		}
		if (text.length != 0) {
			for (uint32_t i = 0; i < file->contexts.count && i < CONTEXTS_SHOWN; i++) {
				bt_strbuf_append_c(&text, i == 0 ? " (it has " : ", ");
				bt_strbuf_append_quoted(&text, file->contexts.items[i].name);
			}
			if (file->contexts.count > CONTEXTS_SHOWN) {
				bt_strbuf_printf(&text, " and %u more",
					file->contexts.count - CONTEXTS_SHOWN);
			}
			bt_strbuf_append_c(&text, file->contexts.count != 0 ? ")" : "");
			code = bt_error_set(err, BERTH_ERR_INVALID, "kubeconfig %s %s",
				bt_strbuf_c(&merging.names), bt_strbuf_c(&text));
		} else {
			merging.config.context = file->current_context;
			code = bt_kubeconfig_select(file, NULL, &merging.config, NULL, err);
			code = code != 0 ? bt_error_wrap(err, code, "kubeconfig %s",
						   bt_strbuf_c(&merging.names))
					 : 0;
		}
		bt_strbuf_finish(&text);
	}
	bt_strbuf_finish(&merging.names);
	if (code != 0) {
		bt_client_config_finish(&merging.config);
		return code;
	}
	*out_config = merging.config;
	return 0;
}
