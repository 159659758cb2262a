package graft.cli.terminal;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The forms of a command's JSON, of which {@link graft.common.json.RecordSchema} makes a JSON
 * Schema. Where Java's assertions are on, as in tests, {@link Output} checks all that a command
 * prints.
 */
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Prints {
  /** The types of the records. */
  Class<? extends Record>[] value();
}
