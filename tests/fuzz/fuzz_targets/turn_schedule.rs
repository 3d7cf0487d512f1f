#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| toolcore_fuzz::turn_schedule(input));
