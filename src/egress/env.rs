//! The variables by which programs in a box find its proxy.

use super::proxy::PROXY_PORT;

/// What a program in a `filtered` box gets, beside its own variables.
///
/// Programs disagree about upper and lower case, hence both. `ALL_PROXY` is HTTP and not SOCKS, although both are
/// served: Python's httpx fails at once when it meets a SOCKS address without an optional package. `NO_PROXY` keeps the
/// box's own loopback out of it: a proxy outside cannot reach that. Node takes the variables only when it is told to.
pub fn variables() -> Vec<(String, String)> {
    let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
    let own = "localhost,127.0.0.1,::1";
    let pairs = [("HTTP_PROXY", proxy.as_str()), ("HTTPS_PROXY", &proxy), ("ALL_PROXY", &proxy), ("NO_PROXY", own)];
    let both = pairs
        .into_iter()
        .flat_map(|(name, value)| [(name.to_owned(), value.to_owned()), (name.to_ascii_lowercase(), value.to_owned())]);
    both.chain([("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned())]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_finds_the_proxy_in_either_case_and_leaves_its_own_loopback_alone() {
        let all = variables();
        let value = |name: &str| all.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
            assert_eq!(value(name), Some("http://127.0.0.1:3128"), "{name}");
        }
        for name in ["NO_PROXY", "no_proxy"] {
            assert_eq!(value(name), Some("localhost,127.0.0.1,::1"), "{name}");
        }
        assert_eq!((value("NODE_USE_ENV_PROXY"), all.len()), (Some("1"), 9));
    }
}
