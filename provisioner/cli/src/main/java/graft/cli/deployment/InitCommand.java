package graft.cli.deployment;

import graft.cli.printed.DeploymentForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.cli.terminal.Question;
import graft.common.GraftException;
import graft.common.values.MemorySize;
import graft.common.values.Name;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.descriptor.InvalidDescriptorException;
import graft.deployment.descriptor.gpu.GpuDevice;
import graft.deployment.doctor.FirstDescriptor;
import graft.deployment.gpu.CudaDriver;
import graft.deployment.observe.HostObserver;
import graft.guests.image.ImageKind;
import graft.guests.image.ImageName;
import graft.guests.image.ImageRecipe;
import graft.guests.image.ImageStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code graft init}: writes a descriptor to begin with. */
@Prints(DeploymentForms.Initialized.class)
@Command(
    name = "init",
    mixinStandardHelpOptions = true,
    header = "Writes a descriptor to begin with, for this host.",
    description = {
      "",
      "Writes a descriptor with guests of one image that share one GPU: an NVIDIA GPU of this host"
          + " if its driver works, else the software device. Without --image it takes an image"
          + " that graft image has kept, or else names debian:12 and offers to build it. A"
          + " person at a terminal is asked for what no option gives. An existing file is replaced only"
          + " with --force.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft init",
      "  graft init --yes --guests 2 --image debian:12 two.yaml",
      "  graft init --yes --build-image lab.yaml",
      "  graft init --yes --gpu software --memory 2GiB --cpus 2 lab.yaml; graft plan lab.yaml"
    })
public final class InitCommand implements Callable<Integer> {
  private static final String USUAL_IMAGE = "debian:12";
  private static final int MOST_GUESTS = 100;

  @Mixin Output output;
  @Spec CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "FILE",
      defaultValue = "lab.yaml",
      description = "The file to write (default: ${DEFAULT-VALUE}).")
  Path file;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "The deployment's name (default: that of the file).")
  String name;

  @Option(names = "--guests", paramLabel = "N", description = "The number of guests.")
  String guests;

  @Option(
      names = "--image",
      paramLabel = "IMAGE",
      description = "The guests' image: a name such as debian:12, or a file.")
  String image;

  @Option(
      names = "--build-image",
      description = "Build the image if it is missing, as graft image build does.")
  boolean buildImage;

  @Option(names = "--memory", paramLabel = "SIZE", description = "The memory of each guest.")
  String memory;

  @Option(names = "--cpus", paramLabel = "N", description = "The CPUs of each guest.")
  String cpus;

  @Option(names = "--gpu", paramLabel = "DEVICE", description = "software, gpu or gpu:N.")
  String gpu;

  @Option(
      names = {"-y", "--yes"},
      description = "Ask nothing.")
  boolean yes;

  @Option(names = "--force", description = "Replace an existing file.")
  boolean force;

  @Override
  public Integer call() throws Exception {
    boolean there = Files.exists(file, LinkOption.NOFOLLOW_LINKS);
    if (there && !force) {
      throw exists();
    }
    if (there && !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      throw new GraftException(file + " is no regular file, and is not replaced", "name another");
    }
    FirstDescriptor first =
        new FirstDescriptor(
            value("name", "the deployment's name", name, usualName(), Name::parse),
            value("gpu", "the GPU: software, gpu or gpu:N", gpu, usualGpu(), InitCommand::served),
            value("guests", "the number of guests", guests, "1", t -> number(t, MOST_GUESTS)),
            value("image", "the guests' image", image, usualImage(), this::image),
            value("memory", "the memory of each guest", memory, "1GiB", MemorySize::parse),
            value("cpus", "the CPUs of each guest", cpus, "1", t -> number(t, Integer.MAX_VALUE)));
    String text = first.text();
    Path resolved = DescriptorReader.read(file, text).resolve(first.image());
    write(text);
    Optional<ImageName> missing =
        Files.exists(resolved) ? Optional.empty() : ImageName.of(first.image());
    if (missing.isPresent() && isToBeBuilt(missing.get())) {
      output.say("wrote " + file + "; builds " + missing.get());
      build(missing.get());
    }
    report(first, resolved);
    return ExitCode.OK;
  }

  /** What the option gives; else the answer of a person, who is asked until it fits. */
  private <T> T value(
      String option, String what, String given, String usual, Function<String, T> parser)
      throws IOException {
    boolean asks = given == null && !yes && !output.isJson() && Question.canBeAsked();
    while (true) {
      String text = given == null ? usual : given;
      if (asks) {
        String answer = Question.ask(output, what + " [" + usual + "]: ");
        text = answer.isEmpty() ? usual : answer;
      }
      try {
        return parser.apply(text);
      } catch (IllegalArgumentException e) {
        if (!asks) {
          throw new ParameterException(
              spec.commandLine(), "--" + option + ": " + e.getMessage(), e);
        }
        output.say(e.getMessage());
      }
    }
  }

  private static Integer number(String text, int most) {
    if (text.matches("[0-9]{1,9}") && Integer.parseInt(text) >= 1) {
      if (Integer.parseInt(text) <= most) {
        return Integer.valueOf(text);
      }
    }
    throw new IllegalArgumentException("'" + text + "' is not a number from 1 to " + most);
  }

  private static GpuDevice served(String text) {
    GpuDevice device = GpuDevice.parse(text);
    if (device.kind() == GpuDevice.Kind.PCI) {
      throw new IllegalArgumentException("the host serves software, gpu, gpu:N or a MIG instance");
    }
    return device;
  }

  /** The file's own name, so that two files describe two deployments. */
  private String usualName() {
    String base = file.getFileName().toString().replaceFirst("\\.ya?ml$", "");
    try {
      return Name.parse(base).text();
    } catch (IllegalArgumentException e) {
      return "lab"; // the file's name is no deployment's
    }
  }

  private static String usualGpu() {
    boolean works =
        !HostObserver.observe().nvidiaDriver().isEmpty()
            && !CudaDriver.ask(System.getenv()).devices().isEmpty();
    return works ? "gpu:0" : "software";
  }

  /** A file is named from everywhere alike, wherever the descriptor lies. */
  private String image(String text) {
    if (text.isEmpty() || text.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException("'" + text + "' is neither an image's name nor a file");
    }
    boolean absolute = ImageName.of(text).isPresent() || text.startsWith("~/");
    return absolute ? text : Path.of(text).toAbsolutePath().normalize().toString();
  }

  /** The usual image if it is there or none is, else the first that is. */
  private static String usualImage() {
    ImageStore store = ImageStore.of(System.getenv());
    List<Path> files = store.files(ImageKind.DISK);
    Path usual = ImageName.of(USUAL_IMAGE).map(store::file).orElseThrow();
    return files.isEmpty() || files.contains(usual) ? USUAL_IMAGE : files.get(0).toString();
  }

  private void write(String text) {
    List<OpenOption> options = new ArrayList<>(List.of(StandardOpenOption.WRITE));
    options.add(LinkOption.NOFOLLOW_LINKS);
    options.add(force ? StandardOpenOption.CREATE : StandardOpenOption.CREATE_NEW);
    options.add(StandardOpenOption.TRUNCATE_EXISTING);
    try {
      Files.write(file, text.getBytes(StandardCharsets.UTF_8), options.toArray(OpenOption[]::new));
    } catch (FileAlreadyExistsException e) {
      throw exists();
    } catch (IOException e) {
      throw new GraftException("cannot write " + file + ": " + e, "", e);
    }
  }

  /** Whether the option or a person wants an image that has a recipe. */
  private boolean isToBeBuilt(ImageName missing) throws IOException {
    if (buildImage || yes || output.isJson() || !Question.canBeAsked()) {
      return buildImage;
    }
    return missing.toString().equals(USUAL_IMAGE)
        && Question.ask(
                output, "there is no image " + missing + ": build it, in some minutes? [y/N] ")
            .matches("[yY].*");
  }

  private static void build(ImageName image) {
    ImageStore store = ImageStore.of(System.getenv());
    Path unfinished = store.unfinished(image, ImageKind.DISK);
    ImageRecipe.build(image, ImageKind.DISK, unfinished, List.of(), List.of(), System.err);
    store.keep(image, ImageKind.DISK, unfinished);
  }

  private GraftException exists() {
    return new GraftException(
        "there is a file " + file + " already", "name another file, or replace it with --force");
  }

  private void report(FirstDescriptor first, Path resolved) throws InvalidDescriptorException {
    boolean there = Files.exists(resolved);
    List<String> next = new ArrayList<>();
    Optional<ImageName> kept = ImageName.of(first.image());
    if (!there) {
      next.add(
          kept.map(image -> "graft image build " + image).orElse("put an image at " + resolved));
    }
    next.add("graft plan " + file);
    output.say("wrote " + file + (there ? "" : "; its image " + first.image() + " is missing"));
    next.forEach(line -> output.say("  next: " + line));
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("file", file.toString());
    tree.put("deployment", first.name().text());
    tree.put("gpu", first.gpu().toString());
    tree.put("image", first.image());
    tree.put("imageExists", there);
    tree.put("next", next);
    output.result(tree);
  }
}
