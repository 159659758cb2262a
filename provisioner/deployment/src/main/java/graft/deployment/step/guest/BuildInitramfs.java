package graft.deployment.step.guest;

import graft.common.disk.PrivateFiles;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.StepContext;
import graft.guests.payload.CpioArchive;
import graft.guests.payload.FileStamp;
import graft.guests.payload.Payload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Makes a guest's initramfs: the given one with an archive of the guest's own files behind it,
 * which the kernel unpacks over it.
 */
public record BuildInitramfs(String guest, FileStamp base, Payload payload, Path target)
    implements PayloadStep {
  @Override
  public String name() {
    return "initramfs";
  }

  @Override
  public String describe() {
    return "make its initramfs from "
        + base.path()
        + (payload.isEmpty() ? "" : ", with " + payload.summary());
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.exists(target);
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    renew();
    return Map.of();
  }

  @Override
  public void renew() throws IOException {
    PrivateFiles.write(
        target,
        out -> {
          long size = Files.copy(base.path(), out);
          // The kernel looks for the next archive at a multiple of 4 and skips zeros before it.
          out.write(new byte[(int) (-size & 3)]);
          CpioArchive.write(out, payload.read());
        });
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    PrivateFiles.delete(target);
  }
}
