package graft.common.bind;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A record with this annotation may also be written as one scalar, which is then the value of this
 * key: {@code vgpu: gpu0} for {@code vgpu: {gpu: gpu0}}.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Shorthand {
  String value();
}
