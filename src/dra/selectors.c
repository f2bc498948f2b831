/* SPDX-License-Identifier: Apache-2.0 */
/* Selector programs and their verdicts. Error texts are not cached; callers recompute them. */
#include "dra/device_pools.h"

#include "cel/device.h"
#include "dra/device_pools_private.h"

/** Limits of the cache. Beyond them, the least recently used program is dropped. */
#define PROGRAMS_MAX 512U
#define PROGRAM_BYTES_MAX ((size_t)32 << 20)

static void release(struct bt_selector_program *program)
{
	bt_free(program->text);
	bt_cel_program_destroy(program->program);
	bt_free(program->problem);
	bt_free(program->verdicts);
	*program = (struct bt_selector_program){0};
}

/**
 * Drop the least recently used programs until the limits hold. Programs that were used in this tick
 * are kept.
 */
static void make_room(struct bt_device_pools *pools)
{
	while (pools->programs.map.count >= PROGRAMS_MAX ||
		pools->program_bytes > PROGRAM_BYTES_MAX) {
		uint32_t oldest = BT_DEVICE_NONE;
		uint64_t oldest_tick = pools->tick;
		for (uint32_t i = 0; i < pools->programs.count; i++) {
			const struct bt_selector_program *program = &pools->programs.items[i];
			if (program->text != NULL && program->last_used < oldest_tick) {
				oldest = i;
				oldest_tick = program->last_used;
			}
		}
		if (oldest == BT_DEVICE_NONE) {
			return;
		}
		struct bt_selector_program *dropped = &pools->programs.items[oldest];

		bt_hash_table_remove(&pools->programs, dropped->hash, oldest);
		pools->program_bytes -= dropped->bytes;
		pools->drop_count++;
		release(dropped);
	}
}

uint32_t bt_selector_intern(struct bt_device_pools *pools, struct bt_str text)
{
	uint64_t hash = bt_str_hash(text);
	uint32_t id = BT_DEVICE_NONE;

	BT_MAP_EACH (&pools->programs.map, hash, known) {
		const struct bt_selector_program *program = &pools->programs.items[known];
		if (bt_str_equal(text, (struct bt_str){program->text, program->length})) {
			id = known;
			break;
		}
	}
	if (id == BT_DEVICE_NONE) {
		make_room(pools);
		struct berth_error err = {0};
		struct bt_selector_program program = {
			.text = bt_strndup(text.data, text.length),
			.length = text.length,
			.hash = hash,
		};

		if (bt_cel_compile((struct bt_str){program.text, program.length},
			    bt_cel_device_environment(pools->with_list_attributes),
			    &program.program, &err) != 0) {
			program.problem = bt_strndup(
				berth_error_message(&err), strlen(berth_error_message(&err)));
			berth_error_finish(&err);
		}
		program.bytes = sizeof(program) + text.length +
			(program.program != NULL ? bt_cel_program_bytes(program.program) : 0);
		pools->program_bytes += program.bytes;
		bt_hash_table_add(&pools->programs, hash, program, id);
	}
	pools->programs.items[id].last_used = pools->tick;
	return id;
}

void bt_selectors_finish(struct bt_device_pools *pools)
{
	for (uint32_t i = 0; i < pools->programs.count; i++) {
		release(&pools->programs.items[i]);
	}
	bt_hash_table_finish(&pools->programs);
}

enum bt_verdict bt_selector_compute(struct bt_device_pools *pools,
	const struct bt_selector_program *program, struct bt_str driver,
	const struct bt_device *device, const struct bt_cel_limits *limits, struct berth_error *err)
{
	struct bt_cel_value value;
	bool matches = false;
	struct berth_error reason = {0};

	if (program->program == NULL) {
		(void)bt_error_set(
			err, BERTH_ERR_INVALID, "CEL compile error: %s", program->problem);
		return BT_VERDICT_ERROR;
	}
	bt_arena_reset(&pools->arena);
	int code = bt_cel_device_make(
		driver, device, pools->with_list_attributes, &pools->arena, &value, &reason);
	if (code == 0) {
		code = bt_cel_device_matches(
			program->program, &value, limits, &pools->arena, &matches, &reason);
	}
	if (code == 0) {
		return matches ? BT_VERDICT_TRUE : BT_VERDICT_FALSE;
	}
	if (code == BERTH_ERR_STATE) {
		berth_error_finish(&reason);
		return BT_VERDICT_UNKNOWN;
	}
	(void)bt_error_wrap(&reason, BERTH_ERR_INVALID, "CEL runtime error");
	(void)bt_error_move(err, &reason);
	return BT_VERDICT_ERROR;
}

enum bt_verdict bt_selector_evaluate(struct bt_device_pools *pools, uint32_t id, uint32_t row,
	const struct bt_cel_limits *limits)
{
	struct bt_selector_program *program = &pools->programs.items[id];
	const struct bt_device_row *item = &pools->rows.items[row];

	if (row >= program->row_capacity) {
		uint32_t capacity =
			(pools->rows.count + pools->rows.count / 4 + 31) & ~UINT32_C(31);
		uint32_t old_words = program->row_capacity / 32;
		uint32_t words = capacity / 32;

		program->verdicts =
			bt_realloc_array(program->verdicts, words, sizeof(program->verdicts[0]));
		memset(&program->verdicts[old_words], 0, (words - old_words) * sizeof(uint64_t));
		program->row_capacity = capacity;
		program->bytes += (words - old_words) * sizeof(uint64_t);
		pools->program_bytes += (words - old_words) * sizeof(uint64_t);
	}
	enum bt_verdict verdict = bt_selector_compute(pools, program,
		bt_pool_slice_value(pools, item->slice)->spec.driver, item->spec, limits, NULL);
	pools->evaluated++;
	if (verdict != BT_VERDICT_UNKNOWN) {
		program->verdicts[row >> 5] |= (uint64_t)verdict << ((row & 31) * 2);
		program->known_count++;
	}
	return verdict;
}

bool bt_selector_verdict_is_valid(
	struct bt_device_pools *pools, const struct bt_selector_program *program, uint32_t row)
{
	const struct bt_device_row *item = &pools->rows.items[row];
	const struct bt_cel_limits limits = {.cost_max = BT_CEL_COST_MAX};
	enum bt_verdict kept =
		row < program->row_capacity ? bt_selector_known(program, row) : BT_VERDICT_UNKNOWN;

	return kept == BT_VERDICT_UNKNOWN ||
		(item->spec != NULL &&
			bt_selector_compute(pools, program,
				bt_pool_slice_value(pools, item->slice)->spec.driver, item->spec,
				&limits, NULL) == kept);
}

void bt_selectors_forget_row(struct bt_device_pools *pools, uint32_t row)
{
	for (uint32_t i = 0; i < pools->programs.count; i++) {
		struct bt_selector_program *program = &pools->programs.items[i];
		if (row < program->row_capacity &&
			bt_selector_known(program, row) != BT_VERDICT_UNKNOWN) {
			program->verdicts[row >> 5] &= ~(UINT64_C(3) << ((row & 31) * 2));
			program->known_count--;
		}
	}
}

enum bt_verdict bt_dra_select(struct bt_dra *dra, struct bt_str expression,
	const struct bt_resource_slice *slice, const struct bt_device *device, uint32_t device_id,
	struct berth_error *err)
{
	struct bt_device_pools *pools = dra->pools;
	const struct bt_cel_limits limits = {.cost_max = BT_CEL_COST_MAX};
	uint32_t program = bt_selector_intern(pools, expression);
	uint32_t row = bt_device_rows_find(pools, device_id, device);
	enum bt_verdict verdict = BT_VERDICT_ERROR;

	if (row != BT_DEVICE_NONE) {
		verdict = bt_selector_verdict(pools, program, row, &limits);
	}
	if (verdict == BT_VERDICT_ERROR) {
		verdict = bt_selector_compute(pools, &pools->programs.items[program],
			slice->spec.driver, device, &limits, err);
	}
	return verdict;
}
