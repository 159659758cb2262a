package graft.deployment.descriptor.guest;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.bind.Range;
import graft.common.values.UserName;
import graft.guests.connection.HostAddress;
import java.util.Optional;

/** How to log in to a guest by SSH. */
@Doc("How to log in to a guest by SSH.")
public record Ssh(
    @Default("root") @Doc("The user.") UserName user,
    @Doc("The address or the host name. If absent, the guest's first address.")
        Optional<HostAddress> address,
    @Default("22") @Range(min = 1, max = 65535) @Doc("The port.") int port,
    @Doc("The file of the private key.") Optional<String> key) {}
