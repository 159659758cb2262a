package graft.deployment.descriptor.fabric;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.bind.Key;
import graft.common.bind.Range;
import graft.common.values.Name;
import graft.sriov.Guid;
import java.util.List;
import java.util.Optional;

/** One physical function and its virtual functions. */
@Doc("One physical function and its virtual functions.")
public record Adapter(
    @Doc("Its name in this descriptor.") Name name,
    @Doc("The physical function: an RDMA device such as mlx5_0, or a PCI address.")
        AdapterDevice device,
    @Range(min = 0, max = 1024)
        @Doc("The number of virtual functions, 0 for none. If absent, the existing ones stay.")
        Optional<Integer> vfs,
    @Default("auto") @Doc("The link layer that its port is required to have.") LinkLayer link,
    @Key("guid-base")
        @Doc("The base of the GUIDs of virtual functions that have none of their own.")
        Optional<Guid> guidBase,
    @Default("auto") @Doc("The policy of virtual functions that have none of their own.")
        VfPolicy policy,
    @Doc("Virtual functions with settings of their own.") List<VirtualFunction> virtualFunctions,
    @Doc("With hosts, the name of the host that it is on.") Optional<Name> host) {

  /** How many virtual functions the descriptor asks for, and guests can have. */
  public int count() {
    return vfs.orElse(0);
  }

  /** The link layers of an RDMA port. */
  public enum LinkLayer {
    AUTO,
    INFINIBAND,
    ETHERNET
  }
}
