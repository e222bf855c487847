/* Hands what was observed to those who record it. */
#include "api/observe/observe.h"

#include "api/observe/log.h"
#include "api/observe/metrics.h"

static const struct {
    const char *name;
    enum log_level level;
} events[EVENT_COUNT] = {
#define EVENT(id, event_name, event_level) [EVENT_##id] = { event_name, LEVEL_##event_level },
#include "api/observe/events.def"
#undef EVENT
};

const char *
event_name(enum event event)
{
    return events[event].name;
}

enum log_level
event_level(enum event event)
{
    return events[event].level;
}

/* Nobody can read of it in the log. */
static void
count_lost_line(const struct observer *observer)
{
    if (observer->metrics)
        metrics_event(observer->metrics, EVENT_LOG_LINE_LOST);
}

void
observe_event(const struct observer *observer, enum event event, const struct event_field *fields, size_t count)
{
    if (observer->log && !log_event(observer->log, event, fields, count))
        count_lost_line(observer);
    if (observer->metrics)
        metrics_event(observer->metrics, event);
}

void
observe_request(const struct observer *observer, const struct request_record *record)
{
    if (observer->log && !log_request(observer->log, record))
        count_lost_line(observer);
    if (observer->metrics)
        metrics_request(observer->metrics, record);
}
