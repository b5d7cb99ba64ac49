//! Arrays in `.npz` files: a zip archive of `.npy` members.
//!
//! Files are hostile until read: sizes are bounded before anything is unpacked, and Python objects, which NumPy would
//! hand to `pickle`, are refused.

use std::io::{self, Read, Write};
use wug_data::truncate;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

/// The largest member that is unpacked.
const MOST_BYTES: usize = 64 << 20;
/// The most members that are looked at.
const MOST_MEMBERS: usize = 1000;

/// An array of bytes, whole numbers or texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Array {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Values,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Values {
    Bytes(Vec<u8>),
    Whole(Vec<i64>),
    Texts(Vec<String>),
}

impl Array {
    /// One text, without a shape.
    pub(crate) fn text(text: &str) -> Self {
        Self { shape: Vec::new(), values: Values::Texts(vec![text.to_owned()]) }
    }

    pub(crate) fn whole(values: Vec<i64>) -> Self {
        Self { shape: vec![values.len()], values: Values::Whole(values) }
    }

    pub(crate) fn texts(values: Vec<String>) -> Self {
        Self { shape: vec![values.len()], values: Values::Texts(values) }
    }

    /// The array as a `.npy` file.
    fn npy(&self) -> Vec<u8> {
        let width = match &self.values {
            Values::Texts(texts) => texts.iter().map(|text| text.chars().count()).max().unwrap_or(1).max(1),
            _ => 1,
        };
        let descr = match &self.values {
            Values::Bytes(_) => "|u1".to_owned(),
            Values::Whole(_) => "<i8".to_owned(),
            Values::Texts(_) => format!("<U{width}"),
        };
        let sizes: Vec<String> = self.shape.iter().map(ToString::to_string).collect();
        let comma = if sizes.len() == 1 { "," } else { "" };
        let mut header = format!(
            "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}{comma}), }}",
            sizes.join(", ")
        );
        // The data start at a multiple of 64, as NumPy has it.
        while !(header.len() + 11).is_multiple_of(64) {
            header.push(' ');
        }
        header.push('\n');
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        match &self.values {
            Values::Bytes(bytes) => file.extend(bytes),
            Values::Whole(numbers) => file.extend(numbers.iter().flat_map(|number| number.to_le_bytes())),
            Values::Texts(texts) => {
                for text in texts {
                    let letters = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(width);
                    file.extend(letters.flat_map(u32::to_le_bytes));
                }
            }
        }
        file
    }

    /// Reads a `.npy` file.
    fn read(file: &[u8]) -> Result<Self, String> {
        let version =
            file.strip_prefix(b"\x93NUMPY").and_then(|rest| rest.first()).ok_or("is no .npy array")?;
        let (length, start): (usize, usize) = match (version, &file[7..]) {
            (1, [_, a, b, ..]) => (usize::from(u16::from_le_bytes([*a, *b])), 10),
            (2 | 3, [_, a, b, c, d, ..]) => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, 12),
            _ => return Err("has a version that is not known, or ends in its header".to_owned()),
        };
        let header = file.get(start..start.saturating_add(length)).ok_or("ends in its header")?;
        let header = std::str::from_utf8(header).map_err(|_| "has a header that is no text")?;
        let descr = quoted(header, "'descr':").ok_or("has no type in its header")?;
        if descr.contains('O') {
            return Err("holds Python objects (a pickle), which are never read".to_owned());
        }
        if header.contains("'fortran_order': True") {
            return Err("is in column order; rows are expected".to_owned());
        }
        let shape = shape(header).ok_or("has no shape in its header")?;
        let number = shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
        let number = number.filter(|&number| number <= MOST_BYTES).ok_or("is too large")?;
        let values = Values::read(descr, number, &file[start + length..])?;
        Ok(Self { shape, values })
    }
}

impl Values {
    fn read(descr: &str, number: usize, data: &[u8]) -> Result<Self, String> {
        let unknown = || format!("has the type `{}`; bytes, whole numbers and texts are known", short(descr));
        let (kind, size) =
            descr.trim_start_matches(['<', '|', '=']).split_at_checked(1).ok_or_else(unknown)?;
        let size: usize = size.parse().map_err(|_| unknown())?;
        if descr.starts_with('>') {
            return Err(unknown());
        }
        let width = if kind == "U" { size.checked_mul(4).ok_or_else(unknown)? } else { size };
        if number.checked_mul(width) != Some(data.len()) {
            return Err(format!(
                "has {} bytes of data, not those of {number} values of type `{}`",
                data.len(),
                short(descr)
            ));
        }
        let whole = |bytes: &[u8]| {
            let mut wide = [if kind == "i" && bytes[size - 1] >= 128 { 255 } else { 0 }; 8];
            wide[..size].copy_from_slice(bytes);
            i64::from_le_bytes(wide)
        };
        match (kind, size) {
            ("u", 1) => Ok(Self::Bytes(data.to_vec())),
            ("i", 1 | 2 | 4 | 8) | ("u", 2 | 4) => Ok(Self::Whole(data.chunks(size).map(whole).collect())),
            ("U", 0) => Ok(Self::Texts(vec![String::new(); number])),
            ("U", _) => {
                let letter = |four: &[u8]| u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
                let text = |bytes: &[u8]| -> Option<String> {
                    let letters = bytes.chunks(4).map(letter).take_while(|&letter| letter != 0);
                    letters.map(char::from_u32).collect()
                };
                let texts: Option<Vec<String>> = data.chunks(width).map(text).collect();
                texts.map(Self::Texts).ok_or_else(|| "has a text with letters that do not exist".to_owned())
            }
            _ => Err(unknown()),
        }
    }
}

/// The text in quotes behind a key.
fn quoted<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let rest = header.split_once(key)?.1.trim_start().strip_prefix('\'');
    // A type that is no text is a list of fields: none of those is known here.
    rest.map_or(Some("fields"), |rest| rest.split_once('\'').map(|(text, _)| text))
}

fn shape(header: &str) -> Option<Vec<usize>> {
    let inside = header.split_once("'shape':")?.1.split_once('(')?.1.split_once(')')?.0;
    let sizes = inside.split(',').map(str::trim).filter(|size| !size.is_empty());
    sizes.map(|size| size.parse().ok()).collect()
}

fn short(text: &str) -> String {
    truncate(text, 20)
}

/// Writes arrays as a compressed archive.
pub(crate) fn write(arrays: &[(&str, Array)], out: &mut dyn Write) -> io::Result<()> {
    let mut directory = Vec::new();
    let mut offset = 0u32;
    for (name, array) in arrays {
        let file = array.npy();
        let mut sum = flate2::Crc::new();
        sum.update(&file);
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&file)?;
        let packed = encoder.finish()?;
        let name = format!("{name}.npy");
        // Version 2.0, no flags, deflated, midnight of the first day of 1980.
        let mut common = vec![20, 0, 0, 0, 8, 0, 0, 0, 33, 0];
        common.extend(sum.sum().to_le_bytes());
        common.extend((packed.len() as u32).to_le_bytes());
        common.extend((file.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);

        let local = [b"PK\x03\x04".as_slice(), &common, name.as_bytes()].concat();
        out.write_all(&local)?;
        out.write_all(&packed)?;
        directory.extend([b"PK\x01\x02\x14\x00".as_slice(), &common, &[0; 10]].concat());
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
        offset += (local.len() + packed.len()) as u32;
    }
    out.write_all(&directory)?;
    let number = (arrays.len() as u16).to_le_bytes();
    out.write_all(&[b"PK\x05\x06\0\0\0\0".as_slice(), &number, &number].concat())?;
    out.write_all(&(directory.len() as u32).to_le_bytes())?;
    out.write_all(&offset.to_le_bytes())?;
    out.write_all(&[0, 0])
}

/// A little-endian number in a file.
fn field(file: &[u8], at: usize, bytes: usize) -> Option<usize> {
    let field = file.get(at..at.checked_add(bytes)?)?;
    Some(field.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte)))
}

/// Reads the arrays of an archive.
pub(crate) fn read(file: &[u8]) -> Result<Vec<(String, Array)>, String> {
    const TRUNCATED: &str = "is no complete zip archive";
    // The end record is 22 bytes and a comment of up to 65,535.
    let earliest = file.len().saturating_sub(22 + 65_535);
    let end =
        (earliest..=file.len().saturating_sub(22)).rev().find(|&at| file[at..].starts_with(b"PK\x05\x06"));
    let end = end.ok_or(TRUNCATED)?;
    let number = field(file, end + 10, 2).ok_or(TRUNCATED)?;
    let mut at = field(file, end + 16, 4).ok_or(TRUNCATED)?;
    if number > MOST_MEMBERS {
        return Err(format!("has {number} members; at most {MOST_MEMBERS} are read"));
    }
    let mut arrays = Vec::new();
    for _ in 0..number {
        if file.get(at..at + 4) != Some(b"PK\x01\x02") {
            return Err(TRUNCATED.to_owned());
        }
        let get = |offset, bytes| field(file, at + offset, bytes).ok_or_else(|| TRUNCATED.to_owned());
        let (method, sum, packed, size) = (get(10, 2)?, get(16, 4)?, get(20, 4)?, get(24, 4)?);
        let (name, extra, comment, local) = (get(28, 2)?, get(30, 2)?, get(32, 2)?, get(42, 4)?);
        let bytes = file.get(at + 46..at + 46 + name).ok_or(TRUNCATED)?;
        let member = String::from_utf8_lossy(bytes).into_owned();
        let data = member_data(file, local, packed).ok_or(TRUNCATED)?;
        let fail = |what: &str| format!("member `{}` {what}", short(&member));
        let unpacked = unpack(data, method, size, sum as u32).map_err(|what| fail(&what))?;
        let array = Array::read(&unpacked).map_err(|what| fail(&what))?;
        arrays.push((member.trim_end_matches(".npy").to_owned(), array));
        at += 46 + name + extra + comment;
    }
    Ok(arrays)
}

/// The packed bytes behind a local header.
fn member_data(file: &[u8], local: usize, packed: usize) -> Option<&[u8]> {
    if file.get(local..local.checked_add(4)?)? != b"PK\x03\x04" {
        return None;
    }
    let start = local + 30 + field(file, local + 26, 2)? + field(file, local + 28, 2)?;
    file.get(start..start.checked_add(packed)?)
}

fn unpack(data: &[u8], method: usize, size: usize, sum: u32) -> Result<Vec<u8>, String> {
    if size > MOST_BYTES {
        return Err(format!("unpacks to {size} bytes; at most {MOST_BYTES} are read"));
    }
    let mut unpacked = Vec::new();
    match method {
        0 => unpacked.extend(data),
        8 => {
            // One byte more than it should have is enough to see that it lies about its size.
            let mut decoder = DeflateDecoder::new(data).take(size as u64 + 1);
            decoder.read_to_end(&mut unpacked).map_err(|_| "cannot be unpacked: the file is damaged")?;
        }
        _ => return Err(format!("is packed by method {method}; stored and deflated are known")),
    }
    let mut check = flate2::Crc::new();
    check.update(&unpacked);
    if unpacked.len() != size || check.sum() != sum {
        return Err("is damaged: its checksum is wrong".to_owned());
    }
    Ok(unpacked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn archive(arrays: &[(&str, Array)]) -> Vec<u8> {
        let mut file = Vec::new();
        write(arrays, &mut file).unwrap();
        file
    }

    fn example() -> Vec<(&'static str, Array)> {
        vec![
            ("image", Array { shape: vec![2, 3], values: Values::Bytes(vec![0, 1, 2, 253, 254, 255]) }),
            ("target", Array { shape: vec![], values: Values::Whole(vec![-7]) }),
            ("int_list_3", Array::texts(vec!["12".to_owned(), "mark".to_owned()])),
            ("center", Array::whole(Vec::new())),
        ]
    }

    #[test]
    fn arrays_come_back() {
        let read = read(&archive(&example())).unwrap();
        let read: Vec<(&str, Array)> =
            read.iter().map(|(name, array)| (name.as_str(), array.clone())).collect();
        assert_eq!(read, example());
    }

    #[test]
    fn a_pickle_is_refused() {
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        let header = "{'descr': '|O', 'fortran_order': False, 'shape': (), }\n";
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(b"\x80\x03cos\nsystem\nq\x00.");
        assert_eq!(Array::read(&file).unwrap_err(), "holds Python objects (a pickle), which are never read");
    }

    #[test]
    fn damage_is_found() {
        let file = archive(&example());
        for length in 0..file.len() {
            assert!(read(&file[..length]).is_err(), "cut after {length} bytes");
        }
        let mut flipped = file;
        flipped[100] ^= 1;
        assert!(read(&flipped).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), at in 0usize..700, by in any::<u8>()) {
            let _ = read(&bytes);
            let _ = Array::read(&bytes);
            let _ = Array::read(&[b"\x93NUMPY\x01\x00".as_slice(), &bytes].concat());
            let mut file = archive(&example());
            if let Some(byte) = file.get_mut(at) {
                *byte ^= by;
            }
            let _ = read(&file);
        }
    }
}
