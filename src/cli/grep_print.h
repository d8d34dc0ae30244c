/* SPDX-License-Identifier: Apache-2.0 */
/* Prints matches: path, number and text of each line, with the lines around it, or as JSON. */
#ifndef CV_CLI_GREP_PRINT_H
#define CV_CLI_GREP_PRINT_H

#include "base/buf.h"

#include <cove/files.h>

#define GREP_DIGITS 20 /* of a line number */

struct grep_print {
	bool paths;
	bool numbers;
	bool names; /* paths alone */
	bool json;
	bool context;
	int64_t matches;
	int64_t truncated;
	/* Its own. */
	bool color;
	struct cv_buf out;
	const struct cove_match *waiting; /* until the next one is known */
	char path[4200];		  /* of the line that was printed last */
	int64_t line;
	char digits[GREP_DIGITS];
};

extern const char *const grep_colors[];

/* color: of grep_colors, from 1; 0: auto. */
void grep_print_init(struct grep_print *p, int color);
void grep_print_done(struct grep_print *p);

/* The page must live until the next one has been printed, or the end. */
int grep_print_page(struct grep_print *p, const struct cove_file_search_text_result *page,
		    struct cove_error *err);
int grep_print_end(struct grep_print *p, struct cove_error *err);

#endif
