package graft.deployment.descriptor;

import graft.common.bind.JsonSchema;
import graft.common.bind.Reference;
import graft.sriov.Guid;
import graft.sriov.MacAddress;
import graft.sriov.PciAddress;
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
    Map<Class<?>, JsonSchema.Text> forms =
        Map.of(
            PciAddress.class,
            new JsonSchema.Text(
                "^([0-9a-fA-F]{1,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\\.[0-7]$", "0000:3b:00.1"),
            Guid.class,
            new JsonSchema.Text(
                "^((0x)?[0-9a-fA-F]{16}|([0-9a-fA-F]{2}:){7}[0-9a-fA-F]{2}"
                    + "|([0-9a-fA-F]{4}:){3}[0-9a-fA-F]{4})$",
                "0c:42:a1:03:00:16:9f:8e"),
            MacAddress.class,
            new JsonSchema.Text("^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$", "52:54:00:12:34:56"));
    return new JsonSchema(forms).of(Descriptor.class, ID, "Graft descriptor, version 1");
  }
}
