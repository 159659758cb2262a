package graft.common.bind;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * How a value type is written. Such a type has {@code public static T parse(String)}, which throws
 * {@link IllegalArgumentException} with a message that says what is wrong.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Form {
  /** A regular expression that every accepted text matches (JSON Schema {@code pattern}). */
  String pattern();

  /** A text that is accepted. */
  String example();
}
