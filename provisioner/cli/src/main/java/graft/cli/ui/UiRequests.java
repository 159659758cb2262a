package graft.cli.ui;

import graft.common.json.Json;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * What the page's server answers. There are two things to get, the page, which holds no data, and
 * the data, for which a request needs the token. No request changes anything.
 */
final class UiRequests {
  static final String DATA = "/room.json";

  private static final String BEARER = "Bearer ";
  private static final int NONCE_BYTES = 18;

  /**
   * The names of this machine as its own browser, or one behind an SSH forwarding, has them. A site
   * whose name was made to lead to a loopback address (DNS rebinding) has another.
   */
  private static final Pattern LOOPBACK =
      Pattern.compile("(?i)(?:localhost|127(?:\\.\\d{1,3}){3}|\\[::1])(?::\\d{1,5})?");

  /** Who may ask for the data, as browsers say: the page, and a person who types its address. */
  private static final Set<String> OWN_SITE = Set.of("same-origin", "none");

  private final Optional<UiToken> token;
  private final String page;
  private final Supplier<Map<String, Object>> room;
  private final SecureRandom random = new SecureRandom();

  /**
   * Answers with a page and its data.
   *
   * @param token what a request for the data needs; empty if whoever can connect may have it
   * @param page the page's HTML, with {@code @NONCE@} where a nonce belongs
   */
  UiRequests(Optional<UiToken> token, String page, Supplier<Map<String, Object>> room) {
    this.token = token;
    this.page = page;
    this.room = room;
  }

  HttpReply answer(HttpRequest request) throws IOException {
    Optional<String> host = request.header("host");
    if (host.isEmpty() || !LOOPBACK.matcher(host.get()).matches()) {
      return HttpReply.refusal("403 Forbidden", "the name of this page is localhost or 127.0.0.1");
    }
    if (!request.method().equals("GET") && !request.isHead()) {
      return new HttpReply(
          "405 Method Not Allowed",
          "text/plain",
          "this page can be looked at, and changes nothing\n",
          Map.of("Allow", "GET, HEAD"));
    }
    Optional<String> origin = request.header("origin");
    if (origin.isPresent() && !origin.get().equalsIgnoreCase("http://" + host.get())) {
      return HttpReply.refusal("403 Forbidden", "another site may not ask");
    }
    return switch (request.target()) {
      case "/" -> page();
      case DATA -> data(request);
      default -> HttpReply.refusal("404 Not Found", "there is / and " + DATA);
    };
  }

  private HttpReply page() {
    byte[] bytes = new byte[NONCE_BYTES];
    random.nextBytes(bytes);
    String nonce = Base64.getEncoder().encodeToString(bytes);
    String policy =
        "default-src 'none'; script-src 'nonce-%s'; style-src 'nonce-%s'; connect-src 'self'"
            .formatted(nonce, nonce);
    return new HttpReply(
        "200 OK",
        "text/html",
        page.replace("@NONCE@", nonce),
        Map.of("Content-Security-Policy", policy));
  }

  private HttpReply data(HttpRequest request) throws IOException {
    if (!OWN_SITE.contains(request.header("sec-fetch-site").orElse("none"))) {
      return HttpReply.refusal("403 Forbidden", "another site may not ask");
    }
    if (token.isPresent() && !isAuthorized(request.header("authorization"), token.get())) {
      return new HttpReply(
          "401 Unauthorized",
          "text/plain",
          "the data needs the token, as Authorization: Bearer TOKEN\n",
          Map.of("WWW-Authenticate", "Bearer"));
    }
    return new HttpReply("200 OK", "application/json", Json.line(room.get()), Map.of());
  }

  private static boolean isAuthorized(Optional<String> header, UiToken token) {
    String given = header.orElse("");
    return given.startsWith(BEARER) && token.is(given.substring(BEARER.length()));
  }
}
