//! An image, made here, and pushed by plain HTTP: as little of a client as will do.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use sha2::{Digest as _, Sha256};

pub struct Pushed {
    pub config_digest: String,
    pub manifest_digest: String,
    pub layers: Vec<Vec<u8>>,
    config: Vec<u8>,
    manifest: Vec<u8>,
}

pub fn digest(data: &[u8]) -> String {
    let hex: String = Sha256::digest(data).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

pub fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, data) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(data.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, *data).unwrap();
    }
    builder.into_inner().unwrap()
}

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

impl Pushed {
    pub fn of(tars: &[Vec<u8>]) -> Self {
        let layers: Vec<_> = tars.iter().map(|tar| gzip(tar)).collect();
        let diff_ids: Vec<_> = tars.iter().map(|tar| format!("\"{}\"", digest(tar))).collect();
        let config = format!(
            r#"{{"os":"linux","architecture":"{}","config":{{"Cmd":["sh"]}},"rootfs":{{"type":"layers","diff_ids":[{}]}}}}"#,
            architecture(),
            diff_ids.join(",")
        );
        let part = |kind: &str, data: &[u8]| {
            format!(
                r#"{{"mediaType":"application/vnd.oci.image.{kind}","digest":"{}","size":{}}}"#,
                digest(data),
                data.len()
            )
        };
        let parts: Vec<_> = layers.iter().map(|layer| part("layer.v1.tar+gzip", layer)).collect();
        let manifest = format!(
            r#"{{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{},"layers":[{}]}}"#,
            part("config.v1+json", config.as_bytes()),
            parts.join(",")
        );
        let (config, manifest) = (config.into_bytes(), manifest.into_bytes());
        Self { config_digest: digest(&config), manifest_digest: digest(&manifest), layers, config, manifest }
    }

    pub fn push(&self, address: &str, repository: &str, tag: &str, login: &str) {
        for blob in self.layers.iter().chain([&self.config]) {
            let (status, head) = send(address, "POST", &format!("/v2/{repository}/blobs/uploads/"), login, "", b"");
            assert_eq!(status, 202, "{head}");
            let location = head.lines().find_map(|line| line.strip_prefix("Location: ")).unwrap();
            let path = location.trim_start_matches("http://").trim_start_matches(address);
            let url = format!("{path}&digest={}", digest(blob));
            let (status, head) = send(address, "PUT", &url, login, "application/octet-stream", blob);
            assert_eq!(status, 201, "{head}");
        }
        let kind = "application/vnd.oci.image.manifest.v1+json";
        let (status, head) =
            send(address, "PUT", &format!("/v2/{repository}/manifests/{tag}"), login, kind, &self.manifest);
        assert_eq!(status, 201, "{head}");
    }

    /// An index of this image for this machine and of another for another.
    pub fn push_index(&self, address: &str, repository: &str, tag: &str) {
        let part = |architecture: &str| {
            let (digest, size) = (&self.manifest_digest, self.manifest.len());
            let kind = "application/vnd.oci.image.manifest.v1+json";
            format!(
                r#"{{"mediaType":"{kind}","digest":"{digest}","size":{size},"platform":{{"os":"linux","architecture":"{architecture}"}}}}"#
            )
        };
        let kind = "application/vnd.oci.image.index.v1+json";
        let index = format!(
            r#"{{"schemaVersion":2,"mediaType":"{kind}","manifests":[{},{}]}}"#,
            part("riscv64"),
            part(architecture())
        );
        let (status, head) =
            send(address, "PUT", &format!("/v2/{repository}/manifests/{tag}"), "", kind, index.as_bytes());
        assert_eq!(status, 201, "{head}");
    }
}

fn send(address: &str, method: &str, path: &str, login: &str, kind: &str, body: &[u8]) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    let login = if login.is_empty() { String::new() } else { format!("Authorization: {login}\r\n") };
    let kind = if kind.is_empty() { String::new() } else { format!("Content-Type: {kind}\r\n") };
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{login}{kind}Content-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let head = answer.split("\r\n\r\n").next().unwrap().to_owned();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), head)
}
