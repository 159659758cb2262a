package graft.hypervisors.kvm;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A kernel of the distribution and an initramfs with busybox and the guest agent: a guest that
 * boots in seconds, even when it is emulated. The packages are downloaded once and kept in the
 * build folder.
 */
final class MicroGuest {

  private static final Path CACHE = Path.of("target", "microguest").toAbsolutePath();

  /** The modules in loading order: each follows the modules that it depends on. */
  private static final List<String> MODULES =
      List.of(
          "virtio_ring",
          "virtio",
          "virtio_pci_legacy_dev",
          "virtio_pci_modern_dev",
          "virtio_pci",
          "virtio_console",
          "virtio_blk");

  private static final String INIT =
      """
      #!/bin/sh
      export PATH=/bin:/usr/sbin
      mount -t proc proc /proc
      mount -t sysfs sys /sys
      mount -t devtmpfs dev /dev
      ln -s /proc/self/fd /dev/fd
      for m in $(cat /modules/order); do insmod /modules/$m.ko; done
      ip link set lo up
      ip addr add 127.0.0.1/8 dev lo
      for p in /sys/class/virtio-ports/*; do
        if [ "$(cat $p/name)" = org.qemu.guest_agent.0 ]; then
          qemu-ga -m virtio-serial -p /dev/${p##*/} -t /tmp -d
        fi
      done
      echo MICRO-READY
      while :; do sleep 1000; done
      """;

  private MicroGuest() {}

  /** The path of the kernel. */
  static Path kernel() throws IOException, InterruptedException {
    return copyOnce("vmlinuz", find(unpacked(kernelPackage()).resolve("boot"), "vmlinuz-.*"));
  }

  /** The path of the initramfs. */
  static Path initramfs() throws IOException, InterruptedException {
    Path file = CACHE.resolve("initramfs");
    if (!Files.exists(file)) {
      build(file);
    }
    return file;
  }

  private static void build(Path file) throws IOException, InterruptedException {
    Initramfs image = new Initramfs();
    for (String folder : new String[] {"proc", "sys", "dev", "tmp", "run", "var/run"}) {
      image.folder(folder);
    }
    Path busybox = unpacked("busybox-static").resolve("bin/busybox");
    image.file("bin/busybox", busybox);
    for (String applet : run(CACHE, busybox.toString(), "--list").lines().toList()) {
      if (!applet.equals("busybox")) {
        image.link("bin/" + applet, "busybox");
      }
    }
    Path agent = unpacked("qemu-guest-agent").resolve("usr/sbin/qemu-ga");
    image.file("usr/sbin/qemu-ga", agent);
    Matcher library = Pattern.compile("(/\\S+)").matcher(run(CACHE, "ldd", agent.toString()));
    while (library.find()) {
      image.file(library.group(1).substring(1), Path.of(library.group(1)));
    }
    Path modules = unpacked(kernelPackage()).resolve("lib/modules");
    for (String module : MODULES) {
      image.file("modules/" + module + ".ko", find(modules, module + "\\.ko"));
    }
    image.file("modules/order", String.join("\n", MODULES).getBytes(StandardCharsets.US_ASCII));
    image.file("init", INIT.getBytes(StandardCharsets.US_ASCII));
    Path unfinished = CACHE.resolve("initramfs.new");
    image.writeTo(unfinished);
    Files.move(unfinished, file);
  }

  /** The package that contains the distribution's newest cloud kernel. */
  private static String kernelPackage() throws IOException, InterruptedException {
    Files.createDirectories(CACHE);
    String text = run(CACHE, "apt-cache", "show", "linux-image-cloud-amd64");
    Matcher name = Pattern.compile("Depends: (linux-image-[0-9][^ ,]*)").matcher(text);
    if (!name.find()) {
      throw new IOException("no cloud kernel among the packages of this distribution");
    }
    return name.group(1);
  }

  private static Path unpacked(String name) throws IOException, InterruptedException {
    Path folder = CACHE.resolve(name);
    if (!Files.exists(folder)) {
      Files.createDirectories(CACHE);
      run(CACHE, "apt-get", "-q", "download", "-o", "APT::Sandbox::User=root", name);
      Path unfinished = CACHE.resolve(name + ".new");
      run(CACHE, "dpkg", "-x", find(CACHE, name + "_.*\\.deb").toString(), unfinished.toString());
      Files.move(unfinished, folder);
    }
    return folder;
  }

  private static Path copyOnce(String name, Path from) throws IOException {
    Path to = CACHE.resolve(name);
    if (!Files.exists(to)) {
      Files.copy(from, to);
    }
    return to;
  }

  private static Path find(Path folder, String name) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(file -> file.getFileName().toString().matches(name) && Files.isRegularFile(file))
          .findFirst()
          .orElseThrow(() -> new IOException("no " + name + " under " + folder));
    }
  }

  private static String run(Path folder, String... command)
      throws IOException, InterruptedException {
    File output = Files.createTempFile("microguest", ".out").toFile();
    try {
      Process process =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectOutput(output)
              .start();
      int code = process.waitFor();
      String text = Files.readString(output.toPath());
      if (code != 0) {
        throw new IOException(Arrays.toString(command) + " ended with " + code + ": " + text);
      }
      return text;
    } finally {
      Files.delete(output.toPath());
    }
  }
}
