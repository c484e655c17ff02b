// SPDX-License-Identifier: MIT
// Panics through traced functions, from a destructor's neighbourhood and in a thread, caught and joined.
use std::panic;
use std::thread;

struct Guard(i32);

impl Drop for Guard {
    #[inline(never)]
    fn drop(&mut self) {
        println!("dropped {}", self.0);
    }
}

#[inline(never)]
fn thrower(n: i32) -> i32 {
    let _guard = Guard(n);
    if n >= 0 {
        panic!("panic {}", n);
    }
    n
}

#[inline(never)]
fn through(n: i32) -> i32 {
    let _guard = Guard(n + 100);
    thrower(n) + 1
}

#[inline(never)]
fn after(n: i32) -> i32 {
    std::hint::black_box(n) + 1
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let mut caught = 0;
    for n in 0..5 {
        if panic::catch_unwind(|| through(n)).is_err() {
            caught = after(caught);
        }
    }
    let joined = thread::spawn(|| through(7)).join();
    println!("{} {}", caught, joined.is_err());
}
