use std::{env, fs};

#[test]
fn pays() {}

/// Fails at the first try.
#[test]
fn flaky() {
    let tries = env::var("TRIES").unwrap();
    let is_second = fs::exists(&tries).unwrap();
    fs::write(&tries, "1").unwrap();
    assert!(is_second, "first try");
}
