package graft.hypervisors.libvirt.storage;

import com.sun.jna.ptr.PointerByReference;
import graft.hypervisors.libvirt.calls.Attempt;
import graft.hypervisors.libvirt.calls.Connection;
import graft.hypervisors.libvirt.calls.LibvirtLibrary;
import graft.hypervisors.libvirt.calls.NativeList;
import graft.hypervisors.libvirt.calls.NotFoundException;
import graft.hypervisors.libvirt.domain.Xml;
import java.util.List;
import java.util.Optional;
import org.libvirt.jna.Libvirt;
import org.libvirt.jna.StoragePoolPointer;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

/** The storage pools of a host. */
public final class StoragePools {

  private final Connection connection;

  public StoragePools(Connection connection) {
    this.connection = connection;
  }

  /** The names of all pools, active or not, in order. */
  public List<String> list() {
    return connection.with(
        c -> {
          PointerByReference list = new PointerByReference();
          Attempt attempt = new Attempt("list the storage pools of", connection.uri().toString());
          int count =
              attempt.check(LibvirtLibrary.extras().virConnectListAllStoragePools(c, list, 0));
          return NativeList.take(
                  list,
                  count,
                  StoragePoolPointer::new,
                  p -> attempt.check(calls().virStoragePoolGetName(p)),
                  calls()::virStoragePoolFree)
              .stream()
              .sorted()
              .toList();
        });
  }

  /** The pool of that name; empty when there is none. */
  public Optional<StoragePool> find(String name) {
    StoragePool pool = new StoragePool(connection, name);
    try {
      pool.isActive();
      return Optional.of(pool);
    } catch (NotFoundException e) {
      return Optional.empty();
    }
  }

  /**
   * Defines a pool that is a folder of the host, and makes the folder. It is not started.
   *
   * @param path on the host that runs libvirt
   */
  public StoragePool defineFolder(String name, String path) {
    Document document = Xml.newDocument("pool");
    Element pool = document.getDocumentElement();
    pool.setAttribute("type", "dir");
    Xml.add(pool, "name", name);
    Xml.add(Xml.add(pool, "target"), "path", path);
    String xml = Xml.print(document);
    Attempt attempt = new Attempt("define", connection.target("storage pool", name));
    connection.with(
        c -> {
          StoragePoolPointer made = attempt.check(calls().virStoragePoolDefineXML(c, xml, 0));
          try {
            return attempt.check(calls().virStoragePoolBuild(made, 0));
          } finally {
            calls().virStoragePoolFree(made);
          }
        });
    return new StoragePool(connection, name);
  }

  private static Libvirt calls() {
    return LibvirtLibrary.calls();
  }
}
