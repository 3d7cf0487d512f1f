//! What a program without `std` needs beside the library: a panic handler.
//!
//! No input leads to a panic; should a defect do so, the program stops here, where a debugger finds it. A
//! program can hold only one library of Rust that brings its own handler: link several into one.

use core::panic::PanicInfo;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

/// Named by the unwind tables of the ready-made `core` of hosted targets. Nothing unwinds, so nothing calls it.
#[cfg(not(target_os = "none"))]
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
