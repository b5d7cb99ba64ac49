//! Replies that any run may take: a file for each request, written whole or not at all.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use wug_data::{Error, Result};

use crate::reply::Reply;
use crate::request::RequestKey;

/// A folder of replies, shared by runs and processes.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    folder: PathBuf,
}

impl Cache {
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
        Ok(Self { folder: folder.to_owned() })
    }

    fn path(&self, key: RequestKey) -> PathBuf {
        let hex = key.hex();
        self.folder.join(&hex[..2]).join(format!("{}.json", &hex[2..]))
    }

    /// The reply to a request; a file that is damaged is no reply.
    pub(crate) fn get(&self, key: RequestKey) -> Option<Reply> {
        let text = fs::read_to_string(self.path(key)).ok()?;
        let (checksum, json) = text.split_once(' ')?;
        if u32::from_str_radix(checksum, 16).ok()? != crc32fast::hash(json.as_bytes()) {
            return None;
        }
        serde_json::from_str(json).ok()
    }

    /// Keeps a reply. Losing one costs a request, so nothing is synced.
    pub(crate) fn put(&self, key: RequestKey, reply: &Reply) -> Result<()> {
        let path = self.path(key);
        let folder = path.parent().unwrap_or(&self.folder);
        let json = serde_json::to_string(reply).map_err(|error| Error::file(&path, error.to_string()))?;
        // Threads of this process and others may write the same reply at the same time.
        let thread = format!("{:?}", std::thread::current().id());
        let number: String = thread.chars().filter(char::is_ascii_digit).collect();
        let partial = folder.join(format!(".{}-{number}.partial", std::process::id()));
        let written = fs::create_dir_all(folder)
            .and_then(|()| fs::File::create(&partial))
            .and_then(|mut file| write!(file, "{:08x} {json}", crc32fast::hash(json.as_bytes())))
            .and_then(|()| fs::rename(&partial, &path));
        written.map_err(Error::io(&path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_come_back_unless_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        let key = RequestKey([7; 16]);
        assert_eq!(cache.get(key), None);
        let reply = Reply { text: Some("a\nb".to_owned()), ..Reply::default() };
        cache.put(key, &reply).unwrap();
        cache.put(key, &reply).unwrap();
        assert_eq!(cache.get(key), Some(reply));
        let path = cache.path(key);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() - 3]).unwrap();
        assert_eq!(cache.get(key), None);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no partial file is left");
    }
}
