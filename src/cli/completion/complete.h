/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_COMPLETE_H
#define BT_CLI_COMPLETE_H
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
#include "cli/command.h"

/** argv: the words. Returns the exit status, always 0. */
int bt_complete_run(
	const struct bt_command *const *commands, size_t command_count, int argc, char **argv);
#endif
