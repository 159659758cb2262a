package graft.remoting.server.session.code;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.server.WireClient;
import graft.remoting.server.system.Scratch;
import graft.remoting.software.DeviceCode.Findings;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class PrintingCodeTest {
  private static final String PRINTS = ".extern .func (.param .b32 r) vprintf (...);";
  private static final String SILENT = ".visible .entry add() { ret; }";

  private static byte[] text(String ptx) {
    return (ptx + "\0").getBytes(StandardCharsets.US_ASCII);
  }

  /** A fat binary with one entry of PTX. */
  private static byte[] fatbin(String ptx, int claimed) {
    byte[] code = text(ptx);
    ByteBuffer b = WireClient.little(16 + 64 + code.length);
    b.putInt(0xBA55ED50).putShort((short) 1).putShort((short) 16).putLong(64 + code.length);
    b.putShort((short) 1).putShort((short) 0).putInt(64).putLong(claimed);
    b.position(16 + 64);
    b.put(code);
    return WireClient.bytes(b, 0, b.position());
  }

  private static boolean mayPrint(byte[]... images) {
    CodeSearch search = new CodeSearch();
    PrintingCode code = new PrintingCode();
    for (byte[] image : images) {
      try (Scratch scratch = Scratch.of(image)) {
        CompletableFuture<Findings> found = search.search(scratch.address(), image.length);
        code.loaded(found);
        found.join();
      }
    }
    return code.mayPrint();
  }

  @Test
  void codeThatNamesTheFunctionMayPrint() {
    assertThat(mayPrint()).isFalse();
    assertThat(mayPrint(text(SILENT))).isFalse();
    assertThat(mayPrint(text(PRINTS))).isTrue();
    assertThat(mayPrint(text(PRINTS), text(SILENT))).isTrue();
    assertThat(mayPrint(fatbin(SILENT, SILENT.length() + 1))).isFalse();
    assertThat(mayPrint(fatbin(PRINTS, PRINTS.length() + 1))).isTrue();
  }

  @Test
  void whatIsNotLookedIntoMayPrint() {
    assertThat(mayPrint(fatbin(SILENT, 1 << 20))).isTrue();
    assertThat(mayPrint(new byte[1 << 20])).isTrue();
  }

  @Test
  void whatIsNotYetLookedIntoMayPrint() {
    List<Runnable> tasks = new ArrayList<>();
    CodeSearch search = new CodeSearch(tasks::add);
    PrintingCode code = new PrintingCode();
    byte[] image = text(SILENT);
    try (Scratch scratch = Scratch.of(image)) {
      for (int i = 0; i < 2; i++) {
        code.loaded(search.search(scratch.address(), image.length));
        assertThat(code.mayPrint()).isTrue();
      }
      tasks.remove(0).run();
      assertThat(code.mayPrint()).isTrue();
      tasks.remove(0).run();
      assertThat(code.mayPrint()).isFalse();
      for (int i = 0; i < 17; i++) {
        code.loaded(search.search(scratch.address(), image.length));
      }
      assertThat(tasks).as("a flood of images does not fill the memory").hasSize(16);
      tasks.forEach(Runnable::run);
      assertThat(code.mayPrint()).isTrue();
    }
  }
}
