/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: spec 11 sections 4 and 5. */
#include "options_run.h"

static struct run run;

/** Asserts that standard error has the usage and then the error. */
static void expect_flag_error(const char *error)
{
	struct bt_strbuf end = {0};
	bt_strbuf_printf(&end, "\nError: %s\n", error);
	ck_assert_int_eq(strncmp(run.error, "Usage:\n  kube-scheduler [flags]\n", 32), 0);
	expect_failed(&run, bt_strbuf_c(&end));
	bt_strbuf_finish(&end);
}

START_TEST(test_options__edge_11_01_argument)
{
	PARSE(&run, "extra");
	ck_assert_str_eq(run.error,
		"Error: \"kube-scheduler\" does not take any arguments, got [\"extra\"]\n");
	expect_failed(&run, "\n");
	PARSE(&run, "", "a b", "--", "--c");
	expect_failed(&run, "any arguments, got [\"\" \"a b\" \"--c\"]\n");
}
END_TEST

START_TEST(test_options__edge_11_02_empty_argument)
{
	ACCEPT(&run, "");
	finish_run(&run);
}
END_TEST

START_TEST(test_options__edge_11_03_unknown_flag)
{
	PARSE(&run, "--unknown");
	expect_flag_error("unknown flag: --unknown");
	PARSE(&run, "--port=10251");
	expect_flag_error("unknown flag: --port");
	PARSE(&run, "-x");
	expect_flag_error("unknown shorthand flag: 'x' in -x");
}
END_TEST

START_TEST(test_options__edge_11_04_underscores)
{
	ACCEPT(&run, "--leader_elect=false");
	ck_assert(run.options.config_flags.leader_elect.present);
	ck_assert(!run.options.config_flags.leader_elect.value);
	finish_run(&run);
}
END_TEST

START_TEST(test_options__edge_11_05_boolean_with_a_blank)
{
	PARSE(&run, "--leader-elect", "false");
	ck_assert_str_eq(run.error,
		"Error: \"kube-scheduler\" does not take any arguments, got [\"false\"]\n");
	finish_run(&run);
}
END_TEST

static void expect_output(const char *output)
{
	ck_assert_int_eq(run.next, BT_OPTIONS_EXIT_OK);
	ck_assert_str_eq(run.output, output);
	ck_assert_str_eq(run.error, "");
	finish_run(&run);
}

START_TEST(test_options__edge_11_06_version)
{
	PARSE(&run, "--version");
	expect_output("Kubernetes v1.36.2\n");
	PARSE(&run, "--version=true");
	expect_output("Kubernetes v1.36.2\n");
	ACCEPT(&run, "--version=false");
	finish_run(&run);
	ACCEPT(&run, "--version", "--version=false");
	finish_run(&run);
}
END_TEST

START_TEST(test_options__edge_11_07_version_replaced)
{
	PARSE(&run, "--version=v1.36.2-custom.1", "--version=true");
	expect_output("Kubernetes v1.36.2-custom.1\n");
	ACCEPT(&run, "--version=v1.36.2-custom.1");
	ck_assert(bt_str_equal_c(run.options.versions.git_version, "v1.36.2-custom.1"));
	finish_run(&run);
}
END_TEST

START_TEST(test_options__edge_11_08_version_of_another_release)
{
	PARSE(&run, "--version=v1.35.0");
	expect_flag_error("invalid argument \"v1.35.0\" for \"--version\" flag: version v1.35.0 "
			  "is not v1.36.2, which this program was built as");
	PARSE(&run, "--version=yes");
	expect_flag_error("invalid argument \"yes\" for \"--version\" flag: strconv.ParseBool: "
			  "parsing \"yes\": invalid syntax");
}
END_TEST

START_TEST(test_options__version_raw)
{
	PARSE(&run, "--version=raw");
	ck_assert_int_eq(run.next, BT_OPTIONS_EXIT_OK);
	ck_assert_int_eq(strncmp(run.output,
				 "version.Info{Major:\"1\", Minor:\"36\", EmulationMajor:\"\", "
				 "EmulationMinor:\"\", MinCompatibilityMajor:\"\", "
				 "MinCompatibilityMinor:\"\", GitVersion:\"v1.36.2\", GitCommit:\"",
				 147),
		0);
	ck_assert_ptr_nonnull(strstr(run.output, "\", GitTreeState:\"clean\", BuildDate:\""));
	ck_assert_ptr_nonnull(strstr(run.output, ", Platform:\"linux/"));
	ck_assert_str_eq(run.output + strlen(run.output) - 3, "\"}\n");
	finish_run(&run);
}
END_TEST

START_TEST(test_options__edge_11_09_unknown_gate)
{
	EXPECT_FAILED("\"unrecognized feature gate: Nope\"", "--strict-feature-gates",
		"--feature-gates=Nope=true");
	EXPECT_FAILED("\"unrecognized feature gate: Nope\"", "--version",
		"--feature-gates=Nope=true", "--strict-feature-gates=true");
}
END_TEST

/**
 * A control plane may use one list of gates for components of several releases, so unknown gates
 * only warn.
 */
START_TEST(test_options__unknown_gate_is_a_warning)
{
	ACCEPT(&run, "--feature-gates=Nope=true,OpportunisticBatching=false,Later=false");
	ck_assert_ptr_nonnull(strstr(run.error,
		"] \"Warning: unknown feature gate is ignored.\" featureGate=\"Nope\" "
		"value=true\n"));
	ck_assert_ptr_nonnull(strstr(run.error, "featureGate=\"Later\" value=false\n"));
	ck_assert(!bt_gate_enabled(&run.options.gates, BT_GATE_OPPORTUNISTIC_BATCHING));
	finish_run(&run);
	EXPECT_FAILED("\"missing bool value for Nope\"", "--feature-gates=Nope");
	EXPECT_FAILED("\"invalid value of Nope=yes, err: strconv.ParseBool: parsing "
		      "\\\"yes\\\": invalid syntax\"",
		"--feature-gates=Nope=yes");
}
END_TEST

START_TEST(test_options__edge_11_10_locked_gate)
{
	EXPECT_FAILED("\"cannot set feature gate DynamicResourceAllocation to false, feature is "
		      "locked to true\"",
		"--feature-gates=DynamicResourceAllocation=false");
	PARSE(&run, "--feature-gates=DynamicResourceAllocation=true");
	ck_assert_int_eq(run.next, BT_OPTIONS_GO_ON);
	ck_assert_ptr_nonnull(strstr(run.error,
		"] \"Warning: setting GA feature gate. It will be removed in a future release.\" "
		"featureGate=\"DynamicResourceAllocation\" value=true\n"));
	finish_run(&run);
	ACCEPT(&run, "--feature-gates=GitRepoVolumeDriver=true");
	ck_assert_ptr_nonnull(strstr(run.error,
		"] \"Warning: setting deprecated feature gate. It will be removed in a future "
		"release.\" featureGate=\"GitRepoVolumeDriver\" value=true\n"));
	finish_run(&run);
}
END_TEST

START_TEST(test_options__edge_11_11_gate_without_value)
{
	EXPECT_FAILED(
		"\"missing bool value for GangScheduling\"", "--feature-gates=GangScheduling");
}
END_TEST

START_TEST(test_options__edge_11_12_gate_without_boolean)
{
	EXPECT_FAILED("\"invalid value of GangScheduling=yes, err: strconv.ParseBool: parsing "
		      "\\\"yes\\\": invalid syntax\"",
		"--feature-gates=GangScheduling=yes");
}
END_TEST

START_TEST(test_options__edge_11_13_gate_needs_another)
{
	EXPECT_FAILED("\"GangScheduling is enabled, but depends on features that are disabled: "
		      "[GenericWorkload]\"",
		"--feature-gates=GangScheduling=true");
	ACCEPT(&run, "--feature-gates=GangScheduling=true", "--feature-gates",
		"GenericWorkload=true");
	ck_assert(bt_gate_enabled(&run.options.gates, BT_GATE_GANG_SCHEDULING));
	finish_run(&run);
}
END_TEST

START_TEST(test_options__edge_11_14_mixed_prefixes)
{
	EXPECT_FAILED("\"set kube feature gates with default empty prefix or kube: prefix "
		      "consistently, do not mix use\"",
		"--feature-gates=kube:GenericWorkload=true,GangScheduling=true");
}
END_TEST

START_TEST(test_options__edge_11_15_component)
{
	EXPECT_FAILED(
		"\"component not registered: apiserver\"", "--feature-gates=apiserver:X=true");
}
END_TEST

START_TEST(test_options__edge_11_16_all_alpha)
{
	ACCEPT(&run, "--feature-gates=AllAlpha=true");
	ck_assert(bt_gate_enabled(&run.options.gates, BT_GATE_TOPOLOGY_AWARE_WORKLOAD_SCHEDULING));
	finish_run(&run);
}
END_TEST

START_TEST(test_options__edge_11_17_emulated_version_out_of_range)
{
	EXPECT_FAILED("\"[emulation version 1.32 is not between [1.33, 1.36.0], "
		      "minCompatibilityVersion version 1.33 is not between [1.33, 1.32]]\"",
		"--emulated-version=1.32");
}
END_TEST

START_TEST(test_options__edge_11_18_emulated_patch)
{
	EXPECT_FAILED(
		"\"patch version not allowed, got: kube=1.35.1\"", "--emulated-version=1.35.1");
	EXPECT_FAILED("\"duplicate version flag, kube=1.35 and kube=1.36\"",
		"--emulated-version=1.35", "--emulated-version=kube=1.36");
}
END_TEST

START_TEST(test_options__emulated_gates)
{
	ACCEPT(&run, "--emulated-version=kube=1.34");
	ck_assert_int_eq(run.options.versions.release.emulated_minor, 34);
	ck_assert_int_eq(run.options.versions.release.min_compatibility_minor, 33);
	ck_assert(!bt_gate_enabled(&run.options.gates, BT_GATE_NODE_DECLARED_FEATURES));
	finish_run(&run);
	EXPECT_FAILED("\"cannot set feature gate GangScheduling to true, feature is PreAlpha at "
		      "emulated version 1.34, min compatibility version 1.33\"",
		"--emulated-version=1.34", "--feature-gates=GangScheduling=true");
}
END_TEST

START_TEST(test_options__edge_11_19_no_port)
{
	ACCEPT(&run, "--secure-port=0", "--tls-min-version=unused");
	ck_assert_int_eq(run.options.serving.secure_port, 0);
	finish_run(&run);
}
END_TEST

START_TEST(test_options__edge_11_20_port_out_of_range)
{
	EXPECT_FAILED("\"--secure-port 70000 must be between 0 and 65535, inclusive. 0 for "
		      "turning off secure port\"",
		"--secure-port=70000");
	EXPECT_FAILED("\"--secure-port -1 must be between 0 and 65535, inclusive. 0 for turning "
		      "off secure port\"",
		"--secure-port=-1");
}
END_TEST

START_TEST(test_options__bad_values)
{
	static const struct {
		const char *argument;
		const char *error;
	} rows[] = {
		{"--secure-port=x",
			"invalid argument \"x\" for \"--secure-port\" flag: strconv.ParseInt: "
			"parsing \"x\": invalid syntax"},
		{"--secure-port=99999999999999999999",
			"invalid argument \"99999999999999999999\" for \"--secure-port\" flag: "
			"strconv.ParseInt: parsing \"99999999999999999999\": value out of range"},
		{"--kube-api-burst=3000000000",
			"invalid argument \"3000000000\" for \"--kube-api-burst\" flag: "
			"strconv.ParseInt: parsing \"3000000000\": value out of range"},
		{"--kube-api-qps=fast",
			"invalid argument \"fast\" for \"--kube-api-qps\" flag: "
			"strconv.ParseFloat: parsing \"fast\": invalid syntax"},
		{"--leader-elect=maybe",
			"invalid argument \"maybe\" for \"--leader-elect\" flag: "
			"strconv.ParseBool: parsing \"maybe\": invalid syntax"},
		{"-v=-1",
			"invalid argument \"-1\" for \"-v, --v\" flag: strconv.ParseUint: parsing "
			"\"-1\": invalid syntax"},
		{"--leader-elect-retry-period=2",
			"invalid argument \"2\" for \"--leader-elect-retry-period\" flag: time: "
			"missing unit in duration \"2\""},
		{"--bind-address=here",
			"invalid argument \"here\" for \"--bind-address\" flag: failed to parse "
			"IP: \"here\""},
		{"--tls-sni-cert-key=cert",
			"invalid argument \"cert\" for \"--tls-sni-cert-key\" flag: expected comma "
			"separated certificate and key file paths"},
		{"--tls-sni-cert-key=cert,key:",
			"invalid argument \"cert,key:\" for \"--tls-sni-cert-key\" flag: empty "
			"names list is not allowed"},
		{"--tls-curve-preferences=23,x",
			"invalid argument \"23,x\" for \"--tls-curve-preferences\" flag: "
			"strconv.ParseInt: parsing \"x\": invalid syntax"},
		{"--disabled-metrics=a\"b",
			"invalid argument \"a\\\"b\" for \"--disabled-metrics\" flag: parse error "
			"on line 1, column 2: bare \" in non-quoted-field"},
		{"--allow-metric-labels=m",
			"invalid argument \"m\" for \"--allow-metric-labels\" flag: m must be "
			"formatted as key=value"},
		{"--vmodule=a",
			"invalid argument \"a\" for \"--vmodule\" flag: \"a\" does not have the "
			"pattern=N format"},
		{"--config", "flag needs an argument: --config"},
		{"-v", "flag needs an argument: 'v' in -v"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		PARSE(&run, rows[i].argument);
		expect_flag_error(rows[i].error);
	}
}
END_TEST

static void check_order(const char *text, const char *first, const char *second)
{
	const char *at = strstr(text, first);
	ck_assert_msg(at != NULL && strstr(at, second) != NULL, "%s, then %s", first, second);
	ck_assert_msg(strstr(text, second) > at, "%s, then %s", first, second);
}

/**
 * Checks that the words are in the text. Line breaks are ignored, because the help breaks long
 * texts into lines.
 */
static void check_words(const char *text, const char *words)
{
	struct bt_strbuf flat = {0};
	while (*text != '\0') {
		size_t length = strcspn(text, " \n");
		bt_strbuf_printf(&flat, "%.*s ", (int)length, text);
		text += length;
		text += strspn(text, " \n");
	}
	ck_assert_msg(strstr(bt_strbuf_c(&flat), words) != NULL, "%s", words);
	bt_strbuf_finish(&flat);
}

START_TEST(test_options__help)
{
	static const char *const sections[] = {"Misc", "Secure serving", "Authentication",
		"Authorization", "Deprecated", "Leader election", "Feature gate", "Metrics", "Logs",
		"Global"};
	const char *at;
	PARSE(&run, "--help", "ignored");
	ck_assert_int_eq(run.next, BT_OPTIONS_EXIT_OK);
	ck_assert_str_eq(run.error, "");
	at = strstr(run.output, "\nUsage:\n  kube-scheduler [flags]\n");
	ck_assert_ptr_nonnull(at);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(sections); i++) {
		struct bt_strbuf title = {0};
		bt_strbuf_printf(&title, "\n\n%s flags:\n\n", sections[i]);
		at = strstr(at, bt_strbuf_c(&title));
		ck_assert_msg(at != NULL, "%s", sections[i]);
		at++;
		bt_strbuf_finish(&title);
	}
	check_words(run.output, " (default 15s) ");
	check_words(run.output, " (default \"leases\") ");
	check_words(run.output, " (default [x-remote-user]) ");
	ck_assert_ptr_nonnull(strstr(run.output, "\n  -v, --v Level "));
	ck_assert_ptr_nonnull(strstr(run.output, "\n      --version version[=true]   "));
	ck_assert_ptr_nonnull(strstr(
		run.output, " kube:NodeDeclaredFeatures=true|false (BETA - default=true)\n"));
	/* all gates are sorted in one list, with the two gates for whole stages among them */
	check_order(run.output, "kube:APIServingWithRoutine=", "kube:AllAlpha=");
	check_order(run.output, "kube:AllBeta=", "kube:AllowParsingUserUIDFromCertAuth=");
	check_order(run.output, "kube:WorkloadAwarePreemption=", "kube:WorkloadWithJob=");
	ck_assert_ptr_null(strstr(run.output, "kube:GitRepoVolumeDriver="));
	ck_assert_ptr_null(strstr(run.output, "kube:VolumeAttributesClass"));
	finish_run(&run);
	PARSE(&run, "-h");
	ck_assert_int_eq(run.next, BT_OPTIONS_EXIT_OK);
	finish_run(&run);
	PARSE(&run, "-h", "--wrong");
	expect_flag_error("unknown flag: --wrong");
}
END_TEST

static const char *flag_of(const char *name)
{
	for (uint32_t i = 0; i < run.options.flags.count; i++) {
		if (strcmp(run.options.flags.items[i].name, name) == 0) {
			return run.options.flags.items[i].value.data;
		}
	}
	ck_abort_msg("no flag %s", name);
	return NULL;
}

START_TEST(test_options__flags_as_text)
{
	static const char *const rows[][2] = {
		{"allow-metric-labels", "[m,l=v1,v2]"},
		{"bind-address", "0.0.0.0"},
		{"emulated-version", "[1.36]"},
		{"feature-gates", "AllAlpha=false,AllBeta=true"},
		{"help", "false"},
		{"kube-api-qps", "0.1"},
		{"leader-elect", "true"},
		{"leader-elect-renew-deadline", "1m30s"},
		{"pod-max-in-unschedulable-pods-duration", "5m0s"},
		{"requestheader-username-headers", "[x-remote-user,X-B]"},
		{"requestheader-group-headers", "[x-remote-group]"},
		{"secure-port", "16"},
		{"tls-curve-preferences", "[29,23]"},
		{"tls-sni-cert-key", "[a,b,c,d:e.f]"},
		{"v", "0"},
		{"version", "false"},
	};
	ACCEPT(&run, "--kube-api-qps=.1", "--leader-elect-renew-deadline=90s",
		"--requestheader-username-headers=x-remote-user",
		"--requestheader-username-headers=X-B", "--tls-curve-preferences=29,23",
		"--allow-metric-labels=m,l=v1,v2", "--feature-gates=AllAlpha=false",
		"--feature-gates=AllBeta=true", "--tls-sni-cert-key=a,b",
		"--tls-sni-cert-key=c,d:e.f", "--emulated-version=1.36", "--secure-port=0x10");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		ck_assert_str_eq(flag_of(rows[i][0]), rows[i][1]);
	}
	for (uint32_t i = 1; i < run.options.flags.count; i++) {
		ck_assert_int_lt(strcmp(run.options.flags.items[i - 1].name,
					 run.options.flags.items[i].name),
			0);
	}
	finish_run(&run);
	static const char *const addresses[][2] = {
		{"--bind-address=::ffff:127.0.0.1", "127.0.0.1"},
		{"--bind-address=::FFFF:0.0.0.0", "0.0.0.0"},
		{"--bind-address=0:0::0", "::"},
		{"--bind-address=2001:DB8::0:1", "2001:db8::1"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(addresses); i++) {
		ACCEPT(&run, addresses[i][0]);
		ck_assert_str_eq(flag_of("bind-address"), addresses[i][1]);
		finish_run(&run);
	}
	PARSE(&run, "-v1", "--config=a\"b");
	ck_assert_ptr_nonnull(strstr(run.error, "] FLAG: --config=\"a\\\"b\"\n"));
	ck_assert_ptr_nonnull(strstr(run.error, "] FLAG: --write-config-to=\"\"\n"));
	finish_run(&run);
}
END_TEST

static void expect_list(const bt_str_list *list, const char *expected)
{
	struct bt_strbuf text = {0};
	for (uint32_t i = 0; i < list->count; i++) {
		bt_strbuf_printf(&text, "%s%.*s", i > 0 ? "|" : "", BT_STR_ARG(list->items[i]));
	}
	ck_assert_str_eq(bt_strbuf_c(&text), expected);
	bt_strbuf_finish(&text);
}

START_TEST(test_options__defaults)
{
	const struct bt_daemon_options *options = &run.options;
	ACCEPT(&run, "--config=");
	ck_assert(bt_str_equal_c(options->serving.bind_address, "0.0.0.0"));
	ck_assert_int_eq(options->serving.secure_port, 10259);
	ck_assert_int_eq(options->authentication.token_cache_ttl_ns, 10000000000);
	ck_assert(options->authentication.tolerate_lookup_failure);
	expect_list(&options->authentication.requestheader_username_headers, "x-remote-user");
	expect_list(&options->authentication.requestheader_group_headers, "x-remote-group");
	expect_list(&options->authentication.requestheader_extra_prefixes, "x-remote-extra-");
	expect_list(&options->authentication.requestheader_uid_headers, "");
	expect_list(&options->authorization.always_allow_paths, "/healthz|/readyz|/livez");
	ck_assert_int_eq(options->authorization.allow_cache_ttl_ns, 10000000000);
	ck_assert_int_eq(options->pod_max_in_unschedulable_ns, 300000000000);
	ck_assert(!options->config_flags.leader_elect.present);
	ck_assert(!options->config_flags.kube_api_qps_given);
	ck_assert_ptr_null(options->config_flags.resource_lock.data);
	ck_assert_int_eq(options->log.format, BT_KLOG_TEXT);
	finish_run(&run);
}
END_TEST

START_TEST(test_options__values)
{
	const struct bt_daemon_options *options = &run.options;
	ACCEPT(&run, "--tls-sni-cert-key=a.crt,a.key:x.io, *.x.io", "--requestheader-allowed-names",
		"front,\"a,b\",\"say \"\"hi\"\"\"", "--disabled-metrics=", "--vmodule=a*=3,,b=4",
		"-v", "2", "--leader-elect-resource-name=", "--kube-api-burst=-5",
		"--kube-api-qps=-1.5", "--allow-metric-labels=\"m1,l=v1,v2\",\"m2,l=v3\"",
		"--allow-metric-labels=m3,l=v4", "--allow-metric-labels=m1,l=v5");
	ck_assert_uint_eq(options->serving.sni.count, 1);
	ck_assert(bt_str_equal_c(options->serving.sni.items[0].certificate_file, "a.crt"));
	ck_assert(bt_str_equal_c(options->serving.sni.items[0].key_file, "a.key"));
	expect_list(&options->serving.sni.items[0].names, "x.io|*.x.io");
	expect_list(&options->authentication.requestheader_allowed_names, "front|a,b|say \"hi\"");
	expect_list(&options->metrics.disabled, "");
	ck_assert_int_eq(options->log.verbosity, 2);
	ck_assert_uint_eq(options->log.modules.count, 2);
	ck_assert(bt_str_equal_c(options->log.modules.items[0].pattern, "a*"));
	ck_assert_int_eq(options->log.modules.items[1].verbosity, 4);
	ck_assert_ptr_nonnull(options->config_flags.resource_name.data);
	ck_assert_uint_eq(options->config_flags.resource_name.length, 0);
	ck_assert_int_eq(options->config_flags.kube_api_burst.value, -5);
	ck_assert(options->config_flags.kube_api_qps < -1.4f);
	ck_assert_uint_eq(options->metrics.allowed.count, 3);
	ck_assert(bt_str_equal_c(options->metrics.allowed.items[0].metric, "m1"));
	ck_assert(bt_str_equal_c(options->metrics.allowed.items[0].label, "l"));
	expect_list(&options->metrics.allowed.items[0].values, "v5");
	expect_list(&options->metrics.allowed.items[2].values, "v4");
	finish_run(&run);
}
END_TEST

START_TEST(test_options__a_long_list)
{
	static char names[200000]; /* a,a,...,a */
	for (uint32_t i = 0; i + 1 < sizeof(names); i++) {
		names[i] = i % 2 == 0 ? 'a' : ',';
	}
	ACCEPT(&run, "--requestheader-allowed-names", names);
	ck_assert_uint_eq(run.options.authentication.requestheader_allowed_names.count, 100000);
	finish_run(&run);
}
END_TEST

BT_TEST_MAIN("options", test_options__edge_11_01_argument, test_options__edge_11_02_empty_argument,
	test_options__edge_11_03_unknown_flag, test_options__edge_11_04_underscores,
	test_options__edge_11_05_boolean_with_a_blank, test_options__edge_11_06_version,
	test_options__edge_11_07_version_replaced,
	test_options__edge_11_08_version_of_another_release, test_options__version_raw,
	test_options__edge_11_09_unknown_gate, test_options__unknown_gate_is_a_warning,
	test_options__edge_11_10_locked_gate, test_options__edge_11_11_gate_without_value,
	test_options__edge_11_12_gate_without_boolean, test_options__edge_11_13_gate_needs_another,
	test_options__edge_11_14_mixed_prefixes, test_options__edge_11_15_component,
	test_options__edge_11_16_all_alpha, test_options__edge_11_17_emulated_version_out_of_range,
	test_options__edge_11_18_emulated_patch, test_options__emulated_gates,
	test_options__edge_11_19_no_port, test_options__edge_11_20_port_out_of_range,
	test_options__bad_values, test_options__help, test_options__flags_as_text,
	test_options__defaults, test_options__values, test_options__a_long_list)
