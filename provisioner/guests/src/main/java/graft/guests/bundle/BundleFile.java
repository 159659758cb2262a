package graft.guests.bundle;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import java.util.Optional;

/** A file or a folder of a bundle, with either a source or a content. */
@Doc("A file or a folder of a bundle: with a source or a content.")
public record BundleFile(
    @Doc("Its absolute path in the guest.") String path,
    @Doc("A file or a folder on this machine; relative to the bundle's own folder.")
        Optional<String> source,
    @Doc("The files of the folder, as a glob of names such as *.so. If absent, all.")
        Optional<String> only,
    @Doc("The text itself.") Optional<String> content,
    @Doc("Its permissions, in octal. If absent 0644, 0755 of a program, 0600 of a secret.")
        Optional<String> mode,
    @Default("root") @Doc("Its group in the guest, made if it is missing.") String group,
    @Default("false") @Doc("Whether the source is read only when it is delivered.")
        boolean secret) {}
