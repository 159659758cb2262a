package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks the tree's Markdown: the targets of its links and the code that it names exist. */
final class DocumentationTest {
  private static final Pattern FENCED = Pattern.compile("(?ms)^ *```.*?^ *```$");
  private static final Pattern DESCRIPTOR = Pattern.compile("(?ms)^```yaml\n(graft: 1\n.*?)^```$");
  private static final Pattern CODE = Pattern.compile("`([^`\n]+)`");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^()\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#+ +(.*)$");
  private static final Pattern CLASS = Pattern.compile("([A-Z][a-z]+\\w{3,})(?:\\.(\\w+))?");
  private static final Pattern TEST_CLASS = Pattern.compile("[A-Z]\\w+Test");
  private static final Pattern QUALIFIED = Pattern.compile("(?:[a-z]+\\.)+[A-Z]\\w+");
  private static final Pattern C_NAME = Pattern.compile("graft_\\w+");
  private static final Pattern C_FILE = Pattern.compile("(?:\\w+/)*\\w+\\.[ch]");

  /** Every source file of the tree, including generated sources. */
  private static final List<Path> FILES = new ArrayList<>();

  @TempDir Path folder;

  @BeforeAll
  static void findFiles() throws IOException {
    Files.walkFileTree(
        Checkout.ROOT,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            String name = folder.getFileName().toString();
            boolean made =
                folder.getParent().endsWith("target")
                    ? !name.startsWith("gen")
                    : name.equals("built");
            boolean hidden = name.startsWith(".") && !folder.equals(Checkout.ROOT);
            return made || hidden ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            FILES.add(file);
            return FileVisitResult.CONTINUE;
          }
        });
  }

  @Test
  void everyLinkLeadsToAFileAndAHeadingThatExist() throws IOException {
    List<String> broken = new ArrayList<>();
    int links = 0;
    for (Path page : pages()) {
      Matcher link = LINK.matcher(CODE.matcher(prose(page)).replaceAll("code"));
      while (link.find()) {
        String target = link.group(1);
        if (target.matches("[a-z]+:.*")) {
          continue;
        }
        links++;
        int hash = target.indexOf('#');
        String path = hash < 0 ? target : target.substring(0, hash);
        Path file = path.isEmpty() ? page : page.resolveSibling(path).normalize();
        if (!Files.exists(file)
            || (hash >= 0 && !anchors(file).contains(target.substring(hash + 1)))) {
          broken.add(Checkout.ROOT.relativize(page) + ": " + target);
        }
      }
    }
    assertThat(broken).isEmpty();
    assertThat(links).isGreaterThan(100);
  }

  @Test
  void everyPageIsReachedFromTheReadme() throws IOException {
    Set<Path> reached = new HashSet<>();
    List<Path> open = new ArrayList<>(List.of(Checkout.ROOT.resolve("README.md")));
    while (!open.isEmpty()) {
      Path page = open.remove(0);
      if (!reached.add(page)) {
        continue;
      }
      Matcher link = LINK.matcher(prose(page));
      while (link.find()) {
        Path file = page.resolveSibling(link.group(1).replaceFirst("#.*", "")).normalize();
        Path index = Files.isDirectory(file) ? file.resolve("README.md") : file;
        if (index.toString().endsWith(".md") && Files.exists(index)) {
          open.add(index);
        }
      }
    }
    assertThat(reached).containsAll(pages());
  }

  @Test
  void theCodeThatTheArchitectureNamesIsThere() throws IOException {
    String named =
        prose(Checkout.ROOT.resolve("docs/architecture.md"))
            + prose(Checkout.ROOT.resolve("docs/host-memory.md"));
    Map<String, List<Path>> classes =
        FILES.stream().collect(Collectors.groupingBy(file -> file.getFileName().toString()));
    StringBuilder client = new StringBuilder();
    for (Path file : FILES) {
      if (file.startsWith(Checkout.ROOT.resolve("remoting-bridge/client/src"))) {
        client.append(Files.readString(file));
      }
    }
    List<String> missing = new ArrayList<>();
    Matcher code = CODE.matcher(named);
    while (code.find()) {
      String name = code.group(1);
      Matcher type = CLASS.matcher(name);
      if (type.matches()) {
        List<Path> files = classes.getOrDefault(type.group(1) + ".java", List.of());
        String member = type.group(2);
        if (files.stream().noneMatch(file -> member == null || mentions(file, member))) {
          missing.add(name);
        }
      } else if ((QUALIFIED.matcher(name).matches() && !isThere(name.replace('.', '/') + ".java"))
          || (C_NAME.matcher(name).matches() && client.indexOf(name) < 0)
          || (C_FILE.matcher(name).matches() && !isThere(name))) {
        missing.add(name);
      }
    }
    assertThat(missing).isEmpty();
  }

  /** A promise without a test is none. */
  @Test
  void everyTestThatThePageOnSecurityNamesIsThere() throws IOException {
    String page = prose(Checkout.ROOT.resolve("docs/security.md"));
    List<String> missing = new ArrayList<>();
    int tests = 0;
    Matcher code = CODE.matcher(page);
    while (code.find()) {
      String name = code.group(1);
      boolean isTest = TEST_CLASS.matcher(name).matches();
      tests += isTest ? 1 : 0;
      if ((isTest && FILES.stream().noneMatch(file -> isTestClass(file, name)))
          || (name.matches("scripts/[\\w-]+") && !isThere(name))) {
        missing.add(name);
      }
    }
    assertThat(missing).isEmpty();
    assertThat(tests).isGreaterThan(30);
    String promises =
        page.split("(?m)^## Promises, and their tests$", 2)[1].split("(?m)^## ", 2)[0];
    assertThat(promises.lines().filter(line -> line.startsWith("| ")).skip(1))
        .hasSizeGreaterThan(10)
        .allMatch(line -> CODE.matcher(line).find());
  }

  private static boolean isTestClass(Path file, String name) {
    return file.endsWith(name + ".java") && file.toString().contains("/src/test/");
  }

  @Test
  void everyWholeDescriptorIsValid() throws Exception {
    List<String> command = new ArrayList<>(List.of("target/graft/bin/graft", "validate"));
    for (Path page : pages()) {
      Matcher descriptor = DESCRIPTOR.matcher(Files.readString(page));
      while (descriptor.find()) {
        String name = page.getFileName() + "-" + command.size() + ".yaml";
        command.add(Files.writeString(folder.resolve(name), descriptor.group(1)).toString());
      }
    }
    assertThat(command).hasSizeGreaterThan(4);
    Finished valid = Finished.run(Checkout.ROOT, Map.of("PATH", "/usr/bin:/bin"), command);
    assertThat(valid.err()).isEmpty();
    assertThat(valid.code()).isZero();
  }

  private static boolean isThere(String path) {
    return FILES.stream().anyMatch(file -> file.endsWith(path));
  }

  private static boolean mentions(Path file, String word) {
    try {
      return Pattern.compile("\\b" + word + "\\b").matcher(Files.readString(file)).find();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<Path> pages() {
    return FILES.stream().filter(file -> file.toString().endsWith(".md")).toList();
  }

  private static String prose(Path page) throws IOException {
    return FENCED.matcher(Files.readString(page)).replaceAll("");
  }

  /** The anchors of a page's headings as GitHub renders them; repeated anchors get a number. */
  private static Set<String> anchors(Path page) throws IOException {
    Set<String> anchors = new HashSet<>();
    Matcher heading = HEADING.matcher(prose(page));
    while (heading.find()) {
      String text = heading.group(1).replaceAll("\\[(.*?)\\]\\(.*?\\)", "$1");
      String anchor =
          text.toLowerCase(Locale.ROOT).replaceAll("[^\\w\\- ]", "").strip().replace(' ', '-');
      String unique = anchor;
      for (int again = 1; !anchors.add(unique); again++) {
        unique = anchor + "-" + again;
      }
    }
    return anchors;
  }
}
