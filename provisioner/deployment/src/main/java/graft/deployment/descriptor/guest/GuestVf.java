package graft.deployment.descriptor.guest;

import graft.common.bind.Doc;
import graft.common.bind.Range;
import graft.common.values.Name;
import java.util.Optional;

/** A virtual function that is passed through to a guest. */
@Doc("A virtual function that is passed through to a guest.")
public record GuestVf(
    @Doc("The adapter's name in this descriptor.") Name adapter,
    @Range(min = 0, max = 1023) @Doc("The function's number. If absent, any free one.")
        Optional<Integer> index) {}
