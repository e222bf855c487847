/* Rows of the catalog as CSV that spreadsheets open rightly and safely. */
#ifndef API_JSON_CATALOG_CSV_H
#define API_JSON_CATALOG_CSV_H

#include "api/json/buffer.h"
#include "api/json/catalog_columns.h"

/* The byte order mark (by which Excel knows UTF-8) and the names of the columns. Lines end in CR LF (RFC 4180). */
void catalog_csv_header(struct buffer *out, const struct column_choice *choice);

/* One row. Absent is empty; money is its amount (the currency has a column of its own, but for storage, where it
 * follows the amount); arrays are joined by "; ". A text that a spreadsheet would take for a formula gets a leading
 * apostrophe (OWASP, CSV injection). */
void catalog_csv_row(struct buffer *out, const struct catalog_view *view, const struct catalog_list *list,
                     const struct column_choice *choice, const void *row);

#endif
