// Reads strings out of a JSON text (RFC 8259) that may be hostile: the whole text is checked, and keys are found where
// they stand in the structure, not wherever their letters appear.
#pragma once
#include <stdbool.h>
#include <stddef.h>

// Copies the string at a path of keys (such as "root", "path", NULL) of the outermost object. Of a key that is there
// twice the last one counts, as for most readers. Returns why it does not; null if it does.
const char *json_string(const char *text, size_t length, const char *const *path, char *value, size_t room);
