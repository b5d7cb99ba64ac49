//! Metrics as TensorBoard reads them: records of protocol buffers, of which only the few fields that scalars need.

use std::io::{self, Write};

use serde_json::Value;

/// Name of the file in a run folder; TensorBoard looks for `tfevents` in it.
pub(super) const EVENTS: &str = "events.out.tfevents.wug";

/// Writes lines of metrics with their wall times; an event whose time is not known has that of the one before it.
pub(super) fn write(metrics: &[(Value, Option<f64>)], out: &mut dyn Write) -> io::Result<()> {
    let mut version = Vec::new();
    bytes_field(&mut version, 3, b"brain.Event:2");
    record(&version, out)?;
    let mut wall_time = 0.0;
    for (line, time) in metrics {
        wall_time = time.unwrap_or(wall_time);
        let step = line["step"].as_u64().unwrap_or_default();
        let mut summary = Vec::new();
        for name in ["loss", "accuracy", "rate"] {
            scalar(&mut summary, name, &line[name]);
        }
        scalar(&mut summary, "validation/accuracy", &line["validation"]);
        scalar(&mut summary, "validation/best", &line["best"]["accuracy"]);
        record(&event(wall_time, step, &summary), out)?;
    }
    Ok(())
}

/// `Event { wall_time, step, summary }`.
fn event(wall_time: f64, step: u64, summary: &[u8]) -> Vec<u8> {
    let mut event = vec![1 << 3 | 1];
    event.extend(wall_time.to_le_bytes());
    event.push(2 << 3);
    varint(&mut event, step);
    bytes_field(&mut event, 5, summary);
    event
}

/// Adds `Value { tag, simple_value }` to a summary, if there is a number.
fn scalar(summary: &mut Vec<u8>, tag: &str, value: &Value) {
    let Some(value) = value.as_f64() else { return };
    let mut scalar = Vec::new();
    bytes_field(&mut scalar, 1, tag.as_bytes());
    scalar.push(2 << 3 | 5);
    scalar.extend((value as f32).to_le_bytes());
    bytes_field(summary, 1, &scalar);
}

fn bytes_field(out: &mut Vec<u8>, field: u8, bytes: &[u8]) {
    out.push(field << 3 | 2);
    varint(out, bytes.len() as u64);
    out.extend(bytes);
}

fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Length, checksum of the length, data, checksum of the data.
fn record(data: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let length = (data.len() as u64).to_le_bytes();
    out.write_all(&length)?;
    out.write_all(&masked(&length).to_le_bytes())?;
    out.write_all(data)?;
    out.write_all(&masked(data).to_le_bytes())
}

/// The checksum as records have it.
fn masked(data: &[u8]) -> u32 {
    crc32c(data).rotate_right(15).wrapping_add(0xA282_EAD8)
}

/// The checksum of Castagnoli, a bit at a time: a file has a few kilobytes.
fn crc32c(data: &[u8]) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ (0x82F6_3B78 & (crc & 1).wrapping_neg());
    !data.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
    }

    /// The bytes were written by the classes of TensorBoard itself, from the same events.
    #[test]
    fn records_are_those_of_tensorboard() {
        let mut out = Vec::new();
        let line = serde_json::json!({"step": 300, "epoch": 2, "loss": 0.25, "accuracy": 0.5});
        write(&[(line, Some(300.0))], &mut out).unwrap();
        let hex: String = out.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            hex,
            "0f000000000000006d532b091a0d627261696e2e4576656e743a32fc9851292c00000000000000f4aecc45090000000000c07240\
             10ac022a1e0a0b0a046c6f7373150000803e0a0f0a086163637572616379150000003f5f7e89ad"
        );
    }
}
