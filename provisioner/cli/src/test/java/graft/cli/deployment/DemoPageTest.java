package graft.cli.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import java.io.StringReader;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

class DemoPageTest {
  private static final String ATTACK = "</pre><script>alert(1)</script>\"&";

  @TempDir Path folder;

  private static DemoPage page(String device) {
    Map<String, Object> row =
        Map.of(
            "name", "demo-1", "bootSeconds", 3, "program", "p", "device", device, "result", "ok");
    return new DemoPage(List.of(row), "plan " + ATTACK, "status", "1.0 s in all");
  }

  @Test
  void whatAGuestSaysIsText() throws Exception {
    String html = page(ATTACK).html();
    assertThat(html).doesNotContain("<script").doesNotContain("http");
    Document parsed =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new InputSource(new StringReader(html.replace("<!DOCTYPE html>", ""))));
    assertThat(parsed.getElementsByTagName("td").item(3).getTextContent()).isEqualTo(ATTACK);
    assertThat(parsed.getElementsByTagName("pre").item(0).getTextContent())
        .isEqualTo("plan " + ATTACK);
  }

  @Test
  void aFileThatCannotBeWrittenIsNamed() {
    Path nowhere = folder.resolve("missing/demo.html");
    assertThatThrownBy(() -> page("d").write(nowhere))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining("cannot write " + nowhere);
  }
}
