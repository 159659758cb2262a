package graft.deployment.observe;

import graft.common.GraftException;
import graft.common.program.HostProgram;
import graft.common.values.Name;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.descriptor.guest.BundleUse;
import graft.deployment.descriptor.guest.Guest;
import graft.guests.bundle.BundleException;
import graft.guests.bundle.BundleFile;
import graft.guests.bundle.Bundles;
import graft.guests.bundle.FoundBundle;
import graft.guests.bundle.TreeFile;
import graft.guests.bundle.Variables;
import graft.guests.payload.FileStamp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads the bundles of the guests, and examines the files that they consist of. */
final class BundleObserver {
  private static final List<String> PROGRAMS =
      List.of("ansible-playbook", "dnsmasq", "ssh", "virt-customize");

  private final DescriptorFile file;
  private final Bundles bundles;
  private final Path client;
  private final Path home;
  private final Map<Name, FoundBundle> found = new LinkedHashMap<>();
  private final Map<Name, String> wrong = new LinkedHashMap<>();
  private final Map<Path, List<TreeFile>> trees = new LinkedHashMap<>();

  BundleObserver(DescriptorFile file, Path client, Path home) {
    this.file = file;
    this.bundles = Bundles.near(file.path().toAbsolutePath().getParent());
    this.client = client;
    this.home = home;
  }

  /**
   * Looks at the bundles, and asks for the connections after that.
   *
   * @param connections what answers in running guests, which libvirt may have to be asked for
   */
  InstallFacts observe(Supplier<Map<Name, ConnectionFacts>> connections) {
    for (Guest guest : file.descriptor().guests()) {
      if (guest.hasVgpu()) {
        look(Bundles.CLIENT, Optional.empty());
      }
      for (BundleUse use : guest.setup().bundles()) {
        look(use.name(), use.files());
      }
    }
    for (Gpu gpu : file.descriptor().gpus()) {
      if (gpu.owner().kind() == Owner.Kind.GUEST) {
        look(Bundles.SERVER, Optional.empty());
      }
    }
    return new InstallFacts(client, home, found, wrong, trees, programs(), connections.get());
  }

  private static Set<String> programs() {
    return PROGRAMS.stream()
        .filter(program -> HostProgram.isThere(program, System.getenv()))
        .collect(Collectors.toSet());
  }

  private void look(Name name, Optional<String> files) {
    try {
      Optional<FoundBundle> bundle = bundles.find(name);
      if (bundle.isEmpty()) {
        wrong.put(name, "there is no bundle '" + name + "'");
        return;
      }
      found.put(name, bundle.get());
      Variables variables =
          Variables.none()
              .with(Variables.CLIENT, client.toString())
              .with(Variables.HOME, home.toString());
      if (files.isPresent()) {
        variables = variables.with(Variables.FILES, file.resolve(files.get()).toString());
      }
      for (BundleFile one : bundle.get().bundle().files()) {
        if (one.source().isPresent() && !one.secret()) {
          source(bundle.get(), one.source().get(), variables);
        }
      }
    } catch (BundleException e) {
      wrong.put(name, e.getMessage());
    }
  }

  private void source(FoundBundle bundle, String source, Variables variables) {
    try {
      Path path = bundle.source(source, variables);
      List<TreeFile> files = tree(path);
      if (!files.isEmpty()) {
        trees.put(path, files);
      }
    } catch (IllegalArgumentException e) {
      // planning reports the missing file, with the values of the guest
    }
  }

  /** The regular files of a source, in the order of their names; links are followed. */
  private static List<TreeFile> tree(Path source) {
    if (!Files.exists(source)) {
      return List.of();
    }
    try (Stream<Path> walk = Files.walk(source, java.nio.file.FileVisitOption.FOLLOW_LINKS)) {
      List<TreeFile> files = new ArrayList<>();
      for (Path path : walk.sorted().toList()) {
        BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
        if (attributes.isRegularFile()) {
          String relative = path.equals(source) ? "" : "/" + source.relativize(path);
          FileStamp stamp =
              new FileStamp(path, attributes.size(), attributes.lastModifiedTime().toMillis());
          files.add(new TreeFile(stamp, relative, Files.isExecutable(path)));
        }
      }
      return files;
    } catch (IOException | java.io.UncheckedIOException e) {
      throw new GraftException("cannot look at " + source + ": " + e.getMessage(), "", e);
    }
  }
}
