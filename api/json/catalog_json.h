/* Rows of the catalog as JSON. */
#ifndef API_JSON_CATALOG_JSON_H
#define API_JSON_CATALOG_JSON_H

#include "api/json/catalog_columns.h"
#include "api/json/writer.h"

/* All columns of a list, in its order. */
struct column_choice catalog_columns_all(const struct catalog_list *list);

/* One row as an object with these columns; what is not known is null, prices that nobody knows are an empty array. */
void catalog_row_write(struct json_writer *writer, const struct catalog_view *view, const struct catalog_list *list,
                       const struct column_choice *choice, const void *row);

/* The members of that object into one that is open. */
void catalog_members_write(struct json_writer *writer, const struct catalog_view *view, const struct catalog_list *list,
                           const struct column_choice *choice, const void *row);

#endif
