/* Splitting a line into fields without copying it. */
#ifndef TALLY_FIELD_H
#define TALLY_FIELD_H

#include <stdbool.h>
#include <stddef.h>

/* Fields are separated by runs of blanks, and blanks at either end do not count. */
#define FIELD_BLANKS '\0'

/* A part of the line that was split; it is not terminated by a NUL. */
struct field {
	const char *text;
	size_t length;
};

struct field_iter {
	const char *line;
	size_t length;
	size_t position; /* beyond `length` once the last field was given */
	char delimiter;
};

/*
 * Begin to split `line`, which holds `length` bytes and no newline, at `delimiter` or at
 * FIELD_BLANKS.  The line has to stay as it is while the fields are in use.
 */
void field_begin(struct field_iter *iter, const char *line, size_t length, char delimiter);

/* Give the next field, or return false after the last.  An empty line has no fields. */
bool field_next(struct field_iter *iter, struct field *ret_field);

/* How many fields the line has. */
size_t field_count(const char *line, size_t length, char delimiter);

/* The field `number` (from 1), or false where the line has fewer. */
bool field_at(const char *line, size_t length, char delimiter, size_t number,
	      struct field *ret_field);

/* Cut the blanks off both ends of a field. */
void field_trim(struct field *field);

#endif
