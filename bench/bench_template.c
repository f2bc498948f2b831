/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench_template.h"

#include <string.h>

#include "api/defaulting.h"
#include "base/alloc.h"
#include "cluster/file.h"
#include "lib/document.h"

#define FILE_BYTES_MAX ((size_t)4 << 20)
#define PLACEHOLDER "{{.Index}}"

struct bt_bench_template {
	char *path;
	struct bt_strbuf text; /* with PLACEHOLDER, however it was written */
	bool has_placeholder;
	struct bt_strbuf json; /* of the last object, or of all without a placeholder */
	struct bt_arena arena; /* of one object in the making */
};

/** Copy the text; every action becomes PLACEHOLDER or an error. */
static int read_actions(struct bt_bench_template *made, struct bt_str text, struct berth_error *err)
{
	int64_t start;
	while ((start = bt_str_find(text, BT_STR("{{"))) >= 0) {
		struct bt_str rest = bt_str_sub(text, (uint32_t)start + 2, UINT32_MAX);
		int64_t end = bt_str_find(rest, BT_STR("}}"));
		if (end < 0) {
			return bt_error_set(
				err, BERTH_ERR_INVALID, "template action without its end");
		}
		struct bt_str action = bt_str_sub(rest, 0, (uint32_t)end);
		if (!bt_str_equal_c(bt_str_trim(action, BT_STR_SPACE), ".Index")) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"template action {{%.*s}} is not known, only {{.Index}}",
				BT_STR_ARG(action));
		}
		bt_strbuf_append_str(&made->text, bt_str_sub(text, 0, (uint32_t)start));
		bt_strbuf_append_c(&made->text, PLACEHOLDER);
		made->has_placeholder = true;
		text = bt_str_sub(rest, (uint32_t)end + 2, UINT32_MAX);
	}
	bt_strbuf_append_str(&made->text, text);
	return 0;
}

static int to_json(struct bt_bench_template *made, struct bt_str text, struct berth_error *err)
{
	bt_strbuf_reset(&made->json);
	if (bt_document_is_json(text)) {
		bt_strbuf_append_str(&made->json, text);
		return 0;
	}
	return bt_document_from_yaml(text, NULL, &made->json, err);
}

/** The manifest with a number in place of each placeholder. */
static int render(struct bt_bench_template *made, uint64_t index, struct berth_error *err)
{
	struct bt_strbuf text = {0};
	struct bt_str rest = bt_strbuf_str(&made->text);
	int64_t at;
	if (!made->has_placeholder) {
		return made->json.length != 0 ? 0 : to_json(made, rest, err);
	}
	while ((at = bt_str_find(rest, BT_STR(PLACEHOLDER))) >= 0) {
		bt_strbuf_append_str(&text, bt_str_sub(rest, 0, (uint32_t)at));
		bt_strbuf_printf(&text, "%llu", (unsigned long long)index);
		rest = bt_str_sub(rest, (uint32_t)at + sizeof(PLACEHOLDER) - 1, UINT32_MAX);
	}
	bt_strbuf_append_str(&text, rest);
	int result = to_json(made, bt_strbuf_str(&text), err);
	bt_strbuf_finish(&text);
	return result;
}

int bt_bench_template_from_text(const char *name, struct bt_str text,
	struct bt_bench_template **out_template, struct berth_error *err)
{
	struct bt_bench_template *made = BT_NEW(struct bt_bench_template);
	made->path = bt_strndup(name, strlen(name));
	int result = read_actions(made, text, err);
	if (result < 0) {
		bt_bench_template_destroy(made);
		return bt_error_wrap(err, result, "%s", name);
	}
	*out_template = made;
	return 0;
}

int bt_bench_template_read(
	const char *path, struct bt_bench_template **out_template, struct berth_error *err)
{
	struct bt_file bytes;
	int result = bt_file_read(path, FILE_BYTES_MAX, &bytes, err);
	if (result < 0) {
		return bt_error_wrap(err, result, "%s", path);
	}
	struct bt_str text = {bytes.data, (uint32_t)bytes.length};
	result = bt_bench_template_from_text(path, text, out_template, err);
	bt_file_finish(&bytes);
	return result;
}

void bt_bench_template_destroy(struct bt_bench_template *template_)
{
	if (template_ == NULL) {
		return;
	}
	bt_free(template_->path);
	bt_strbuf_finish(&template_->text);
	bt_strbuf_finish(&template_->json);
	bt_arena_finish(&template_->arena);
	bt_free(template_);
}

const char *bt_bench_template_path(const struct bt_bench_template *template_)
{
	return template_->path;
}

static int stamp_meta(struct bt_arena *arena, const struct bt_bench_stamp *stamp, bool namespaced,
	struct bt_object_meta *meta, struct berth_error *err)
{
	unsigned long long serial = stamp->serial;
	if (meta->name.length == 0) {
		if (meta->generate_name.length == 0) {
			return bt_error_set(
				err, BERTH_ERR_INVALID, "metadata: neither name nor generateName");
		}
		meta->name = bt_arena_printf(
			arena, "%.*s%05llu", BT_STR_ARG(meta->generate_name), serial);
	}
	if (namespaced && meta->namespace_.length == 0) {
		meta->namespace_ = stamp->namespace_;
	}
	meta->uid = bt_arena_printf(arena, "00000000-0000-4000-8000-%012llx", serial);
	meta->resource_version = bt_arena_printf(arena, "%llu", serial);
	return 0;
}

static void fill_in(enum bt_kind kind, void *value, struct bt_arena *arena)
{
	if (kind == BT_KIND_POD) {
		struct bt_pod *pod = value;
		bt_pod_spec_default(&pod->spec, true, arena);
		bt_pod_spec_add_default_tolerations(&pod->spec, arena);
		bt_pod_default_affinity(pod, arena);
		if (!pod->spec.priority.present) {
			pod->spec.priority = (struct bt_opt_i32){.present = true};
		}
	} else if (kind == BT_KIND_NODE) {
		bt_node_default(value, arena);
	}
}

int bt_bench_template_make(struct bt_bench_template *template_, const struct bt_bench_stamp *stamp,
	struct bt_object **out_object, struct berth_error *err)
{
	struct bt_object *plain = NULL;
	struct bt_arena *arena = &template_->arena;
	int result = render(template_, stamp->index, err);
	if (result == 0) {
		result = bt_object_decode(bt_strbuf_str(&template_->json), &plain, err);
	}
	if (result < 0) {
		return bt_error_wrap(err, result, "%s", template_->path);
	}
	const struct bt_kind_info *info = bt_kind_info(plain->kind);
	void *value = bt_arena_alloc(arena, info->size);
	memcpy(value, plain->value, info->size); /* metadata comes first in all of them */
	result = stamp_meta(arena, stamp, info->namespaced, value, err);
	if (result == 0) {
		fill_in(plain->kind, value, arena);
		*out_object = bt_object_create(plain->kind, value);
	}
	bt_object_release(plain);
	bt_arena_reset(arena);
	return result < 0 ? bt_error_wrap(err, result, "%s", template_->path) : 0;
}
