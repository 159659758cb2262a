package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.sun.jna.ptr.LongByReference;
import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.calls.Connection;
import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.hypervisors.libvirt.calls.LibvirtError;
import graft.hypervisors.libvirt.calls.LibvirtLibrary;
import graft.hypervisors.libvirt.calls.LibvirtUri;
import graft.hypervisors.libvirt.calls.NotFoundException;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import graft.hypervisors.libvirt.capabilities.Version;
import graft.hypervisors.libvirt.domain.GuestMetadata;
import graft.hypervisors.libvirt.domain.Xml;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.libvirt.jna.ConnectionPointer;
import org.w3c.dom.Document;

/**
 * Tests against libvirt's test driver, which is part of the client library: the calls are real, but
 * there is no daemon. Needs libvirt0. Each test has its own connection, but all connections share
 * the driver's state.
 */
@Tag("integration")
class LibvirtHostIntegrationTest {

  private static final String NAME = "libvirttest-" + UUID.randomUUID();

  private final LibvirtHost host = LibvirtHost.open("test:///default");

  @BeforeEach
  @AfterEach
  void removeGuest() {
    try (LibvirtHost cleaner = LibvirtHost.open("test:///default")) {
      cleaner
          .guest(NAME)
          .ifPresent(
              guest -> {
                guest.destroy();
                guest.undefine(Set.of());
              });
    }
  }

  @AfterEach
  void close() {
    host.close();
  }

  private static String domain(String name, String extra) {
    return "<domain type='test'><name>"
        + name
        + "</name><memory unit='MiB'>64</memory><vcpu>1</vcpu>"
        + "<os><type>hvm</type></os>"
        + extra
        + "</domain>";
  }

  @Test
  void tellsWhatTheHostIs() {
    HostCapabilities host = this.host.capabilities();
    assertThat(host.hypervisor()).isEqualTo("TEST");
    assertThat(host.cpus()).isPositive();
    assertThat(host.memory()).isEqualTo(MemorySize.ofGib(3));
    assertThat(host.numaCells()).hasSize(2);
    assertThat(host.nativeGuest("hvm")).isPresent();
    assertThat(host.hostname()).isNotEmpty();
    assertThat(host.libvirtVersion()).isGreaterThan(new Version(4, 5, 0));
  }

  @Test
  void guestLivesAndDies() {
    Guest guest = host.define(Xml.parse(domain(NAME, "")));
    assertThat(guest.name()).isEqualTo(NAME);
    assertThat(host.guest(NAME)).contains(guest);
    assertThat(guest.state()).isEqualTo(GuestState.SHUT_OFF);
    assertThat(guest.start()).isTrue();
    assertThat(guest.start()).as("it runs already").isFalse();
    assertThat(guest.state()).isEqualTo(GuestState.RUNNING).matches(GuestState::isActive);
    assertThat(guest.info().memory()).isEqualTo(MemorySize.ofMib(64));
    assertThat(guest.info().cpus()).isEqualTo(1);
    assertThat(guest.destroy()).isTrue();
    assertThat(guest.destroy()).as("a second time there is nothing to do").isFalse();
    guest.undefine(Set.of());
    assertThat(host.guest(NAME)).isEmpty();
    assertThatExceptionOfType(NotFoundException.class)
        .isThrownBy(guest::start)
        .withMessageContaining(NAME)
        .withMessageContaining("test:///default")
        .matches(e -> e.is(LibvirtError.Code.NO_DOMAIN));
  }

  @Test
  void listsGuestsOfOthersBesideOurs() {
    Document xml = Xml.parse(domain(NAME, ""));
    GuestMetadata metadata = GuestMetadata.of("demo", Map.of("spec", "1<2"));
    Xml.add(xml.getDocumentElement(), "metadata").appendChild(metadata.toElement(xml));
    host.define(xml).start();
    List<ObservedGuest> guests = host.guests();
    assertThat(guests).extracting(ObservedGuest::name).contains("test", NAME).isSorted();
    ObservedGuest ours =
        guests.stream().filter(g -> g.name().equals(NAME)).findFirst().orElseThrow();
    assertThat(ours.metadata()).contains(metadata);
    assertThat(ours.state()).isEqualTo(GuestState.RUNNING);
    assertThat(ours.persistent()).isTrue();
    assertThat(guests.stream().filter(g -> g.name().equals("test")).findFirst().orElseThrow())
        .matches(g -> g.metadata().isEmpty());
  }

  @Test
  void metadataCanChangeWhileTheGuestRuns() {
    Guest guest = host.define(Xml.parse(domain(NAME, "")));
    assertThat(guest.metadata()).isEmpty();
    guest.start();
    GuestMetadata metadata = GuestMetadata.of("demo", Map.of("a", "b"));
    guest.setMetadata(metadata);
    assertThat(guest.metadata()).contains(metadata);
  }

  @Test
  void aGuestWithForeignMetadataInOurNamespaceIsNotOurs() {
    host.define(domain(NAME, "<metadata><x:other xmlns:x='urn:graft:guest:1'/></metadata>"), true);
    assertThat(host.guests())
        .filteredOn(g -> g.name().equals(NAME))
        .singleElement()
        .matches(g -> g.metadata().isEmpty());
  }

  @Test
  void aNameIsTakenOnce() {
    host.define(domain(NAME, "<uuid>" + UUID.randomUUID() + "</uuid>"), true);
    assertThatExceptionOfType(HypervisorException.class)
        .isThrownBy(() -> host.define(domain(NAME, "<uuid>" + UUID.randomUUID() + "</uuid>"), true))
        .withMessageContaining(NAME)
        .withMessageContaining("choose another name");
  }

  @Test
  void whatTheSchemaDoesNotKnowIsRefusedWithTheElement() {
    assertThatExceptionOfType(HypervisorException.class)
        .isThrownBy(() -> host.define(domain(NAME, "<cpuus/>"), true))
        .matches(e -> e.is(LibvirtError.Code.XML_INVALID_SCHEMA))
        .withMessageContaining("cpuus");
    assertThatExceptionOfType(HypervisorException.class)
        .isThrownBy(() -> host.define("<domain", true))
        .withMessageContaining("cannot define a guest at test:///default");
  }

  @Test
  void whatADriverCannotDoIsSaidSo() {
    Guest guest = host.define(Xml.parse(domain(NAME, "")));
    guest.start();
    assertThatExceptionOfType(HypervisorException.class)
        .isThrownBy(() -> guest.agent().ping(Duration.ofSeconds(1)))
        .matches(e -> e.is(LibvirtError.Code.NO_SUPPORT))
        .withMessageContaining("does not support that");
  }

  @Test
  void networksLiveAndDie() {
    Networks networks = host.networks();
    Document xml = Xml.newDocument("network");
    Xml.add(xml.getDocumentElement(), "name", NAME);
    Xml.add(xml.getDocumentElement(), "uuid", UUID.randomUUID().toString());
    assertThat(networks.find(NAME)).isEmpty();
    networks.define(xml);
    networks.define(xml); // libvirt accepts a second definition that has the same UUID
    assertThat(networks.find(NAME)).map(Network::active).contains(false);
    networks.start(NAME);
    assertThat(networks.list()).extracting(Network::name).contains("default", NAME);
    assertThat(networks.find(NAME)).map(Network::active).contains(true);
    assertThat(Xml.text(networks.xml(NAME).getDocumentElement(), "name")).contains(NAME);
    assertThat(networks.destroy(NAME)).isTrue();
    assertThat(networks.destroy(NAME)).isFalse();
    networks.undefine(NAME);
    assertThatExceptionOfType(NotFoundException.class).isThrownBy(() -> networks.start(NAME));
  }

  @Test
  void aClosedConnectionIsNotUsedAgain() {
    Guest guest = host.define(Xml.parse(domain(NAME, "")));
    host.close();
    host.close();
    assertThatIllegalStateException().isThrownBy(host::guests).withMessageContaining("closed");
    assertThatIllegalStateException().isThrownBy(guest::start);
  }

  @Test
  void closeDoesNotWaitForACallThatHangs() throws InterruptedException {
    Connection connection = Connection.open(LibvirtUri.parse("test:///default"));
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    Thread call =
        new Thread(
            () ->
                connection.with(
                    c -> {
                      inside.countDown();
                      try {
                        return end.await(1, TimeUnit.MINUTES);
                      } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                      }
                    }));
    call.start();
    inside.await();
    assertTimeoutPreemptively(Duration.ofSeconds(40), connection::close);
    assertThatIllegalStateException().isThrownBy(() -> connection.with(c -> c));
    assertThat(call.isAlive()).isTrue();
    end.countDown();
    call.join();
  }

  @Test
  void threadsThatCallAtTheSameTimeHaveConnectionsOfTheirOwn() throws Exception {
    Connection connection = Connection.open(LibvirtUri.parse("test:///default"));
    CyclicBarrier together = new CyclicBarrier(2);
    Callable<ConnectionPointer> call =
        () ->
            connection.with(
                pointer -> {
                  await(together);
                  return pointer;
                });
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      Future<ConnectionPointer> one = threads.submit(call);
      Future<ConnectionPointer> other = threads.submit(call);
      assertThat(one.get()).isNotEqualTo(other.get());
      Set<ConnectionPointer> opened = Set.of(one.get(), other.get());
      try (Connection.Lent first = connection.lend();
          Connection.Lent second = connection.lend()) {
        assertThat(Set.of(first.pointer(), second.pointer())).isEqualTo(opened);
      }
    } finally {
      threads.shutdown();
      connection.close();
    }
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await(1, TimeUnit.MINUTES);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aConnectionThatWasLentWhenAllWereClosedIsClosedByItsHolder() {
    Connection connection = Connection.open(LibvirtUri.parse("test:///default"));
    Connection.Lent lent = connection.lend();
    connection.close();
    LongByReference version = new LongByReference();
    assertThat(LibvirtLibrary.calls().virConnectGetLibVersion(lent.pointer(), version)).isZero();
    lent.close();
    assertThatIllegalStateException().isThrownBy(connection::lend).withMessageContaining("closed");
  }

  /** A host of the test driver, whose only guest is paused (virDomainState 3). */
  @Test
  void aPausedGuestGoesOn(@TempDir Path folder) throws Exception {
    String paused =
        domain(NAME, "<test:runstate>3</test:runstate>")
            .replace(
                "<domain type='test'>",
                "<domain type='test'"
                    + " xmlns:test='http://libvirt.org/schemas/domain/test/1.0'>");
    Path node = Files.writeString(folder.resolve("node.xml"), "<node>" + paused + "</node>");
    try (LibvirtHost host = LibvirtHost.open("test://" + node)) {
      Guest guest = host.guest(NAME).orElseThrow();
      assertThat(guest.state()).isEqualTo(GuestState.PAUSED);
      assertThat(guest.state().words()).isEqualTo("paused");
      guest.resume();
      assertThat(guest.state()).isEqualTo(GuestState.RUNNING);
      assertThatExceptionOfType(HypervisorException.class)
          .isThrownBy(guest::resume)
          .withMessageContaining("resume");
    }
  }
}
