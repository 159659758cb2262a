package graft.deployment.descriptor.hosts;

import graft.common.bind.Doc;
import graft.common.values.Name;
import graft.deployment.descriptor.guest.VGpu;
import graft.guests.connection.HostAddress;

/** A guest of another host that uses a GPU of this one. */
@Doc("A guest of another host that uses a GPU of this one.")
public record RemoteGuest(
    @Doc("The name by which its clients authenticate.") Name name,
    @Doc("The address of this host at which the GPU's server serves it.") HostAddress address,
    @Doc("A file with its token, mode 0600.") String tokenFile,
    @Doc("What it sees of the GPU, which the host owns.") VGpu vgpu) {}
