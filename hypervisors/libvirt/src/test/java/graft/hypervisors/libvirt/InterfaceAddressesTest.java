package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests how Graft handles the addresses that libvirt receives from a guest's agent. */
class InterfaceAddressesTest {
  private static final int POINTER = Native.POINTER_SIZE;

  /** JNA frees native memory once no object refers to it. */
  private final List<Memory> kept = new ArrayList<>();

  private Pointer text(String text) {
    byte[] bytes = (text + "\0").getBytes(StandardCharsets.UTF_8);
    Memory memory = new Memory(bytes.length);
    memory.write(0, bytes, 0, bytes.length);
    kept.add(memory);
    return memory;
  }

  /** Builds a struct _virDomainInterface in which all addresses have the same prefix length. */
  private Pointer card(String name, String mac, int prefix, String... addresses) {
    Memory all = new Memory(3L * POINTER * Math.max(1, addresses.length));
    for (int i = 0; i < addresses.length; i++) {
      all.setInt(3L * POINTER * i, 0);
      all.setPointer(3L * POINTER * i + POINTER, text(addresses[i]));
      all.setInt(3L * POINTER * i + 2L * POINTER, prefix);
    }
    kept.add(all);
    Memory card = new Memory(4L * POINTER);
    card.setPointer(0, text(name));
    card.setPointer(POINTER, mac == null ? null : text(mac));
    card.setInt(2L * POINTER, addresses.length);
    card.setPointer(3L * POINTER, all);
    kept.add(card);
    return card;
  }

  @Test
  void addressesAreReadWithTheirPrefixes() {
    InterfaceAddresses read =
        InterfaceAddresses.read(card("eth0", "52:54:00:12:34:56", 24, "10.0.0.5", "fe80::1"));
    assertThat(read.name()).isEqualTo("eth0");
    assertThat(read.mac()).isPresent();
    assertThat(read.addresses())
        .extracting(InterfaceAddresses.Address::toString)
        .containsExactly("10.0.0.5/24", "fe80::1/24");
  }

  @Test
  void whatIsNoAddressGoesNoFurther() {
    InterfaceAddresses read =
        InterfaceAddresses.read(
            card(
                "\u001b]0;owned\u0007-oX\n",
                "$(id)",
                24,
                "-oProxyCommand=touch /tmp/x",
                "localhost",
                "{{ 1 }}",
                "",
                "10.0.0.6"));
    assertThat(read.addresses())
        .extracting(address -> address.ip().text())
        .containsExactly("10.0.0.6");
    assertThat(read.mac()).isEmpty();
    assertThat(read.name()).doesNotContain("\u001b", "\u0007", "\n");
  }

  @Test
  void aPrefixThatNoNetworkHasIsNoAddress() {
    for (int prefix : new int[] {-1, 33, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      assertThat(InterfaceAddresses.read(card("e", null, prefix, "10.0.0.5")).addresses())
          .isEmpty();
    }
  }
}
