package graft.deployment.descriptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import graft.common.bind.Problem;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Mistakes that people make first: each message names the place and what was meant. */
class UsualMistakesTest {
  private static final String LAB =
      """
      graft: 1
      name: lab
      gpus:
        - {name: gpu0, device: software}
      guests:
        - name: alice
          image: debian:12
          memory: 1GiB
          cpus: 2
          vgpu: gpu0
      """;

  @ParameterizedTest(name = "{0} for {1}")
  @CsvSource(
      delimiter = '|',
      value = {
        "2G | 1GiB | 8:13: 'memory': '2G' is not a size in bytes, KiB, MiB, GiB or TiB; did you"
            + " mean '2GiB'?",
        "1 GB | 1GiB | 8:13: 'memory': '1 GB' is not a size in bytes, KiB, MiB, GiB or TiB; did"
            + " you mean '1GiB'?",
        "much | 1GiB | 8:13: 'memory': 'much' is not a size in bytes, KiB, MiB, GiB or TiB (for"
            + " example 512MiB)",
        "1024 | 1GiB | 8:13: 1KiB is too little memory for a guest (a number alone is in bytes:"
            + " did you mean '1024MiB'?)",
        "32MiB | 1GiB | 8:13: 32MiB is too little memory for a guest (at least 64MiB)",
        "ram: 1GiB | memory: 1GiB | 8:5: unknown key 'ram' in an item of 'guests' (did you mean"
            + " 'memory'?)",
        "vcpus: 2 | cpus: 2 | 9:5: unknown key 'vcpus' in an item of 'guests' (did you mean"
            + " 'cpus'?)",
        "graft: 2 | graft: 1 | 1:8: 'graft' is 2, and can only be 1",
        "# | graft: 1 | 2:1: the file lacks the key 'graft' (add graft: 1)",
        "'\"debian:12' | debian:12 | 7:12: not valid YAML: the quote that begins here is not"
            + " closed",
        "software | software} | 5:7: not valid YAML: a ',' or a closing bracket is missing"
            + " before this (the bracket was opened at lab.yaml:4:5)",
        "'  memory: 1GiB' | ' memory: 1GiB' | 8:12: not valid YAML: a ':' that makes a key cannot"
            + " be here (check the indentation, or quote a text that has ': ' in it)",
        "'  image' | '    image' | 7:3: not valid YAML: the line does not go on with the block"
            + " that begins at lab.yaml:6:3 (indent it as the other lines of its block)",
        "memory | memory: 1GiB | 8:5: not valid YAML: ':' and a value are missing behind this key",
      })
  void theMessageSaysWhatWasMeant(String written, String right, String expected) {
    assertThat(LAB).contains(right);
    InvalidDescriptorException e =
        catchThrowableOfType(
            InvalidDescriptorException.class,
            () -> DescriptorReader.read(Path.of("lab.yaml"), LAB.replace(right, written)));
    assertThat(e.problems()).extracting(Problem::toString).containsExactly("lab.yaml:" + expected);
  }
}
