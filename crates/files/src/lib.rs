//! Files for all of tlaforge: reads that only regular files within a limit can satisfy, writes that a crash cannot leave half
//! done, and names by content. It must not know what any file is for.

mod atomic;
mod below;
mod reading;
mod sha;

pub use atomic::{create_atomically, write_atomically};
pub use below::{check_below, create_folder_below, open_below, read_below, read_text_below};
pub use reading::{
    LARGE, LOG, MEDIUM, SMALL, check_in_place, is_within, open, open_own, open_with, read, read_file, read_text,
    read_text_within, stays_below,
};
pub use sha::{NotASha, Sha};
