package graft.cli.terminal;

/** Sets the level of SLF4J's simple logger, which reads it once, when the first logger is made. */
public final class Logging {
  private static final String LEVEL = "org.slf4j.simpleLogger.defaultLogLevel";

  private Logging() {}

  public static void quiet() {
    if (System.getProperty(LEVEL) == null) {
      System.setProperty(LEVEL, "error");
    }
    System.setProperty("org.slf4j.simpleLogger.showShortLogName", "true");
    System.setProperty("org.slf4j.simpleLogger.showThreadName", "false");
  }

  static void verbosity(int times) {
    System.setProperty(LEVEL, times > 1 ? "debug" : "info");
  }
}
