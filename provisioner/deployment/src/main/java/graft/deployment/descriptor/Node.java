package graft.deployment.descriptor;

import graft.common.bind.Doc;
import graft.common.values.Endpoint;
import graft.common.values.Name;

/** Another machine that serves GPUs. */
@Doc("Another machine that serves GPUs.")
public record Node(
    @Doc("What this descriptor calls it.") Name name,
    @Doc("Where its server is.") Endpoint server,
    @Doc("A file with the token that its server knows, mode 0600.") String tokenFile) {}
