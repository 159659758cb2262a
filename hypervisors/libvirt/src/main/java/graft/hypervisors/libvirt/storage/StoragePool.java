package graft.hypervisors.libvirt.storage;

import com.sun.jna.ptr.PointerByReference;
import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.calls.Attempt;
import graft.hypervisors.libvirt.calls.Connection;
import graft.hypervisors.libvirt.calls.LibvirtError;
import graft.hypervisors.libvirt.calls.LibvirtLibrary;
import graft.hypervisors.libvirt.calls.NativeList;
import graft.hypervisors.libvirt.calls.NotFoundException;
import graft.hypervisors.libvirt.domain.Xml;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.ToIntFunction;
import org.libvirt.jna.ConnectionPointer;
import org.libvirt.jna.Libvirt;
import org.libvirt.jna.StoragePoolPointer;
import org.libvirt.jna.StorageVolPointer;
import org.libvirt.jna.virStorageVolInfo;

/** A storage pool of a host; it holds nothing native. Every method needs the pool to be active. */
public final class StoragePool {

  private final Connection connection;
  private final String name;

  StoragePool(Connection connection, String name) {
    this.connection = connection;
    this.name = name;
  }

  public String name() {
    return name;
  }

  public boolean isActive() {
    return with((c, pool) -> attempt("look at").check(calls().virStoragePoolIsActive(pool)) == 1);
  }

  public void start() {
    run("start", pool -> calls().virStoragePoolCreate(pool, 0));
  }

  /** Looks at the storage again, for volumes that came by another way. */
  public void refresh() {
    run("refresh", pool -> calls().virStoragePoolRefresh(pool, 0));
  }

  /** Stops managing the storage; the volumes stay. */
  public void stop() {
    run("stop", pool -> calls().virStoragePoolDestroy(pool));
  }

  /** Removes the definition of a stopped pool; the volumes stay. */
  public void undefine() {
    run("undefine", pool -> calls().virStoragePoolUndefine(pool));
  }

  /** The names of its volumes in order. */
  public List<String> volumes() {
    return with(
        (c, pool) -> {
          Attempt attempt = attempt("list the volumes of");
          PointerByReference list = new PointerByReference();
          int count =
              attempt.check(LibvirtLibrary.extras().virStoragePoolListAllVolumes(pool, list, 0));
          return NativeList.take(
                  list,
                  count,
                  StorageVolPointer::new,
                  volume -> attempt.check(calls().virStorageVolGetName(volume)),
                  calls()::virStorageVolFree)
              .stream()
              .sorted()
              .toList();
        });
  }

  /** The volume of that name; empty when there is none. */
  public Optional<Volume> volume(String volume) {
    try {
      return Optional.of(withVolume(volume, (c, pointer) -> read(volume, pointer)));
    } catch (NotFoundException e) {
      if (e.is(LibvirtError.Code.NO_STORAGE_VOL)) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** Makes a volume. */
  public Volume create(VolumeSpec spec) {
    String xml = Xml.print(spec.toXml());
    return with(
        (c, pool) -> {
          StorageVolPointer volume =
              attempt("make", spec.name()).check(calls().virStorageVolCreateXML(pool, xml, 0));
          try {
            return read(spec.name(), volume);
          } finally {
            calls().virStorageVolFree(volume);
          }
        });
  }

  /** Removes a volume and its data. */
  public void delete(String volume) {
    withVolume(
        volume,
        (c, pointer) -> attempt("delete", volume).check(calls().virStorageVolDelete(pointer, 0)));
  }

  /**
   * Copies a file of this machine into a volume, from the volume's first byte on.
   *
   * @throws IOException when the file cannot be read
   */
  public void upload(String volume, Path file) throws IOException {
    try (InputStream content = Files.newInputStream(file)) {
      upload(volume, content, new MemorySize(Files.size(file)));
    }
  }

  /**
   * Copies a stream into a volume, from the volume's first byte on.
   *
   * @param size of the content, no more than the volume's capacity
   * @throws IOException when the content cannot be read, or is shorter than said
   */
  public void upload(String volume, InputStream content, MemorySize size) throws IOException {
    try {
      withVolume(
          volume,
          (c, pointer) -> {
            new VolumeUpload(attempt("upload into", volume), c, pointer).copy(content, size);
            return null;
          });
    } catch (java.io.UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private Volume read(String volume, StorageVolPointer pointer) {
    Attempt attempt = attempt("look at", volume);
    virStorageVolInfo info = new virStorageVolInfo();
    attempt.check(calls().virStorageVolGetInfo(pointer, info));
    return new Volume(
        name,
        volume,
        attempt.text(calls().virStorageVolGetPath(pointer)),
        new MemorySize(info.capacity),
        new MemorySize(info.allocation));
  }

  private void run(String action, ToIntFunction<StoragePoolPointer> call) {
    with((c, pool) -> attempt(action).check(call.applyAsInt(pool)));
  }

  private <T> T with(BiFunction<ConnectionPointer, StoragePoolPointer, T> call) {
    return connection.with(
        c -> {
          StoragePoolPointer pool =
              attempt("find").check(calls().virStoragePoolLookupByName(c, name));
          try {
            return call.apply(c, pool);
          } finally {
            calls().virStoragePoolFree(pool);
          }
        });
  }

  private <T> T withVolume(
      String volume, BiFunction<ConnectionPointer, StorageVolPointer, T> call) {
    return with(
        (c, pool) -> {
          StorageVolPointer pointer =
              attempt("find", volume).check(calls().virStorageVolLookupByName(pool, volume));
          try {
            return call.apply(c, pointer);
          } finally {
            calls().virStorageVolFree(pointer);
          }
        });
  }

  private Attempt attempt(String action) {
    return new Attempt(action, connection.target("storage pool", name));
  }

  private Attempt attempt(String action, String volume) {
    return new Attempt(action, connection.target("volume", name + "/" + volume));
  }

  private static Libvirt calls() {
    return LibvirtLibrary.calls();
  }
}
