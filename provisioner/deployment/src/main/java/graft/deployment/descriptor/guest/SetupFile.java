package graft.deployment.descriptor.guest;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.values.FileMode;

/** A file to copy into a guest. */
@Doc("A file to copy into a guest.")
public record SetupFile(
    @Doc("The file on this machine.") String source,
    @Doc("Its absolute path in the guest.") String path,
    @Default("0644") @Doc("Its permissions, in octal: 0755 for programs.") FileMode mode) {}
