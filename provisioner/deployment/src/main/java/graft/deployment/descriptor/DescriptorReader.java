package graft.deployment.descriptor;

import graft.common.bind.Position;
import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.common.bind.RecordBinder;
import graft.common.bind.YamlFile;
import graft.common.values.Name;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
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
    Problems problems = new Problems();
    Position start = new Position(path.toString(), 1, 1);
    try {
      return read(path, Files.readString(path));
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
    String file = path.toString();
    Problems problems = new Problems();
    Positions positions = new Positions(new Position(file, 1, 1));
    Optional<Node> root = YamlFile.compose(file, text, problems);
    if (root.isPresent()) {
      RecordBinder binder = new RecordBinder(file, problems, positions);
      Descriptor bound = binder.bind(root.get(), Descriptor.class);
      if (bound != null) {
        new DescriptorRules(bound, positions, problems).check();
        if (problems.isEmpty()) {
          return new DescriptorFile(named(bound, path, positions, problems), path, positions);
        }
      }
    }
    throw new InvalidDescriptorException(problems.sorted());
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
      return new Descriptor(
          bound.version(),
          Optional.of(Name.parse(file.toLowerCase(Locale.ROOT))),
          bound.hypervisor(),
          bound.libvirt(),
          bound.gpus(),
          bound.fabric(),
          bound.networks(),
          bound.nodes(),
          bound.guests());
    } catch (IllegalArgumentException e) {
      problems.add(
          positions.of(bound),
          "the file lacks the key 'name', and the file's own name cannot stand in for it",
          "add for example name: lab");
      throw new InvalidDescriptorException(problems.sorted());
    }
  }
}
