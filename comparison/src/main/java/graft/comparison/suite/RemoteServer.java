package graft.comparison.suite;

import java.util.Optional;

/**
 * A server of another node.
 *
 * @param server its address
 * @param client the name that it knows the token by
 * @param tokenFile the file with the token
 */
public record RemoteServer(String server, Optional<String> client, String tokenFile) {}
