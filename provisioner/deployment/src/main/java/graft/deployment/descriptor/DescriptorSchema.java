package graft.deployment.descriptor;

import graft.common.bind.JsonSchema;
import graft.common.bind.Reference;
import java.util.Map;

/** The JSON Schema of descriptors. */
public final class DescriptorSchema {
  private static final String ID = "https://graft.invalid/schema/descriptor-1.json";

  private DescriptorSchema() {}

  /** The reference, in Markdown. */
  public static String reference() {
    return Reference.of(Descriptor.class, "The descriptor, version 1")
        + "\nRelative paths in a descriptor start at its own folder; `~/` is the home folder. YAML's"
        + "\nanchors and `<<` work. This page is printed by `graft schema --markdown`.\n";
  }

  /** The schema as a tree of maps and lists. */
  public static Map<String, Object> tree() {
    return new JsonSchema().of(Descriptor.class, ID, "Graft descriptor, version 1");
  }
}
