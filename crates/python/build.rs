//! Build script. The script computes a fingerprint of the sources of the simulator, so that a result identifies its
//! code even between releases. The script also passes the profile and the commit of the build to the crate.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const SIMULATOR: &[&str] = &["units", "params", "congestion", "tcp", "network", "simulation"];
/// Crates of the congestion control algorithms, which other engines also use.
const ALGORITHMS: &[&str] = &["units", "params", "congestion", "capi"];

fn main() {
    println!("cargo:rustc-env=FULLPIPE_SOURCES={:08x}", fingerprint(SIMULATOR));
    println!("cargo:rustc-env=FULLPIPE_ALGORITHMS={:08x}", fingerprint(ALGORITHMS));
    let profile = env::var("PROFILE").expect("cargo sets it");
    println!("cargo:rustc-env=FULLPIPE_PROFILE={}", if profile == "release" { "release" } else { "dev" });
    // A dev build has no commit, as each new commit would then link the library again. The package reads the commit of
    // a dev build from the clone.
    println!(
        "cargo:rustc-env=FULLPIPE_COMMIT={}",
        if profile == "release" { commit() } else { String::new() }
    );
}

/// Commit of the clone with these sources; empty without a clone, as for the sources of a release.
fn commit() -> String {
    let clone = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    if !clone.join(".git").exists() {
        return String::new();
    }
    let git = |words: &[&str]| {
        let made = Command::new("git").arg("-C").arg(&clone).args(words).output().ok()?;
        made.status.success().then(|| String::from_utf8_lossy(&made.stdout).trim().to_owned())
    };
    for name in
        ["HEAD", "packed-refs"].into_iter().map(str::to_owned).chain(git(&["symbolic-ref", "-q", "HEAD"]))
    {
        let path = git(&["rev-parse", "--git-path", &name]).map(|path| clone.join(path));
        if let Some(path) = path.filter(|path| path.exists()) {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    git(&["rev-parse", "HEAD"]).unwrap_or_default()
}

/// FNV-1a hash of the contents of source files in the order of their paths. The hash detects changes and needs no
/// security.
fn fingerprint(crates: &[&str]) -> u32 {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("..");
    let mut files = Vec::new();
    for name in crates {
        let sources = root.join(name).join("src");
        println!("cargo:rerun-if-changed={}", sources.display());
        collect(&sources, &mut files);
    }
    files.sort();
    let hash = files
        .iter()
        .flat_map(|file| fs::read(file).expect("a readable source file"))
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    (hash ^ (hash >> 32)) as u32
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable source folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}
