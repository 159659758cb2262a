package graft.hypervisors.libvirt.domain;

import java.util.Locale;
import java.util.Optional;

/**
 * A disk of a guest.
 *
 * @param source where the disk's content is stored
 * @param format the format of the content
 * @param kind the kind of drive in the guest
 * @param readOnly whether the guest may not write to the disk; always true for a CD-ROM
 * @param serial the serial number in the guest, at most {@link #SERIAL_LENGTH} characters
 */
public record DiskSpec(
    Source source, Format format, Kind kind, boolean readOnly, Optional<String> serial) {

  /** The length of a virtio disk's serial number, of which a guest sees no more (VIRTIO_BLK_ID). */
  public static final int SERIAL_LENGTH = 20;

  public DiskSpec {
    readOnly = readOnly || kind == Kind.CDROM;
    serial.ifPresent(DiskSpec::checkSerial);
  }

  /** A disk whose serial number the hypervisor chooses, if it has one. */
  public DiskSpec(Source source, Format format, Kind kind, boolean readOnly) {
    this(source, format, kind, readOnly, Optional.empty());
  }

  private static void checkSerial(String serial) {
    Checks.name("serial number", serial);
    if (serial.length() > SERIAL_LENGTH) {
      throw new IllegalArgumentException(
          "serial number '" + serial + "' is longer than " + SERIAL_LENGTH + " characters");
    }
  }

  /** The same disk with a serial number, by which the guest finds it. */
  public DiskSpec withSerial(String value) {
    return new DiskSpec(source, format, kind, readOnly, Optional.of(value));
  }

  /** A writable disk in a file of the host. */
  public static DiskSpec file(String path, Format format) {
    return new DiskSpec(new ImageFile(path), format, Kind.DISK, false);
  }

  /** A writable disk in a volume of a storage pool. */
  public static DiskSpec volume(String pool, String volume, Format format) {
    return new DiskSpec(new PoolVolume(pool, volume), format, Kind.DISK, false);
  }

  /** An ISO image in a file of the host, such as a seed for cloud-init. */
  public static DiskSpec cdrom(String path) {
    return new DiskSpec(new ImageFile(path), Format.RAW, Kind.CDROM, true);
  }

  /** An ISO image in a volume of a storage pool. */
  public static DiskSpec cdromVolume(String pool, String volume) {
    return new DiskSpec(new PoolVolume(pool, volume), Format.RAW, Kind.CDROM, true);
  }

  /** The place where a disk's content is stored. */
  public sealed interface Source {}

  /** A file on the host that runs libvirt. */
  public record ImageFile(String path) implements Source {
    public ImageFile {
      Checks.absolutePath("disk image", path);
    }
  }

  /** A block device of the host that runs libvirt. */
  public record BlockDevice(String path) implements Source {
    public BlockDevice {
      Checks.absolutePath("block device", path);
    }
  }

  /** A volume of a storage pool: the only source that also works for a remote host. */
  public record PoolVolume(String pool, String volume) implements Source {
    public PoolVolume {
      Checks.name("storage pool", pool);
      Checks.name("volume", volume);
    }
  }

  /** Disk image formats. */
  public enum Format {
    RAW,
    QCOW2;

    /** libvirt's name of the format. */
    public String xmlName() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The kind of drive in the guest. */
  public enum Kind {
    DISK,
    CDROM
  }
}
