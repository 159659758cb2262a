package graft.deployment.descriptor;

import graft.common.bind.Doc;
import graft.common.values.Endpoint;
import graft.common.values.Name;

/** Another machine that serves GPUs. */
@Doc("Another machine that serves GPUs.")
public record Node(
    @Doc("Its name in this descriptor.") Name name,
    @Doc("The address of its server.") Endpoint server,
    @Doc("A file with a token that its server accepts, mode 0600.") String tokenFile) {}
