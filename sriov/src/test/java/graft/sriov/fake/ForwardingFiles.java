package graft.sriov.fake;

import graft.sriov.files.Sysfs;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Forwards all calls to other files, as a base for tests that intercept some of them. */
public class ForwardingFiles implements Sysfs {
  private final Sysfs files;

  protected ForwardingFiles(Sysfs files) {
    this.files = files;
  }

  @Override
  public Optional<String> read(String path) {
    return files.read(path);
  }

  @Override
  public List<String> list(String path) {
    return files.list(path);
  }

  @Override
  public Optional<String> readLink(String path) {
    return files.readLink(path);
  }

  @Override
  public boolean exists(String path) {
    return files.exists(path);
  }

  @Override
  public void write(String path, String value, Duration limit) {
    files.write(path, value, limit);
  }

  @Override
  public void store(String path, String content) {
    files.store(path, content);
  }

  @Override
  public void storeLink(String path, String target) {
    files.storeLink(path, target);
  }

  @Override
  public void remove(String path) {
    files.remove(path);
  }
}
