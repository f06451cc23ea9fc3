// The one symbol that libmycel looks up in libmycel_insight.
#include "insight/library.h"
#include "insight/server/serve.h"
#include "insight/store/index_file.h"

extern "C" const mycel::insight::Library* mycel_insight() {
  static const mycel::insight::Library all = {mycel::insight::store::open,
                                              mycel::insight::server::run};
  return &all;
}
