//! Networks that see, on the command line: what is wrong with their input is named with what to do, and nothing is lost.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{fails, ok, text};
use wug_data::Picture;

/// Small enough to be made and learned in a moment.
const SMALL: [&str; 6] = ["--with", "train=60", "--with", "val=20", "--with", "test=20"];
const NETWORK: [&str; 8] =
    ["--set", "steps=2", "--set", "batch=4", "--set", "hidden=6", "--set", "longest=4"];

/// `wug run hint/image` with a small network.
fn run<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "hint/image", "--learner", "lstm-attn", "--limit", "4"], &SMALL[..], &NETWORK, more].concat()
}

/// A folder of images of all symbols.
fn images(folder: &Path) -> PathBuf {
    let out = folder.join("data");
    ok(&[&["generate", "hint/image", "--format", "native", "--out", text(&out)], &SMALL[..]].concat());
    let images = folder.join("images");
    fs::rename(out.join("symbol_images"), &images).unwrap();
    images
}

/// The first image of a symbol.
fn first(images: &Path, symbol: &str) -> PathBuf {
    let mut files: Vec<PathBuf> =
        fs::read_dir(images.join(symbol)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.swap_remove(0)
}

#[test]
fn images_of_mixed_sizes_are_read_and_broken_or_missing_ones_named() {
    let folder = tempfile::tempdir().unwrap();
    let images = images(folder.path());
    let (glyphs, out) = (format!("glyphs=images:{}", images.display()), folder.path().join("run"));
    let with = ["--with", &glyphs, "--out", text(&out)];
    let path = first(&images, "3");
    let whole = fs::read(&path).unwrap();

    // Every image is brought to one size.
    let large = Picture::from_png(&whole).unwrap().resized(200, 90);
    fs::write(&path, large.png().unwrap()).unwrap();
    ok(&run(&with));
    fs::remove_dir_all(&out).unwrap();

    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let message = fails(1, &run(&with));
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(message.contains(name) && message.contains("not readable as an image"), "{message}");
    assert!(!out.exists(), "nothing is left");
    fs::write(&path, &whole).unwrap();

    fs::remove_dir_all(images.join("times")).unwrap();
    let message = fails(1, &run(&with));
    assert!(message.contains("has no folder `times` with images of `*`"), "{message}");
    assert!(!out.exists(), "nothing is left");
}

#[test]
fn a_checkpoint_of_another_architecture_is_not_fine_tuned() {
    let folder = tempfile::tempdir().unwrap();
    let (trained, out) = (folder.path().join("trained"), folder.path().join("tuned"));
    ok(&run(&["--out", text(&trained)]));
    let kept = fs::read(trained.join("checkpoint.safetensors")).unwrap();
    let tune = |learner: &str, more: &[&str]| -> Vec<String> {
        let run = ["run", "hint/fewshot-x-image", "--learner", learner, "--limit", "4"];
        let folders = ["--init-checkpoint", text(&trained), "--out", text(&out)];
        [&run[..], &folders, &SMALL, more].concat().into_iter().map(str::to_owned).collect()
    };
    let refused = |learner: &str, more: &[&str]| {
        let arguments = tune(learner, more);
        let message = fails(2, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(!out.exists(), "nothing is left");
        message
    };
    let message = refused("gru-attn", &[]);
    assert!(
        message.contains("is one of lstm-attn, which is another architecture than gru-attn"),
        "{message}"
    );
    let message = refused("lstm-attn", &["--set", "hidden=8"]);
    assert!(
        message.contains("is a checkpoint of another architecture: its embedding is 6, not 8"),
        "{message}"
    );
    let message = refused("lstm-attn", &["--reads", "symbols"]);
    assert!(message.contains("is a checkpoint of another architecture"), "{message}");
    assert!(fs::read(trained.join("checkpoint.safetensors")).unwrap() == kept, "nothing is lost");

    // As it is, it can be; and what is kept of it goes on without the checkpoint that it began from.
    let arguments = tune("lstm-attn", &["--set", "mix=0.5"]);
    ok(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    fs::remove_dir_all(&trained).unwrap();
    ok(&["run", "--resume", text(&out)]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_network_without_memory_for_it_is_refused_before_it_takes_any() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let huge = ["--set", "batch=65536", "--set", "side=1024", "--out", text(&out)];
    let message = fails(1, &[&["run", "mns/circle", "--learner", "resnet18"], &huge[..]].concat());
    assert!(message.contains("GB are free: make batch, side or width smaller"), "{message}");
    let huge = ["--set", "batch=65536", "--set", "image-encoder=resnet18", "--out", text(&out)];
    let run = ["run", "hint/image", "--learner", "lstm-attn"];
    let message = fails(1, &[&run[..], &SMALL, &huge].concat());
    assert!(message.contains("GB are free: make batch, hidden or width smaller"), "{message}");
    assert!(!out.exists(), "nothing is left");
}

#[test]
fn what_an_encoder_says_of_symbols_is_drawn_as_a_map() {
    let folder = tempfile::tempdir().unwrap();
    let map = folder.path().join("map.svg");
    ok(&run(&["--embedding-map", text(&map)]));
    let svg = fs::read_to_string(&map).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains(">*</text>") && svg.contains(">7</text>"), "{svg}");
    let message = fails(2, &[&run(&["--embedding-map", text(&map)])[..], &["--reads", "symbols"]].concat());
    assert!(message.contains("for networks that read a sequence of images"), "{message}");
}
