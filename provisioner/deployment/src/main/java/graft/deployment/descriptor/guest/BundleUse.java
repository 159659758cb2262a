package graft.deployment.descriptor.guest;

import graft.common.bind.Doc;
import graft.common.bind.Shorthand;
import graft.common.values.Name;
import java.util.List;
import java.util.Optional;

/** A bundle that a guest gets. */
@Shorthand("name")
@Doc("A bundle that a guest gets.")
public record BundleUse(
    @Doc("Its name; graft bundles lists them.") Name name,
    @Doc("The folder with the files that the bundle needs, such as another vendor's libraries.")
        Optional<String> files,
    @Doc("Values of its settings, each NAME=VALUE.") List<String> set) {}
