/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The hidden command that the completion scripts of shells call:
 *
 *	berth __complete WORD...
 *
 * WORD... are the words after the program's name up to the cursor; the last one is completed and
 * may be empty. The output has lines "WORD<tab>DESCRIPTION" with the whole words that match
 * ("--output=table"), and lines that begin with a colon, which ask the shell for more:
 *
 *	:files    complete paths of files (after "=" if the word has one)
 *	:dirs     complete paths of folders
 *	:nospace  append no blank, because the word goes on
 *
 * Errors print nothing, because an unfinished line is wrong most of the time.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "api/pod.h"
#include "api/text_template.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/completion/completion_scripts.h"
#include "cluster/manifests.h"
#include "config/gates.h"

/** The part of the current word to complete. Texts are borrowed. */
struct bt_complete_word {
	struct bt_str prefix; /* kept before each candidate: "--output=", "-o", "" */
	const char *text;     /* the beginning that candidates must have */
	const char *suffix;   /* appended to each candidate; NULL: nothing */
};

struct bt_complete {
	const struct bt_command *const *commands;
	size_t command_count;
	const struct bt_command *command; /* NULL: the command's name is being typed */
	const char *current;
	/* Flags and values found in `words`. */
	BT_VEC(const struct bt_flag *) given;
	struct bt_arguments files;     /* values of --filename */
	const char *namespace_;        /* value of --namespace; NULL: not given */
	const struct bt_flag *waiting; /* flag whose value is the next word; NULL: none */
	bool only_arguments;           /* "--" precedes, so no flag can follow */
	struct bt_strbuf out;
};

/**
 * Limit of bytes to read, because a shell waits for the answer: reading this much takes about a
 * second. Compressed files take longer per byte.
 */
#define BYTES_MAX ((off_t)16 << 20)
#define PACKED_BYTES_MAX ((off_t)2 << 20)

/**
 * Whether all files are small regular files. Other files are not read, because each completion
 * would read them again.
 */
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

/** Whether a name needs no quotes in a shell, which inserts candidates as they are. */
static bool is_plain(struct bt_str name)
{
	for (uint32_t i = 0; i < name.length; i++) {
		char byte = name.data[i];
		if (!bt_is_letter(byte) && !bt_is_digit(byte) &&
			(i == 0 || (byte != '-' && byte != '.'))) {
			return false;
		}
	}
	return name.length != 0;
}

/** Print a line for the candidate if it begins with word->text. description: "" for none. */
static void complete_offer(struct bt_complete *complete, const struct bt_complete_word *word,
	struct bt_str candidate, const char *description)
{
	size_t length = strlen(word->text);
	if (candidate.length < length || memcmp(candidate.data, word->text, length) != 0) {
		return;
	}
	bt_text_append(&complete->out, "%s%s%c[\t%c]\n", word->prefix, candidate,
		word->suffix != NULL ? word->suffix : "", description);
}

/** Offer the names of objects in the files of -f; none if reading the files would take long. */
static void offer_objects(
	struct bt_complete *complete, const struct bt_complete_word *word, enum bt_kind kind)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_manifests cluster;
	const char *given = complete->namespace_;
	struct bt_strbuf name = {0};
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
		if (object->kind != kind || object->object == NULL || !is_plain(object->name)) {
			continue;
		}
		if (kind == BT_KIND_NODE) {
			complete_offer(complete, word, object->name, "node");
			continue;
		}
		const struct bt_pod *pod = object->object->value;
		if (!is_plain(object->namespace_) ||
			(given != NULL && !bt_str_equal_c(object->namespace_, given))) {
			continue;
		}
		bool is_default = given != NULL || bt_str_equal_c(object->namespace_, "default");
		bt_strbuf_reset(&name);
		bt_text_append(&name, "[%s/]%s", is_default ? BT_STR("") : object->namespace_,
			object->name);
		complete_offer(complete, word, bt_strbuf_str(&name),
			pod->spec.node_name.length == 0 ? "pod without a node" : "pod on a node");
	}
	bt_strbuf_finish(&name);
	berth_error_finish(&err);
	bt_manifests_finish(&cluster);
}

static void offer_alternative(struct bt_complete *complete, const struct bt_complete_word *word,
	struct bt_str alternative);

/**
 * Offers the candidates of `alternative` that begin with `typed`, the end of the word's text. The
 * text before `typed` is put in front of each candidate.
 */
static void offer_behind(struct bt_complete *complete, const struct bt_complete_word *word,
	const char *typed, struct bt_str alternative)
{
	struct bt_complete_word part = *word;
	struct bt_strbuf prefix = {0};
	bt_strbuf_append_str(&prefix, word->prefix);
	bt_strbuf_append(&prefix, word->text, (size_t)(typed - word->text));
	part.prefix = bt_strbuf_str(&prefix);
	part.text = typed;
	offer_alternative(complete, &part, alternative);
	bt_strbuf_finish(&prefix);
}

/**
 * Offers the values that one part of a flag's value_name allows; "|" separates the parts, such as
 * "json" and "FILE".
 */
static void offer_alternative(struct bt_complete *complete, const struct bt_complete_word *word,
	struct bt_str alternative)
{
	const char *comma = strrchr(word->text, ',');
	const char *typed_equals = strchr(word->text, '=');
	int64_t equals = bt_str_find_char(alternative, '=');
	if (bt_str_equal_c(alternative, "DIR")) {
		bt_strbuf_append_c(&complete->out, ":dirs\n");
	} else if (bt_str_equal_c(alternative, "FILE")) {
		bt_strbuf_append_c(&complete->out, ":files\n");
	} else if (bt_str_equal_c(alternative, "NAME=BOOL,...")) {
		offer_behind(complete, word, comma != NULL ? comma + 1 : word->text,
			BT_STR("GATE=BOOL"));
	} else if (bt_str_equal_c(alternative, "GATE")) {
		complete_offer(complete, word, BT_STR("AllAlpha"), "every gate that is alpha");
		complete_offer(complete, word, BT_STR("AllBeta"), "every gate that is beta");
		for (uint32_t i = 0; i < BT_GATE__COUNT; i++) {
			enum bt_gate gate = (enum bt_gate)i;
			struct bt_gate_state state = bt_gate_state_at(gate, BT_GATE_RELEASE_MINOR);
			if (!state.locked) {
				complete_offer(complete, word, bt_str_from(bt_gate_name(gate)),
					state.value ? "default true" : "default false");
			}
		}
	} else if (bt_str_equal_c(alternative, "BOOL")) {
		complete_offer(complete, word, BT_STR("true"), "");
		complete_offer(complete, word, BT_STR("false"), "");
	} else if (bt_str_equal_c(alternative, "NODE")) {
		offer_objects(complete, word, BT_KIND_NODE);
	} else if (bt_str_equal_c(alternative, "POD")) {
		offer_objects(complete, word, BT_KIND_POD);
	} else if (bt_str_equal_c(alternative, "WORKLOAD")) {
		const struct bt_command *command = complete->command;
		const char *summary;
		const char *name;
		for (uint32_t i = 0; command->workload_at != NULL &&
			(name = command->workload_at(i, &summary)) != NULL;
			i++) {
			complete_offer(complete, word, bt_str_from(name), summary);
		}
	} else if (bt_str_has_suffix(alternative, BT_STR(",..."))) {
		offer_behind(complete, word, comma != NULL ? comma + 1 : word->text,
			bt_str_sub(alternative, 0, alternative.length - 4));
	} else if (equals > 0 && typed_equals != NULL) {
		offer_behind(complete, word, typed_equals + 1,
			bt_str_sub(alternative, (uint32_t)equals + 1, UINT32_MAX));
	} else if (equals > 0) {
		/* For "NODE=TAINT", offer nodes first, each with "=" at its end. */
		struct bt_complete_word part = *word;
		part.suffix = "=";
		offer_alternative(complete, &part, bt_str_sub(alternative, 0, (uint32_t)equals));
		bt_strbuf_append_c(&complete->out, ":nospace\n");
	} else {
		/* A placeholder has capitals and no small letters. */
		bool has_capital = false;
		bool has_small = false;
		for (uint32_t i = 0; i < alternative.length; i++) {
			char byte = alternative.data[i];
			has_small = has_small || (byte >= 'a' && byte <= 'z');
			has_capital = has_capital || (byte >= 'A' && byte <= 'Z');
		}
		if (has_small || !has_capital) {
			complete_offer(complete, word, alternative, "");
		}
	}
}

/** Offers all values that value_name (see bt_flag) allows. */
static void complete_value(
	struct bt_complete *complete, const struct bt_complete_word *word, const char *value_name)
{
	while (*value_name != '\0') {
		size_t length = strcspn(value_name, "|");
		offer_alternative(complete, word, (struct bt_str){value_name, (uint32_t)length});
		value_name += length;
		value_name += *value_name == '|';
	}
}

/** --- commands --- */

static void offer_commands(struct bt_complete *complete)
{
	struct bt_complete_word word = {.text = complete->current};
	for (size_t i = 0; i < complete->command_count; i++) {
		complete_offer(complete, &word, bt_str_from(complete->commands[i]->name),
			complete->commands[i]->summary);
	}
}

/** --- the preceding words --- */

static const struct bt_flag *find_long(const struct bt_command *command, struct bt_str name)
{
	for (uint32_t i = 0; i < command->flag_count; i++) {
		if (bt_str_equal_c(name, command->flags[i].name)) {
			return &command->flags[i];
		}
	}
	return NULL;
}

static const struct bt_flag *find_short(const struct bt_command *command, char letter)
{
	for (uint32_t i = 0; i < command->flag_count; i++) {
		if (command->flags[i].shorthand == letter) {
			return &command->flags[i];
		}
	}
	return NULL;
}

static void take_value(struct bt_complete *complete, const struct bt_flag *flag, const char *value)
{
	if (strcmp(flag->name, "filename") == 0) {
		bt_vec_push(&complete->files.list, value);
	} else if (strcmp(flag->name, "namespace") == 0) {
		complete->namespace_ = value;
	}
}

static void take_word(struct bt_complete *complete, const char *word)
{
	const struct bt_flag *waiting = complete->waiting;
	complete->waiting = NULL;
	if (waiting != NULL) {
		take_value(complete, waiting, word);
	} else if (complete->only_arguments || word[0] != '-' || word[1] == '\0') {
		return;
	} else if (strcmp(word, "--") == 0) {
		complete->only_arguments = true;
	} else if (word[1] == '-') {
		const char *equals = strchr(word, '=');
		size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
		const struct bt_flag *flag = find_long(
			complete->command, (struct bt_str){word + 2, (uint32_t)length - 2});
		if (flag != NULL) {
			bt_vec_push(&complete->given, flag);
			if (equals != NULL) {
				take_value(complete, flag, equals + 1);
			} else if (!bt_flag_is_complete(flag)) {
				complete->waiting = flag;
			}
		}
	} else {
		for (const char *letter = word + 1; *letter != '\0'; letter++) {
			const struct bt_flag *flag = find_short(complete->command, *letter);
			if (flag == NULL) {
				return;
			}
			bt_vec_push(&complete->given, flag);
			if (!bt_flag_is_complete(flag)) {
				const char *value = letter[1] == '=' ? letter + 2 : letter + 1;
				if (*value != '\0') {
					take_value(complete, flag, value);
				} else {
					complete->waiting = flag;
				}
				return;
			}
		}
	}
}

/** --- the current word --- */

static void offer_flags(struct bt_complete *complete)
{
	struct bt_complete_word word = {.text = complete->current};
	struct bt_strbuf name = {0};
	const struct bt_command *command = complete->command;
	for (uint32_t i = 0; i < command->flag_count; i++) {
		const struct bt_flag *flag = &command->flags[i];
		bool may_repeat = flag->type == BT_FLAG_STRINGS || flag->type == BT_FLAG_SETTER ||
			flag->type == BT_FLAG_OPTIONAL;
		bool is_given = false;
		for (uint32_t k = 0; k < complete->given.count; k++) {
			is_given = is_given || complete->given.items[k] == flag;
		}
		if (may_repeat || !is_given) {
			bt_strbuf_reset(&name);
			bt_strbuf_printf(&name, "--%s", flag->name);
			complete_offer(complete, &word, bt_strbuf_str(&name), flag->help);
		}
	}
	bt_strbuf_finish(&name);
	if (find_long(command, BT_STR("help")) == NULL) {
		complete_offer(complete, &word, BT_STR("--help"), "show how to use it");
	}
}

/**
 * Complete the value of a flag that is in the same word: "--output=ta", "-ota". Returns false if
 * the word has no such value.
 */
static bool complete_inline_value(struct bt_complete *complete)
{
	const char *current = complete->current;
	const struct bt_flag *flag;
	const char *value;
	if (current[1] == '\0') {
		return false;
	}
	if (current[1] == '-') {
		const char *equals = strchr(current, '=');
		if (equals == NULL) {
			return false;
		}
		struct bt_str name = {current + 2, (uint32_t)(equals - current) - 2};
		flag = find_long(complete->command, name);
		value = equals + 1;
	} else {
		flag = find_short(complete->command, current[1]);
		value = current + 2 + (current[2] == '=');
		if (flag != NULL && (bt_flag_is_complete(flag) || current[2] == '\0')) {
			flag = NULL;
		}
	}
	if (flag == NULL || flag->value_name == NULL) {
		return false;
	}
	struct bt_complete_word word = {
		.prefix = {current, (uint32_t)(value - current)}, .text = value};
	complete_value(complete, &word, flag->value_name);
	return true;
}

/** --- all of it --- */

int bt_complete_run(
	const struct bt_command *const *commands, size_t command_count, int argc, char **argv)
{
	struct bt_complete complete = {.commands = commands, .command_count = command_count};
	complete.current = argc > 0 ? argv[argc - 1] : "";
	if (argc <= 1) {
		struct bt_complete_word word = {.text = complete.current};
		offer_commands(&complete);
		complete_offer(&complete, &word, BT_STR("help"), "Explain a command.");
		if (complete.current[0] == '-') {
			complete_offer(&complete, &word, BT_STR("--help"), "list the commands");
			complete_offer(&complete, &word, BT_STR("--version"), "print the version");
		}
	} else if (strcmp(argv[0], "help") == 0 && argc == 2) {
		offer_commands(&complete);
	}
	for (size_t i = 0; argc > 1 && i < complete.command_count; i++) {
		if (strcmp(complete.commands[i]->name, argv[0]) == 0) {
			complete.command = complete.commands[i];
			for (int k = 1; k < argc - 1; k++) {
				take_word(&complete, argv[k]);
			}
			if (complete.waiting != NULL) {
				struct bt_complete_word word = {.text = complete.current};
				if (complete.waiting->value_name != NULL) {
					complete_value(
						&complete, &word, complete.waiting->value_name);
				}
			} else if (complete.only_arguments || complete.current[0] != '-') {
				struct bt_complete_word word = {.text = complete.current};
				if (complete.command->arguments != NULL) {
					complete_value(
						&complete, &word, complete.command->arguments);
				} else if (!complete.only_arguments) {
					offer_flags(&complete);
				}
			} else if (!complete_inline_value(&complete)) {
				offer_flags(&complete);
			}
		}
	}
	(void)fputs(bt_strbuf_c(&complete.out), stdout); /* main checks the stream */
	bt_strbuf_finish(&complete.out);
	bt_vec_finish(&complete.files.list);
	bt_vec_finish(&complete.given);
	return BT_EXIT_OK;
}

static const struct {
	const char *name;
	const char *const *lines;
} shells[] = {
	{"bash", bt_completion_bash},
	{"zsh", bt_completion_zsh},
	{"fish", bt_completion_fish},
};

static int print_script(void *options, struct bt_strbuf *out, struct berth_error *err)
{
	const struct bt_arguments *arguments =
		&((const struct bt_command_line *)options)->arguments;
	if (arguments->list.count != 1) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "needs the name of one shell: bash, zsh or fish");
	}
	const char *shell = arguments->list.items[0];
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(shells); i++) {
		if (strcmp(shell, shells[i].name) == 0) {
			for (const char *const *line = shells[i].lines; *line != NULL; line++) {
				bt_strbuf_append_c(out, *line);
			}
			return 0;
		}
	}
	return bt_error_set_quoted(
		err, BERTH_ERR_INVALID, "", bt_str_from(shell), " is none of bash, zsh, fish");
}

const struct bt_command bt_command_completion = {
	.name = "completion",
	.group = BT_COMMAND_OTHER,
	.summary = "Print a script that completes berth's commands and flags in a shell.",
	.usage = "berth completion bash|zsh|fish",
	.arguments = "bash|zsh|fish",
	.help = "Source the script, or write it to a file in the folder where the shell looks\n"
		"for completions. An installed package has done that already. The script\n"
		"completes commands, flags, their values, files, and the names of nodes and\n"
		"pods in the files given with -f.\n",
	.examples = "  # bash, in this shell; for every one put the line into ~/.bashrc\n"
		    "  source <(berth completion bash)\n"
		    "\n"
		    "  # zsh, in a folder of fpath\n"
		    "  berth completion zsh > ~/.zsh/completions/_berth\n"
		    "\n"
		    "  # fish\n"
		    "  berth completion fish > ~/.config/fish/completions/berth.fish\n",
	.exit_status = "  0  the script was printed\n"
		       "  2  berth has no script for this shell\n",
	.run = print_script,
};
