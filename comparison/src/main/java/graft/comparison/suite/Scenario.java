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
 * @param kind the kind, where the name is not its word
 * @param descriptor for guests: the descriptor that sets them up, counted from the suite's folder
 * @param guests for guests: which of the descriptor's run the program; all of them if none is named
 * @param server for another node's server: its address
 * @param client the name that the server knows the token by
 * @param tokenFile the file with the token
 * @param furtherNodes servers of more nodes: {@code multi-gpu} then works on a GPU of each
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

  /** The kind, given or by the name; empty if the name is no kind's. */
  public Optional<ScenarioKind> knownKind() {
    return kind.or(() -> Words.find(ScenarioKind.class, name));
  }

  /** For another node's server: that one and those of further nodes. */
  public List<RemoteServer> servers() {
    RemoteServer first = new RemoteServer(server.orElseThrow(), client, tokenFile.orElseThrow());
    return Stream.concat(Stream.of(first), furtherNodes.stream()).toList();
  }
}
