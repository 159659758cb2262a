package graft.comparison.run;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;

/**
 * A site whose programs take a fixed time: 10 ms, times the setting's overhead. The site records
 * the calls that it receives.
 */
public final class FakeSite implements Site {
  private final Map<String, Double> overheads;
  private BiFunction<String, Program, Ended> programs = this::works;
  private String impossible = "";
  final Set<String> others = new TreeSet<>();
  final List<String> done = new ArrayList<>();
  private final Map<String, Integer> lossesLeft = new HashMap<>();

  /** A site with these settings' overheads. */
  public FakeSite(Map<String, Double> overheads) {
    this.overheads = Map.copyOf(overheads);
  }

  /** Makes a setting one that this site does not support. */
  public FakeSite withImpossible(String setting) {
    impossible = setting;
    return this;
  }

  FakeSite withLosses(String setting, int losses) {
    lossesLeft.put(setting, losses);
    return this;
  }

  /** Replaces the programs' behaviour, which may depend on the setting. */
  public FakeSite withPrograms(BiFunction<String, Program, Ended> behaviour) {
    programs = behaviour;
    return this;
  }

  /** The end of a program that succeeds and prints its figures. */
  public Ended works(String setting, Program program) {
    double milliseconds = 10 * overheads.get(setting);
    String output =
        String.format(
            java.util.Locale.ROOT,
            "amount\t1000,2,3%n{\"name\":\"total\",\"size\":0,\"unit\":\"ms\",\"samples\":[%s]}%n"
                + "{\"name\":\"time\",\"size\":0,\"unit\":\"ms\",\"samples\":[%s]}%nresult=ok%n",
            milliseconds,
            milliseconds);
    return new Ended(0, false, milliseconds / 1000, output, "", "");
  }

  @Override
  public Place prepare(Setting setting) throws Exception {
    if (setting.name().equals(impossible)) {
      throw new NotPossibleException("there is no such hypervisor here");
    }
    done.add("up " + setting.name());
    return new FakePlace(setting.name());
  }

  private final class FakePlace implements Place {
    private final String setting;
    private boolean dead;

    private FakePlace(String setting) {
      this.setting = setting;
    }

    @Override
    public int capacity() {
      return 2;
    }

    @Override
    public List<Ended> run(Program program, int copies) throws PlaceLostException {
      if (lossesLeft.getOrDefault(setting, 0) > 0) {
        lossesLeft.merge(setting, -1, Integer::sum);
        dead = true;
      }
      if (dead) {
        throw new PlaceLostException("the guest is gone", null);
      }
      done.add("run " + program.words().get(1));
      List<Ended> ended = new ArrayList<>();
      for (int i = 0; i < copies; i++) {
        ended.add(programs.apply(setting, program));
      }
      return ended;
    }

    @Override
    public String emptyCaches() {
      done.add("empty caches");
      return "/caches";
    }

    @Override
    public void close() {
      done.add("down " + setting);
    }
  }

  @Override
  public void clear(Setting setting) {
    done.add("clear " + setting.name());
  }

  @Override
  public Map<String, String> describe() {
    return Map.of("device", "a fake", "host", "a test");
  }

  @Override
  public List<String> guestsRunning() {
    return List.copyOf(others);
  }

  @Override
  public void shutOff(String guest) throws IOException {
    done.add("shut off " + guest);
    if (guest.equals("deaf")) {
      throw new IOException("guest deaf does not shut down");
    }
    others.remove(guest);
  }

  @Override
  public void start(String guest) {
    done.add("start " + guest);
    others.add(guest);
  }
}
