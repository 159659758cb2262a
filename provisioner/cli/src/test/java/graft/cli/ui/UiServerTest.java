package graft.cli.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import graft.remoting.server.system.ListenAddress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Attacks on the page: by other users of the machine, and by sites in the same browser. */
@Timeout(120)
class UiServerTest {
  private static final Duration PATIENT = Duration.ofMinutes(10);
  private static final int ANSWER_MILLIS = 60_000;
  private static final String SECRET = "only with the token";
  private static final ListenAddress ANY_PORT = new ListenAddress.Tcp("127.0.0.1", 0);

  @TempDir Path folder;
  private final UiToken token = UiToken.make();
  private UiServer server;

  @BeforeEach
  void start() {
    start(PATIENT);
  }

  private void start(Duration limit) {
    server = new UiServer(ANY_PORT, requests(Optional.of(token)), limit);
  }

  private static UiRequests requests(Optional<UiToken> token) {
    return new UiRequests(token, "<p nonce=@NONCE@>", () -> Map.of("secret", SECRET));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private Socket connect() throws IOException {
    int port = ((ListenAddress.Tcp) server.address()).port();
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(ANSWER_MILLIS);
    return socket;
  }

  /** Sends bytes, and returns all that comes back. */
  private String send(String request) throws IOException {
    try (Socket socket = connect()) {
      socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      socket.shutdownOutput();
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private String get(String target, String... headers) throws IOException {
    return ask("GET", target, "Host: localhost:8000", headers);
  }

  private String ask(String method, String target, String host, String... headers)
      throws IOException {
    String more = headers.length == 0 ? "" : String.join("\r\n", headers) + "\r\n";
    return send(method + " " + target + " HTTP/1.1\r\n" + host + "\r\n" + more + "\r\n");
  }

  private String bearer() {
    return "Authorization: Bearer " + token.secret();
  }

  private static void assertRefused(String answer, int status) {
    assertThat(answer).startsWith("HTTP/1.1 " + status + " ").doesNotContain(SECRET);
  }

  @Test
  void theDataNeedsTheToken() throws Exception {
    assertThat(get(UiRequests.DATA, bearer())).startsWith("HTTP/1.1 200 OK").contains(SECRET);
    assertRefused(get(UiRequests.DATA), 401);
    String other = UiToken.make().secret();
    for (String header :
        List.of(
            "Authorization: Bearer " + other,
            "Authorization: Bearer ",
            "Authorization: Bearer " + token.secret().substring(1),
            "Authorization: Basic " + token.secret(),
            "Cookie: token=" + token.secret())) {
      assertRefused(get(UiRequests.DATA, header), 401);
    }
    assertRefused(get(UiRequests.DATA, bearer(), "Authorization: Bearer " + other), 400);
    assertRefused(get(UiRequests.DATA + "?token=" + token.secret()), 404);
  }

  @Test
  void thePageHoldsNoDataAndAllowsItsOwnScriptAlone() throws Exception {
    String page = get("/");
    assertThat(page)
        .startsWith("HTTP/1.1 200 OK")
        .containsPattern(
            "Content-Security-Policy: default-src 'none'; script-src 'nonce-([^']{24})'; style-src"
                + " 'nonce-\\1'; connect-src 'self'; base-uri 'none'; form-action 'none';"
                + " frame-ancestors 'none'\r\n")
        .contains("X-Content-Type-Options: nosniff\r\n", "Cache-Control: no-store\r\n")
        .contains("Referrer-Policy: no-referrer\r\n", "X-Frame-Options: DENY\r\n")
        .doesNotContain(SECRET, "@NONCE@", "Access-Control", "Set-Cookie");
    assertThat(get("/")).as("a nonce is used once").isNotEqualTo(page);
    assertThat(get("/nowhere"))
        .contains("default-src 'none'", "frame-ancestors 'none'", "nosniff", "no-store");
  }

  @ParameterizedTest
  @ValueSource(strings = {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get"})
  void aRequestThatCouldChangeSomethingIsRefused(String method) throws Exception {
    assertRefused(ask(method, UiRequests.DATA, "Host: localhost", bearer()), 405);
    assertRefused(
        send(method + " / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nkill"), 405);
  }

  @Test
  void aHeadHasNoBody() throws Exception {
    String answer = ask("HEAD", UiRequests.DATA, "Host: localhost", bearer());
    assertThat(answer).startsWith("HTTP/1.1 200 OK").endsWith("\r\n\r\n").doesNotContain(SECRET);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example:80",
        "evil.example:127",
        "user@localhost",
        "10.0.0.1",
        "[::2]",
        "localhost:80:80",
        "localhost:",
        ""
      })
  void aSiteWhoseNameLeadsHereIsRefused(String host) throws Exception {
    assertRefused(ask("GET", UiRequests.DATA, "Host: " + host, bearer()), 403);
    assertRefused(ask("GET", "/", "Host: " + host), 403);
  }

  @Test
  void aRequestHasOneHost() throws Exception {
    assertRefused(send("GET / HTTP/1.1\r\n\r\n"), 403);
    assertRefused(get("/", "Host: localhost"), 400);
    for (String host : List.of("localhost", "127.0.0.1:1", "[::1]:65535", "LocalHost:80")) {
      assertThat(ask("GET", UiRequests.DATA, "Host: " + host, bearer())).contains(SECRET);
    }
  }

  @Test
  void anotherSiteInTheSameBrowserIsRefused() throws Exception {
    for (String origin :
        List.of("http://evil.example", "null", "http://localhost:8001", "https://localhost:8000")) {
      assertRefused(get(UiRequests.DATA, bearer(), "Origin: " + origin), 403);
    }
    assertThat(get(UiRequests.DATA, bearer(), "Origin: http://localhost:8000")).contains(SECRET);
    for (String site : List.of("cross-site", "same-site", "anything")) {
      assertRefused(get(UiRequests.DATA, bearer(), "Sec-Fetch-Site: " + site), 403);
    }
    assertThat(get(UiRequests.DATA, bearer(), "Sec-Fetch-Site: same-origin")).contains(SECRET);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET",
        "GET /room.json",
        "GET  /room.json HTTP/1.1",
        "GET /room.json HTTP/2.0",
        "GET /room.json HTTP/1.1\r\nHost: localhost\r\n folded: x",
        "GET /room.json HTTP/1.1\r\nHost : localhost",
        "GET /room.json HTTP/1.1\r\nHost: localhost\r\nx",
        "GET /room.json HTTP/1.1\r\nHost: local\u0000host",
        "GET /room.json HTTP/1.1\nHost: localhost",
        "\u0016\u0003\u0001\u0002\u0000",
        "{\"request\":\"sessions\"}"
      })
  void whatIsNoRequestIsRefused(String head) throws Exception {
    assertRefused(send(head + "\r\n" + bearer() + "\r\n\r\n"), 400);
    assertThat(get("/")).as("it still serves").startsWith("HTTP/1.1 200");
  }

  @Test
  void noOtherFileIsServed() throws Exception {
    for (String target :
        List.of("/../../etc/passwd", "//", "/room.json/", "/page.html", "http://localhost/", "*")) {
      assertRefused(get(target, bearer()), 404);
    }
  }

  @Test
  void aHeadThatIsTooLongIsRefused() throws Exception {
    assertRefused(get("/" + "x".repeat(9000)), 431);
    String[] many = new String[101];
    Arrays.fill(many, "a: b");
    assertRefused(get("/", many), 400);
  }

  @Test
  void aClientThatSendsNoWholeRequestIsLeft() throws Exception {
    stop();
    start(Duration.ofMillis(200));
    try (Socket silent = connect();
        Socket slow = connect()) {
      slow.getOutputStream().write("GET / HTTP/1.1\r\nHost:".getBytes(StandardCharsets.US_ASCII));
      assertThat(silent.getInputStream().read()).isEqualTo(-1);
      assertThat(slow.getInputStream().read()).isEqualTo(-1);
    }
  }

  @Test
  void connectionsBeyondTheMostAreClosedAndLaterOnesServed() throws Exception {
    List<Socket> idle = new ArrayList<>();
    try {
      for (int i = 0; i < 32; i++) {
        idle.add(connect());
      }
      // The sockets before it hold all places.
      assertThat(isClosed(connect())).isTrue();
    } finally {
      for (Socket socket : idle) {
        socket.close();
      }
    }
    String answer = "";
    while (answer.isEmpty()) { // until the server has noticed; the class has a time limit
      answer = answerOrNothing();
    }
    assertThat(answer).startsWith("HTTP/1.1 200");
  }

  private static boolean isClosed(Socket socket) throws IOException {
    try (socket) {
      return socket.getInputStream().read() < 0;
    } catch (SocketException e) {
      return true; // reset
    }
  }

  private String answerOrNothing() {
    try {
      return get("/");
    } catch (IOException e) {
      return "";
    }
  }

  @Test
  void aFailureSaysNothingOfItsReason() throws Exception {
    stop();
    UiRequests failing =
        new UiRequests(
            Optional.empty(),
            "",
            () -> {
              throw new IllegalStateException(SECRET);
            });
    server = new UiServer(ANY_PORT, failing, PATIENT);
    assertRefused(get(UiRequests.DATA), 500);
  }

  @Test
  void onlyAnAddressOfThisMachineAloneIsServed() {
    for (String address : List.of("tcp://0.0.0.0:0", "tcp://[::]:0", "vsock://any:70")) {
      assertThatThrownBy(
              () -> new UiServer(ListenAddress.parse(address), requests(Optional.empty()), PATIENT))
          .as(address)
          .isInstanceOf(GraftException.class)
          .hasMessageContaining("loopback");
    }
  }

  @Test
  void aSocketIsItsOwnersAloneAndIsRemoved() throws Exception {
    stop();
    Path path = folder.resolve("ui.sock");
    server = new UiServer(new ListenAddress.Unix(path), requests(Optional.empty()), PATIENT);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
        .isEqualTo("rw-------");
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      channel.connect(UnixDomainSocketAddress.of(path));
      channel.write(
          ByteBuffer.wrap(
              ("GET " + UiRequests.DATA + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
                  .getBytes(StandardCharsets.US_ASCII)));
      ByteBuffer answer = ByteBuffer.allocate(8192);
      while (channel.read(answer) >= 0) {
        assertThat(answer.hasRemaining()).isTrue();
      }
      assertThat(new String(answer.array(), 0, answer.position(), StandardCharsets.UTF_8))
          .contains(SECRET);
    }
    server.close();
    assertThat(path).doesNotExist();
  }
}
