package graft.cli.ui;

import graft.cli.session.SharesGot;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Question;
import graft.cli.terminal.ShutdownSignal;
import graft.remoting.server.system.ListenAddress;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code graft ui}: serves a page that shows this host's GPUs, guests and sessions. */
@Command(
    name = "ui",
    mixinStandardHelpOptions = true,
    header = "Serves a page that shows this host's GPUs, guests and sessions in a browser.",
    description = {
      "",
      "Serves one page on a loopback address, until Ctrl-C or SIGTERM: this host, its GPUs and their"
          + " servers, sessions with their shares and memory, guests, deployments, what graft apply"
          + " would do, and reports of comparisons. The page can be looked at, and changes"
          + " nothing. It shows what graft list, status and sessions show to the same user: an"
          + " ordinary user does not see what root has applied.",
      "",
      "Every user of this machine, and a guest on QEMU's user network, can connect to a loopback"
          + " address. The data therefore needs a token, which is part of the address that is"
          + " printed. Only a terminal gets the token;"
          + " where standard output is none, or with --output json, --token-file is needed and the"
          + " token is in that file. A Unix socket has mode 0600 and answers root and this user; it"
          + " needs no token unless --token-file is given.",
      "",
      "Ends with 130 on Ctrl-C and 143 on SIGTERM, with 1 if the address cannot be used, and with 2"
          + " if the command line is wrong.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft ui",
      "  graft ui --listen 127.0.0.1:8765 --reports comparison",
      "  sudo graft ui --socket /run/graft-ui.sock",
      "  graft ui --token-file ui.token --output json",
      "",
      "From another machine, over SSH, with the page's port, or with the socket:",
      "  ssh -L 8765:127.0.0.1:8765 HOST",
      "  ssh -L 127.0.0.1:8765:/run/graft-ui.sock root@HOST"
    })
public final class UiCommand implements Callable<Integer> {
  private static final Duration CLIENT_LIMIT = Duration.ofSeconds(5);
  private static final Duration STATUS_EVERY = Duration.ofSeconds(5);
  private static final Duration SESSIONS_EVERY = Duration.ofSeconds(2);

  /** How long after the last request the host is looked at; a page asks every two seconds. */
  private static final Duration INTEREST = Duration.ofSeconds(20);

  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(12);

  @Mixin Output output;
  @Spec CommandSpec spec;

  @ArgGroup Address address = new Address();

  /** Where the page is served. */
  static final class Address {
    @Option(
        names = "--listen",
        paramLabel = "HOST:PORT",
        description =
            "A loopback address (default: 127.0.0.1:0; with port 0 the system chooses one).")
    String listen;

    @Option(names = "--socket", paramLabel = "PATH", description = "A Unix socket of mode 0600.")
    Path socket;
  }

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description =
          "Take the token from this file, which only its owner may read. The file is made if it is"
              + " not there.")
  Path tokenFile;

  @Option(
      names = "--reports",
      paramLabel = "FOLDER",
      description =
          "Name the reports of graft compare in this folder, and in the folders in it; may be given"
              + " several times.")
  List<Path> reports = List.of();

  @Override
  public Integer call() throws Exception {
    ListenAddress at = listenAddress();
    boolean tells = !output.isJson() && Question.isTerminal(1);
    Optional<UiToken> token = token(at, tells);
    HostView host = new HostView();
    SharesGot shares = new SharesGot();
    try (ShutdownSignal end = new ShutdownSignal(); // closed last, when the server's socket is gone
        Refreshed<Status> status =
            new Refreshed<>(
                "graft-ui-status", STATUS_EVERY, INTEREST, () -> Status.look(host, reports));
        Refreshed<Live> live =
            new Refreshed<>(
                "graft-ui-sessions", SESSIONS_EVERY, INTEREST, () -> Live.look(shares));
        UiServer server =
            new UiServer(
                at,
                new UiRequests(token, page(), () -> Room.tree(status.get(), live.get())),
                CLIENT_LIMIT)) {
      end.listen(CLOSE_LIMIT);
      tell(server.address(), token, tells);
      end.await();
      return ExitCode.OK;
    }
  }

  private ListenAddress listenAddress() {
    try {
      return address.socket != null
          ? new ListenAddress.Unix(address.socket.toAbsolutePath())
          : ListenAddress.parse(
              "tcp://" + (address.listen == null ? "127.0.0.1:0" : address.listen));
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage());
    }
  }

  private Optional<UiToken> token(ListenAddress at, boolean tells) {
    if (tokenFile != null) {
      return Optional.of(UiToken.in(tokenFile.toAbsolutePath()));
    }
    if (at instanceof ListenAddress.Unix) {
      return Optional.empty();
    }
    if (!tells) {
      throw new ParameterException(
          spec.commandLine(),
          "the token would not be shown: standard output is no terminal, or has JSON; give"
              + " --token-file FILE");
    }
    return Optional.of(UiToken.make());
  }

  /** The page, without its data. */
  static String page() throws IOException {
    try (InputStream in = UiCommand.class.getResourceAsStream("page.html")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** Says where the page is; only a terminal is told the token. */
  private void tell(ListenAddress at, Optional<UiToken> token, boolean tells) {
    String place =
        at instanceof ListenAddress.Tcp tcp
            ? "http://"
                + (tcp.host().contains(":") ? "[" + tcp.host() + "]" : tcp.host())
                + ":"
                + tcp.port()
                + "/"
            : at.toString();
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("address", place);
    tree.put("tokenFile", tokenFile == null ? null : tokenFile.toAbsolutePath().toString());
    output.resultLine(tree);
    boolean browsed = tells && at instanceof ListenAddress.Tcp;
    output.say(place + (browsed ? token.map(t -> "#" + t.secret()).orElse("") : ""));
    if (browsed) {
      output.say("The part behind # is the token: whoever has it can read the page. Ctrl-C ends.");
    } else if (tokenFile != null) {
      output.say("the token is in " + tokenFile.toAbsolutePath());
    }
  }
}
