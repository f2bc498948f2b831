/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench_run.h"

#include <stdio.h>
#include <sys/resource.h>

#include "bench/bench_cluster.h"

double bt_bench_rate(uint64_t count, double seconds)
{
	return seconds > 0.0 ? (double)count / seconds : 0.0;
}

/**
 * Returns the peak memory of this program in MiB; 0: unknown. getrusage would also count the memory
 * of the process before exec.
 */
static double high_water_mb(void)
{
	char line[256];
	double peak_mb = 0;
	FILE *file = fopen("/proc/self/status", "r");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		struct bt_str value = bt_str_from(line);
		int64_t kilobytes;
		if (bt_str_equal_c(bt_str_cut(&value, ':'), "VmHWM")) {
			value = bt_str_trim(value, BT_STR_SPACE);
			if (bt_str_parse_int64(bt_str_cut(&value, ' '), &kilobytes)) {
				peak_mb = (double)kilobytes / 1024.0;
			}
		}
	}
	if (file != NULL) {
		(void)fclose(file); /* open for reading only */
	}
	return peak_mb;
}

static double peak_rss_mb(void)
{
	struct rusage usage;
	double peak_mb = high_water_mb();
	if (peak_mb > 0) {
		return peak_mb;
	}
	(void)getrusage(RUSAGE_SELF, &usage); /* cannot fail for this argument */
	return (double)usage.ru_maxrss / 1024.0;
}

static void finish(struct bt_bench *bench)
{
	bt_bench_release_pending(bench);
	bt_vec_finish(&bench->pending);
	bt_vec_finish(&bench->digests);
	bt_strbuf_finish(&bench->text);
	bt_engine_destroy(bench->engine);
}

static int run_engine(struct bt_bench *bench, const struct bt_setup *setup, struct berth_error *err)
{
	int (*const modes[])(struct bt_bench * bench, struct berth_error * err) = {
		[BT_BENCH_PLACE] = bt_bench_place,
		[BT_BENCH_CHURN] = bt_bench_churn,
		[BT_BENCH_WORST] = bt_bench_worst,
		[BT_BENCH_NOMINATED] = bt_bench_nominated,
	};
	const struct bt_bench_workload *workload = bench->run->source.workload;
	enum bt_bench_mode mode = workload != NULL ? workload->mode : BT_BENCH_PLACE;
	int result = bt_setup_engine(setup, &bench->engine, err);
	if (result == 0) {
		result = bt_bench_load(bench, err);
	}
	return result == 0 ? modes[mode](bench, err) : result;
}

/** Loads a cluster and measures. `setup` replaces the setup of the run. */
static int run_once(struct bt_bench *bench, const struct bt_setup *setup, struct berth_error *err)
{
	const struct bt_bench_workload *workload = bench->run->source.workload;
	double start = bt_bench_now_seconds();
	int result;
	if (workload != NULL && workload->mode == BT_BENCH_BACKLOG) {
		result = bt_bench_backlog(bench, setup, err);
	} else if (workload != NULL && workload->mode == BT_BENCH_GATED) {
		result = bt_bench_gated(bench, setup, err);
	} else if (workload != NULL && workload->mode == BT_BENCH_GANGS) {
		result = bt_bench_gangs(bench, setup, err);
	} else {
		result = run_engine(bench, setup, err);
	}
	bench->result->load_seconds = bt_bench_now_seconds() - start - bench->result->seconds;
	return result;
}

int bt_bench_compare(const struct bt_bench *timed, const struct bt_bench *checking,
	uint32_t pods_max, struct berth_error *err)
{
	uint32_t count = timed->digests.count < pods_max ? timed->digests.count : pods_max;
	if (checking->digests.count < count) {
		return bt_error_set(err, BERTH_ERR_STATE,
			"the verifying run made %u decisions instead of %u",
			checking->digests.count, count);
	}
	for (uint32_t i = 0; i < count; i++) {
		if (timed->digests.items[i] != checking->digests.items[i]) {
			return bt_error_set(err, BERTH_ERR_STATE,
				"the verifying run decided otherwise about pending pod number %u",
				i);
		}
	}
	timed->result->checked_count = count;
	return 0;
}

/** Repeats the run with verification of every decision, and compares the decisions of both runs. */
static int check(const struct bt_bench *timed, struct berth_error *err)
{
	const struct bt_bench_run *run = timed->run;
	struct bt_setup setup = *run->setup;
	struct bt_bench_result result = {0};
	uint32_t pods_max = run->check_pods != 0 ? run->check_pods : UINT32_MAX;
	struct bt_bench bench = {
		.run = run, .result = &result, .pending_max = pods_max, .keeps_digests = true};
	setup.verify = true;
	int code = run_once(&bench, &setup, err);
	if (code == 0) {
		code = bt_bench_compare(timed, &bench, pods_max, err);
	}
	finish(&bench);
	return code;
}

int bt_bench_run(
	const struct bt_bench_run *run, struct bt_bench_result *out_result, struct berth_error *err)
{
	*out_result = (struct bt_bench_result){.verified_inline = run->setup->verify};
	struct bt_bench bench = {.run = run,
		.result = out_result,
		.pending_max = UINT32_MAX,
		.keeps_digests = run->check};
	int code = run_once(&bench, run->setup, err);
	out_result->peak_rss_mb = peak_rss_mb();
	if (code == 0 && run->check) {
		/* Free the first cluster before the second is made: memory for one is enough. */
		bt_bench_release_pending(&bench);
		bt_engine_destroy(bench.engine);
		bench.engine = NULL;
		code = check(&bench, err);
	}
	finish(&bench);
	return code;
}
