package graft.hypervisors.kvm;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.domain.ShmemElement;
import graft.hypervisors.libvirt.domain.ShmemSpec;
import org.junit.jupiter.api.Test;

class ShmemElementTest {

  @Test
  void plainWithItsSizeInMiB() {
    ShmemSpec spec = new ShmemSpec("ring", MemorySize.ofGib(1));
    assertThat(Built.by(devices -> ShmemElement.append(devices, spec)))
        .isEqualTo(
            """
            <shmem name='ring'>
              <model type='ivshmem-plain'/>
              <size unit='M'>1024</size>
            </shmem>
            """);
  }
}
