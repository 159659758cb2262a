package graft.guests.bundle;

import graft.common.bind.Doc;
import graft.common.values.Name;
import java.util.Optional;

/** A value that the user of a bundle provides. */
@Doc("A value that the user of a bundle provides.")
public record BundleSetting(
    @Doc("Its name, as a variable: ${name}.") Name name,
    @Doc("What it means.") String description,
    @Doc("Its default value. Without one the value is required.") Optional<String> value) {}
