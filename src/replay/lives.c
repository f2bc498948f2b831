/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/lives.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/nanoseconds.h"
#include "replay/pod_facts.h"

/** --- lines of all parts --- */

static int open_part(struct bt_recording_parts *parts, struct berth_error *err)
{
	const char *path = parts->paths[parts->next_path];
	struct stat status;
	if (strcmp(path, "-") == 0 || (stat(path, &status) == 0 && S_ISFIFO(status.st_mode))) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"a recording is read twice: name a file instead of %s", path);
	}
	int result = bt_recording_open(path, &parts->reader, err);
	if (result < 0) {
		return result;
	}
	const struct bt_recording_header *header = &parts->reader->header;
	bool is_first = parts->next_path == 0;
	parts->is_followed = !is_first && header->recording.length != 0 &&
		bt_str_equal(header->recording, bt_strbuf_str(&parts->recording)) &&
		header->part == parts->part + 1;
	if (!is_first && !parts->is_followed) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"%s: does not go on where %s ends: name the parts of one recording in "
			"order",
			path, parts->paths[parts->next_path - 1]);
	}
	if (!is_first && header->start_ns < parts->time_ns) {
		return bt_error_set(err, BERTH_ERR_INVALID, "%s: starts before the end of %s", path,
			parts->paths[parts->next_path - 1]);
	}
	bt_strbuf_set(&parts->recording, header->recording);
	parts->part = header->part;
	parts->start_ns = header->start_ns;
	parts->next_path++;
	return 0;
}

int bt_recording_parts_next(struct bt_recording_parts *parts, struct bt_recording_line *out_line,
	struct berth_error *err)
{
	for (;;) {
		int result = 0;
		if (parts->reader == NULL) {
			if (parts->next_path == parts->path_count) {
				return 0;
			}
			result = open_part(parts, err);
			if (result < 0) {
				return result;
			}
		}
		result = bt_recording_next(parts->reader, out_line, err);
		if (result < 0) {
			return result;
		}
		if (result == 0) {
			parts->has_cut = parts->has_cut || !parts->reader->is_complete;
			bt_recording_close(parts->reader);
			parts->reader = NULL;
		} else if (!(out_line->is_start && parts->is_followed)) {
			out_line->time_ns += parts->start_ns;
			parts->time_ns = out_line->time_ns;
			return 1;
		}
	}
}

void bt_recording_parts_finish(struct bt_recording_parts *parts)
{
	bt_recording_close(parts->reader);
	bt_strbuf_finish(&parts->recording);
}

/** --- lives --- */

struct open_life {
	char *key; /* "namespace/name"; NULL: free */
	uint64_t ordinal;
	struct bt_pod_life life;
	bool is_deleting; /* a deletionTimestamp was recorded */
};

#define READ_LIVES 1024

_Static_assert(
	sizeof(struct bt_pod_life) == 4 * sizeof(int64_t) + sizeof(bt_sym) + sizeof(uint32_t),
	"the file has no padding");

struct bt_lives {
	int file; /* descriptor; the file has a struct bt_pod_life for each pod, by ordinal */
	uint64_t count;
	uint64_t next; /* ordinal that is read next */
	struct bt_pod_life read[READ_LIVES];
	uint64_t read_first; /* ordinal of read[0] */
	uint32_t read_count;
	BT_VEC(struct open_life) open;
	BT_VEC(uint32_t) free_ids;
	struct bt_map by_key;
	struct bt_symbol_table nodes; /* names of nodes */
	int64_t start_ns;
	int64_t end_ns;
};

static int file_error(struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_IO,
		"the temporary file for the lives of pods: %s (TMPDIR names its folder)",
		errno != 0 ? strerror(errno) : "cannot be written or read");
}

static int close_life(struct bt_lives *lives, uint32_t id, struct berth_error *err)
{
	struct open_life *open = &lives->open.items[id];
	errno = 0;
	ssize_t length = pwrite(lives->file, &open->life, sizeof(open->life),
		(off_t)(open->ordinal * sizeof(open->life)));
	int result = length == (ssize_t)sizeof(open->life) ? 0 : file_error(err);
	(void)bt_map_remove(
		&lives->by_key, bt_str_hash(bt_str_from(open->key)), id); /* the map has it */
	bt_free(open->key);
	open->key = NULL;
	bt_vec_push(&lives->free_ids, id);
	return result;
}

static int take_line(struct bt_lives *lives, const struct bt_recording_line *line,
	struct bt_strbuf *key, struct bt_arena *arena, struct berth_error *err)
{
	struct bt_pod_facts facts = {.namespace_ = line->namespace_, .name = line->name};
	int result = 0;
	if (line->kind != BT_KIND_POD || line->event == BT_RECORDING_GAP ||
		line->event == BT_RECORDING_END) {
		return 0;
	}
	if (line->event != BT_RECORDING_DELETE) {
		result = bt_pod_facts_read(line->json, arena, &facts, err);
	}
	bool is_new = line->event == BT_RECORDING_ADD;
	bt_strbuf_set(key, is_new ? facts.namespace_ : line->namespace_);
	bt_strbuf_append_char(key, '/');
	bt_strbuf_append_str(key, is_new ? facts.name : line->name);
	uint32_t id = BT_MAP_NONE;
	BT_MAP_EACH (&lives->by_key, bt_str_hash(bt_strbuf_str(key)), open_id) {
		if (bt_str_equal_c(bt_strbuf_str(key), lives->open.items[open_id].key)) {
			id = open_id;
			break;
		}
	}
	if (result == 0 && id != BT_MAP_NONE && line->event != BT_RECORDING_CHANGE) {
		result = close_life(lives, id, err); /* the line adds a pod of the same name, so the
		                                        recording missed the deletion */
	}
	if (result == 0 && is_new) {
		struct open_life open = {.key = bt_strndup(key->data, key->length),
			.ordinal = lives->count++,
			.life = {.tried_ns = -1,
				.bound_ns = -1,
				.runs_ns = line->duration_ns,
				.disrupted_ns = -1,
				.node = BT_SYM_EMPTY}};
		bt_vec_store(&lives->open, &lives->free_ids, open, id);
		bt_map_insert(&lives->by_key, bt_str_hash(bt_strbuf_str(key)), id);
	}
	if (result == 0 && line->event != BT_RECORDING_DELETE && id != BT_MAP_NONE) {
		struct open_life *known = &lives->open.items[id];
		struct bt_pod_life *life = &known->life;
		if (facts.is_tried && life->tried_ns < 0) {
			life->tried_ns = line->time_ns;
		}
		if (facts.node_name.length != 0 && life->bound_ns < 0) {
			life->bound_ns = line->time_ns;
			life->node = bt_symbol_ref_str(&lives->nodes, facts.node_name);
		}
		if (bt_pod_facts_is_decided_anew(&facts) && life->disrupted_ns < 0) {
			life->disrupted_ns = line->time_ns;
		}
		/* A pod that ends after preemption or deletion has not completed its work. */
		if (facts.is_terminal && life->bound_ns >= 0 && life->runs_ns < 0 &&
			life->disrupted_ns < 0 && !known->is_deleting) {
			life->runs_ns = line->time_ns - life->bound_ns;
		}
		known->is_deleting = known->is_deleting || facts.is_deleting;
	}
	return result;
}

static int read_lives(struct bt_lives *lives, struct bt_recording_parts *parts,
	bt_replay_warn_fn *warn, void *context, struct berth_error *err)
{
	struct bt_recording_line line;
	struct bt_arena arena = {0};
	struct bt_strbuf key = {0};
	int64_t gap_ns = 0;
	int result;
	lives->start_ns = -1;
	while ((result = bt_recording_parts_next(parts, &line, err)) == 1) {
		lives->start_ns = lives->start_ns < 0 ? parts->start_ns : lives->start_ns;
		lives->end_ns = line.time_ns;
		gap_ns += line.event == BT_RECORDING_GAP ? line.duration_ns : 0;
		result = take_line(lives, &line, &key, &arena, err);
		if (result < 0) {
			break;
		}
		bt_arena_reset(&arena);
	}
	for (uint32_t i = 0; i < lives->open.count && result == 0; i++) {
		if (lives->open.items[i].key != NULL) {
			result = close_life(lives, i, err);
		}
	}
	if (result == 0 && lives->start_ns < 0) {
		lives->start_ns = parts->start_ns; /* no line has an event */
		lives->end_ns = parts->start_ns;
	}
	if (result == 0 && parts->has_cut) {
		warn(context, "the recording was cut off: what it has is replayed");
	}
	if (result == 0 && gap_ns != 0) {
		char text[160];
		(void)snprintf(text, sizeof(text),
			"watches were broken for %lld s in all: what came and went meanwhile is "
			"not in the recording",
			(long long)(gap_ns / BT_NS_PER_SECOND));
		warn(context, text);
	}
	bt_strbuf_finish(&key);
	bt_arena_finish(&arena);
	return result;
}

int bt_lives_read(const char *const *paths, uint32_t path_count, bt_replay_warn_fn *warn,
	void *context, struct bt_lives **out_lives, struct berth_error *err)
{
	struct bt_recording_parts parts = {.paths = paths, .path_count = path_count};
	struct bt_lives *lives = BT_NEW(struct bt_lives);
	bt_symbol_table_init(&lives->nodes);
	const char *folder = getenv("TMPDIR");
	struct bt_strbuf path = {0};
	bt_strbuf_printf(&path, "%s/berth-replay-XXXXXX",
		folder != NULL && folder[0] != '\0' ? folder : "/tmp");
	(void)bt_strbuf_c(&path); /* terminates the path with a zero byte */
	lives->file = mkstemp(path.data);
	int result = lives->file >= 0 ? 0 : file_error(err);
	if (result == 0) {
		(void)unlink(path.data); /* the file is deleted when the process ends */
		result = read_lives(lives, &parts, warn, context, err);
	}
	bt_strbuf_finish(&path);
	bt_recording_parts_finish(&parts);
	if (result < 0) {
		bt_lives_destroy(lives);
		return result;
	}
	*out_lives = lives;
	return 0;
}

void bt_lives_destroy(struct bt_lives *lives)
{
	if (lives == NULL) {
		return;
	}
	for (uint32_t i = 0; i < lives->open.count; i++) {
		bt_free(lives->open.items[i].key);
	}
	if (lives->file >= 0) {
		(void)close(lives->file); /* it is unlinked */
	}
	bt_vec_finish(&lives->open);
	bt_vec_finish(&lives->free_ids);
	bt_map_finish(&lives->by_key);
	bt_symbol_table_finish(&lives->nodes);
	bt_free(lives);
}

int64_t bt_lives_start_ns(const struct bt_lives *lives)
{
	return lives->start_ns;
}

int64_t bt_lives_end_ns(const struct bt_lives *lives)
{
	return lives->end_ns;
}

int bt_lives_next(struct bt_lives *lives, struct bt_pod_life *out_life, struct berth_error *err)
{
	BT_ASSERT(lives->next < lives->count); /* both passes read the same lines */
	if (lives->next - lives->read_first >= lives->read_count) {
		errno = 0;
		ssize_t length = pread(lives->file, lives->read, sizeof(lives->read),
			(off_t)(lives->next * sizeof(lives->read[0])));
		if (length < (ssize_t)sizeof(lives->read[0])) {
			return file_error(err);
		}
		lives->read_first = lives->next;
		lives->read_count = (uint32_t)((size_t)length / sizeof(lives->read[0]));
	}
	*out_life = lives->read[lives->next++ - lives->read_first];
	return 0;
}

struct bt_str bt_lives_node(const struct bt_lives *lives, bt_sym node)
{
	return bt_symbol_text(&lives->nodes, node);
}
