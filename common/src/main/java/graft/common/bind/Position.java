package graft.common.bind;

/** A place in a text file. Line and column count from 1, as editors do. */
public record Position(String file, int line, int column) {
  @Override
  public String toString() {
    return file + ":" + line + ":" + column;
  }
}
