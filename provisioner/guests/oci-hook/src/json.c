#include "json.h"
#include <stdint.h>
#include "system.h"

enum { DEEPEST = 64, LONGEST_KEY = 256 };

struct reader {
  const char *at, *end;
  const char *const *path; // keys that are still to be found; the last is null
  char *value;
  size_t room;
  bool found, too_long;
};

static void skip_space(struct reader *in) {
  while (in->at < in->end && is_in(*in->at, " \t\r\n")) in->at++;
}

static bool take(struct reader *in, char wanted) {
  skip_space(in);
  if (in->at == in->end || *in->at != wanted) return false;
  in->at++;
  return true;
}

static bool word(struct reader *in, const char *wanted) {
  size_t length = text_length(wanted);
  if ((size_t)(in->end - in->at) < length) return false;
  for (size_t i = 0; i < length; i++) {
    if (in->at[i] != wanted[i]) return false;
  }
  in->at += length;
  return true;
}

static bool hex(struct reader *in, uint32_t *value) {
  *value = 0;
  if (in->end - in->at < 4) return false;
  for (int i = 0; i < 4; i++) {
    char digit = *in->at;
    uint32_t number = digit <= '9' ? (uint32_t)(digit - '0') : (uint32_t)((digit | 0x20) - 'a' + 10);
    if (!is_in(digit, "0123456789abcdefABCDEF")) return false;
    *value = *value << 4 | number;
    in->at++;
  }
  return true;
}

struct text {
  char *bytes;
  size_t room, length;
  bool too_long;
};

static void put(struct text *out, uint32_t byte) {
  if (out->length + 1 >= out->room) {
    out->too_long = true;
  } else {
    out->bytes[out->length++] = (char)byte;
  }
}

static void put_code_point(struct text *out, uint32_t code) {
  if (code < 0x80) {
    put(out, code);
  } else if (code < 0x800) {
    put(out, 0xc0 | code >> 6);
    put(out, 0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(out, 0xe0 | code >> 12);
    put(out, 0x80 | (code >> 6 & 0x3f));
    put(out, 0x80 | (code & 0x3f));
  } else {
    put(out, 0xf0 | code >> 18);
    put(out, 0x80 | (code >> 12 & 0x3f));
    put(out, 0x80 | (code >> 6 & 0x3f));
    put(out, 0x80 | (code & 0x3f));
  }
}

static bool escape(struct reader *in, struct text *out) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  if (in->at == in->end) return false;
  char kind = *in->at++;
  for (int i = 0; from[i]; i++) {
    if (kind == from[i]) {
      put(out, (unsigned char)to[i]);
      return true;
    }
  }
  uint32_t code, low;
  // A zero would end the string for C, and what follows it would not be seen.
  if (kind != 'u' || !hex(in, &code) || code == 0) return false;
  if (code >= 0xd800 && code < 0xdc00) {
    if (!word(in, "\\u") || !hex(in, &low) || low < 0xdc00 || low > 0xdfff) return false;
    code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
  } else if (code >= 0xdc00 && code < 0xe000) {
    return false;
  }
  put_code_point(out, code);
  return true;
}

static bool string(struct reader *in, struct text *out) {
  if (!take(in, '"')) return false;
  while (in->at < in->end) {
    unsigned char c = (unsigned char)*in->at++;
    if (c == '"') {
      out->bytes[out->length] = 0;
      return true;
    }
    if (c < 0x20) return false;
    if (c != '\\') {
      put(out, c);
    } else if (!escape(in, out)) {
      return false;
    }
  }
  return false;
}

static bool number(struct reader *in) {
  const char *from = in->at;
  while (in->at < in->end && is_in(*in->at, "+-.0123456789eE")) in->at++;
  return in->at > from;
}

// path: the keys that lead from here to the string; null if it is not below this value.
static bool value(struct reader *in, const char *const *path, int depth);

static bool object(struct reader *in, const char *const *path, int depth) {
  in->at++;
  if (take(in, '}')) return true;
  do {
    char key[LONGEST_KEY];
    struct text name = {key, sizeof key, 0, false};
    skip_space(in);
    if (!string(in, &name) || !take(in, ':')) return false;
    bool leads = path && path[0] && !name.too_long && text_equal(key, path[0]);
    if (leads) in->found = false;
    if (!value(in, leads ? path + 1 : NULL, depth + 1)) return false;
  } while (take(in, ','));
  return take(in, '}');
}

static bool array(struct reader *in, int depth) {
  in->at++;
  if (take(in, ']')) return true;
  do {
    if (!value(in, NULL, depth + 1)) return false;
  } while (take(in, ','));
  return take(in, ']');
}

static bool value(struct reader *in, const char *const *path, int depth) {
  skip_space(in);
  if (depth > DEEPEST || in->at == in->end) return false;
  if (*in->at == '{') return object(in, path, depth);
  if (*in->at == '[') return array(in, depth);
  if (*in->at == '"') {
    char unused[1];
    bool wanted = path && !path[0];
    struct text out = {wanted ? in->value : unused, wanted ? in->room : sizeof unused, 0, false};
    if (!string(in, &out)) return false;
    if (wanted) {
      in->found = true;
      in->too_long = out.too_long;
    }
    return true;
  }
  return word(in, "true") || word(in, "false") || word(in, "null") || number(in);
}

const char *json_string(const char *text, size_t length, const char *const *path, char *found, size_t room) {
  struct reader in = {.at = text, .end = text + length, .path = path, .value = found, .room = room};
  if (!value(&in, path, 0)) return "is no JSON";
  skip_space(&in);
  if (in.at != in.end) return "has something behind its JSON";
  if (!in.found) return "lacks it";
  return in.too_long ? "has too long a text there" : NULL;
}
