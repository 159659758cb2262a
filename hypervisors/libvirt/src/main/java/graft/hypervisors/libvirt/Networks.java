package graft.hypervisors.libvirt;

import com.sun.jna.ptr.PointerByReference;
import graft.hypervisors.libvirt.calls.Attempt;
import graft.hypervisors.libvirt.calls.Connection;
import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.hypervisors.libvirt.calls.LibvirtError;
import graft.hypervisors.libvirt.calls.LibvirtLibrary;
import graft.hypervisors.libvirt.calls.NativeList;
import graft.hypervisors.libvirt.calls.NotFoundException;
import graft.hypervisors.libvirt.domain.Xml;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.libvirt.jna.CString;
import org.libvirt.jna.Libvirt;
import org.libvirt.jna.NetworkPointer;
import org.w3c.dom.Document;

/** The networks of a host that libvirt manages. */
public final class Networks {

  private final Connection connection;

  Networks(Connection connection) {
    this.connection = connection;
  }

  /** All networks in the order of their names. */
  public List<Network> list() {
    return connection.with(
        c -> {
          PointerByReference list = new PointerByReference();
          int count =
              new Attempt("list the networks of", connection.uri().toString())
                  .check(LibvirtLibrary.extras().virConnectListAllNetworks(c, list, 0));
          return NativeList.take(
                  list, count, NetworkPointer::new, this::read, calls()::virNetworkFree)
              .stream()
              .sorted(Comparator.comparing(Network::name))
              .toList();
        });
  }

  /** The network with that name; empty if there is none. */
  public Optional<Network> find(String name) {
    try {
      return Optional.of(with(name, this::read));
    } catch (NotFoundException e) {
      return Optional.empty();
    }
  }

  private Network read(NetworkPointer network) {
    String name =
        new Attempt("read the name of", "a network at " + connection.uri())
            .check(calls().virNetworkGetName(network));
    Attempt attempt = attempt("look at", name);
    boolean active = attempt.check(calls().virNetworkIsActive(network)) == 1;
    boolean persistent = attempt.check(calls().virNetworkIsPersistent(network)) == 1;
    // The call fails for networks without a bridge, which is not an error here.
    CString bridge = calls().virNetworkGetBridgeName(network);
    return new Network(
        name, active, persistent, Optional.ofNullable(bridge).map(CString::toString));
  }

  /** The network's XML as libvirt completed it. */
  public Document xml(String name) {
    return Xml.parse(
        with(
            name,
            network ->
                attempt("read the XML of", name).text(calls().virNetworkGetXMLDesc(network, 0))));
  }

  /**
   * Defines a network without starting it.
   *
   * @see <a href="https://libvirt.org/formatnetwork.html">libvirt: network XML format</a>
   */
  public void define(Document networkXml) {
    String xml = Xml.print(networkXml);
    String name = Xml.text(networkXml.getDocumentElement(), "name").orElse("without name");
    connection.with(
        c ->
            calls()
                .virNetworkFree(
                    attempt("define", name).check(calls().virNetworkDefineXML(c, xml))));
  }

  public void start(String name) {
    run("start", name, network -> calls().virNetworkCreate(network));
  }

  /**
   * Stops the network at once; its guests lose their connection.
   *
   * @return false if the network was not active
   */
  public boolean destroy(String name) {
    return with(
        name,
        network -> {
          if (attempt("look at", name).check(calls().virNetworkIsActive(network)) == 0) {
            return false;
          }
          if (calls().virNetworkDestroy(network) >= 0) {
            return true;
          }
          HypervisorException failure = attempt("destroy", name).failure();
          // Another process was faster.
          if (failure.is(LibvirtError.Code.OPERATION_INVALID)) {
            return false;
          }
          throw failure;
        });
  }

  public void undefine(String name) {
    run("undefine", name, network -> calls().virNetworkUndefine(network));
  }

  private void run(String action, String name, ToIntFunction<NetworkPointer> call) {
    with(name, network -> attempt(action, name).check(call.applyAsInt(network)));
  }

  private <T> T with(String name, Function<NetworkPointer, T> call) {
    return connection.with(
        c -> {
          NetworkPointer network =
              attempt("find", name).check(calls().virNetworkLookupByName(c, name));
          try {
            return call.apply(network);
          } finally {
            calls().virNetworkFree(network);
          }
        });
  }

  private Attempt attempt(String action, String name) {
    return new Attempt(action, connection.target("network", name));
  }

  private static Libvirt calls() {
    return LibvirtLibrary.calls();
  }
}
