package graft.deployment;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.deployment.step.host.RunServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** An installation of Graft that every user can read, as far as plans look at it. */
public final class InstalledGraft implements BeforeEachCallback, AfterEachCallback {
  private static final String HOME = "graft.home";

  private String before;

  @Override
  public void beforeEach(ExtensionContext context) {
    before = System.getProperty(HOME);
  }

  /** Makes it the installation that runs, until the test ends. */
  public void in(Path folder) throws IOException {
    Path lib = Files.createDirectories(folder.resolve("home/lib"));
    Files.createFile(
        lib.resolve("graft-starter"),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    System.setProperty(HOME, folder.resolve("home").toString());
    assumeTrue(RunServer.starter().isPresent(), "others cannot enter the temporary folder");
  }

  @Override
  public void afterEach(ExtensionContext context) {
    if (before == null) {
      System.clearProperty(HOME);
    } else {
      System.setProperty(HOME, before);
    }
  }
}
