#include "insight/server/guard.h"

#include <algorithm>

namespace mycel::insight::server {
namespace {

// "localhost" of "localhost:8080", "::1" of "[::1]:8080".
std::string name_of_host(const std::string& host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

}  // namespace

bool is_loopback(const std::string& host) {
  std::string name = host;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return name == "localhost" || name == "127.0.0.1" || name == "::1";
}

bool same_secret(const std::string& a, const std::string& b) {
  unsigned different = a.size() != b.size();
  for (size_t i = 0; i < a.size(); ++i)
    different |= static_cast<unsigned char>(a[i]) ^
                 static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]);
  return different == 0;
}

std::string refusal(const Asked& asked, const std::string& token) {
  if (token.empty() && !is_loopback(name_of_host(asked.host)))
    return "the Host of the request is none of this machine's own names";
  if (!asked.origin.empty() && asked.origin != "http://" + asked.host &&
      asked.origin != "https://" + asked.host)
    return "the request comes from a page of another site";
  if (asked.data && (asked.fetch_site == "cross-site" || asked.fetch_site == "same-site"))
    return "the request comes from a page of another site";
  if (!token.empty() && !same_secret(asked.token, token))
    return "the token is missing or wrong: open the address that `mycel insight` printed";
  return "";
}

}  // namespace mycel::insight::server
