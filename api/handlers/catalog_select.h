/* The rows that a query asks for, in its order, one page of them. */
#ifndef API_HANDLERS_CATALOG_SELECT_H
#define API_HANDLERS_CATALOG_SELECT_H

#include "api/handlers/catalog_query.h"

struct catalog_selection {
    const void **rows; /* all that fit, in order; freed by catalog_selection_done */
    size_t count;
    size_t first, end; /* the page */
};

/* `after_id`: the page begins behind this row; NULL: at the first. FAULT_CURSOR_INVALID: there is no such row among
 * them. FAULT_OVERLOADED: no memory. */
enum status catalog_select(const struct catalog_query *query, const struct catalog_list *list, const char *after_id,
                           struct catalog_selection *ret_selection, struct fault *ret_fault);
void catalog_selection_done(struct catalog_selection *selection);

#endif
