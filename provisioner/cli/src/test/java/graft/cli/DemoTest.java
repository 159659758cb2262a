package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import graft.cli.terminal.ExitCode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoTest {
  @TempDir Path folder;

  /** Else the page of `graft demo --page lab.yaml` would replace the descriptor. */
  @Test
  void aDescriptorIsNoPage() throws Exception {
    Path descriptor = Files.writeString(folder.resolve("lab.yaml"), "precious");
    StringWriter err = new StringWriter();
    String[] args = {"demo", "--page", descriptor.toString()};
    int code = Main.commandLine(args).setErr(new PrintWriter(err)).execute(args);
    assertThat(code).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("lab.yaml does not end in .html");
    assertThat(descriptor).hasContent("precious");
  }
}
