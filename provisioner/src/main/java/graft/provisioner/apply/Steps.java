package graft.provisioner.apply;

import graft.provisioner.step.StepCodec;
import graft.provisioner.step.device.ApplyAtBoot;
import graft.provisioner.step.device.AttachDevice;
import graft.provisioner.step.device.KeepDriversAway;
import graft.provisioner.step.device.MakeFunctions;
import graft.provisioner.step.device.ReserveHugePages;
import graft.provisioner.step.device.SetModuleOptions;
import graft.provisioner.step.device.SetUpFunction;
import graft.provisioner.step.device.TakeDevice;
import graft.provisioner.step.device.TakeMediated;
import graft.provisioner.step.device.TakeVgpu;
import graft.provisioner.step.guest.AwaitGuest;
import graft.provisioner.step.guest.BuildInitramfs;
import graft.provisioner.step.guest.BuildSeed;
import graft.provisioner.step.guest.CheckBundle;
import graft.provisioner.step.guest.CopyFile;
import graft.provisioner.step.guest.CreateDisk;
import graft.provisioner.step.guest.DefineGuest;
import graft.provisioner.step.guest.GrantAccess;
import graft.provisioner.step.guest.InstallByAgent;
import graft.provisioner.step.guest.InstallBySsh;
import graft.provisioner.step.guest.InstallIntoImage;
import graft.provisioner.step.guest.MakeFolder;
import graft.provisioner.step.guest.MakeRegion;
import graft.provisioner.step.guest.MakeSshKeys;
import graft.provisioner.step.guest.MakeToken;
import graft.provisioner.step.guest.OrderChannels;
import graft.provisioner.step.guest.ShareTokens;
import graft.provisioner.step.guest.StartGuest;
import graft.provisioner.step.guest.VerifyCuda;
import graft.provisioner.step.host.DefineNetwork;
import graft.provisioner.step.host.RaiseGrantLimit;
import graft.provisioner.step.host.StartNetwork;
import graft.provisioner.step.host.StartServer;
import java.util.List;

/** Every kind of step that there is. */
public final class Steps {
  /** Reads and writes them. */
  public static final StepCodec CODEC =
      new StepCodec(
          List.of(
              ReserveHugePages.class,
              SetModuleOptions.class,
              KeepDriversAway.class,
              MakeFunctions.class,
              SetUpFunction.class,
              TakeDevice.class,
              TakeMediated.class,
              TakeVgpu.class,
              AttachDevice.class,
              ApplyAtBoot.class,
              RaiseGrantLimit.class,
              DefineNetwork.class,
              StartNetwork.class,
              StartServer.class,
              MakeToken.class,
              MakeSshKeys.class,
              GrantAccess.class,
              MakeRegion.class,
              MakeFolder.class,
              CopyFile.class,
              BuildInitramfs.class,
              BuildSeed.class,
              CreateDisk.class,
              DefineGuest.class,
              StartGuest.class,
              AwaitGuest.class,
              InstallByAgent.class,
              InstallBySsh.class,
              InstallIntoImage.class,
              ShareTokens.class,
              CheckBundle.class,
              OrderChannels.class,
              VerifyCuda.class));

  private Steps() {}
}
