package graft.provisioner.descriptor.guest;

import graft.provisioner.bind.Doc;
import graft.provisioner.bind.Range;
import graft.provisioner.values.Name;
import java.util.Optional;

/** A virtual function that a guest gets for itself. */
@Doc("A virtual function that a guest gets for itself.")
public record GuestVf(
    @Doc("The adapter's name in this descriptor.") Name adapter,
    @Range(min = 0, max = 1023) @Doc("The function's number; any free one if absent.")
        Optional<Integer> index) {}
