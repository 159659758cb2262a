package graft.cli.ui;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * An answer. Every answer, refusals too, has the headers that keep a browser from storing it, from
 * guessing its type, from showing it in a frame, and from letting other sites read it.
 *
 * @param status {@code 200 OK}
 * @param more the headers of this answer alone
 */
record HttpReply(String status, String type, String body, Map<String, String> more) {
  private static final String NOTHING = "default-src 'none'";
  private static final String NO_FRAMES =
      "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  /** A refusal in a sentence. */
  static HttpReply refusal(String status, String why) {
    return new HttpReply(status, "text/plain", why + "\n", Map.of());
  }

  /** What a browser may do with this answer besides showing it: nothing if not told otherwise. */
  private String policy() {
    return more.getOrDefault("Content-Security-Policy", NOTHING) + NO_FRAMES;
  }

  /** The bytes of the body. */
  byte[] bodyBytes() {
    return body.getBytes(StandardCharsets.UTF_8);
  }

  /** The head, with the empty line that ends it. */
  byte[] headBytes() {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Content-Type", type + "; charset=utf-8");
    headers.put("Content-Length", String.valueOf(bodyBytes().length));
    headers.put("Cache-Control", "no-store");
    headers.put("X-Content-Type-Options", "nosniff");
    headers.put("X-Frame-Options", "DENY");
    headers.put("Referrer-Policy", "no-referrer");
    headers.put("Cross-Origin-Resource-Policy", "same-origin");
    headers.put("Cross-Origin-Opener-Policy", "same-origin");
    headers.put("Connection", "close");
    headers.putAll(more);
    headers.put("Content-Security-Policy", policy());
    StringBuilder head = new StringBuilder("HTTP/1.1 " + status + "\r\n");
    headers.forEach((name, value) -> head.append(name + ": " + value + "\r\n"));
    return head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
  }
}
