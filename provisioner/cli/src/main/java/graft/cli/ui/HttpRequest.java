package graft.cli.ui;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The head of an HTTP request. Bodies are not read: no request needs one.
 *
 * @param target as it was sent: {@code /room.json}
 * @param headers the values of each header, by its name in lower case, in the order of the request
 */
record HttpRequest(String method, String target, Map<String, List<String>> headers) {
  private static final int MOST_HEADERS = 100;
  private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
  private static final Pattern TARGET = Pattern.compile("[\\x21-\\x7e]+");
  private static final Pattern VERSION = Pattern.compile("HTTP/1\\.[01]");
  private static final Pattern VALUE = Pattern.compile("[\\t\\x20-\\x7e\\x80-\\xff]*");

  /**
   * Parses a head.
   *
   * @param head the request line and the headers, without the empty line that ends them
   * @throws IOException if the head is not that of HTTP/1.1 (RFC 9112)
   */
  static HttpRequest parse(String head) throws IOException {
    String[] lines = head.split("\r\n", -1);
    String[] words = lines[0].split(" ", -1);
    if (words.length != 3
        || !TOKEN.matcher(words[0]).matches()
        || !TARGET.matcher(words[1]).matches()
        || !VERSION.matcher(words[2]).matches()) {
      throw new IOException("not a request line of HTTP/1.1");
    }
    if (lines.length - 1 > MOST_HEADERS) {
      throw new IOException("more than " + MOST_HEADERS + " headers");
    }
    Map<String, List<String>> headers = new HashMap<>();
    for (int i = 1; i < lines.length; i++) {
      int colon = lines[i].indexOf(':');
      // A name with a space before the colon, or a folded line, is no token.
      if (colon < 1
          || !TOKEN.matcher(lines[i].substring(0, colon)).matches()
          || !VALUE.matcher(lines[i].substring(colon + 1)).matches()) {
        throw new IOException("not a header of HTTP/1.1");
      }
      headers
          .computeIfAbsent(
              lines[i].substring(0, colon).toLowerCase(Locale.ROOT), name -> new ArrayList<>())
          .add(lines[i].substring(colon + 1).strip());
    }
    return new HttpRequest(words[0], words[1], headers);
  }

  /**
   * The value of a header; empty if there is none.
   *
   * @param name in lower case
   * @throws IOException if the request has the header twice, so that two readers could disagree
   */
  Optional<String> header(String name) throws IOException {
    List<String> values = headers.getOrDefault(name, List.of());
    if (values.size() > 1) {
      throw new IOException("more than one header " + name);
    }
    return values.stream().findFirst();
  }

  /** Whether the answer is sent without its body. */
  boolean isHead() {
    return method.equals("HEAD");
  }
}
