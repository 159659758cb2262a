package graft.hypervisors.libvirt.domain;

import org.w3c.dom.Element;

/**
 * Builds the elements of {@code <os>} for direct kernel boot.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#direct-kernel-boot">libvirt</a>
 */
public final class DirectKernelElements {

  private DirectKernelElements() {}

  public static void append(Element os, Boot.DirectKernel boot) {
    Xml.add(os, "kernel", boot.kernel());
    boot.initrd().ifPresent(path -> Xml.add(os, "initrd", path));
    if (!boot.commandLine().isEmpty()) {
      Xml.add(os, "cmdline", boot.commandLine());
    }
  }
}
