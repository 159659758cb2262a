package graft.provisioner.setup;

import java.nio.file.Path;

/**
 * What a guest's client is told.
 *
 * @param server where the server is, as the guest reaches it: addresses, the best first
 * @param name under which the server knows the guest
 * @param token the file on the host that holds the guest's token; the token itself stands in no
 *     plan and no journal
 */
public record ClientSettings(String server, String name, Path token) {}
