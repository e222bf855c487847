#include "api/handlers/catalog.h"

#include <string.h>

#include "api/handlers/catalog_cache.h"
#include "api/handlers/catalog_cursor.h"
#include "api/handlers/catalog_query.h"
#include "api/handlers/catalog_reply.h"
#include "api/handlers/catalog_select.h"
#include "api/json/catalog_csv.h"
#include "api/json/catalog_json.h"
#include "service/base/text.h"
#include "service/catalog/snapshot.h"

static const char prefix[] = "/catalog/";

/* The list that a path names; the route table has only paths of lists. */
static const struct catalog_list *
list_of_path(const char *path)
{
    char name[32];

    path += sizeof prefix - 1;
    text_format(name, sizeof name, "%.*s", (int)strcspn(path, "/"), path);
    return catalog_list_find(name);
}

static void
write_counts(struct json_writer *writer, const struct catalog *catalog)
{
    writer_object(writer, "counts");
    for (size_t i = 0; i < catalog_list_count; i++)
        writer_u64(writer, catalog_lists[i]->name, catalog_list_size(catalog_lists[i], catalog));
    writer_end_object(writer);
    writer_object(writer, "links");
    for (size_t i = 0; i < catalog_list_count; i++) {
        char link[64];

        text_format(link, sizeof link, "%s%s", prefix, catalog_lists[i]->name);
        writer_text(writer, catalog_lists[i]->name, link);
    }
    writer_end_object(writer);
}

enum status
handle_catalog(const struct request *request, const struct service_state *state, struct response *ret_response,
               struct fault *ret_fault)
{
    const struct catalog *catalog = state->catalog;
    struct reply_key key;
    struct json_writer writer;

    for (size_t i = 0; i < request->query_count; i++) {
        struct fault_item *item =
            fault_add(ret_fault, FAULT_UNKNOWN_PARAMETER, request->query[i].name, NULL, NULL, NULL);

        if (item)
            item->is_parameter = true;
    }
    if (fault_any(ret_fault))
        return STATUS_FAULT;
    if (catalog_reply_begin(request, state, MEDIA_JSON, &key, ret_response))
        return STATUS_OK;
    writer_init(&writer, ret_response->body);
    writer_object(&writer, NULL);
    writer_id(&writer, "catalog_version", catalog->version);
    writer_text(&writer, "as_of", catalog->as_of);
    writer_text(&writer, "source", catalog->embedded ? "embedded" : "postgresql");
    write_counts(&writer, catalog);
    writer_end_object(&writer);
    catalog_reply_settle(request, ret_response);
    return STATUS_OK;
}

/* --- lists --- */

static enum status
cursor_fault(const char *cursor, struct fault *fault)
{
    struct fault_item *item = fault_add(fault, FAULT_CURSOR_INVALID, "cursor", cursor, NULL, NULL);

    if (item)
        item->is_parameter = true;
    return STATUS_FAULT;
}

/* The catalog that a cursor continues: its own version as long as it is held, so that pages never shift. */
static enum status
catalog_of_cursor(const struct request *request, const struct service_state *state, struct catalog_cursor *ret_cursor,
                  struct snapshot **ret_pinned, const struct catalog **ret_catalog, struct fault *fault)
{
    const char *text = request_query(request, "cursor");

    *ret_pinned = NULL;
    *ret_catalog = state->catalog;
    ret_cursor->version = 0;
    if (!text || !*text)
        return STATUS_OK;
    if (!catalog_cursor_read(text, ret_cursor))
        return cursor_fault(text, fault);
    if (ret_cursor->version == state->catalog->version)
        return STATUS_OK;
    *ret_pinned = catalog_acquire(state->slot, ret_cursor->version);
    if (!*ret_pinned)
        return cursor_fault(text, fault);
    *ret_catalog = (*ret_pinned)->catalog;
    return STATUS_OK;
}

static void
write_page(struct buffer *out, const struct catalog_query *query, const struct catalog_list *list,
           const struct catalog_selection *selection, const char *next_cursor)
{
    struct json_writer writer;

    writer_init(&writer, out);
    writer_object(&writer, NULL);
    writer_array(&writer, "items");
    for (size_t i = selection->first; i < selection->end; i++)
        catalog_row_write(&writer, &query->view, list, &query->choice, selection->rows[i]);
    writer_end_array(&writer);
    writer_text(&writer, "next_cursor", next_cursor);
    writer_u64(&writer, "total_count", selection->count);
    writer_id(&writer, "catalog_version", query->view.catalog->version);
    writer_text(&writer, "as_of", query->view.is_current ? query->view.catalog->as_of : query->view.date);
    writer_end_object(&writer);
}

/* One object a line (https://github.com/ndjson/ndjson-spec). */
static void
write_lines(struct buffer *out, const struct catalog_query *query, const struct catalog_list *list,
            const struct catalog_selection *selection)
{
    for (size_t i = selection->first; i < selection->end; i++) {
        struct json_writer writer;

        writer_init(&writer, out);
        catalog_row_write(&writer, &query->view, list, &query->choice, selection->rows[i]);
        buffer_append(out, "\n", 1);
    }
}

static void
write_table(struct buffer *out, const struct catalog_query *query, const struct catalog_list *list,
            const struct catalog_selection *selection)
{
    catalog_csv_header(out, &query->choice);
    for (size_t i = selection->first; i < selection->end; i++)
        catalog_csv_row(out, &query->view, list, &query->choice, selection->rows[i]);
}

static enum status
write_list(const struct request *request, const struct catalog_query *query, const struct catalog_list *list,
           const struct catalog_cursor *cursor, struct response *response, struct fault *fault)
{
    struct catalog_cursor next = { .version = query->view.catalog->version, .shape = query->shape };
    struct catalog_selection selection;
    char text[CURSOR_TEXT_SIZE] = "";

    if (cursor->version && cursor->shape != query->shape)
        return cursor_fault(query->cursor, fault);
    TRY(catalog_select(query, list, cursor->version ? cursor->id : NULL, &selection, fault));
    if (selection.end < selection.count && selection.end > selection.first) {
        text_copy(next.id, sizeof next.id, catalog_row_id(selection.rows[selection.end - 1]));
        catalog_cursor_write(&next, text);
        catalog_reply_link(request, text, response);
    }
    if (query->media == MEDIA_CSV)
        write_table(response->body, query, list, &selection);
    else if (query->media == MEDIA_NDJSON)
        write_lines(response->body, query, list, &selection);
    else
        write_page(response->body, query, list, &selection, text[0] ? text : NULL);
    catalog_selection_done(&selection);
    return STATUS_OK;
}

static enum status
answer_list(const struct request *request, const struct service_state *state, const struct catalog_list *list,
            struct response *response, struct fault *fault)
{
    struct catalog_cursor cursor;
    struct snapshot *pinned;
    const struct catalog *catalog;
    struct catalog_query query;
    enum status status;

    TRY(catalog_of_cursor(request, state, &cursor, &pinned, &catalog, fault));
    status = catalog_query_read(request, list, catalog, false, &query, fault);
    if (status == STATUS_OK)
        status = write_list(request, &query, list, &cursor, response, fault);
    catalog_release(pinned);
    return status;
}

enum status
handle_catalog_list(const struct request *request, const struct service_state *state, struct response *ret_response,
                    struct fault *ret_fault)
{
    const struct catalog_list *list = list_of_path(request->path);
    struct reply_key key;

    if (catalog_reply_begin(request, state, catalog_media(request), &key, ret_response) ||
        catalog_reply_again(request, &key, ret_response))
        return STATUS_OK;
    TRY(answer_list(request, state, list, ret_response, ret_fault));
    if (ret_response->media == MEDIA_CSV)
        catalog_reply_name(list->name, ret_response);
    catalog_reply_end(request, &key, ret_response);
    return STATUS_OK;
}

/* --- one row --- */

/* What was probably meant by an id that is none: a spelling's device or model, else the nearest id. */
static const char *
suggestion_for(const struct catalog_list *list, const struct catalog *catalog, const char *id)
{
    bool ambiguous;

    if (list == &gpus_list) {
        const struct gpu *gpu = catalog_gpu_by_name(catalog, id, &ambiguous);

        return gpu ? gpu->id : catalog_nearest_gpu(catalog, id);
    }
    if (list == &models_list) {
        const struct model_preset *model = catalog_model_by_name(catalog, id);

        return model ? model->id : catalog_nearest_model(catalog, id);
    }
    if (list == &instances_list || list == &servers_list)
        return catalog_nearest_offer(catalog, id, list == &servers_list);
    return list == &storage_list ? catalog_nearest_storage(catalog, id) : NULL;
}

enum status
handle_catalog_item(const struct request *request, const struct service_state *state, struct response *ret_response,
                    struct fault *ret_fault)
{
    const struct catalog_list *list = list_of_path(request->path);
    const char *id = request->path_tail;
    const void *row = catalog_row_find(list, state->catalog, id);
    struct catalog_query query;
    struct reply_key key;
    struct json_writer writer;

    if (!row) {
        struct fault_item *item =
            fault_add(ret_fault, FAULT_NOT_FOUND, "id", id, NULL, suggestion_for(list, state->catalog, id));

        if (item)
            item->is_parameter = true;
        return STATUS_FAULT;
    }
    if (catalog_reply_begin(request, state, MEDIA_JSON, &key, ret_response))
        return STATUS_OK;
    TRY(catalog_query_read(request, list, state->catalog, true, &query, ret_fault));
    writer_init(&writer, ret_response->body);
    writer_object(&writer, NULL);
    catalog_members_write(&writer, &query.view, list, &query.choice, row);
    writer_id(&writer, "catalog_version", state->catalog->version);
    writer_end_object(&writer);
    catalog_reply_settle(request, ret_response);
    return STATUS_OK;
}
