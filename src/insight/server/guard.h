// Who may ask: the rules against other sites' scripts. A page of another site can make a browser
// send requests to this machine; it gives itself away by Origin or Sec-Fetch-Site, or, after it has
// pointed its own name here (DNS rebinding), by Host.
#pragma once

#include <string>

namespace mycel::insight::server {

struct Asked {
  std::string host, origin, fetch_site;  // headers; "" when absent
  std::string token;                     // from the address, the header or the cookie
  bool data = false;                     // not a page or its parts
};

// Why the request is refused, or "". `token`: what is wanted; "" on this machine's own address,
// where Host must be one of its names.
std::string refusal(const Asked& asked, const std::string& token);

// "127.0.0.1", "::1" and "localhost".
bool is_loopback(const std::string& host);
// Compares in a time that does not depend on where texts differ.
bool same_secret(const std::string& a, const std::string& b);

}  // namespace mycel::insight::server
