/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_TEXT_TEMPLATE_H
#define BT_API_TEXT_TEMPLATE_H
/** Sentences for people, from templates. */
#include "api/amount.h"
#include "base/error.h"
#include "base/strbuf.h"

/**
 * Appends a text from a template, as in
 *
 *     bt_text_append(out, "%n of %n {node fits|nodes fit}[, best on %p]", fits, count, name);
 *
 * with the arguments
 *
 *     %s  struct bt_str
 *     %p  struct bt_str, with escapes (bt_printable_append)
 *     %m  two struct bt_str: "NAMESPACE/NAME", with escapes
 *     %w  struct bt_str: a word of a shell command line (bt_printable_append_word)
 *     %c  const char *
 *     %u  uint32_t
 *     %i  int32_t
 *     %d  int64_t
 *     %n  uint32_t, with separators: "4,812"
 *     %N  int64_t, with separators
 *     %a  struct bt_str resource, int64_t, enum bt_amount_rounding (bt_amount_append_of)
 *     %?  bool: writes nothing
 *
 * "{one|many}" is "one" if the last number was 1. "[...]" is left out if its first argument is "",
 * 0 or false; one does not contain another. "[[" and "%%" stand for "[" and "%".
 */
void bt_text_append(struct bt_strbuf *out, const char *template_, ...);
void bt_text_append_list(struct bt_strbuf *out, const char *template_, va_list arguments);
/** Like bt_error_set, with a message from a template. */
int bt_text_error(struct berth_error *err, int code, const char *template_, ...);
#endif
