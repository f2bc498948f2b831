/* SPDX-License-Identifier: Apache-2.0 */
/* Checks after the command line is parsed: spec 11 sections 4.3 to 4.10. */
#include "options_run.h"

static struct run run;

/* --- logs --- */

/** Expects the error as plain text, because logging is not set up yet. */
static void expect_plain(const char *error)
{
	ck_assert_int_eq(run.next, BT_OPTIONS_EXIT_FAILURE);
	ck_assert_str_eq(run.error, error);
	ck_assert_str_eq(run.output, "");
	finish_run(&run);
}

START_TEST(test_options_check__edge_11_47_format)
{
	PARSE(&run, "--logging-format=xml");
	expect_plain("format: Invalid value: \"xml\": Unsupported log format\n");
}
END_TEST

START_TEST(test_options_check__edge_11_48_vmodule_of_json)
{
	PARSE(&run, "--logging-format=json", "--vmodule=a=3");
	expect_plain("vmodule: Forbidden: Only supported for text log format\n");
	ACCEPT(&run, "--vmodule=a=3");
	finish_run(&run);
}
END_TEST

START_TEST(test_options_check__logging)
{
	PARSE(&run, "--log-flush-frequency=0s");
	expect_plain("flushFrequency: Invalid value: \"0s\": Must be greater than zero\n");
	PARSE(&run, "--log-text-split-stream", "--log-text-info-buffer-size=1Ki",
		"--log-json-split-stream", "--log-json-info-buffer-size=1M");
	expect_plain("[options.text.splitStream: Forbidden: Feature LoggingAlphaOptions is "
		     "disabled, options.text.infoBufferSize: Forbidden: Feature "
		     "LoggingAlphaOptions is disabled, options.json.splitStream: Forbidden: "
		     "Feature LoggingAlphaOptions is disabled, options.json.infoBufferSize: "
		     "Forbidden: Feature LoggingAlphaOptions is disabled]\n");
	ACCEPT(&run, "--log-text-split-stream", "--feature-gates=LoggingAlphaOptions=true");
	ck_assert(run.options.log.split_stream);
	finish_run(&run);
	ACCEPT(&run, "--log-text-split-stream", "--feature-gates=LoggingAlphaOptions=true",
		"--logging-format=json");
	ck_assert(!run.options.log.split_stream);
	ck_assert_int_eq(run.options.log.format, BT_KLOG_JSON);
	finish_run(&run);
	PARSE(&run, "--logging-format=json", "--secure-port=-1");
	ck_assert_ptr_nonnull(strstr(run.error,
		"\"msg\":\"command failed\",\"err\":\"--secure-port -1 must be between 0 and"));
	finish_run(&run);
}
END_TEST

/* --- metrics --- */

START_TEST(test_options_check__edge_11_49_hidden_metrics)
{
	EXPECT_FAILED("\"metrics.showHiddenMetricsForVersion: Invalid value: \\\"1.36\\\": must "
		      "be omitted or have the value '1.35'; only the previous minor version is "
		      "allowed\"",
		"--show-hidden-metrics-for-version=1.36");
	ACCEPT(&run, "--show-hidden-metrics-for-version=1.35");
	finish_run(&run);
}
END_TEST

START_TEST(test_options_check__disabled_metrics)
{
	EXPECT_FAILED("\"metrics.disabledMetrics: Invalid value: [\\\"a\\\",\\\"x y\\\",\\\"\\\"]: "
		      "must be fully qualified metric names matching "
		      "\\\"^[a-zA-Z_:][a-zA-Z0-9_:]*$\\\", got \\\"x y\\\"\"",
		"--disabled-metrics=a,x y,");
}
END_TEST

#define BAD_KEYS \
	"must have keys with format `metricName,labelName` where metricName matches " \
	"\\\"[a-zA-Z_:][a-zA-Z0-9_:]*\\\" and labelName matches \\\"[a-zA-Z_][a-zA-Z0-9_]*\\\""

START_TEST(test_options_check__allowed_labels)
{
	EXPECT_FAILED("\"metrics.allowListMapping: Invalid value: "
		      "{\\\"a\\\":\\\"b\\\",\\\"z,l\\\":\\\"v\\\"}: " BAD_KEYS "\"",
		"--allow-metric-labels=z,l=v", "--allow-metric-labels=a=b");
	EXPECT_FAILED(
		"\"metrics.allowListMapping: Invalid value: {\\\"a,b:c\\\":\\\"d\\\"}: " BAD_KEYS
		"\"",
		"--allow-metric-labels=a,b:c=d");
}
END_TEST

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

START_TEST(test_options_check__allowed_labels_manifest)
{
	char path[] = "/tmp/bt-options-XX"
		      "XXXX";
	struct bt_strbuf flag = {0};
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	(void)close(fd);
	bt_strbuf_printf(&flag, "--allow-metric-labels-manifest=%s", path);
	write_text(path, "# labels\nm1,l1: v1,v2\n\"m:2,l2\": ''\n");
	ACCEPT(&run, bt_strbuf_c(&flag));
	ck_assert_uint_eq(run.options.metrics.allowed.count, 2);
	ck_assert(bt_str_equal_c(run.options.metrics.allowed.items[1].metric, "m:2"));
	ck_assert_uint_eq(run.options.metrics.allowed.items[0].values.count, 2);
	ck_assert_uint_eq(run.options.metrics.allowed.items[1].values.count, 0);
	finish_run(&run);
	PARSE(&run, bt_strbuf_c(&flag), "--allow-metric-labels=a,b=c");
	expect_failed(&run,
		"err=\"metrics: Forbidden: cannot specify both allowListMapping and "
		"allowListMappingManifest\"\n");
	write_text(path, "m1: v1\n");
	PARSE(&run, bt_strbuf_c(&flag));
	ck_assert_ptr_nonnull(strstr(run.error,
		"\\\": invalid allow list mapping in manifest: [metrics.allowListMapping: Invalid "
		"value: {\\\"m1\\\":\\\"v1\\\"}: must have keys"));
	expect_failed(&run, "]\"\n");
	write_text(path, "m1,l: [v1\n");
	PARSE(&run, bt_strbuf_c(&flag));
	ck_assert_ptr_nonnull(
		strstr(run.error, "\\\": failed to parse allow list manifest: yaml: line "));
	finish_run(&run);
	write_text(path, "m1,l: 1\n");
	PARSE(&run, bt_strbuf_c(&flag));
	expect_failed(&run, ": failed to parse allow list manifest: m1,l is not a string\"\n");
	ck_assert_int_eq(unlink(path), 0);
	PARSE(&run, bt_strbuf_c(&flag));
	expect_failed(&run, ": no such file or directory\"\n");
	EXPECT_FAILED("\"metrics.allowListMappingManifest: Invalid value: \\\"/nope\\\": failed "
		      "to read allow list manifest: open /nope: no such file or directory\"",
		"--allow-metric-labels-manifest=/nope");
	bt_strbuf_finish(&flag);
}
END_TEST

/* --- endpoints --- */

START_TEST(test_options_check__request_headers)
{
	EXPECT_FAILED("\"[empty value in \\\"requestheader-username-headers\\\", empty value in "
		      "\\\"requestheader-uid-headers\\\", empty value in "
		      "\\\"requestheader-group-headers\\\", empty value in "
		      "\\\"requestheader-extra-headers-prefix\\\", empty value in "
		      "\\\"requestheader-allowed-names\\\"]\"",
		"--requestheader-username-headers=x-remote-user, ",
		"--requestheader-group-headers=x-remote-group,",
		"--requestheader-extra-headers-prefix=x-remote-extra-,\t",
		"--requestheader-allowed-names=,", "--requestheader-uid-headers=x-remote-uid, ");
	EXPECT_FAILED("\"--requestheader-uid-headers is set without specifying the standard "
		      "X-Remote-Uid header - API aggregation will not work\"",
		"--requestheader-uid-headers=x-uid");
	EXPECT_FAILED("\"--requestheader-uid-headers requires the \\\"RemoteRequestHeaderUID\\\" "
		      "feature to be enabled\"",
		"--requestheader-uid-headers=x-remote-uid",
		"--feature-gates=RemoteRequestHeaderUID=false");
	ACCEPT(&run, "--requestheader-uid-headers=X-REMOTE-UID");
	ck_assert_str_eq(run.error, "");
	finish_run(&run);
	ACCEPT(&run, "--requestheader-username-headers=x-user",
		"--requestheader-group-headers=x-group",
		"--requestheader-extra-headers-prefix=x-extra-");
	ck_assert_ptr_nonnull(strstr(run.error,
		"] --requestheader-username-headers is set without specifying the standard "
		"X-Remote-User header - API aggregation will not work\n"));
	ck_assert_ptr_nonnull(strstr(run.error, "the standard X-Remote-Group header"));
	ck_assert_ptr_nonnull(strstr(run.error, "the standard X-Remote-Extra- header"));
	ck_assert_int_eq(run.error[0], 'W');
	finish_run(&run);
}
END_TEST

START_TEST(test_options_check__tls)
{
	EXPECT_FAILED("\"Cipher suite TLS_NOPE not supported or doesn't exist\"",
		"--tls-cipher-suites=TLS_AES_128_GCM_SHA256,TLS_NOPE");
	EXPECT_FAILED(
		"\"unknown tls version \\\"VersionTLS14\\\"\"", "--tls-min-version=VersionTLS14");
	EXPECT_FAILED("\"curve preference 0 is out of range (must be 1-65535)\"",
		"--tls-curve-preferences=23,0");
	EXPECT_FAILED("\"curve preference 65536 is out of range (must be 1-65535)\"",
		"--tls-curve-preferences=65536");
	EXPECT_FAILED("\"duplicate curve preference 23\"", "--tls-curve-preferences=23,29",
		"--tls-curve-preferences=23");
	ACCEPT(&run, "--tls-cipher-suites=TLS_RSA_WITH_RC4_128_SHA",
		"--tls-min-version=VersionTLS13");
	ck_assert_ptr_nonnull(strstr(
		run.error, "] Use of insecure cipher 'TLS_RSA_WITH_RC4_128_SHA' detected.\n"));
	finish_run(&run);
}
END_TEST

START_TEST(test_options_check__edge_11_50_allowed_paths)
{
	ACCEPT(&run, "--authorization-always-allow-paths=/healthz,/metrics");
	ck_assert_uint_eq(run.options.authorization.always_allow_paths.count, 2);
	ck_assert(
		bt_str_equal_c(run.options.authorization.always_allow_paths.items[1], "/metrics"));
	finish_run(&run);
	EXPECT_FAILED("\"only trailing * allowed in \\\"/a*b\\\"\"",
		"--authorization-always-allow-paths=/x*,/a*b");
}
END_TEST

START_TEST(test_options_check__everything_at_once)
{
	EXPECT_FAILED("\"[emulation version 1.37 is not between [1.33, 1.36.0], --secure-port "
		      "65536 must be between 0 and 65535, inclusive. 0 for turning off secure "
		      "port, empty value in \\\"requestheader-allowed-names\\\", "
		      "metrics.showHiddenMetricsForVersion: Invalid value: \\\"x\\\": must be "
		      "omitted or have the value '1.35'; only the previous minor version is "
		      "allowed]\"",
		"--emulated-version=1.37", "--secure-port=65536",
		"--requestheader-allowed-names= ", "--show-hidden-metrics-for-version=x");
}
END_TEST

BT_TEST_MAIN("options_check", test_options_check__edge_11_47_format,
	test_options_check__edge_11_48_vmodule_of_json, test_options_check__logging,
	test_options_check__edge_11_49_hidden_metrics, test_options_check__disabled_metrics,
	test_options_check__allowed_labels, test_options_check__allowed_labels_manifest,
	test_options_check__request_headers, test_options_check__tls,
	test_options_check__edge_11_50_allowed_paths, test_options_check__everything_at_once)
