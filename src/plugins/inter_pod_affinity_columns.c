/* SPDX-License-Identifier: Apache-2.0 */
/* Filter of InterPodAffinity for many nodes at once, and what tells nodes apart in a cycle. */
#include "plugins/inter_pod_affinity.h"
#include "plugins/common_columns.h"

/* --- Filter --- */

/** What a domain's number says: true where the slots of the domain are to be rejected. */
typedef bool (*judge_function)(int64_t number);

static bool is_positive(int64_t number)
{
	return number > 0;
}

static bool is_not_positive(int64_t number)
{
	return number <= 0;
}

static bool never(BT_UNUSED int64_t number)
{
	return false;
}

/** Slots of domains that one table rejects. */
struct rejection {
	const struct bt_affinity_tables *tables;
	uint32_t table;
	judge_function judge;
	bool without_label; /* nodes that lack the key are rejected too */
	uint8_t reason;
};

/** By domain, changes included; borrowed until the next pass. */
static const uint8_t *judge_domains(
	struct bt_affinity_plugin *instance, const struct rejection *rejection)
{
	const struct bt_affinity_table *table = &rejection->tables->items[rejection->table];
	const struct bt_domain_changes *changes = &rejection->tables->changes;
	uint32_t count = table->column->dictionary.count;
	uint8_t *verdicts;

	bt_vec_reserve(&instance->verdicts, count);
	bt_vec_reserve(&instance->sums, count);
	verdicts = instance->verdicts.items;
	bt_affinity_table_sum(table, instance->sums.items);
	for (uint32_t i = 1; i < count; i++) {
		verdicts[i] = rejection->judge(instance->sums.items[i]) ? rejection->reason : 0;
	}
	for (uint32_t i = 0; i < changes->count; i++) {
		uint32_t domain = changes->items[i].domain;
		if (changes->items[i].table == rejection->table) {
			int64_t number =
				bt_affinity_tables_at(rejection->tables, rejection->table, domain);
			verdicts[domain] = rejection->judge(number) ? rejection->reason : 0;
		}
	}
	verdicts[0] = rejection->without_label ? rejection->reason : 0;
	return verdicts;
}

static uint32_t judge_slot(const struct rejection *rejection, uint32_t domain)
{
	bool rejected = domain == 0 ? rejection->without_label
				    : rejection->judge(bt_affinity_tables_at(
					      rejection->tables, rejection->table, domain));

	return rejected ? rejection->reason : 0;
}

static bool reject_by_tables(struct bt_affinity_plugin *instance, struct rejection *rejection,
	struct bt_slot_range range, uint32_t *detail)
{
	bool any = false;

	for (uint32_t i = 0; i < rejection->tables->count; i++) {
		rejection->table = i;
		/* Gives detail to the slots whose domain in the table is rejected and that have
		 * none yet. */
		const struct bt_affinity_table *table = &rejection->tables->items[rejection->table];
		const uint32_t *domains = table->column->values;
		const uint8_t *verdicts = bt_affinity_table_sums_pay(table, range.count)
			? judge_domains(instance, rejection)
			: NULL;
		uint32_t rejected = 0;

		for (uint32_t k = 0; k < range.count; k++) {
			uint32_t slot = bt_slot_at(range, k);
			uint32_t domain = domains[slot];

			if (detail[slot] == 0) {
				detail[slot] = verdicts != NULL ? verdicts[domain]
								: judge_slot(rejection, domain);
			}
			rejected |= detail[slot];
		}
		any = rejected != 0 || any;
	}
	return any;
}

bool bt_affinity_filter_column(struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED const struct bt_state *state,
	struct bt_slot_range range, uint32_t *detail)
{
	struct bt_affinity_plugin *instance = (struct bt_affinity_plugin *)plugin;
	const struct bt_affinity_filter_data *counted = data;
	struct rejection near = {.tables = &counted->near,
		.judge = bt_affinity_is_first_of_its_kind(counted) ? never : is_not_positive,
		.without_label = true,
		.reason = BT_DETAIL_AFFINITY};
	struct rejection apart = {
		.tables = &counted->apart, .judge = is_positive, .reason = BT_DETAIL_ANTI_AFFINITY};
	struct rejection existing = {
		.tables = &counted->existing, .judge = is_positive, .reason = BT_DETAIL_EXISTING};
	bool any;

	for (uint32_t i = 0; i < counted->affinity.count; i++) {
		if (counted->affinity.items[i].table == BT_NO_TABLE) {
			bt_fill_slots(range, detail, BT_DETAIL_AFFINITY);
			return range.count != 0;
		}
	}
	bt_fill_slots(range, detail, 0);
	any = reject_by_tables(instance, &near, range, detail);
	any = reject_by_tables(instance, &apart, range, detail) || any;
	return reject_by_tables(instance, &existing, range, detail) || any;
}

/* --- cells --- */

/** What a trait asks of a slot: its domain of a key that no two nodes share. */
struct trait_source {
	const struct bt_label_column *column;
	/* NULL: the key is not in them */
	const struct bt_affinity_table *near;
	const struct bt_affinity_table *apart;
	const struct bt_affinity_table *existing;
	const struct bt_affinity_table *weights;
	struct bt_arena *arena; /* of the cycle */
};

/** First word of a trait's identity, beside the key. */
enum trait_kind {
	TRAIT_FILTER = 1,
	TRAIT_WEIGHT,
};

static const struct bt_affinity_table *find_table(
	const struct bt_affinity_tables *tables, const struct bt_label_column *column)
{
	for (uint32_t i = 0; tables != NULL && i < tables->count; i++) {
		if (tables->items[i].column == column) {
			return &tables->items[i];
		}
	}
	return NULL;
}

/** All that Filter can see of the numbers: whether they are positive, and that there is a label. */
static uint64_t filter_value(const void *context, uint32_t slot)
{
	const struct trait_source *source = context;
	uint32_t domain = source->column->values[slot];

	if (domain == 0) {
		return 0;
	}
	return 1U +
		(source->near != NULL && bt_affinity_table_at(source->near, domain) > 0 ? 2U : 0) +
		(source->apart != NULL && bt_affinity_table_at(source->apart, domain) > 0 ? 4U
											  : 0) +
		(source->existing != NULL && bt_affinity_table_at(source->existing, domain) > 0
				? 8U
				: 0);
}

/** values |= bit where the table's number is positive; sums: scratch for the key's domains. */
static void add_bit(const struct trait_source *source, const struct bt_affinity_table *table,
	int64_t *sums, uint32_t bit, uint32_t slot_count, uint32_t *values)
{
	const uint32_t *domains = source->column->values;

	if (table == NULL) {
		return;
	}
	bt_affinity_table_sum(table, sums);
	sums[0] = 0;
	for (uint32_t slot = 0; slot < slot_count; slot++) {
		values[slot] |= sums[domains[slot]] > 0 ? bit : 0;
	}
}

/** filter_value of all slots. */
static void filter_values(const void *context, uint32_t slot_count, uint32_t *values)
{
	const struct trait_source *source = context;
	int64_t *sums =
		bt_arena_alloc(source->arena, source->column->dictionary.count * sizeof(*sums));

	for (uint32_t slot = 0; slot < slot_count; slot++) {
		values[slot] = source->column->values[slot] != 0;
	}
	add_bit(source, source->near, sums, 2, slot_count, values);
	add_bit(source, source->apart, sums, 4, slot_count, values);
	add_bit(source, source->existing, sums, 8, slot_count, values);
}

static uint64_t weight_value(const void *context, uint32_t slot)
{
	const struct trait_source *source = context;

	return (uint64_t)bt_affinity_table_at(source->weights, source->column->values[slot]);
}

/** A number for each of the table's sums. Slots of the table that finds it; a power of two. */
#define SUM_TABLE_SIZE 1024

struct numbered_sum {
	int64_t sum;
	uint32_t number; /* + 1; 0: free */
};

/** The sum's number; a new one while there is room, BT_SLOT_NONE after that. */
static uint32_t number_of(struct numbered_sum *table, int64_t sum, uint32_t *count)
{
	uint32_t at = (uint32_t)bt_hash_u64(0, (uint64_t)sum) % SUM_TABLE_SIZE;

	while (table[at].number != 0 && table[at].sum != sum) {
		at = (at + 1) % SUM_TABLE_SIZE;
	}
	if (table[at].number == 0) {
		if (*count == SUM_TABLE_SIZE / 2) {
			return BT_SLOT_NONE;
		}
		table[at] = (struct numbered_sum){sum, ++*count};
	}
	return table[at].number - 1;
}

/**
 * Numbers that tell apart what weight_value tells apart. Small ones, unless there are more sums
 * than anybody has cells for: then domains get numbers of their own.
 */
static void weight_values(const void *context, uint32_t slot_count, uint32_t *values)
{
	const struct trait_source *source = context;
	uint32_t domain_count = source->column->dictionary.count;
	int64_t *sums = bt_arena_alloc(source->arena, domain_count * sizeof(*sums));
	uint32_t *numbers = bt_arena_alloc(source->arena, domain_count * sizeof(*numbers));
	struct numbered_sum *table =
		BT_ARENA_NEW_ARRAY(source->arena, struct numbered_sum, SUM_TABLE_SIZE);
	uint32_t count = 0;

	bt_affinity_table_sum(source->weights, sums);
	sums[0] = bt_affinity_table_at(source->weights, 0);
	for (uint32_t domain = 0; domain < domain_count; domain++) {
		uint32_t number = number_of(table, sums[domain], &count);

		numbers[domain] = number != BT_SLOT_NONE ? number : SUM_TABLE_SIZE + domain;
	}
	for (uint32_t slot = 0; slot < slot_count; slot++) {
		values[slot] = numbers[source->column->values[slot]];
	}
}

static void add_value_trait(struct bt_trait_list *out, const struct trait_source *source,
	enum trait_kind kind, uint64_t (*value)(const void *, uint32_t))
{
	const struct bt_affinity_table *const tables[] = {
		source->near, source->apart, source->existing, source->weights};
	struct bt_node_trait trait = {
		.identity = {(uint64_t)kind << 32 | source->column->key.id, 1, 2},
		.reads = BT_CHANGE_PODS | BT_CHANGE_AFFINITY_PODS | BT_CHANGE_LABELS |
			BT_CHANGE_EXISTENCE,
		.value = value,
		.column = kind == TRAIT_FILTER ? filter_values : weight_values,
		.context = source,
	};

	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(tables); i++) {
		for (uint32_t word = 0; word < 2; word++) {
			trait.identity[word + 1] = bt_hash_u64(trait.identity[word + 1],
				tables[i] != NULL ? tables[i]->identity[word] : i);
		}
	}
	bt_trait_list_add(out, &trait);
}

/** The traits of one key. */
static void add_key(struct bt_trait_list *out, const struct bt_label_column *column,
	const struct bt_affinity_tables *const *tables)
{
	struct trait_source on_filter = {
		.column = column,
		.near = find_table(tables[0], column),
		.apart = find_table(tables[1], column),
		.existing = find_table(tables[2], column),
		.arena = out->arena,
	};
	struct trait_source on_weights = {
		.column = column,
		.weights = find_table(tables[3], column),
		.arena = out->arena,
	};
	struct trait_source *kept;

	if (!bt_label_column_is_unique(column)) {
		bt_topology_add_domain_trait(out, column);
		return;
	}
	if (on_filter.near != NULL || on_filter.apart != NULL || on_filter.existing != NULL) {
		kept = BT_ARENA_NEW(out->arena, struct trait_source);
		*kept = on_filter;
		add_value_trait(out, kept, TRAIT_FILTER, filter_value);
	}
	if (on_weights.weights != NULL) {
		kept = BT_ARENA_NEW(out->arena, struct trait_source);
		*kept = on_weights;
		add_value_trait(out, kept, TRAIT_WEIGHT, weight_value);
	}
}

/** What the cycle counts by, in the order of its filters; NULL: none of the kind. */
struct counted_tables {
	const struct bt_affinity_tables *items[4];
};

static bool find_counted(struct bt_plugin *plugin, const struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct counted_tables *out)
{
	const struct bt_affinity_filter_data *filter = bt_plugin_pre_filter_data(plugin, cycle);
	const struct bt_affinity_score_data *score;

	*out = (struct counted_tables){0};
	if (filter != NULL) {
		*out = (struct counted_tables){{&filter->near, &filter->apart, &filter->existing}};
	}
	if (filter != NULL && !filter->counted) {
		return false;
	}
	if (bt_affinity_never_scores(plugin, pod)) {
		return cycle->borrows_counters;
	}
	score = bt_affinity_prepare_score(plugin, cycle, pod);
	if (score == NULL || !score->counted) {
		return false;
	}
	out->items[3] = &score->weights;
	return true;
}

bool bt_affinity_cell_traits(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_trait_list *out)
{
	struct counted_tables tables;

	if (!find_counted(plugin, cycle, pod, &tables)) {
		return false;
	}
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(tables.items); i++) {
		uint32_t count = tables.items[i] != NULL ? tables.items[i]->count : 0;

		for (uint32_t k = 0; k < count; k++) {
			const struct bt_label_column *column = tables.items[i]->items[k].column;
			bool known = false;

			for (uint32_t before = 0; before < i; before++) {
				known = known || find_table(tables.items[before], column) != NULL;
			}
			if (!known) {
				add_key(out, column, tables.items);
			}
		}
	}
	return true;
}
