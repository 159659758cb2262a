package graft.comparison.suite;

import java.util.Optional;

/**
 * The server of another node.
 *
 * @param server the address
 * @param client the name under which the server keeps the token
 * @param tokenFile the file with the token
 */
public record RemoteServer(String server, Optional<String> client, String tokenFile) {}
