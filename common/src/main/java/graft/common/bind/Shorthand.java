package graft.common.bind;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The record may also be written as one plain value, which is then the value of this key: {@code
 * vgpu: gpu0} for {@code vgpu: {gpu: gpu0}}.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Shorthand {
  String value();
}
