package graft.guests.bundle;

import graft.common.bind.Doc;
import graft.common.values.Name;
import java.util.Optional;

/** A value that whoever uses a bundle gives. */
@Doc("A value that whoever uses a bundle gives.")
public record BundleSetting(
    @Doc("Its name, as a variable: ${name}.") Name name,
    @Doc("What it means.") String description,
    @Doc("Its value if none is given; it must be given if this is absent.")
        Optional<String> value) {}
