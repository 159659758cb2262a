package graft.comparison.suite;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A way to reach a GPU.
 *
 * <pre>{@code
 * - {name: shm}
 * - {name: vm-local, descriptor: guests.yaml}
 * - {name: pf-remote, server: 'tcp://10.0.0.2:7799', client: me, token-file: token}
 * }</pre>
 *
 * @param kind the kind, if the name is not that of a kind
 * @param descriptor for guests: the descriptor that sets them up, relative to the suite's folder
 * @param guests for guests: the guests of the descriptor that run the program; all of them if none
 *     is named
 * @param server the address of another node's server
 * @param client the name under which the server keeps the token
 * @param tokenFile the file with the token
 * @param furtherNodes the servers of further nodes: {@code multi-gpu} then uses a GPU of each node
 */
public record Scenario(
    String name,
    Optional<ScenarioKind> kind,
    Optional<String> descriptor,
    List<String> guests,
    Optional<String> server,
    Optional<String> client,
    Optional<String> tokenFile,
    List<RemoteServer> furtherNodes) {

  /** The kind, explicit or derived from the name; empty if the name is not that of a kind. */
  public Optional<ScenarioKind> knownKind() {
    return kind.or(() -> Words.find(ScenarioKind.class, name));
  }

  /** The server of another node, followed by the servers of further nodes. */
  public List<RemoteServer> servers() {
    RemoteServer first = new RemoteServer(server.orElseThrow(), client, tokenFile.orElseThrow());
    return Stream.concat(Stream.of(first), furtherNodes.stream()).toList();
  }
}
