package graft.common.bind;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The written form of a value type. Such a type has {@code public static T parse(String)}, which
 * throws {@link IllegalArgumentException} with a message that explains the error.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Form {
  /** A regular expression that every accepted text matches (JSON Schema {@code pattern}). */
  String pattern();

  /** An example of an accepted text. */
  String example();
}
