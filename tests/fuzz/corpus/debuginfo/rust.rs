// SPDX-License-Identifier: MIT
// rustc -g -C opt-level=1 -C panic=abort --crate-type=lib --emit=obj -o rust.o rust.rs
// gcc -shared -nostdlib -Wl,--build-id=none,--gc-sections \
//	-Wl,--unresolved-symbols=ignore-all -o rust.so rust.o
#![no_std]
pub enum E<'a> { A, B(i32), C { p: &'a P<'a> }, D(&'a str, [u16; 3]) }
pub struct P<'a> { pub x: i32, pub name: &'a str, pub next: Option<&'a P<'a>>, pub c: char }
#[no_mangle]
#[inline(never)]
pub fn take(e: &E, o: &Option<i32>, s: &[P], t: (u8, u64), r: &Result<i32, &str>)
    -> usize
{ s.len() + t.0 as usize + o.is_some() as usize + r.is_ok() as usize + matches!(e, E::A) as usize
}
#[no_mangle] #[inline(never)] pub fn give<'a>(p: &'a P) -> &'a str { p.name }
#[panic_handler] fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }
