package graft.distribution;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * A file in the place of the memory that a guest shares with its server, and of the guest's PCI
 * device for it: with both the channel ivshmem works on one machine.
 *
 * @param file what the server's grant names as the region
 * @param devices what the client's {@code GRAFT_PCI_DEVICES} names
 */
record GuestRegionFile(Path file, Path devices) {
  /** Makes both in a folder; the file has this number of bytes. */
  static GuestRegionFile make(Path folder, long bytes) throws IOException {
    Path region = folder.resolve("region");
    Files.createFile(
        region, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    try (RandomAccessFile file = new RandomAccessFile(region.toFile(), "rw")) {
      file.setLength(bytes);
    }
    Path devices = folder.resolve("devices");
    Path device = Files.createDirectories(devices.resolve("0000:00:05.0"));
    Files.writeString(device.resolve("vendor"), "0x1af4\n");
    Files.writeString(device.resolve("device"), "0x1110\n");
    Files.createSymbolicLink(device.resolve("resource2"), region);
    return new GuestRegionFile(region, devices);
  }
}
