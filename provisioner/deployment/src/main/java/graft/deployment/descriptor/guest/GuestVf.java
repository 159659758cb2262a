package graft.deployment.descriptor.guest;

import graft.common.bind.Doc;
import graft.common.bind.Range;
import graft.common.values.Name;
import java.util.Optional;

/** A virtual function that a guest gets for itself. */
@Doc("A virtual function that a guest gets for itself.")
public record GuestVf(
    @Doc("The adapter's name in this descriptor.") Name adapter,
    @Range(min = 0, max = 1023) @Doc("The function's number; any free one if absent.")
        Optional<Integer> index) {}
