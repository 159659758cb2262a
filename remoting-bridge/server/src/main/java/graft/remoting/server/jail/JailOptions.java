package graft.remoting.server.jail;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Builds the command line of {@code graft-jail}, see {@code jail/src/options.c}. */
final class JailOptions {
  private final List<String> list = new ArrayList<>();

  JailOptions() {}

  JailOptions(JailOptions others) {
    list.addAll(others.list);
  }

  JailOptions add(String option, Object value) {
    list.add(option);
    list.add(value.toString());
    return this;
  }

  JailOptions addAll(String option, Collection<Path> values) {
    values.forEach(value -> add(option, value));
    return this;
  }

  JailOptions add(WorkerFiles files) {
    return addLinks(files).addAll("--read", files.paths());
  }

  /** Adds files that a worker can do without: those that have gone when it starts are left out. */
  JailOptions addExisting(WorkerFiles files) {
    return addLinks(files).addAll("--read-existing", files.paths());
  }

  private JailOptions addLinks(WorkerFiles files) {
    files.links().forEach((link, target) -> add("--link", link + "=" + target));
    return this;
  }

  List<String> list() {
    return List.copyOf(list);
  }
}
