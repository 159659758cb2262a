package graft.deployment.step.guest;

import graft.common.disk.PrivateFiles;
import graft.common.grants.TokensFile;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * Makes a guest's token, with which it authenticates to a server.
 *
 * @param token the file that keeps it
 * @param gpu the GPU whose server takes it, if it is that of a further vGPU
 */
public record MakeToken(String guest, Path token, Optional<String> gpu) implements GuestStep {
  @Override
  public String name() {
    return gpu.map(name -> "token-" + name).orElse("token");
  }

  @Override
  public String describe() {
    return "make its token" + gpu.map(name -> " for '" + name + "'").orElse("");
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.exists(token);
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    if (!Files.exists(token)) {
      PrivateFiles.write(token, (TokensFile.fresh() + "\n").getBytes(StandardCharsets.UTF_8));
    }
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    PrivateFiles.delete(token);
  }
}
