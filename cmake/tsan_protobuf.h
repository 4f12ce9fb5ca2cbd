// Included before all else where protobuf's classes are used, in builds with ThreadSanitizer: under it protobuf's
// headers give map fields two more members, and Debian's libprotobuf, which is built without it, would have another
// layout.
#pragma once

#include <memory>  // the standard library shall know of ThreadSanitizer

#ifdef __SANITIZE_THREAD__
#undef __SANITIZE_THREAD__
#include <google/protobuf/map_field.h>
#define __SANITIZE_THREAD__ 1
#endif
