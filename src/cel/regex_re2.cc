/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/regex.h"

#include <re2/re2.h>

#include <algorithm>
#include <string>

struct bt_cel_regex {
	bt_cel_regex(const std::string &pattern, const re2::RE2::Options &options)
	    : re2(pattern, options)
	{
	}

	re2::RE2 re2;
};

namespace {

/* Go's limit for nested parentheses. */
const int nesting_max = 1000;

/**
 * Translates or rejects what RE2 handles differently from Go's library: (?<name>...), which RE2
 * knows only as (?P<name>...); \C, which only RE2 knows; the depth of parentheses.
 */
class Translator {
      public:
	explicit Translator(const std::string &pattern) : pattern_(pattern)
	{
		while (position_ < pattern_.size() && problem_ == NULL) {
			step();
		}
	}

	const std::string &result() const
	{
		return result_;
	}

	/** The error, about the part of the pattern that fragment() returns; NULL: no error. */
	const char *problem() const
	{
		return problem_;
	}

	const std::string &fragment() const
	{
		return fragment_;
	}

      private:
	bool at(const char *text) const
	{
		return pattern_.compare(position_, strlen(text), text) == 0;
	}

	void copy(size_t count)
	{
		result_.append(pattern_, position_, count);
		position_ = std::min(position_ + count, pattern_.size());
	}

	void copy_through(const char *end)
	{
		size_t found = pattern_.find(end, position_);

		copy(found == std::string::npos ? pattern_.size() - position_
						: found + strlen(end) - position_);
	}

	void refuse(const char *problem, const std::string &fragment)
	{
		problem_ = problem;
		fragment_ = fragment;
	}

	/* A bracket at the start of a class is a literal. */
	void copy_class()
	{
		copy(1);
		if (at("^")) {
			copy(1);
		}
		if (at("]")) {
			copy(1);
		}
		while (position_ < pattern_.size() && !at("]")) {
			if (at("[:") && pattern_.find(":]", position_) != std::string::npos) {
				copy_through(":]");
			} else {
				copy(at("\\") ? 2 : 1);
			}
		}
		copy(1);
	}

	void open_group()
	{
		if (++depth_ > nesting_max) {
			refuse("expression nests too deeply", pattern_);
		} else if (at("(?<")) {
			result_ += "(?P<";
			position_ += 3;
		} else {
			copy(1);
		}
	}

	void step()
	{
		if (at("\\C")) {
			refuse("invalid escape sequence", "\\C");
		} else if (at("\\Q")) {
			copy_through("\\E");
		} else if (at("\\")) {
			copy(2);
		} else if (at("[")) {
			copy_class();
		} else if (at("(")) {
			open_group();
		} else {
			depth_ -= at(")");
			copy(1);
		}
	}

	const std::string &pattern_;
	std::string result_;
	size_t position_ = 0;
	int depth_ = 0;
	const char *problem_ = NULL;
	std::string fragment_;
};

const char *problem_of(re2::RE2::ErrorCode code)
{
	switch (code) {
	case re2::RE2::NoError:
	case re2::RE2::ErrorInternal:
		break;
	case re2::RE2::ErrorBadEscape:
		return "invalid escape sequence";
	case re2::RE2::ErrorBadCharClass:
		return "invalid character class";
	case re2::RE2::ErrorBadCharRange:
		return "invalid character class range";
	case re2::RE2::ErrorMissingBracket:
		return "missing closing ]";
	case re2::RE2::ErrorMissingParen:
		return "missing closing )";
	case re2::RE2::ErrorUnexpectedParen:
		return "unexpected )";
	case re2::RE2::ErrorTrailingBackslash:
		return "trailing backslash at end of expression";
	case re2::RE2::ErrorRepeatArgument:
		return "missing argument to repetition operator";
	case re2::RE2::ErrorRepeatSize:
		return "invalid repeat count";
	case re2::RE2::ErrorRepeatOp:
		return "invalid nested repetition operator";
	case re2::RE2::ErrorBadPerlOp:
		return "invalid or unsupported Perl syntax";
	case re2::RE2::ErrorBadUTF8:
		return "invalid UTF-8";
	case re2::RE2::ErrorBadNamedCapture:
		return "invalid named capture";
	case re2::RE2::ErrorPatternTooLarge:
		return "expression too large";
	}
	return "regexp/syntax: internal error";
}

int fail(struct berth_error *err, const char *problem, const std::string &fragment)
{
	return berth_error_set(err, BERTH_ERR_INVALID, "error parsing regexp: %s: `%.*s`", problem,
		static_cast<int>(fragment.size()), fragment.data());
}

/** Sets the error for a pattern that RE2 refused after the translation. */
int fail_as(struct berth_error *err, const re2::RE2 &re2, const std::string &pattern)
{
	re2::RE2::ErrorCode code = re2.error_code();
	std::string fragment = re2.error_arg();

	switch (code) {
	case re2::RE2::ErrorMissingParen:
	case re2::RE2::ErrorUnexpectedParen:
	case re2::RE2::ErrorPatternTooLarge:
		fragment = pattern;
		break;
	case re2::RE2::ErrorBadUTF8:
		/* RE2 reports this code also if the text ends within \x{...}. */
		if (pattern.find("\\x{") != std::string::npos) {
			code = re2::RE2::ErrorBadEscape;
			fragment = pattern.substr(pattern.rfind('\\'));
		} else {
			fragment = pattern;
		}
		break;
	case re2::RE2::ErrorBadNamedCapture:
		if (pattern.find(fragment) == std::string::npos) {
			fragment.erase(2, 1); /* undo the P of the translation */
		}
		break;
	default:
		break;
	}
	(void)fail(err, problem_of(code), fragment);
	return code == re2::RE2::ErrorPatternTooLarge ? BERTH_ERR_TOO_LARGE : BERTH_ERR_INVALID;
}

re2::StringPiece piece(struct bt_str text)
{
	return re2::StringPiece(text.data != NULL ? text.data : "", text.length);
}

} /* namespace */

int bt_cel_regex_compile(
	struct bt_str pattern, struct bt_cel_regex **out_regex, struct berth_error *err)
{
	const std::string text(pattern.data != NULL ? pattern.data : "", pattern.length);
	const Translator translated(text);
	re2::RE2::Options options(re2::RE2::Quiet);
	struct bt_cel_regex *regex;

	if (translated.problem() != NULL) {
		return fail(err, translated.problem(), translated.fragment());
	}
	options.set_max_mem(BT_CEL_REGEX_BYTES_MAX);
	options.set_never_capture(true);
	regex = new bt_cel_regex(translated.result(), options);
	if (!regex->re2.ok()) {
		int code = fail_as(err, regex->re2, text);
		delete regex;
		return code;
	}
	*out_regex = regex;
	return 0;
}

void bt_cel_regex_destroy(struct bt_cel_regex *regex)
{
	delete regex;
}

bool bt_cel_regex_find(const struct bt_cel_regex *regex, struct bt_str text, uint32_t from,
	uint32_t *out_start, uint32_t *out_end)
{
	const re2::StringPiece whole = piece(text);
	re2::StringPiece match;

	if (!regex->re2.Match(whole, from, text.length, re2::RE2::UNANCHORED, &match,
		    out_start != NULL ? 1 : 0)) {
		return false;
	}
	if (out_start != NULL) {
		*out_start = static_cast<uint32_t>(match.data() - whole.data());
		*out_end = static_cast<uint32_t>(*out_start + match.size());
	}
	return true;
}

uint32_t bt_cel_regex_size(const struct bt_cel_regex *regex)
{
	return static_cast<uint32_t>(regex->re2.ProgramSize());
}

size_t bt_cel_regex_bytes(const struct bt_cel_regex *regex)
{
	/* Estimate: the program, the reverse program, and the parse tree. */
	return sizeof *regex + 2 * regex->re2.pattern().size() +
		3 * sizeof(uint64_t) * 2 * bt_cel_regex_size(regex);
}
