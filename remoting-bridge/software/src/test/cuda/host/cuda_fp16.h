// Halves on the host: kept as bits, read as floats.
#pragma once
#include <cmath>

struct __half { unsigned short bits; };
struct __half2 { __half x, y; };

inline float __half2float(__half h) {
  int exponent = h.bits >> 10 & 31, fraction = h.bits & 1023;
  float magnitude = exponent == 0    ? std::ldexp((float)fraction, -24)
                    : exponent == 31 ? (fraction ? NAN : INFINITY)
                                     : std::ldexp((float)(fraction | 1024), exponent - 25);
  return h.bits >> 15 ? -magnitude : magnitude;
}
inline float __low2float(__half2 h) { return __half2float(h.x); }
inline float __high2float(__half2 h) { return __half2float(h.y); }
