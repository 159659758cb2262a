package graft.deployment;

import graft.common.GraftException;
import graft.common.bind.Spelling;
import graft.common.program.CurrentUser;
import graft.deployment.journal.Entry;
import graft.deployment.state.StateFolder;
import graft.deployment.step.host.HostServer;
import graft.deployment.step.host.ServerLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A server on this host that operators can ask.
 *
 * @param deployment the deployment that it belongs to; empty for one of {@code graft serve}
 * @param name the GPU's name, or the process of a server of {@code graft serve}
 * @param socket the socket by which operators ask the server
 * @param log what it has printed, where Graft knows
 */
public record OperatedServer(
    Optional<String> deployment, String name, Path socket, Optional<ServerLog> log) {
  private static final String SOCKET = ".sock";

  /** The servers of a deployment that was applied. */
  public static List<OperatedServer> of(StateFolder state) {
    return Deployments.journal(state).entries().values().stream()
        .map(Entry::step)
        .filter(HostServer.class::isInstance)
        .map(HostServer.class::cast)
        .map(
            server ->
                new OperatedServer(
                    Optional.of(state.deployment().text()),
                    server.gpu(),
                    server.operator(),
                    Optional.of(server.printed())))
        .toList();
  }

  /** A server of which only the socket is known. */
  public static OperatedServer at(Path socket) {
    String file = socket.getFileName().toString();
    String name = file.endsWith(SOCKET) ? file.substring(0, file.length() - SOCKET.length()) : file;
    return new OperatedServer(Optional.empty(), name, socket, Optional.empty());
  }

  /** The servers of this user's deployments, and those that this user runs by graft serve. */
  public static List<OperatedServer> all() {
    List<OperatedServer> all = new ArrayList<>();
    StateFolder.all().forEach(state -> all.addAll(of(state)));
    all.addAll(ofServe());
    return all;
  }

  /** The servers that this user runs by graft serve. */
  public static List<OperatedServer> ofServe() {
    List<OperatedServer> all = new ArrayList<>();
    CurrentUser.runtimeFolder(System.getenv())
        .filter(Files::isDirectory)
        .ifPresent(
            folder -> {
              try (Stream<Path> files = Files.list(folder)) {
                files
                    .filter(file -> file.toString().endsWith(SOCKET))
                    .sorted()
                    .map(OperatedServer::at)
                    .forEach(all::add);
              } catch (IOException e) {
                throw new GraftException("cannot list " + folder + ": " + e.getMessage(), "", e);
              }
            });
    return all;
  }

  /**
   * The servers whose log tells of a GPU's server, or of a guest's sessions.
   *
   * @param given the name of a GPU or of a guest of the deployment
   * @throws GraftException if there is neither
   */
  public static List<OperatedServer> loggingOf(StateFolder state, String given) {
    List<OperatedServer> servers = of(state);
    List<OperatedServer> named = servers.stream().filter(s -> s.name().equals(given)).toList();
    if (!named.isEmpty()) {
      return named;
    }
    List<String> guests = AppliedGuest.names(Deployments.journal(state));
    if (!guests.contains(given)) {
      List<String> names = new ArrayList<>(guests);
      servers.forEach(server -> names.add(server.name()));
      throw new GraftException(
          state.deployment() + " has neither a server of a GPU nor a guest '" + given + "'",
          Spelling.hint(given, names));
    }
    return servers;
  }

  /** What commands call it. */
  @Override
  public String toString() {
    return deployment.map(d -> d + "/").orElse("") + name;
  }
}
