package graft.deployment.descriptor.guest;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.values.MemorySize;
import graft.common.values.Name;
import java.util.Optional;

/** A disk beside the one that a guest boots. */
@Doc("An additional disk: a new empty one, or a copy of a file.")
public record Disk(
    @Doc(
            "Its name. The first 20 characters are its serial number in the guest, except under"
                + " Xen, whose disks have none.")
        Name name,
    @Doc("The size of a new empty disk. It may become larger later, and never smaller.")
        Optional<MemorySize> size,
    @Doc("A disk image to start from.") Optional<String> source,
    @Default("false") @Doc("Whether it is read-only for the guest.") boolean readOnly) {}
