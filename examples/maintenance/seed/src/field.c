/* Two ways to split, by a single delimiter and by runs of blanks, behind one iterator. */
#include "field.h"

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

void field_begin(struct field_iter *iter, const char *line, size_t length, char delimiter)
{
	iter->line = line;
	iter->length = length;
	iter->position = length == 0 ? 1 : 0;
	iter->delimiter = delimiter;
}

static bool next_delimited(struct field_iter *iter, struct field *ret_field)
{
	/* TODO: quoted fields ("a,b",c) are split inside the quotes */
	if (iter->position >= iter->length)
		return false;

	size_t end = iter->position;
	while (end < iter->length && iter->line[end] != iter->delimiter)
		end++;

	ret_field->text = iter->line + iter->position;
	ret_field->length = end - iter->position;
	iter->position = end + 1;
	return true;
}

static bool next_blank_separated(struct field_iter *iter, struct field *ret_field)
{
	size_t begin = iter->position;
	while (begin < iter->length && is_blank(iter->line[begin]))
		begin++;
	if (begin >= iter->length)
		return false;

	size_t end = begin;
	while (end < iter->length && !is_blank(iter->line[end]))
		end++;

	ret_field->text = iter->line + begin;
	ret_field->length = end - begin;
	iter->position = end;
	return true;
}

bool field_next(struct field_iter *iter, struct field *ret_field)
{
	if (iter->delimiter == FIELD_BLANKS)
		return next_blank_separated(iter, ret_field);
	return next_delimited(iter, ret_field);
}

size_t field_count(const char *line, size_t length, char delimiter)
{
	struct field_iter iter;
	struct field field;
	size_t fields = 0;

	field_begin(&iter, line, length, delimiter);
	while (field_next(&iter, &field))
		fields++;
	return fields;
}

bool field_at(const char *line, size_t length, char delimiter, size_t number,
	      struct field *ret_field)
{
	struct field_iter iter;

	field_begin(&iter, line, length, delimiter);
	for (size_t i = 0; i < number; i++)
		if (!field_next(&iter, ret_field))
			return false;
	return number > 0;
}

void field_trim(struct field *field)
{
	while (field->length > 0 && is_blank(field->text[0])) {
		field->text++;
		field->length--;
	}
	while (field->length > 0 && is_blank(field->text[field->length - 1]))
		field->length--;
}
