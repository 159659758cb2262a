package graft.deployment.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.json.Json;
import graft.common.values.PciAddress;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The question to the CUDA driver; JCudaTest in the distribution asks one. */
final class CudaDriverTest {
  private static final CudaDevice GPU =
      new CudaDevice(1, "NVIDIA H200", "0001:65:00.0", 141L << 30, "9.0", 1980, true, false);

  @Test
  void anAnswerGoesFromProcessToProcess() throws Exception {
    CudaDriver driver = new CudaDriver("13.0", List.of(GPU), "");
    assertThat(CudaDriver.read(Json.line(driver.tree()), " (not this)")).isEqualTo(driver);
    assertThat(GPU.describe()).isEqualTo("NVIDIA H200, compute capability 9.0, 141GiB");
    assertThat(GPU.isAt(PciAddress.parse("0001:65:00.0"))).isTrue();
    assertThat(GPU.isAt(PciAddress.parse("0000:65:00.0"))).isFalse();
  }

  @Test
  void aProblemGoesWithWhatTheDriverPrinted() throws Exception {
    String problem = Json.line(CudaDriver.silent("cuInit: CUDA_ERROR_NO_DEVICE").tree());
    assertThat(CudaDriver.read(problem, " (graft: no server)"))
        .isEqualTo(CudaDriver.silent("cuInit: CUDA_ERROR_NO_DEVICE (graft: no server)"));
  }

  @Test
  void anAnswerOfTheWrongShapeIsAnErrorAndANameStaysOnItsLine() {
    for (String wrong : List.of("{}", "{\"version\":1,\"devices\":[],\"problem\":\"\"}")) {
      assertThatThrownBy(() -> CudaDriver.read(wrong, "")).isInstanceOf(IOException.class);
    }
    CudaDevice hostile =
        new CudaDevice(0, "T4\nguests: []\u001b[2J", "0000:01:00.0", 1, "7.5", 1, false, false);
    assertThat(hostile.describe()).startsWith("T4 guests: []\\u001b[2J, compute");
  }

  @Test
  void pageableMemoryIsWorthANote() {
    assertThat(GPU.pageableNote()).get().asString().contains("uvm_disable_hmm=1");
    CudaDevice ats = new CudaDevice(0, "GH200", "0000:01:00.0", 1, "9.0", 1, true, true);
    assertThat(ats.pageableNote()).get().asString().contains("ATS").doesNotContain("hmm");
    CudaDevice none = new CudaDevice(0, "T4", "0000:01:00.0", 1, "7.5", 1, false, false);
    assertThat(none.pageableNote()).isEmpty();
  }

  @Test
  void thereIsNoAnswerWithoutJCudasLibrary() {
    CudaDriver driver = CudaDriver.ask(Map.of());
    assertThat(driver.devices()).isEmpty();
    assertThat(driver.problem()).contains("JCudaDriver");
  }
}
