package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.disk.PrivateFiles;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** What a real guest reaches on a closed network, and, to compare, on an open one. */
@Tag("integration")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.GUESTS)
class ClosedNetworkIntegrationTest {
  private static final String SETUP = RealHost.unique("provtest-closed");
  private static final String CLOSED = RealHost.unique("provtest-shut");
  private static final String OPEN = RealHost.unique("provtest-open");
  private static final int AT_ONCE = 64;

  /** Prints a word for each attempt: whether something answered. */
  private static final String ATTEMPTS =
      """
#!/bin/sh
# usage: attempts HOST_ADDRESS SERVICE_PORT
try() {
  what=$1; shift
  if timeout 8 "$@" </dev/null >/tmp/answer 2>&1 && [ -s /tmp/answer ]; then echo "$what: reached"; else echo "$what: closed"; fi
}
attempts() {
  try "$1 loopback" nc -w 4 10.0.2.2 "$port"
  try "$1 gateway" nc -w 4 10.0.2.1 "$port"
  try "$1 host" nc -w 4 "$host" "$port"
  try "$1 127.0.0.1" nc -w 4 127.0.0.1 "$port"
}
host=$1 port=$2
attempts direct
for gateway in 10.0.2.1 10.0.2.2 10.0.2.3; do
  ip route replace default via $gateway
  attempts $gateway
done
try "IPv6 loopback" nc -w 4 fec0::2 "$port"
ip -6 address add fec0::1234/64 dev eth0 2>/dev/null
ip -6 route replace default via fe80::2 dev eth0 2>/dev/null
try "IPv6 host" nc -w 4 fec0::2 "$port"
try "DNS" nslookup localhost.example 10.0.2.3
true
""";

  /** Many connections at once, each with a text of its own. */
  private static final String MANY =
      """
      #!/bin/sh
      # usage: many PORT COUNT
      i=0
      while [ $i -lt $2 ]; do
        echo "text $i" >/tmp/in.$i
        (nc -w 60 10.0.2.2 $1 </tmp/in.$i >/tmp/out.$i) &
        i=$((i + 1))
      done
      wait
      i=0 good=0
      while [ $i -lt $2 ]; do
        [ "$(cat /tmp/out.$i)" = "echo text $i" ] && good=$((good + 1))
        i=$((i + 1))
      done
      echo "$good answers"
      """;

  @TempDir Path folder;
  @AutoClose private GraftProcess graft;
  private ServerSocket server;
  private ServerSocket service;

  @BeforeEach
  void start() throws Exception {
    graft = new GraftProcess(folder);
    server = new ServerSocket(0, AT_ONCE, InetAddress.getLoopbackAddress());
    service = new ServerSocket(0, 50); // on all addresses of the host
    Files.writeString(folder.resolve("attempts"), ATTEMPTS);
    Files.writeString(folder.resolve("many"), MANY);
    PrivateFiles.write(folder.resolve("token"), "0".repeat(64).getBytes(StandardCharsets.US_ASCII));
  }

  @AfterEach
  void sweep() throws Exception {
    server.close();
    service.close();
    if (Files.exists(graft.state(SETUP))) {
      graft.run("destroy", SETUP);
    }
    RealHost.sweep(CLOSED, OPEN);
  }

  private String descriptor() throws Exception {
    String guest =
        """
          - name: %s
            kernel: {image: %s, initramfs: %s, arguments: console=ttyS0 quiet}
            memory: 192MiB
            %s
            setup:
              files:
                - {source: attempts, path: /usr/local/bin/attempts, mode: 0755}
                - {source: many, path: /usr/local/bin/many, mode: 0755}
            ready: {verify: false}
        """;
    return RealHost.descriptor(
        folder,
        """
        graft: 1
        name: %s
        nodes: [{name: here, server: "tcp://127.0.0.1:%d", token-file: token}]
        gpus: [{name: gpu0, owner: "node:here"}]
        guests:
        """
                .formatted(SETUP, server.getLocalPort())
            + guest.formatted(
                CLOSED, RealHost.kernel(), RealHost.initramfs(), "vgpu: {gpu: gpu0, channel: tcp}")
            + guest.formatted(OPEN, RealHost.kernel(), RealHost.initramfs(), "networks: [user]"));
  }

  @Test
  void aGuestReachesTheServerManyTimesAtOnceAndNothingElse() throws Exception {
    serve(service, line -> "a service of the host");
    CountDownLatch all = new CountDownLatch(AT_ONCE);
    serve(
        server,
        line -> {
          all.countDown();
          // Answers when all connections are open, which shows that they are open at once.
          return all.await(60, TimeUnit.SECONDS) ? "echo " + line : "alone";
        });
    String lab = descriptor();
    graft.run("apply", lab).as(0);

    String host = hostAddress();
    String port = String.valueOf(service.getLocalPort());
    String open =
        graft.run("exec", lab, OPEN, "--", "/usr/local/bin/attempts", host, port).as(0).out();
    assertThat(open)
        .as("the attempts are good ones")
        .contains("direct loopback: reached", "direct host: reached");
    String closed =
        graft.run("exec", lab, CLOSED, "--", "/usr/local/bin/attempts", host, port).as(0).out();
    assertThat(closed.lines()).hasSize(19).allMatch(line -> line.endsWith(": closed"));

    String serverPort = String.valueOf(server.getLocalPort());
    assertThat(
            graft
                .run(
                    "exec",
                    lab,
                    CLOSED,
                    "--",
                    "/usr/local/bin/many",
                    serverPort,
                    String.valueOf(AT_ONCE))
                .as(0)
                .out())
        .isEqualTo(AT_ONCE + " answers\n");

    graft.run("destroy", lab).as(0);
    RealHost.assertNothingLeft(graft, SETUP, CLOSED, OPEN);
  }

  private interface Answer {
    String to(String line) throws InterruptedException;
  }

  /** Answers each connection's first line, or its end, in a thread of its own. */
  private static void serve(ServerSocket listener, Answer answer) {
    start(
        () -> {
          while (true) {
            Socket socket = listener.accept();
            start(
                () -> {
                  try (socket) {
                    var in = new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8);
                    String line = new BufferedReader(in).readLine();
                    byte[] text = (answer.to(line) + "\n").getBytes(StandardCharsets.UTF_8);
                    socket.getOutputStream().write(text);
                  }
                });
          }
        });
  }

  private interface Work {
    void run() throws IOException, InterruptedException;
  }

  private static void start(Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (IOException | InterruptedException e) {
                // the test is over
              }
            });
    thread.setDaemon(true);
    thread.start();
  }

  /** An address of this host other than the loopback's; the loopback's if there is none. */
  private static String hostAddress() throws IOException {
    List<NetworkInterface> interfaces = Collections.list(NetworkInterface.getNetworkInterfaces());
    return interfaces.stream()
        .flatMap(one -> Collections.list(one.getInetAddresses()).stream())
        .filter(address -> address instanceof Inet4Address && !address.isLoopbackAddress())
        .map(InetAddress::getHostAddress)
        .findFirst()
        .orElse("10.0.2.2");
  }
}
