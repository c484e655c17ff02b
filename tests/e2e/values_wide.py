# SPDX-License-Identifier: MIT
"""Numbers of 128 bits, complex ones, and what Rust's own convention makes of enums: as the program itself says."""
import re
import shutil
import unittest

from recording import FTR, harness
from values import Values, calls

WIDE = ("sum", "late", "number", "narrow", "middle", "last", "long_one", "waves", "floats", "wild")
# Options, and the second call of that function; what uftrace shows of it.
SPECS = (
    ("-A sum@arg1/x128,arg3/i32,arg4/u128 -R sum@retval/i128",
     f"sum(0x{'f' * 32}, 1, {2**128 - 1}) = -1", "sum(128x{...}, 1, 128u{...}) = 128i{...}"),
    ("-A sum@arg1/i128%rdi+rsi", "sum(-1)", "sum(128i{...})"),
    ("-A late@arg6/u128", f"late({2**64 + 6})", "late(128u{...})"),
    ("-A late@arg5/i64,arg6/x128,arg7/i32%r9,arg8/i128%stack+3", f"late(-5, 0x10000000000000006, 7, -{2**100})",
     "late(-5, 128x{...}, 7, 128i{...})"))
HOOKS = ("-pg", "-pg -mfentry")

# Where it is taken apart, or not: functions give what they take.  Words are those that ftr has.
RUST = r"""
use std::fmt::Debug;
use std::hint::black_box;
#[derive(Clone, Copy)] pub enum Empty {}
#[derive(Debug, Clone, Copy)] pub struct Nothing;
#[derive(Debug, Clone, Copy)] pub enum Same { A, B(i32), C(i32) }
#[derive(Debug, Clone, Copy)] pub enum Bytes { A(u8, u8), B(u32) }
#[derive(Debug, Clone, Copy)] pub enum Kinds { A(f32), B(u32) }
#[derive(Debug, Clone, Copy)] pub enum Color { Red = -1, Green = 7 }
#[derive(Debug, Clone, Copy)] #[repr(C)] pub enum Told { A(u32), B(u32) }
#[derive(Debug, Clone, Copy)] #[repr(u8)] pub enum Byte { A(u32), B(u32), C }
#[derive(Debug)] pub enum Shape { None, Circle(u32), Named(String, i16) }
macro_rules! give {
    ($($name:ident: $type:ty),*) => { $(
        #[inline(never)] #[no_mangle] pub fn $name(value: $type, nr: u8) -> $type
        {
            say(stringify!($name), &value, nr);
            black_box(value)
        }
    )* }
}
fn text(value: &dyn Debug) -> String
{
    let text = format!("{:?}", value);
    if text.contains('"') { text } else { text.replace(".5", ".500000").replace(".0", ".000000") }
}
fn say(name: &str, value: &dyn Debug, nr: u8) { println!("{}({}, {}) = {}", name, text(value), nr, text(value)) }
give!(text_: Option<&'static str>, wide: u128, signed: i128, far: Option<u128>, pair: Option<u32>, memory: Result<u32, String>,
      same: Same, bytes: Bytes, kinds: Kinds, color: Color, nest: Option<Color>, told: Told, byte: Byte, float: Option<f64>,
      truth: Option<bool>, deep: Option<Option<u8>>, both: Result<u64, i64>, mixed: Result<i8, i64>, shape: Shape,
      string: Option<String>, twice: Option<Option<&'static str>>, order: Option<std::cmp::Ordering>);
#[inline(never)] #[no_mangle]
pub fn many(a: Option<u64>, b: Option<&str>, c: u128, d: Option<f64>, e: Option<u128>, f: u8) -> u8
{
    println!("many({}, {}, {}, {}, {}, {}) = {}", text(&a), text(&b), c, text(&d), text(&e), f, f);
    black_box(f)
}
/* The pair is half in a register. */
#[inline(never)] #[no_mangle] pub fn split(a: u64, b: u64, c: u64, d: u64, e: u64, f: Option<&str>, g: u8) -> u64
{
    println!("split({}, {}, {}, {}, {}, {}, {}) = {}", a, b, c, d, e, text(&f), g, a + b + c + d + e);
    black_box(a + b + c + d + e)
}
/* This is not. */
#[inline(never)] #[no_mangle] pub fn whole(a: u64, b: u64, c: u64, d: u64, e: u64, f: u128, g: u8) -> u64
{
    println!("whole({}, {}, {}, {}, {}, {}, {}) = {}", a, b, c, d, e, f, g, a + b + c + d + e);
    black_box(a + b + c + d + e)
}
#[inline(never)] #[no_mangle] pub fn empty(a: (), b: Nothing, c: [u64; 0], d: Result<u32, Empty>, e: u8) -> u8
{
    if let Ok(n) = d { println!("empty(Ok({}), {}) = {}", n, e, e); }
    black_box((a, b, c));
    black_box(e)
}
fn main()
{
    text_(Some("text"), 1); text_(None, 2); text_(Some(""), 3);
    wide(u128::MAX, 4); wide(0, 5); signed(i128::MIN, 6); signed(i128::MAX, 7); signed(-1, 8);
    far(Some(u128::MAX), 9); far(None, 10); pair(Some(7), 11); pair(None, 12); memory(Ok(5), 13); memory(Err("bad".into()), 14);
    same(Same::A, 15); same(Same::B(-3), 16); same(Same::C(4), 17); bytes(Bytes::A(1, 2), 18); bytes(Bytes::B(77), 19);
    kinds(Kinds::A(1.5), 20); kinds(Kinds::B(9), 21); color(Color::Red, 22); color(Color::Green, 23);
    nest(Some(Color::Red), 24); nest(None, 25); told(Told::A(1), 26); told(Told::B(2), 27);
    byte(Byte::A(1), 28); byte(Byte::B(2), 29); byte(Byte::C, 30); float(Some(-2.5), 31); float(None, 32);
    truth(Some(true), 33); truth(None, 34); deep(Some(Some(3)), 35); deep(Some(None), 36); deep(None, 37);
    both(Ok(1), 38); both(Err(-2), 39); mixed(Ok(-1), 40); mixed(Err(-2), 41);
    shape(Shape::None, 42); shape(Shape::Circle(3), 43); shape(Shape::Named("n".into(), -4), 44);
    string(Some("str".into()), 45); string(None, 46); twice(Some(Some("in")), 47); twice(Some(None), 48); twice(None, 49);
    order(Some(std::cmp::Ordering::Less), 50); order(None, 51);
    many(Some(1), Some("two"), 3, Some(4.5), Some(6), 7); many(None, None, 0, None, None, 8);
    split(1, 2, 3, 4, 5, Some("x"), 6); split(1, 2, 3, 4, 5, None, 6); whole(1, 2, 3, 4, 5, 1 << 100, 6);
    empty((), Nothing, [], Ok(5), 7);
}
"""

# Functions that nobody else calls, and those for C, which debug info does not tell apart.
RUST_CALLS = r"""
use std::hint::black_box;
#[derive(Clone, Copy)] #[repr(C)] pub struct Two { a: u32, b: u32 }
#[derive(Clone, Copy)] #[repr(C)] pub struct Three { a: u64, b: u64, c: u64 }
#[derive(Clone, Copy)] #[repr(align(32))] pub struct Aligned(u32);
#[derive(Clone, Copy)] #[repr(packed)] pub struct Packed { a: u8, b: u32 }
pub enum Command<'a> { Quit, Move { x: i32, y: i32 }, Write(&'a str), Color(u8, u8, u8), Nested(Option<Result<u8, &'a str>>) }
#[inline(never)] fn command(c: Command<'_>, n: u8) -> u8 { black_box(&c); black_box(n) }
#[inline(never)] fn layouts(a: Aligned, p: Packed, t: Two, u: Option<()>, n: i8) -> i8 { black_box((a, p, t, u)); black_box(n) }
#[inline(never)] fn nine(a: Option<u8>, b: Option<u16>, c: Option<f32>, d: Option<&u8>, e: Result<u8, ()>, f: Option<Option<bool>>) -> u8
{ black_box((a, b, c, d, e, f)); 9 }
#[inline(never)] extern "C" fn of_c(a: Two, b: Three, c: f64) -> u32 { black_box((a, b, c)); a.a }
#[inline(never)] #[no_mangle] pub extern "C" fn for_c(a: Two, b: f64) -> f64 { black_box((a, b)); b }
#[inline(never)] #[no_mangle] pub fn named(a: Two, b: u64, c: &Two) -> u64 { black_box((a, b, c)); b }
fn main()
{
    command(Command::Quit, 1);
    command(Command::Move { x: -1, y: 2 }, 2);
    command(Command::Write("text"), 3);
    command(Command::Color(1, 2, 3), 4);
    command(Command::Nested(Some(Err("e"))), 5);
    command(Command::Nested(Some(Ok(9))), 6);
    command(Command::Nested(None), 7);
    layouts(Aligned(1), Packed { a: 2, b: 3 }, Two { a: 4, b: 5 }, Some(()), -6);
    nine(Some(1), None, Some(4.5), Some(&5), Err(()), Some(None));
    nine(None, Some(2), None, None, Ok(7), None);
    of_c(Two { a: 1, b: 2 }, Three { a: 3, b: 4, c: 5 }, 6.5);
    for_c(Two { a: 1, b: 2 }, 2.5);
    named(Two { a: 1, b: 2 }, 3, &Two { a: 4, b: 5 });
}
"""
RUST_CALLS_SEEN = ["command(Quit, 1) = 1", "command(Move{.x = -1, .y = 2}, 2) = 2", 'command(Write("text"), 3) = 3',
                   "command(Color(1, 2, 3), 4) = 4", 'command(Nested(Some(Err("e"))), 5) = 5', "command(Nested(Some(Ok(9))), 6) = 6",
                   "command(Nested(None), 7) = 7",
                   "layouts({1}, {.a = 2, .b = 3}, {.a = 4, .b = 5}, Some({}), -6) = -6",
                   "nine(Some(1), None, Some(4.500000), Some(&5), Err({}), Some(None)) = 9",
                   "nine(None, Some(2), None, None, Ok(7), None) = 9",
                   "of_c({.a = 1, .b = 2}, {.a = 3, .b = 4, .c = 5}, 6.500000) = 1", "for_c(?, ?) = 2.500000",
                   "named(?, ?, ?) = 3"]

# Users see of them what they are, and what is not known of them as "?", with what is behind in its place.
UNKNOWN = r"""
#include <complex.h>
#include <stdio.h>
#define KEEP __attribute__((noinline))
typedef float vector __attribute__((vector_size(16)));
struct __attribute__((aligned(64))) aligned { int a; };
struct empty { };
KEEP int taken(vector v, struct aligned a, struct empty e, int n) { __asm__ volatile("" : : "r"(&v), "r"(&a), "r"(&e) : "memory"); return n; }
KEEP _Complex int whole(_Complex int z, int n) { __asm__ volatile("" : : "r"(&z) : "memory"); return z * n; }
KEEP __int128 shown(__int128 a, unsigned __int128 b) { __asm__ volatile("" : : "r"(&a), "r"(&b) : "memory"); return -a; }
int main(void)
{
    struct empty e;
    taken((vector){ 1, 2, 3, 4 }, (struct aligned){ 5 }, e, 6);
    whole(1 + 2i, 3);
    for (int i = -1; i < 2; i++)
        shown(i, ((unsigned __int128)1 << 64) * 5 + i);
}
"""


# What debug info of clang lacks, where one object is passed by its address and another on the stack; and what it has:
# an alias of void, an enumeration of 64 bits.
CXX = r"""
#include <array>
#include <memory>
#include <vector>
#define SEEN __asm__ volatile("" ::: "memory")
#define KEEP __attribute__((noinline))
enum class large : unsigned long { LOW = 1, HIGH = 1UL << 63, ALL = ~0UL };
using nothing = void;
KEEP int lost(std::vector<int> v, std::array<long, 4> a, std::unique_ptr<int> p, int n) { SEEN; return n; }
KEEP int kept(std::vector<int> v, std::unique_ptr<int> p, int n) { SEEN; return n; }
KEEP nothing alias(int n, large l) { __asm__ volatile("" : : "r"(n), "r"(l)); }
KEEP __int128 &both(__int128 &&a, const __int128 &b) { SEEN; return a; }
int main()
{
    __int128 a = 7;
    lost({ 1, 2 }, {}, nullptr, 3);
    kept({ 1 }, nullptr, 4);
    alias(5, large::HIGH);
    alias(6, large::ALL);
    alias(7, large((1UL << 32) + 2));
    both(std::move(a), a);
}
"""
CXX_SEEN = [r"lost\((vector{...}, array{...}, unique_ptr{...}, 3|\?, \?)\) = 3", r"kept\(vector{...}, unique_ptr{...}, 4\) = 4",
            r"alias\(5, HIGH\)", r"alias\(6, ALL\)", r"alias\(7, 4294967298\)", r"both\(0x\w+, 0x\w+\) = 0x\w+"]


class Numbers(Values):
    def test_numbers(self):
        for compiler in ("gcc", "clang"):
            if shutil.which(compiler) is None:
                continue
            for level in ("-O0", "-O2"):
                for hooks in HOOKS:
                    if (compiler, level, hooks) == ("clang", "-O0", "-pg"):     # see values.py: BEFORE_MCOUNT
                        continue
                    harness.build("values_wide.c", "wide", "-g", level, *hooks.split(), "-lm", compiler=[compiler])
                    said = self.record("wide", "-a", "--value-depth=1").splitlines()
                    shown = calls("data", WIDE)
                    self.assertEqual(len(said), 17)
                    self.expect(shown == said, f"{compiler} {level} {hooks}: {[p for p in zip(shown, said) if p[0] != p[1]]}")
                    shutil.rmtree("data")

    def test_depth_is_not_needed(self):
        harness.build("values_wide.c", "wide", "-g", "-O1", "-pg", "-lm")
        said = self.record("wide", "-a").splitlines()
        names = ("sum", "late", "narrow", "middle", "last", "long_one")
        self.assertEqual(calls("data", names), [line for line in said if line.split("(")[0] in names])

    def test_specs(self):
        harness.build("values_wide.c", "wide", "-O1", "-pg", "-mfentry", "-lm")
        for options, text, of_uftrace in SPECS:
            self.record("wide", *options.split())
            name = text.split("(")[0]
            self.expect(calls("data", (name,))[1] == text, f"{options}: {calls('data', (name,))[1]}")
            if shutil.which("uftrace"):
                shown = calls("data", (name,), tool="uftrace")[1]
                self.expect(shown == of_uftrace, f"{options}: uftrace: {shown}")
            shutil.rmtree("data")
        for spec, place in (("sum@arg1/o128", 10), ("sum@arg1/x128k", 13), ("sum@fparg1/128", 11), ("sum@arg1/f128", 10)):
            done = self.run_program(FTR, "record", "-d", "data", "-A", spec, "./wide")
            self.assertEqual((done.returncode, done.stderr.splitlines()[2]), (2, " " * (place + 2) + "^"))

    @unittest.skipUnless(shutil.which("uftrace"), "uftrace is not installed")
    def test_uftrace_shows_that_they_are_there(self):
        harness.build("values_wide.c", "wide", "-g", "-O1", "-pg", "-lm")
        self.record("wide", "-a", "--value-depth=1")
        shown = calls("data", WIDE, tool="uftrace")
        self.assertEqual(len(shown), 17)
        self.assertEqual(shown[3], "sum(__int128{...}, 7, __int128_unsigned{...}) = __int128{...}")
        self.assertRegex(shown[7], r"^number\(number{...}, __int128\w*{...}\) = number{...}$")

    def test_unknown(self):
        source = self.write("unknown.c", UNKNOWN)
        for level in ("-O0", "-O2"):
            harness.build(source, "unknown", "-g", "-w", "-Wno-psabi", level, "-pg", "-mfentry")
            for depth in ("0", "2"):
                self.record("unknown", "-a", "--value-depth", depth)
                shown = calls("data", ("taken", "whole", "shown"))
                self.assertEqual(shown[0], "taken(vector{...}, aligned{...}, 6) = 6")
                self.assertEqual(shown[1], "whole(complex_int{...}, 3) = complex_int{...}")
                self.assertEqual(shown[2:], [f"shown({i}, {2**64 * 5 + i}) = {-i}" for i in (-1, 0, 1)])
                shutil.rmtree("data")

    def test_cxx(self):
        source = self.write("cxx.cc", CXX)
        for compiler in ("g++", "clang++"):
            if shutil.which(compiler) is None:
                continue
            harness.build(source, "cxx", "-g", "-std=c++17", "-O0", "-pg", "-mfentry", compiler=[compiler])
            names = [seen.split("\\")[0] for seen in CXX_SEEN]
            self.record("cxx", *(word for name in names for word in ("-A", name, "-R", name)))
            shown = calls("data", names)
            self.assertEqual(len(shown), len(CXX_SEEN))
            for call, seen in zip(shown, CXX_SEEN):
                self.assertRegex(call, f"^{seen}$", compiler)
            shutil.rmtree("data")

    def test_conditions(self):
        """By their value, where it has 64 bits."""
        harness.build(self.write("unknown.c", UNKNOWN), "unknown", "-g", "-w", "-Wno-psabi", "-O1", "-pg", "-mfentry")
        self.record("unknown", "-a")
        for condition, numbers in (("arg1 == -1", [-1]), ("arg1 >= 0", [0, 1]), ("retval > 0", [-1])):
            shown = calls("data", ("shown",), "-F", f"shown@if:{condition}")
            self.assertEqual(shown, [f"shown({i}, {2**64 * 5 + i}) = {-i}" for i in numbers], condition)

    def test_other_formats(self):
        harness.build("values_wide.c", "wide", "-g", "-O1", "-pg", "-lm")
        said = self.record("wide", "-a", "--value-depth=1").splitlines()
        for name in ("other.fxt", "other.data"):
            done = self.run_program(FTR, "convert", "data", name)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(calls(name, WIDE), said, name)


@unittest.skipUnless(shutil.which("rustc"), "rustc is not installed")
class Rust(Values):
    def test_own_convention(self):
        source = self.write("own.rs", RUST)
        names = set(re.findall(r"^(\w+)\(", self.said(source, "0"), re.M))
        for level in ("0", "2"):
            said = self.said(source, level).splitlines()
            self.record("own", "-a")
            shown = calls("data", names)
            self.assertEqual(len(said), 57)
            self.expect(shown == said, f"-O{level}: {[pair for pair in zip(shown, said) if pair[0] != pair[1]]}")
            shutil.rmtree("data")

    def test_functions_of_its_own_and_of_c(self):
        self.build_rust(self.write("calls.rs", RUST_CALLS), "calls", "0")
        self.record("calls", "-a", "--value-depth=1", "--no-libcall")
        names = {seen.split("(")[0] for seen in RUST_CALLS_SEEN}
        shown = calls("data", names | {f"calls::{name}" for name in names})
        self.assertEqual([call.removeprefix("calls::") for call in shown], RUST_CALLS_SEEN)

    def said(self, source, level):
        self.build_rust(source, "own", level)
        return self.run_program("./own").stdout


if __name__ == "__main__":
    harness.main()
