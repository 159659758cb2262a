package graft.provisioner.descriptor;

import graft.provisioner.bind.Doc;
import graft.provisioner.values.Endpoint;
import graft.provisioner.values.Name;

/** Another machine that serves GPUs. */
@Doc("Another machine that serves GPUs.")
public record Node(
    @Doc("What this descriptor calls it.") Name name,
    @Doc("Where its server is.") Endpoint server,
    @Doc("A file with the token that its server knows, mode 0600.") String tokenFile) {}
