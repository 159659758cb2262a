package graft.cli.guest;

import graft.cli.printed.GuestForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.common.GraftException;
import graft.common.values.Name;
import graft.guests.bundle.Bundles;
import graft.guests.bundle.PackageName;
import graft.guests.image.ImageKind;
import graft.guests.image.ImageName;
import graft.guests.image.ImageRecipe;
import graft.guests.image.ImageStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code graft image}: manages the images that guests boot. */
@Command(
    name = "image",
    mixinStandardHelpOptions = true,
    header = "Builds, imports and lists images for guests.",
    synopsisSubcommandLabel = "COMMAND",
    description = {
      "",
      "A descriptor refers to an image by its name: image: debian:12. Each guest gets a"
          + " copy-on-write copy. A container's root: debian:12 is what graft image build"
          + " --container makes. GRAFT_IMAGE_DIR names another folder.",
      ""
    },
    subcommands = {
      ImageCommand.Build.class,
      ImageCommand.Import.class,
      ImageCommand.ListAll.class,
      ImageCommand.Check.class
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft image build debian:12",
      "  graft image build --container debian:12",
      "  graft image build ubuntu:24.04 --from noble.img --sha256 0123... --package ibverbs-utils",
      "  graft image import ubuntu:24.04 noble.img --sha256 0123...",
      "  graft image list"
    })
public final class ImageCommand implements Runnable {
  @Spec CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "which command? graft image --help lists them");
  }

  private static ImageName name(String text) {
    return ImageName.of(text)
        .orElseThrow(
            () ->
                new GraftException(
                    "'" + text + "' is not the name of an image", "such as debian:12"));
  }

  private static ImageStore store() {
    return ImageStore.of(System.getenv());
  }

  /** {@code graft image build}. */
  @Prints(GuestForms.Image.class)
  @Command(
      name = "build",
      mixinStandardHelpOptions = true,
      header = "Builds an image with cloud-init, the guest agent and an SSH server.",
      description = {
        "Debian is installed from its mirror. Images of other distributions are made of their cloud"
            + " images by --from.",
        "With --container it is the root file system of containers, with systemd."
      })
  static final class Build implements Callable<Integer> {
    @Spec CommandSpec spec;
    @Mixin Output output;

    @Parameters(paramLabel = "NAME", description = "debian:12 or debian:13; with --from any.")
    String name;

    @Option(
        names = "--from",
        paramLabel = "FILE",
        description =
            "A distribution's cloud image (Ubuntu, Rocky, AlmaLinux, Debian), with cloud-init. It is"
                + " booted once, with a network, and installs the guest agent and the packages"
                + " itself.")
    Path from;

    @Option(
        names = "--sha256",
        paramLabel = "SUM",
        description = "The checksum that the file of --from must have.")
    String sum;

    @Option(
        names = "--container",
        description =
            "The root file system of containers, a tar archive: without kernel, cloud-init and"
                + " guest agent.")
    boolean container;

    @Option(
        names = "--infiniband",
        description = "Include the InfiniBand packages, and a kernel with the drivers.")
    boolean infiniband;

    @Option(
        names = "--package",
        paramLabel = "PACKAGE",
        description = "An additional package; may be given several times.")
    List<PackageName> packages = new ArrayList<>();

    @Option(
        names = "--for-tests",
        description =
            "An image that boots faster and installs no updates by itself, without the kernel's"
                + " mitigations: not for guests that serve anybody.")
    boolean forTests;

    @Override
    public Integer call() {
      ImageName image = name(name);
      ImageStore store = store();
      if (from != null) {
        return buildFrom(image, store);
      }
      if (sum != null) {
        throw new ParameterException(spec.commandLine(), "--sha256 is of the file of --from");
      }
      ImageKind kind = container ? ImageKind.ROOT : ImageKind.DISK;
      Path unfinished = store.unfinished(image, kind);
      List<String> more = new ArrayList<>(packages.stream().map(PackageName::text).toList());
      if (infiniband) {
        Bundles.near(Path.of("/"))
            .find(new Name("infiniband"))
            .ifPresent(found -> found.bundle().packages().forEach(p -> more.add(p.text())));
      }
      List<String> options = new ArrayList<>();
      if (infiniband && !container) {
        options.add("--full-kernel");
      }
      if (forTests) {
        options.add("--for-tests");
      }
      ImageRecipe.build(image, kind, unfinished, options, more, System.err);
      return kept(output, image, store.file(image, kind), store.keep(image, kind, unfinished));
    }

    private int buildFrom(ImageName image, ImageStore store) {
      if (container || infiniband || forTests) {
        throw new ParameterException(
            spec.commandLine(),
            "--from makes a disk of what the distribution delivers: --container, --infiniband and"
                + " --for-tests are for Debian's own recipes (--package names further packages)");
      }
      readable(from);
      ImageStore.check(from, Optional.ofNullable(sum));
      Path unfinished = store.unfinished(image, ImageKind.DISK);
      List<String> more = packages.stream().map(PackageName::text).toList();
      ImageRecipe.buildFrom(image, from, unfinished, more, System.err);
      return kept(output, image, store.file(image), store.keep(image, ImageKind.DISK, unfinished));
    }
  }

  private static void readable(Path file) {
    if (!Files.isReadable(file)) {
      throw new GraftException("there is no file " + file + " that can be read", "");
    }
  }

  /** {@code graft image import}. */
  @Prints(GuestForms.Image.class)
  @Command(
      name = "import",
      mixinStandardHelpOptions = true,
      header = "Imports a disk image, in any format that QEMU reads.")
  static final class Import implements Callable<Integer> {
    @Mixin Output output;

    @Parameters(index = "0", paramLabel = "NAME", description = "Its name here: ubuntu:24.04.")
    String name;

    @Parameters(index = "1", paramLabel = "FILE", description = "The image.")
    Path file;

    @Option(
        names = "--sha256",
        paramLabel = "SUM",
        description = "The checksum that the file must have.")
    String sum;

    @Override
    public Integer call() {
      readable(file);
      ImageName image = name(name);
      ImageStore store = store();
      String taken = store.take(image, file, Optional.ofNullable(sum));
      return kept(output, image, store.file(image), taken);
    }
  }

  private static int kept(Output output, ImageName image, Path file, String sum) {
    output.say(image + " is " + file + ", SHA-256 " + sum);
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("name", image.toString());
    tree.put("file", file.toString());
    tree.put("sha256", sum);
    output.result(tree);
    return ExitCode.OK;
  }

  /** {@code graft image list}. */
  @Prints(GuestForms.Images.class)
  @Command(name = "list", mixinStandardHelpOptions = true, header = "Lists the images.")
  static final class ListAll implements Callable<Integer> {
    @Mixin Output output;

    @Override
    public Integer call() throws IOException {
      ImageStore store = store();
      List<Map<String, Object>> rows = new ArrayList<>();
      for (Path file : store.files()) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("file", file.toString());
        row.put("bytes", Files.size(file));
        row.put("sha256", store.noted(file).orElse(""));
        rows.add(row);
        output.say(file + "  " + (Files.size(file) >> 20) + " MiB  " + row.get("sha256"));
      }
      output.result(Map.of("images", rows));
      return ExitCode.OK;
    }
  }

  /** {@code graft image check}. */
  @Prints(GuestForms.CheckedImages.class)
  @Command(
      name = "check",
      mixinStandardHelpOptions = true,
      header = "Compares the images with their checksums.")
  static final class Check implements Callable<Integer> {
    @Mixin Output output;

    @Override
    public Integer call() {
      ImageStore store = store();
      Map<String, Object> results = new LinkedHashMap<>();
      boolean well = true;
      for (Path file : store.files()) {
        boolean same = store.noted(file).map(ImageStore.sha256(file)::equals).orElse(false);
        well &= same;
        results.put(file.toString(), same ? "ok" : "changed");
        output.say(
            file + ": " + (same ? "ok" : "differs from the image that was built or imported"));
      }
      output.result(Map.of("images", results));
      return well ? ExitCode.OK : ExitCode.FAILED;
    }
  }
}
