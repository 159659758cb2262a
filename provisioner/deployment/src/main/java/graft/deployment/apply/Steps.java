package graft.deployment.apply;

import graft.deployment.step.StepCodec;
import graft.deployment.step.StepKind;
import graft.deployment.step.device.ApplyAtBoot;
import graft.deployment.step.device.AssignMediatedDevice;
import graft.deployment.step.device.AttachCard;
import graft.deployment.step.device.AttachDevice;
import graft.deployment.step.device.AttachDisk;
import graft.deployment.step.device.AttachInterfaces;
import graft.deployment.step.device.BindPciDevice;
import graft.deployment.step.device.DetachCard;
import graft.deployment.step.device.KeepDriversAway;
import graft.deployment.step.device.LendFunction;
import graft.deployment.step.device.LendGpu;
import graft.deployment.step.device.MakeFunctions;
import graft.deployment.step.device.MakeNvidiaVgpu;
import graft.deployment.step.device.ReserveHugePages;
import graft.deployment.step.device.SetCpus;
import graft.deployment.step.device.SetMemory;
import graft.deployment.step.device.SetModuleOptions;
import graft.deployment.step.device.SetUpFunction;
import graft.deployment.step.guest.AwaitGuest;
import graft.deployment.step.guest.BuildInitramfs;
import graft.deployment.step.guest.BuildSeed;
import graft.deployment.step.guest.CheckBundle;
import graft.deployment.step.guest.ChooseGpu;
import graft.deployment.step.guest.CopyFile;
import graft.deployment.step.guest.CreateDisk;
import graft.deployment.step.guest.DefineGuest;
import graft.deployment.step.guest.GrantAccess;
import graft.deployment.step.guest.GrowDisk;
import graft.deployment.step.guest.InstallByAgent;
import graft.deployment.step.guest.InstallBySsh;
import graft.deployment.step.guest.InstallIntoImage;
import graft.deployment.step.guest.MakeFolder;
import graft.deployment.step.guest.MakeRegion;
import graft.deployment.step.guest.MakeRoot;
import graft.deployment.step.guest.MakeSshKeys;
import graft.deployment.step.guest.MakeToken;
import graft.deployment.step.guest.OrderChannels;
import graft.deployment.step.guest.RegisterUsers;
import graft.deployment.step.guest.ShareTokens;
import graft.deployment.step.guest.StartGuest;
import graft.deployment.step.guest.VerifyCuda;
import graft.deployment.step.host.DefineNetwork;
import graft.deployment.step.host.MakeServerUser;
import graft.deployment.step.host.MakeSocketFolder;
import graft.deployment.step.host.MakeUnit;
import graft.deployment.step.host.RaiseGrantLimit;
import graft.deployment.step.host.RunServer;
import graft.deployment.step.host.StartClosedNetwork;
import graft.deployment.step.host.StartNetwork;
import graft.deployment.step.host.StartServer;
import graft.deployment.step.machine.AttachToDomain;
import graft.deployment.step.machine.FindDomain;
import graft.deployment.step.machine.InstallOnDomain;
import graft.deployment.step.machine.InstallOnMachine;
import graft.deployment.step.machine.VerifyOnDomain;
import graft.deployment.step.machine.VerifyOnMachine;
import java.util.List;
import java.util.Map;

/**
 * Every kind of step that there is, with the id that names it in journals.
 *
 * <p>An id and the names of a record's components are the format of journals that lie on users'
 * disks. Classes may be renamed and moved at will; an id never changes and is never used again for
 * something else. A component that gets another name needs a reader of the former one.
 */
public final class Steps {
  /** All kinds. */
  public static final List<StepKind> KINDS =
      List.of(
          new StepKind("reserve-huge-pages", ReserveHugePages.class),
          new StepKind("set-module-options", SetModuleOptions.class),
          new StepKind("set-vf-autoprobe", KeepDriversAway.class),
          new StepKind("set-vf-count", MakeFunctions.class),
          new StepKind("configure-vf", SetUpFunction.class),
          new StepKind("assign-pci-device", BindPciDevice.class),
          new StepKind("assign-mediated-device", AssignMediatedDevice.class),
          new StepKind("assign-nvidia-vgpu", MakeNvidiaVgpu.class),
          new StepKind("lend-gpu", LendGpu.class),
          new StepKind("lend-function", LendFunction.class),
          new StepKind("attach-device", AttachDevice.class),
          new StepKind("attach-interfaces", AttachInterfaces.class),
          new StepKind("apply-at-boot", ApplyAtBoot.class),
          new StepKind("raise-grant-limit", RaiseGrantLimit.class),
          new StepKind("define-network", DefineNetwork.class),
          new StepKind("start-network", StartNetwork.class),
          new StepKind("make-server-user", MakeServerUser.class),
          new StepKind("make-server-unit", MakeUnit.class),
          new StepKind("start-server", StartServer.class),
          new StepKind("start-closed-network", StartClosedNetwork.class),
          new StepKind("run-server", RunServer.class),
          new StepKind("make-socket-folder", MakeSocketFolder.class),
          new StepKind("register-container-users", RegisterUsers.class),
          new StepKind("make-container-root", MakeRoot.class),
          new StepKind("choose-gpu", ChooseGpu.class),
          new StepKind("make-token", MakeToken.class),
          new StepKind("make-ssh-keys", MakeSshKeys.class),
          new StepKind("grant-access", GrantAccess.class),
          new StepKind("make-shared-memory", MakeRegion.class),
          new StepKind("make-guest-folder", MakeFolder.class),
          new StepKind("copy-file", CopyFile.class),
          new StepKind("build-initramfs", BuildInitramfs.class),
          new StepKind("build-seed", BuildSeed.class),
          new StepKind("create-disk", CreateDisk.class),
          new StepKind("grow-disk", GrowDisk.class),
          new StepKind("define-guest", DefineGuest.class),
          new StepKind("set-memory", SetMemory.class),
          new StepKind("set-cpus", SetCpus.class),
          new StepKind("attach-card", AttachCard.class),
          new StepKind("detach-card", DetachCard.class),
          new StepKind("attach-disk", AttachDisk.class),
          new StepKind("start-guest", StartGuest.class),
          new StepKind("await-guest", AwaitGuest.class),
          new StepKind("install-by-agent", InstallByAgent.class),
          new StepKind("install-by-ssh", InstallBySsh.class),
          new StepKind("install-into-image", InstallIntoImage.class),
          new StepKind("share-tokens", ShareTokens.class),
          new StepKind("check-bundle", CheckBundle.class),
          new StepKind("order-channels", OrderChannels.class),
          new StepKind("verify-cuda", VerifyCuda.class),
          new StepKind("install-on-machine", InstallOnMachine.class),
          new StepKind("verify-on-machine", VerifyOnMachine.class),
          new StepKind("find-domain", FindDomain.class),
          new StepKind("attach-to-domain", AttachToDomain.class),
          new StepKind("install-on-domain", InstallOnDomain.class),
          new StepKind("verify-on-domain", VerifyOnDomain.class));

  /** The names of kinds in journals from before the ids: the simple class names of that time. */
  public static final Map<String, String> FORMER_NAMES =
      Map.ofEntries(
          Map.entry("ReserveHugePages", "reserve-huge-pages"),
          Map.entry("SetModuleOptions", "set-module-options"),
          Map.entry("KeepDriversAway", "set-vf-autoprobe"),
          Map.entry("MakeFunctions", "set-vf-count"),
          Map.entry("SetUpFunction", "configure-vf"),
          Map.entry("TakeDevice", "assign-pci-device"),
          Map.entry("TakeMediated", "assign-mediated-device"),
          Map.entry("TakeVgpu", "assign-nvidia-vgpu"),
          Map.entry("AttachDevice", "attach-device"),
          Map.entry("ApplyAtBoot", "apply-at-boot"),
          Map.entry("RaiseGrantLimit", "raise-grant-limit"),
          Map.entry("DefineNetwork", "define-network"),
          Map.entry("StartNetwork", "start-network"),
          Map.entry("StartServer", "start-server"),
          Map.entry("MakeToken", "make-token"),
          Map.entry("MakeSshKeys", "make-ssh-keys"),
          Map.entry("GrantAccess", "grant-access"),
          Map.entry("MakeRegion", "make-shared-memory"),
          Map.entry("MakeFolder", "make-guest-folder"),
          Map.entry("CopyFile", "copy-file"),
          Map.entry("BuildInitramfs", "build-initramfs"),
          Map.entry("BuildSeed", "build-seed"),
          Map.entry("CreateDisk", "create-disk"),
          Map.entry("DefineGuest", "define-guest"),
          Map.entry("StartGuest", "start-guest"),
          Map.entry("AwaitGuest", "await-guest"),
          Map.entry("InstallByAgent", "install-by-agent"),
          Map.entry("InstallBySsh", "install-by-ssh"),
          Map.entry("InstallIntoImage", "install-into-image"),
          Map.entry("ShareTokens", "share-tokens"),
          Map.entry("CheckBundle", "check-bundle"),
          Map.entry("OrderChannels", "order-channels"),
          Map.entry("VerifyCuda", "verify-cuda"));

  /** Reads and writes them. */
  public static final StepCodec CODEC = new StepCodec(KINDS, FORMER_NAMES);

  private Steps() {}
}
