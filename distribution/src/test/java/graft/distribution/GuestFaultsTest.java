package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Faults in guests that are set up by the guest agent: each is reported clearly, and the next run
 * completes. The tests use small guests, which boot in seconds.
 */
@Tag("integration")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.HOST)
@ResourceLock(value = UnprivilegedServerTest.USER, mode = ResourceAccessMode.READ)
final class GuestFaultsTest {
  private static final String PROGRAM = "/usr/local/bin/loop";

  @TempDir Path folder;
  private GuestLab lab;
  private String guest;
  private String descriptor;
  private Path text;

  @BeforeEach
  void describe() throws Exception {
    lab = GuestLab.in(folder);
    guest = lab.name() + "-one";
    text = Files.writeString(folder.resolve("text"), "one\n");
    descriptor = lab.descriptor().toString();
    lab.compileLoop();
    describe(GuestLab.small("initramfs.cpio"), "5m");
  }

  private void describe(Path initramfs, String timeout) throws Exception {
    Files.writeString(
        lab.descriptor(),
        """
        graft: 1
        name: %s
        gpus: [{name: gpu0, device: software}]
        guests:
          - name: %s
            kernel: {image: %s, initramfs: %s, arguments: console=ttyS0 quiet}
            memory: 320MiB
            setup: {way: agent, files: [{source: text, path: /srv/text}, {source: loop, path: %s, mode: 0755}]}
            vgpu: gpu0
            ready: {timeout: %s}
        """
            .formatted(lab.name(), guest, GuestLab.small("vmlinuz"), initramfs, PROGRAM, timeout));
  }

  @AfterEach
  void takeAway() throws Exception {
    lab.destroy();
  }

  @Test
  void anAgentThatIsMissingIsSaidAndOnceItIsThereTheSetUpCompletes() throws Exception {
    describe(lab.initramfsWith(Map.of("usr/sbin/qemu-ga", "#!/bin/sh\nexit 1\n")), "15s");
    assertThat(lab.graft(1, "apply", descriptor))
        .contains("the guest '" + guest + "' was not ready within 15s")
        .contains("is qemu-guest-agent installed in it? setup: {way: ssh} needs none");
    describe(GuestLab.small("initramfs.cpio"), "5m");
    lab.graft(0, "apply", descriptor);
    assertThat(lab.graft(0, "apply", descriptor)).contains("nothing to do");
  }

  /** The small guest on a bootable disk: an image with a guest agent and without cloud-init. */
  @Test
  @EnabledIfSystemProperty(named = "user.name", matches = "root")
  void anImageWithoutCloudInitIsSaidAndTheAgentBringsWhatTheSeedHolds() throws Exception {
    lab.run(
        0,
        List.of(
            "bash",
            "-euc",
            BOOTABLE,
            "bash",
            GuestLab.small("vmlinuz").toString(),
            GuestLab.small("initramfs.cpio").toString()));
    describeImage("seed");
    assertThat(lab.graft(1, "apply", descriptor))
        .contains("runs, but its seed was not carried out: the image has no cloud-init")
        .contains("write setup: {way: agent}, or take an image with cloud-init");
    describeImage("auto");
    lab.graft(0, "apply", descriptor);
    assertThat(lab.graft(0, "verify", descriptor)).contains("ok on Graft software device 0");
    assertThat(lab.graft(0, "apply", descriptor)).contains("nothing to do");
  }

  /** A disk with a kernel and its initramfs, like the one that {@code lab/image/cloud.sh} makes. */
  private static final String BOOTABLE =
      """
      mkfs.vfat -C -F 16 -n BOOT boot.fat 61440
      mcopy -i boot.fat "$1" ::vmlinuz
      mcopy -i boot.fat "$2" ::initrd
      printf '%s\n' 'default linux' 'label linux' 'kernel vmlinuz' 'append initrd=initrd console=ttyS0 quiet' >syslinux.cfg
      mcopy -i boot.fat syslinux.cfg ::
      syslinux --install boot.fat
      truncate -s 64M disk
      echo 'start=1MiB, size=60MiB, type=e, bootable' | sfdisk -q --label dos disk
      dd if=/usr/lib/syslinux/mbr/mbr.bin of=disk bs=440 count=1 conv=notrunc status=none
      dd if=boot.fat of=disk bs=1M seek=1 conv=notrunc status=none
      qemu-img convert -O qcow2 disk bare.qcow2
      chmod a+x . # QEMU's user gets at it
      """;

  private void describeImage(String way) throws Exception {
    Files.writeString(
        lab.descriptor(),
        """
        graft: 1
        name: %s
        gpus: [{name: gpu0, device: software}]
        guests:
          - name: %s
            image: bare.qcow2
            memory: 320MiB
            setup: {way: %s, files: [{source: text, path: /srv/text}]}
            vgpu: gpu0
            ready: {timeout: 5m}
        """
            .formatted(lab.name(), guest, way));
  }

  @Test
  @WithLongTests
  void aNetworkThatIsLateIsSaidAndTheNextRunCompletes() throws Exception {
    String network = Files.readString(Checkout.ROOT.resolve("lab/image/small/network"));
    String late = "#!/bin/sh\nwhile [ ! -e /run/cable ]; do sleep 0.1; done\n" + network;
    describe(lab.initramfsWith(Map.of("sbin/network", late)), "5m");
    assertThat(lab.graft(5, "apply", "--keep-on-failure", descriptor))
        .contains("the CUDA program in the guest '" + guest + "' failed")
        .contains("Network is unreachable");
    lab.inGuest(
        guest, ": >/run/cable; until ip -4 addr | grep -q 'scope global'; do sleep 0.1; done");
    lab.graft(0, "apply", descriptor);
    assertThat(lab.graft(0, "verify", descriptor)).contains("ok on Graft software device 0");
  }

  @Test
  @WithLongTests
  void aGuestThatRebootsInTheMiddleIsSetUpFromTheStart() throws Exception {
    lab.graft(0, "apply", descriptor);
    Files.write(text, new byte[40_000_000]);
    GuestLab.Begun apply = lab.begin("apply", descriptor);
    apply.untilItSays("install by the guest agent");
    lab.run(0, List.of("virsh", "-q", "-c", GuestLab.uri(), "reset", guest));
    apply.ends(0);
    assertThat(lab.inGuest(guest, "wc -c </srv/text; ls /var/lib/graft")).contains("40000000");
    assertThat(lab.graft(0, "verify", descriptor)).contains("ok on Graft software device 0");
    assertThat(lab.graft(0, "apply", descriptor)).contains("nothing to do");
  }

  @Test
  @WithLongTests
  void aClockThatIsYearsOffDoesNotMatter() throws Exception {
    lab.graft(0, "apply", descriptor);
    for (String date : List.of("2009-01-03 18:15:05", "2037-12-31 23:59:59")) {
      lab.inGuest(guest, "date -s '" + date + "'");
      Files.writeString(text, "while it was " + date + "\n");
      lab.graft(0, "apply", descriptor);
      assertThat(lab.inGuest(guest, "cat /srv/text; date +%Y"))
          .contains("while it was " + date)
          .containsPattern("20(09|37|38)");
      assertThat(lab.graft(0, "verify", descriptor)).contains("ok on Graft software device 0");
    }
  }

  @Test
  void aClientOfAnotherVersionIsSaidAndApplyBringsTheRightOne() throws Exception {
    Path client = copyOfTheClient();
    Path library = client.resolve("libcuda.so.1");
    byte[] bytes = Files.readAllBytes(library);
    assertThat(changeInterface(bytes)).as("places that name the interface").isPositive();
    Files.write(library, bytes);
    assertThat(lab.graft(5, "apply", "--keep-on-failure", descriptor))
        .contains("speaks another version (its interface is " + apiHash())
        .contains("use the client that came with it");
    remove(client);
    assertThat(lab.graft(1, "verify", descriptor)).contains("speaks another version");
    lab.graft(0, "apply", descriptor);
    assertThat(lab.graft(0, "verify", descriptor)).contains("this Graft's");
  }

  /** A new file replaces the library: running programs keep the old file open. */
  @Test
  void aNewClientComesInUnderProgramsThatRun() throws Exception {
    lab.graft(0, "apply", descriptor);
    lab.inGuest(
        guest,
        PROGRAM
            + " >/tmp/loop 2>&1 & until grep -q looping /tmp/loop; do sleep 0.1; done;"
            + " cat /proc/$(pidof loop)/maps >/tmp/maps");
    assertThat(lab.inGuest(guest, "cat /tmp/maps")).contains("libcuda.so.1\n");

    Path library = copyOfTheClient().resolve("libcuda.so.1");
    Files.write(library, new byte[1], StandardOpenOption.APPEND);
    assertThat(lab.graft(7, "verify", descriptor))
        .contains("not this Graft's: graft apply updates");
    lab.graft(0, "apply", descriptor);
    assertThat(lab.graft(0, "verify", descriptor)).contains("this Graft's");
    assertThat(lab.inGuest(guest, "cat /proc/$(pidof loop)/maps /tmp/loop"))
        .contains("libcuda.so.1 (deleted)\n", "looping")
        .doesNotContain("ended");
    assertPlanNamesPrograms();
  }

  /** The program that loops now, and that it does not when it has ended. */
  private void assertPlanNamesPrograms() throws Exception {
    String before = Files.readString(lab.descriptor());
    Files.writeString(
        lab.descriptor(),
        before
            .replace("device: software", "device: software, server: {spare: 0}")
            .replace("ttyS0 quiet", "ttyS0 quiet again"));
    assertThat(lab.graft(0, "plan", descriptor))
        .contains("guest " + guest + ": restarts; 1 program runs on its vGPU now\n")
        .contains("lose their sessions; programs that use it now: " + guest + " 1\n");
    assertThat(lab.graft(7, "diff", descriptor))
        .contains("~ guest " + guest + ": restarts; 1 program runs on its vGPU now\n");
    lab.inGuest(guest, "kill $(pidof loop); while pidof loop; do sleep 0.1; done");
    String plan = lab.graft(0, "plan", descriptor);
    while (plan.contains("1 program")) { // the server may need a moment, and the test has a limit
      plan = lab.graft(0, "plan", descriptor);
    }
    assertThat(plan)
        .contains("guest " + guest + ": restarts; no program runs on its vGPU now\n")
        .contains("lose their sessions; no program uses it now\n");
    Files.writeString(lab.descriptor(), before);
  }

  private Path copyOfTheClient() throws Exception {
    Path client = Files.createDirectory(folder.resolve("client"));
    try (Stream<Path> files = Files.list(Checkout.HOME.resolve("lib/client"))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Files.copy(file, client.resolve(file.getFileName()));
      }
    }
    return client;
  }

  private static void remove(Path client) throws Exception {
    try (Stream<Path> files = Files.list(client)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(client);
  }

  /** The hash of the interface that client and server compare, from the client's build. */
  private static String apiHash() throws Exception {
    Path header = Checkout.ROOT.resolve("remoting-bridge/client/target/generated/graft_rpc.h");
    Matcher hash =
        Pattern.compile("GRAFT_API_HASH 0x([0-9a-f]{16})ull").matcher(Files.readString(header));
    assertThat(hash.find()).isTrue();
    return hash.group(1);
  }

  /** Changes the interface hash in a client's library, and returns the number of changed places. */
  private static int changeInterface(byte[] library) throws Exception {
    long hash = Long.parseUnsignedLong(apiHash(), 16);
    ByteBuffer bytes = ByteBuffer.wrap(library).order(ByteOrder.LITTLE_ENDIAN);
    int places = 0;
    for (int at = 0; at + Long.BYTES <= library.length; at++) {
      if (bytes.getLong(at) == hash) {
        bytes.putLong(at, hash + 1);
        places++;
      }
    }
    return places;
  }
}
