/* Keys that no family reads: which cannot matter, and which must not be passed over. */
#ifndef SERVICE_MODEL_KEYS_H
#define SERVICE_MODEL_KEYS_H

#include "service/model/reader.h"

/* A key of the table of those that never change a size. */
bool keys_harmless(const char *key);

/* A key whose name tells of a size or of a part with weights. */
bool keys_speak_of_size(const char *key);

/* After a family has read: an unread key that speaks of a size is a fault unless its value is empty (null, false, 0);
 * any other that is not in the table goes to arch->ignored_keys. Looks at the root and at the objects read. */
void keys_sort_out(struct reader *reader);

#endif
