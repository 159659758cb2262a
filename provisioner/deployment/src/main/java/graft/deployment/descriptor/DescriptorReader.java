package graft.deployment.descriptor;

import graft.common.bind.Position;
import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.common.bind.RecordBinder;
import graft.common.bind.YamlFile;
import graft.common.values.Name;
import graft.deployment.descriptor.hosts.Host;
import graft.deployment.descriptor.hosts.HostSsh;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.yaml.snakeyaml.nodes.Node;

/** Reads a descriptor and checks everything about it that does not depend on a host. */
public final class DescriptorReader {
  /** Stands for standard input, where a command only looks at a descriptor. */
  public static final Path STANDARD_INPUT = Path.of("-");

  /** Standard input is read no further: a descriptor is a page or two. */
  private static final int MOST_BYTES = 16 << 20;

  private DescriptorReader() {}

  /**
   * Reads a file, or standard input if the path is {@code -}. Files that the descriptor names are
   * then looked up from the current folder.
   *
   * @throws InvalidDescriptorException with every problem that it has
   */
  public static DescriptorFile readOrStandardInput(Path path) throws InvalidDescriptorException {
    if (!path.equals(STANDARD_INPUT)) {
      return read(path);
    }
    Problems problems = new Problems();
    Position start = new Position(path.toString(), 1, 1);
    try {
      byte[] bytes = System.in.readNBytes(MOST_BYTES + 1);
      if (bytes.length <= MOST_BYTES) {
        return read(
            path, StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
      }
      problems.add(start, "standard input has more than 16MiB");
    } catch (CharacterCodingException e) {
      problems.add(start, "standard input is not UTF-8 text");
    } catch (IOException e) {
      problems.add(start, "standard input cannot be read: " + e.getMessage());
    }
    throw new InvalidDescriptorException(problems.sorted());
  }

  /**
   * Reads a file.
   *
   * @throws InvalidDescriptorException with every problem that it has
   */
  public static DescriptorFile read(Path path) throws InvalidDescriptorException {
    return read(path, text(path));
  }

  private static String text(Path path) throws InvalidDescriptorException {
    Problems problems = new Problems();
    Position start = new Position(path.toString(), 1, 1);
    try {
      return Files.readString(path);
    } catch (NoSuchFileException e) {
      problems.add(
          start, "there is no such file", "graft inspect prints a descriptor to start from");
    } catch (CharacterCodingException e) {
      problems.add(start, "the file is not UTF-8 text");
    } catch (IOException e) {
      problems.add(start, "the file cannot be read: " + e.getMessage());
    }
    throw new InvalidDescriptorException(problems.sorted());
  }

  /** As {@link #read(Path)}, for text that was read before. */
  public static DescriptorFile read(Path path, String text) throws InvalidDescriptorException {
    return read(path, text, Optional.empty());
  }

  /**
   * As {@link #read(Path)}, with hosts that another file describes.
   *
   * @param hosts the hosts of these names, without those that it does not know
   */
  public static DescriptorFile read(Path path, Function<Set<Name>, List<Host>> hosts)
      throws InvalidDescriptorException {
    return read(path, text(path), Optional.of(hosts));
  }

  private static DescriptorFile read(
      Path path, String text, Optional<Function<Set<Name>, List<Host>>> hosts)
      throws InvalidDescriptorException {
    String file = path.toString();
    Problems problems = new Problems();
    Positions positions = new Positions(new Position(file, 1, 1));
    Optional<Node> root = YamlFile.compose(file, text, problems);
    if (root.isPresent()) {
      RecordBinder binder = new RecordBinder(file, problems, positions);
      Descriptor bound = binder.bind(root.get(), Descriptor.class);
      if (bound != null && hosts.isPresent()) {
        bound = withHosts(bound, hosts.get(), positions, problems);
      }
      if (bound != null) {
        bound = onItsHost(bound, positions, problems);
        new DescriptorRules(bound, positions, problems).check();
        if (problems.isEmpty()) {
          return new DescriptorFile(named(bound, path, positions, problems), path, positions);
        }
      }
    }
    throw new InvalidDescriptorException(problems.sorted());
  }

  private static Descriptor withHosts(
      Descriptor bound,
      Function<Set<Name>, List<Host>> hosts,
      Positions positions,
      Problems problems) {
    if (!bound.hosts().isEmpty()) {
      problems.add(
          positions.of(bound, "hosts"),
          "the descriptor has hosts, and --inventory or --connect was given too",
          "leave one of them out");
      return bound;
    }
    Descriptor complete = bound.withHosts(hosts.apply(HostRules.named(bound)));
    positions.same(complete, bound);
    return complete;
  }

  /** The libvirt of another machine that ssh reaches makes that machine the one host. */
  private static Descriptor onItsHost(Descriptor bound, Positions positions, Problems problems) {
    LibvirtUri libvirt = bound.libvirt();
    if (libvirt == null || libvirt.isLocal() || libvirt.isEsx() || !bound.hosts().isEmpty()) {
      return bound;
    }
    try {
      Descriptor complete = bound.at(Host.only(HostSsh.parse(libvirt.text())));
      positions.same(complete, bound);
      return complete;
    } catch (IllegalArgumentException e) {
      problems.add(positions.of(bound, "libvirt"), e.getMessage());
      return bound;
    }
  }

  /** The descriptor, named after the file where it has no name of its own. */
  private static Descriptor named(
      Descriptor bound, Path path, Positions positions, Problems problems)
      throws InvalidDescriptorException {
    if (bound.name().isPresent()) {
      return bound;
    }
    String file = path.getFileName().toString().replaceFirst("\\.[^.]*$", "");
    try {
      return bound.with(Optional.of(Name.parse(file.toLowerCase(Locale.ROOT))), bound.hypervisor());
    } catch (IllegalArgumentException e) {
      problems.add(
          positions.of(bound),
          "the file lacks the key 'name', and the file's own name cannot stand in for it",
          "add for example name: lab");
      throw new InvalidDescriptorException(problems.sorted());
    }
  }
}
