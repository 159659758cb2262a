package graft.hypervisors.libvirt.domain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class DirectKernelElementsTest {

  @Test
  void kernelInitramfsAndCommandLine() {
    Boot.DirectKernel boot =
        new Boot.DirectKernel("/vmlinuz", Optional.of("/initrd"), "console=ttyS0 quiet");
    assertThat(Built.by(os -> DirectKernelElements.append(os, boot)))
        .isEqualTo(
            """
            <kernel>/vmlinuz</kernel>
            <initrd>/initrd</initrd>
            <cmdline>console=ttyS0 quiet</cmdline>
            """);
  }

  @Test
  void whatIsAbsentIsLeftOut() {
    Boot.DirectKernel boot = new Boot.DirectKernel("/vmlinuz", Optional.empty(), "");
    assertThat(Built.by(os -> DirectKernelElements.append(os, boot)))
        .isEqualTo("<kernel>/vmlinuz</kernel>\n");
  }

  @Test
  void aCommandLineIsOneLine() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Boot.DirectKernel("/vmlinuz", Optional.empty(), "quiet\ninit=/x"));
  }
}
