# SPDX-License-Identifier: MIT
"""Arguments and return values: what is shown is what the program says that it passed."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from recording import FTR, TIMEOUT, harness

NAMES = ("sizes", "characters", "floats", "narrow", "wide", "many", "colors", "strings", "structs", "in_memory",
         "pointers")
# clang -O0 fetches arguments from the stack before it calls mcount, through a register of another.
BEFORE_MCOUNT = {("clang", "-O0 -pg"): {"many"}}

# Options, and the text of the one call that they are about (tests/prog/values.c).
SPECS = (
    ("-A sizes@arg1/i8", "sizes(-1)"), ("-A sizes@arg1/u8", "sizes(255)"), ("-A sizes@arg2/i16", "sizes(-2)"),
    ("-A sizes@arg3/i32", "sizes(-3)"), ("-A sizes@arg3/x32", "sizes(0xfffffffd)"),
    ("-A sizes@arg3/o32", "sizes(037777777775)"), ("-A sizes@arg4", "sizes(-4)"),
    ("-A sizes@arg4/x", "sizes(0xfffffffffffffffc)"), ("-A sizes@arg4/i64", "sizes(-4)"),
    ("-A sizes@arg5/x8", "sizes(0xff)"), ("-A sizes@arg5/o8", "sizes(0377)"), ("-A sizes@arg6/u16", "sizes(65535)"),
    ("-A sizes@arg7/u32", "sizes(4294967295)"), ("-A sizes@arg8/u64", "sizes(18446744073709551615)"),
    ("-A sizes@arg7/u32%stack+1", "sizes(4294967295)"), ("-A sizes@arg1/i16%rsi", "sizes(-2)"),
    ("-A sizes@arg2/i32%RDX,arg1/i8", "sizes(-3, -1)"), ("-A sizes@arg5/i8,arg6/u8", "sizes(-1, 255)"),
    ("-A sizes@arg1/i8 -A sizes@arg2/i16", "sizes(-1, -2)"), ("-A siz.s@arg1/i8;sizes@arg2/i8", "sizes(-1, -2)"),
    ("-A sizes@arg1/x8 -A s.zes@arg1/i64,arg2/i8", "sizes(0xff, -2)"),
    ("--match=glob -A s?zes@arg1/i8", "sizes(-1)"), ("--match=exact -A sizes@arg1/i8", "sizes(-1)"),
    ("-T sizes@arg1/i8,retval/i32", "sizes(-1) = {ret}"), ("-R sizes@retval/i32", "sizes() = {ret}"),
    ("-A characters@arg1/c,arg3/s -R characters@retval/c", "characters('a', \"text\") = 't'"),
    ("-A floats@fparg1/32,fparg2,fparg3/80%stack+1,arg1/i32", "floats(1.500000, -2.250000, 1234567.125000, 1)"),
    ("-A floats@fparg1/64%xmm1 -R floats@retval/f64", "floats(-2.250000) = 1234567.375000"),
    ("-R narrow@retval/f32", "narrow() = -0.250000"), ("-R wide@retval/f80", "wide() = 3000.750000"),
    ("-A many@fparg9/64,arg9/i64", "many(9.500000, -17)"),
    ("-A colors@arg1/e:color,arg2/u8 -R colors@retval/e:color", "colors(GREEN, 1) = GREEN"),
    ("-A structs@arg1/t8:point,arg2/t40:big%stack+1", "structs(point{...}, big{...})"),
    ("-A pointers@arg2/p", "pointers(&atoi)"), ("-A sizes", "sizes(-1, -2, -3, -4, 255, 65535, 4294967295, "
                                                "18446744073709551615)"),
    ("-R sizes", "sizes() = {ret}"), ("-T sizes@auto-args", "sizes(-1, -2, -3, -4, 255, 65535, 4294967295, 18446744073709551615) = {ret}"),
    ("-A strdup@arg1/s -R strdup@retval/s", 'strdup("on the heap") = "on the heap"'),
    ("-A malloc@plt,arg1/u64", "malloc(300)"),
)
# What -A is given, and the place in it that is wrong; behind "@", a regular expression.
BAD_SPECS = (
    ("sizes@arg1/q", 11), ("sizes@arg1/i7", 12), ("sizes@arg1/t2000", 12), ("sizes@arg1/", 11), ("sizes@arg1/i32k", 14),
    ("sizes@arg0", 6), ("sizes@arg101", 6), ("sizes@arg1x", 6), ("sizes@arg1%ebx", 11), ("sizes@arg1%", 11),
    ("colors@arg1/e", 13), ("colors@arg1/e:", 13), ("sizes@arg1/t", 12), ("sizes@arg1/t0:x", 12),
    ("floats@fparg1/i32", 15), ("floats@fparg1/s", 15), ("sizes@arg1/x8@arg2", None),
    ("sizes@arg1%stack+0", 11), ("sizes@arg1%rdi+nothing", 11), ("sizes@arg1,arg2/i8,arg3/f16", 25),
    ("sizes@arg1/i8,retval/q", 21), ("atoi@arg1;sizes@arg1/q", 21), ("nothing_like_it@arg1", None))
if not os.path.exists(os.path.join(harness.BUILDDIR, "i686/libmcount.so")):
    # A register of 32-bit programs, and what is on the stack there in order.
    BAD_SPECS += (("sizes@arg1%eax", 11), ("floats@fparg3/80", 7))

# doc/adr/0037
HAS_TRANSACTIONS = " rtm " in pathlib.Path("/proc/cpuinfo").read_text()

WILD_TAKEN = ['"<0x10>"', '"<0xffffffffffffffff>"', '"<0x8000000000000000>"', '"abcdef"', '"abc"', '"<0xPAGE>"', '"child"',
              '"<0x10>"', '"<0xHEAP>"', '"constant"', '"stack"']

VIEWS_SEEN = ['view(1, "string", "constant", 2.500000) = 17', 'late(1, 2, 3, 4, 5, "constant", 6) = 29',
              'cut("a string on the heap, as it is long", 11) = "a string on"', 'cut("", 0) = ""',
              'cut("a\\nb", 5) = "a\\nb"', 'cut("<0x10>", 0) = ""']

STRINGS_SEEN = ['object::called(THIS, "short"s, 3) = "a rather long name for an objectshort"s',
                'by_value("a rather long name for an objectshort"s, object{...}, 4) = 73']

RUST = """
#[inline(never)] #[no_mangle] pub fn cut(s: &str, n: usize) -> &str { std::hint::black_box(&s[..n]) }
#[inline(never)] #[no_mangle] pub fn given(s: String, t: &String, u: &mut String, n: u8) -> String
{ u.push_str(t); std::hint::black_box(&s); format!("{}{}", s, n) }
fn main()
{
    let mut u = String::new();
    let s = given(String::from("by value"), &String::from("by reference"), &mut u, 7);
    let empty = given(String::new(), &u, &mut String::from("mutable"), 8);
    println!("{} {}", cut(&s, 2), cut(&empty, 0));
}
"""
RUST_SEEN = ['given("by value", "by reference", "", 7) = "by value7"', 'given("", "by reference", "mutable", 8) = "8"',
             'cut("by value7", 2) = "by"', 'cut("8", 0) = ""']

# What the compiler makes of functions that their own file calls alone: it leaves out what nobody uses.
RUST_OWN = """
struct Person { name: String, years: u8 }
#[inline(never)] fn total(text: &str, more: Option<u32>) -> usize { text.len() + more.unwrap_or(0) as usize }
#[inline(never)] fn unused(text: &str, n: i32) -> i32 { println!("{}", text); n * 2 }
#[inline(never)] fn joined(p: Person) -> String { format!("{}-{}", p.name, p.years) }
fn main()
{
    println!("{} {}", total("eleven char", Some(7)), total("x", None));
    unused("printed", 5);
    println!("{}", joined(Person { name: "Alexandra".into(), years: 33 }));
}
"""
# Each may lack values, but has no other ones.
GONE = r"\?|optimized_out"
RUST_OWN_SEEN = (rf'own::total\(("eleven char"|{GONE}), (Some\(7\)|{GONE})\)( = 18)?',
                 rf'own::total\(("x"|{GONE}), (None|{GONE})\)( = 1)?',
                 rf'own::unused\(("printed"|{GONE}), (5|{GONE})\)( = 10)?', r'own::joined\(.*\) = "Alexandra-33"')

# The same of clang, which tells of less.
CLANG_OWN = r"""
#include <string>
#include <vector>
#define KEEP __attribute__((noinline))
#define SEEN __asm__ volatile("" : : : "memory")
struct pair { long a; double b; };
struct large { long a, b, c; };
volatile long sink;
static KEEP std::string joined(std::string a, const std::string &b, int) { SEEN; return a + b; }
static KEEP large made(int a, pair p) { SEEN; return { a, p.a, 3 }; }
static KEEP std::vector<int> filled(int n, int c) { SEEN; return std::vector<int>(n, c); }
static KEEP int always(const large &l) { sink = sink + l.b; return 0; }
int main()
{
	for (int i = 1; i < 3; i++) {
		large l = made(i, { i + 10, 2.5 });
		sink = sink + joined("left", "right", i).size() + filled(i, 7).size() + always(l);
	}
}
"""
CLANG_NARROW = """
static volatile long sink;
static __attribute__((noinline)) void narrow(int unused, _Bool a, unsigned char b, _Bool c, signed char d, unsigned short e, _Bool f)
{ sink += a; sink += b; sink += c; sink += d; sink += e; sink += f; }
int main(int argc, char **argv)
{
	for (int i = 0; i < 2; i++)
		narrow(7, argc > i, 200 + i + argc, argc == i, -3 - i - argc, 64999 + i + argc, i > 0);
	return argv[0] == 0;
}
"""
CLANG_OWN_SEEN = {
    "-O0": ["made({}, {{.a = {}, .b = 2.500000}}) = {{.a = {}, .b = {}, .c = 3}}", 'joined("left"s, "right"s, {}) = "leftright"s',
            "filled({}, 7) = [{}]{{{}}}", "always(&{{.a = {}, .b = {}, .c = 3}}) = 0"],
    "-O2": ["made({}, ?) = {{.a = {}, .b = {}, .c = 3}}", 'joined("left"s, "right"s, optimized_out) = "leftright"s',
            "filled({}, optimized_out) = [{}]{{{}}}", "always(&{{.a = {}, .b = {}, .c = 3}})"],
}

# What a program of rustc prints itself of each call that it makes, in the words that ftr has for such values.
RUST_SAYS = r"""
use std::hint::black_box;
pub struct Point { pub x: i32, pub y: f64 }
pub enum Shape { Nothing, Circle(u32), Named { name: String, size: i16 } }
fn list<T, F: Fn(&T) -> String>(v: &[T], f: F) -> String
{ format!("[{}]{{{}}}", v.len(), v.iter().map(f).collect::<Vec<_>>().join(", ")) }
fn option(o: &Option<i64>) -> String { match o { None => "None".into(), Some(n) => format!("Some({})", n) } }
fn shape(s: &Shape) -> String
{
    match s {
        Shape::Nothing => "Nothing".into(),
        Shape::Circle(r) => format!("Circle({})", r),
        Shape::Named { name, size } => format!("Named{{.name = {:?}, .size = {}}}", name, size),
    }
}
#[inline(never)] #[no_mangle] pub fn numbers(a: i8, b: u16, c: i32, d: u64, e: f32, f: f64, g: bool, h: usize) -> i64
{
    let result = a as i64 + b as i64 + c as i64 + h as i64;
    println!("numbers({}, {}, {}, {}, {:.6}, {:.6}, {}, {}) = {}", a, b, c, d, e, f, g, h, result);
    black_box(result)
}
#[inline(never)] #[no_mangle] pub fn texts(a: &str, b: &String, c: String) -> String
{
    let result = format!("{}-{}", a, c);
    println!("texts({:?}, {:?}, {:?}) = {:?}", a, b, c, result);
    black_box(result)
}
#[inline(never)] #[no_mangle] pub fn lists(a: &[i32], b: &Vec<u8>, c: Vec<String>, p: &Point) -> Vec<i16>
{
    let result: Vec<i16> = a.iter().map(|n| *n as i16).collect();
    println!("lists({}, &{}, {}, &{{.x = {}, .y = {:.6}}}) = {}", list(a, |n| n.to_string()), list(b, |n| n.to_string()),
             list(&c, |s| format!("{:?}", s)), p.x, p.y, list(&result, |n| n.to_string()));
    black_box(result)
}
#[inline(never)] #[no_mangle] pub fn choices(o: &Option<i64>, s: &Shape, b: Box<Point>)
{
    println!("choices(&{}, &{}, &{{.x = {}, .y = {:.6}}})", option(o), shape(s), b.x, b.y);
    black_box((o, s, b));
}
fn main()
{
    for i in 0..5i32 {
        numbers(-i as i8, 40000 + i as u16, i * -70000, u64::MAX / 3 - i as u64, i as f32 / 4.0, i as f64 * -0.5, i % 2 == 0, 9);
        texts(&"a text of some length"[..i as usize * 3], &"b".repeat(i as usize), "c".repeat(40));
        lists(&(0..i).collect::<Vec<_>>(), &vec![i as u8; 3], vec!["x".repeat(i as usize), "y".into()], &Point { x: i, y: 0.25 });
        choices(&if i == 2 { None } else { Some(i as i64 * -3) },
                &match i % 3 { 0 => Shape::Nothing, 1 => Shape::Circle(7), _ => Shape::Named { name: "n".into(), size: -4 } },
                Box::new(Point { x: -i, y: 1.5 }));
    }
}
"""

SECOND = ('{.x = 2, .name = "second", .next = 0, .c = RED, .ok = false, .low = 1, .high = 100, .neg = -3, .in = '
          '{.a = 1, .d = 2.500000}, .arr = {1, 2, 3}, .buf = "abcdefg", {.u = 7, .f = 0.000000}, .cmp = &atoi}')
FIRST = ('{.x = -1, .name = "a text that is longer than t...", .next = %s, .c = GREEN, .ok = true, .low = 5, '
         '.high = 77, .neg = 7, .in = {.a = 0, .d = -0.500000}, .arr = {4, 5, 6}, .buf = "", '
         '{.u = 0, .f = 0.000000}, .cmp = 0}')
SHAPES_SEEN = ["take(&" + FIRST + ", 1, &42, {.x = 5, .y = -6}) = 6", "take(0, 2, 0, {.x = 5, .y = -6}) = 7",
               "take(0x10, 3, 0xffffffffffffffff, {.x = 5, .y = -6}) = 8", "give(&{.x = 5, .y = -6}) = &{.x = 5, .y = -6}",
               "give(0) = 0", "huge(&{.v = {1, 2, " + "0, " * 14 + "...}}, &%s, ADDRESS, 9)"]
NAMED = ["take(node{...}, 1, pointer{...}, pair{...}) = 6", "take(node{...}, 2, pointer{...}, pair{...}) = 7",
         "take(node{...}, 3, pointer{...}, pair{...}) = 8", *2 * ["give(pair_2{...}) = pair_2{...}"]]
CXX_SHAPES_SEEN = ('use(&{{.kind = 3}, .name = "named on the heap, as it is ...", .view = "view", .number = &3}, '
                   '&{{.kind = 3}, .name = "small", .view = NULL, .number = &3})')

CONTAINERS_SEEN = [
    'vectors(&[3]{1, 2, 3}, &[2]{"a", "longer than the small ones"}, [1]{{.x = 1, .y = 2.500000}})',
    "more([17]{" + "5, " * 16 + "...}, 0, [1]{ADDRESS})",
    "sizes(&[1]{{.first = 1, .second = 2}}, &[2]{{.first = \"y\", .second = 2}, {.first = \"x\", .second = 1}}, "
    "&[3]{1, 2, 3}, &[0]{})",
    'nodes(&[2]{{.first = "a key that is not a small text", .second = 2}, {.first = "one", .second = 1}}, '
    '&[3]{{.first = 1, .second = "a"}, {.first = 2, .second = "b"}, {.first = 2, .second = "c"}})',
    'others(&[3]{"", "middle", "z"}, [1]{{.n = 1, .name = "name", .view = "view"}}, &[1]{7})',
    "aligned(&[1]{{.first = 'c', .second = 2.500000}}, &[2]{{.n = 3}, {.n = 4}}, [100]{" +
    "".join(f"{n}, " for n in range(16)) + '...}, 0, '
    '[2]{{.n = 1, .name = "x", .view = "y"}, {.n = 2, .name = "a name that is longer", .view = ""}})',
    "wild(&[3]{...}, &[1000000000]{" + "7, " * 16 + "...}, &[3]{...}, &[5]{...})",
    "wild(&[18446744073709551615]{{.first = 0, .second = 7}, {.first = 0, .second = 7}, ...}, 0x10, 0xffffffffffffffff, 0)",
    'optionals(&5, {.x = 1, .y = 2.000000}, nullopt, &"text")',
    "pointers(&&{.x = 7, .y = 8.500000}, &{.x = 1, .y = 1.500000}, 0, {1, 2, 3}, {.first = 1, .second = 'c'})",
    'variants(&3, &2.500000, &"text", &{.x = 1, .y = 0.500000})',
    'variants(&{...}, &-1, &"longer than the small ones", &{.x = 2, .y = 0.250000})',
    "tuples(&{1, 'x', 2.500000}, {7, \"in\", {.x = 3, .y = 1.500000}}, &{{4, true}, &2}, &valueless, &{...})",
    "sequences(&[175]{" + "".join(f"{n}, " for n in range(125, 141)) + '...}, [2]{"front", "a text that is not small"}, '
    "&[3]{'c', 'c', 'c'}, &[3]{...}, &[0]{})",
    "bits(&[3]{true, false, true}, [70]{false, false, true, " + "false, " * 6 + "true, " + "false, " * 6 + "...}, &[0]{})",
    'forward(&[3]{1, 2, 3}, [2]{"x", "yy"}, &[...]{' + "4, " * 16 + "...}, &[0]{})",
    'far(&{.n = 1, .space = ..., ...}, &[1]{7})',
    "adapted(&[2]{1, 2}, [1]{7}, &[2]{3, 1})",
    "wild_sequences(&[3]{...}, &..., &..., &[...]{7, ...}, &[...]{" + "3, " * 16 + "...})",
    'given({.name = "named", .p = &{.x = 4, .y = 0.500000}}, true) = [3]{7, 7, 7}',
    'given({.name = NULL, .p = 0x10}, false) = [0]{}']

# libc++'s, as far as they are others: its strings have less room among elements, its deques no elements.
LIBCXX_SEEN = [re.sub("longer than the small ones(?=\"})", "longer than the smal...", call)
               .replace("a key that is not a small text", "a key that is not a ...")
               .replace(", ".join(map(str, range(125, 141))) + ", ", "").replace('"front", "a text that is not small"', "...")
               .replace("'c', 'c', 'c'", "...").replace("adapted(&[2]{1, 2}", "adapted(&[2]{...}")
               for call in CONTAINERS_SEEN if not call.startswith("wild")]

RUST_CONTAINERS = """
pub struct P { pub x: i32, pub name: String }
pub enum E { A, B(i32), C { p: P } }
#[inline(never)] #[no_mangle] pub fn vecs(v: &Vec<i32>, s: Vec<String>, b: Box<P>, slice: &[u16]) -> Vec<u8>
{ std::hint::black_box((v, &s, &b, slice)); vec![1, 2] }
#[inline(never)] #[no_mangle] pub fn options(o: &Option<i32>, b: &Option<Box<P>>, e: &E, r: &Result<i32, String>, yes: bool)
{ std::hint::black_box((o, b, e, r, yes)); }
fn main()
{
    vecs(&vec![1, 2, 3], vec!["x".into(), "yy".into()], Box::new(P { x: 3, name: "nm".into() }), &[7, 8]);
    options(&Some(4), &Some(Box::new(P { x: 1, name: "a".into() })), &E::C { p: P { x: 9, name: "c".into() } }, &Err("bad".into()), true);
    options(&None, &None, &E::A, &Ok(3), false);
    options(&None, &None, &E::B(5), &Ok(3), false);
}
"""
RUST_CONTAINERS_SEEN = [
    'vecs(&[3]{1, 2, 3}, [2]{"x", "yy"}, &{.x = 3, .name = "nm"}, [2]{7, 8}) = [2]{1, 2}',
    'options(&Some(4), &Some(&{.x = 1, .name = "a"}), &C{.p = {.x = 9, .name = "c"}}, &Err("bad"), true)',
    "options(&None, &None, &A, &Ok(3), false)", "options(&None, &None, &B(5), &Ok(3), false)"]


def calls(data, names, *options, tool=FTR):
    """The calls of the functions, without what is in them: "f(1) = 2"."""
    text = subprocess.run([tool, "replay", "-f", "none", "--no-pager", "-d", data, *options], check=True, timeout=TIMEOUT,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    found, stack = [], []
    for line in text.splitlines():
        call = line.strip().rstrip(";")
        if call.startswith("}"):
            stack.pop().append(re.sub(r"^}|;? /\*.*", "", call))
            continue
        found.append([call.removesuffix(" {")])
        if call.endswith(" {"):
            stack.append(found[-1])
    return ["".join(call) for call in found if call[0].split("(")[0] in names]


class Values(harness.Test):
    def record(self, program, *options, warning=""):
        done = self.run_program(FTR, "record", "-d", "data", *options, f"./{program}")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, f"^{warning}$")
        return done.stdout

    def expect_same(self, names, what):
        """uftrace 0.13 shows large unsigned numbers as hexadecimal ones."""
        shown = [[re.sub("0x[0-9a-f]+", lambda number: str(int(number.group(), 16)), call)
                  for call in calls("data", names, tool=tool)] for tool in ("uftrace", FTR)]
        self.expect(shown[0] == shown[1], f"{what}: {[pair for pair in zip(*shown) if pair[0] != pair[1]]}")

    def build_rust(self, source, program, level):
        built = subprocess.run(["rustc", "-g", "-C", f"opt-level={level}", "-Z", "instrument-mcount", "-o", program, source],
                               env={**os.environ, "RUSTC_BOOTSTRAP": "1"}, timeout=TIMEOUT, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        if built.returncode:
            self.skipTest("this rustc does not instrument")

    def build_libcxx(self, source, program, level):
        path = harness.SRCDIR + "/tests/prog/" + source
        if shutil.which("clang++") is None or subprocess.run(
                ["clang++", "-stdlib=libc++", "-g", level, "-pg", "-std=c++17", "-fstandalone-debug", path, "-o", program],
                timeout=TIMEOUT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("there is no clang++ with libc++")

    def write(self, name, text):
        with open(name, "w", encoding="ascii") as file:
            file.write(text)
        return os.path.abspath(name)


class Automatic(Values):
    def check(self, compiler, flags):
        if shutil.which(compiler[0]) is None:
            self.skipTest(f"{compiler[0]} is not installed")
        harness.build("values.c", "program", "-g", *flags.split(), compiler=compiler)
        left_out = BEFORE_MCOUNT.get((compiler[0], flags), set())
        said = [line for line in self.record("program", "-a").splitlines() if line.split("(")[0] in NAMES]
        shown = calls("data", NAMES)
        for wanted, got in zip(said, shown, strict=True):
            if wanted.split("(")[0] not in left_out:
                self.assertEqual(got, wanted)

    def test_recursion(self):
        harness.build("values.c", "program", "-g", "-O2", "-pg", "-fno-optimize-sibling-calls")
        self.record("program", "-a", "-F", "recursive")
        text = self.run_program(FTR, "replay", "-f", "none", "-d", "data").stdout
        self.assertEqual([line.strip() for line in text.splitlines()],
                         ["recursive(3) {", "recursive(2) {", "recursive(1) = 1;", "} = 2; /* recursive */",
                          "} = 6; /* recursive */"])

    def test_without_registers(self):
        """What -finstrument-functions passes says nothing of arguments: none are shown; library calls have them."""
        harness.build("values.c", "program", "-g", "-finstrument-functions")
        self.record("program", "-a", warning="ftr: warning: calls of .*/program have no values: what "
                                             "-finstrument-functions calls is not given any; .*\n")
        self.record("program", "-A", "printf@arg1/s")
        self.assertEqual(calls("data", ("sizes", "floats")), ["sizes()", "floats()"])


for compiler in ("gcc", "clang"):
    for flags in ("-O0 -pg", "-O2 -pg", "-O0 -pg -mfentry", "-O2 -pg -mfentry"):
        def test(self, compiler=compiler, flags=flags):
            self.check([compiler], flags)
        setattr(Automatic, f"test_{compiler}_{flags.replace(' ', '_').replace('-', '')}", test)


class Specs(Values):
    @classmethod
    def set_up_class(cls):
        harness.build("values.c", "program", "-g", "-O2", "-pg")

    def test_formats_and_places(self):
        for options, text in SPECS:
            said = self.record("program", *options.split())
            text = text.replace("{ret}", re.search(r"^sizes.* = (-?\d+)$", said, re.M).group(1))
            name = text.split("(")[0]
            self.expect(calls("data", (name,))[0] == text, f"{options}: {calls('data', (name,))[0]}, not {text}")
            shutil.rmtree("data")

    def test_bad(self):
        for spec, place in BAD_SPECS:
            done = self.run_program(FTR, "record", "-d", "data", "-A", spec, "./program")
            self.expect((done.returncode, done.stdout) == (2, ""), f"{spec}: status {done.returncode}")
            self.expect(not os.path.exists("data"), f"{spec}: there is a trace")
            lines = done.stderr.splitlines()
            if place is None:
                self.expect(spec in done.stderr, f"{spec}: {done.stderr}")
                continue
            self.expect(len(lines) == 3 and lines[0].startswith("ftr: "), f"{spec}: {done.stderr}")
            before = spec.rfind(";") + 1 if spec.rfind(";") < place else 0
            self.expect(lines[1:] == [f"  {spec[before:]}", " " * (place - before + 2) + "^"], f"{spec}: {done.stderr}")

    ENUMS = """
enum color { RED, GREEN = 5, BLUE = -3 };
typedef enum { UP = 2, DOWN = 5 } direction;
struct shape { enum kind { ROUND = 7, FLAT } kind; };
enum color c; direction d; struct shape s;
__attribute__((noipa)) int number(int n) { return n; }
int main(void) { return number(5) + number(2) + number(7) + number(0) - 14; }
"""

    def test_enumerations_of_numbers(self):
        """A function takes a number: any enumeration of the file tells what it means, or one of library functions."""
        self.run_program(*harness.CC, "-g", "-O1", "-pg", "-o", "enums", self.write("enums.c", self.ENUMS))
        for name, wanted in (("color", "GREEN 2 7 RED"), ("direction", "DOWN UP DOWN|UP 0"), ("kind", "5 2 ROUND 0"),
                             ("uft_whence", "SEEK_HOLE|SEEK_CUR SEEK_END SEEK_HOLE|SEEK_DATA SEEK_SET")):
            self.record("enums", "-A", f"number@arg1/e:{name}", "-R", f"number@retval/e:{name}")
            self.expect(calls("data", ("number",)) == [f"number({word}) = {word}" for word in wanted.split()],
                        f"{name}: {calls('data', ('number',))}")
            shutil.rmtree("data")

    def test_enumerations_that_are_none(self):
        for spec, ask in (("colors@arg1/e:colour", "did you mean color\\?"), ("colors@arg1/e:nothing_like_it", "name one that it has"),
                          ("s.zes|colors@arg1/e:colr", "did you mean color\\?")):
            self.record("program", "-A", spec, warning=f"ftr: warning: values of enum .* are shown as numbers: .*{ask}\n")
            self.assertEqual(calls("data", ("colors",))[0], "colors(5)")
            shutil.rmtree("data")

    def test_words_of_conditions(self):
        """What a condition compares with what it is not is said, with what it could be."""
        self.record("program", "-a")
        for condition, said in (("colors@if:arg1 == GREN", "did you mean GREEN\\?"), ("sizes@if:arg1 == few", "is a number; compare it with one"),
                                ("sizes@if:arg1 ~ 3*", "is a number; compare"), ("characters@if:arg3 & 4", "is a text; compare"),
                                ("structs@if:arg1 == 1", "has members; compare"), ("colors@if:arg7 == GREEN", "no call has the values")):
            done = self.run_program(FTR, "replay", "--no-pager", "-f", "none", "-d", "data", "-F", condition)
            self.expect((done.returncode, done.stdout) == (0, "") and re.search(said, done.stderr), f"{condition}: {done}")
        done = self.run_program(FTR, "replay", "--no-pager", "-f", "none", "-d", "data", "-F", "colors@if:arg1 == GREEN")
        self.assertEqual((done.stdout, done.stderr), ("colors(GREEN, true) = GREEN;\n", ""))

    def test_live(self):
        done = self.run_program(FTR, "live", "-f", "none", "-A", "colors@arg2/u8", "./program")
        self.assertEqual(done.returncode, 0)
        self.assertIn("colors(1);\n", done.stdout)
        done = self.run_program(FTR, "live", "-f", "none", "-T", "colors@arg2/u8,color=red", "./program")
        self.assertIn("colors(1);\n", done.stdout)
        done = self.run_program(FTR, "live", "-A", "colors@arg2/q", "./program")
        self.assertEqual((done.returncode, done.stdout), (2, ""))

    @unittest.skipUnless(shutil.which("uftrace"), "uftrace is not installed")
    def test_uftrace_shows_them(self):
        """uftrace 0.13 has no octal numbers."""
        for options, _ in SPECS:
            if "/o" in options:
                continue
            self.record("program", *options.split())
            names = (*NAMES, "strdup", "malloc")
            self.expect_same(names, options)
            shutil.rmtree("data")

    @unittest.skipUnless(shutil.which("uftrace"), "uftrace is not installed")
    def test_uftrace_shows_automatic_ones(self):
        self.record("program", "-a")
        names = (*NAMES, "strdup", "malloc", "memset", "printf", "free")
        self.expect_same(names, "-a")

    @unittest.skipUnless(shutil.which("uftrace"), "uftrace is not installed")
    def test_those_of_uftrace(self):
        for options in ("-a", "-A sizes@arg2,arg1/i8", "-A sizes@arg1/i32 -A s.zes@arg1/i64,arg2/i8",
                        "-A strings@arg1/s,arg2/s -R strings@retval/s"):
            self.run_program("uftrace", "record", "-d", "data", *options.split(), "./program")
            names = (*NAMES, "strdup", "malloc")
            self.expect_same(names, options)
            shutil.rmtree("data")


def strings_seen():
    shown = calls("data", ("object::called", "by_value"))   # clang passes anything for what is not used
    return [re.sub(r's, -?\d+\) = "', 's, 3) = "', re.sub(r"0x7\w+", "THIS", call)) for call in shown]


class Pointers(Values):
    def test_wild(self):
        harness.build("values_wild.c", "wild", "-g", "-O1", "-pg", "-w")
        self.record("wild", "-A", "take@arg1/s", "-R", "give@retval/s",
                    warning="ftr: warning: process .* seccomp .*\n")
        taken = [re.sub(r"<0x[57]\w{11}>", "<ADDRESS>", call) for call in calls("data", ("take",))]
        wanted = [f"take({re.sub('0xPAGE|0xHEAP', 'ADDRESS', text)})" for text in WILD_TAKEN]
        if 'take("parent")' in taken:   # where the kernel may not be asked, transactions may have read it
            self.assertTrue(HAS_TRANSACTIONS)
            wanted[WILD_TAKEN.index('"<0xHEAP>"')] = 'take("parent")'
        self.assertEqual(taken, wanted)
        self.assertEqual(calls("data", ("give",)), ['give() = "<0x10>"'])

    def test_strings_of_cxx(self):
        for flags in ("-O0", "-O2"):
            harness.build("values_strings.cc", "strings", "-g", flags, "-pg")
            self.record("strings", "-a")
            self.assertEqual(strings_seen(), STRINGS_SEEN)
            shutil.rmtree("data")

    def test_strings_of_libcxx(self):
        for flags in ("-O0", "-O2"):
            self.build_libcxx("values_strings.cc", "strings", flags)
            self.record("strings", *(word for name in ("object::called", "by_value") for word in ("-A", name, "-R", name)))
            self.assertEqual(strings_seen(), STRINGS_SEEN)
            shutil.rmtree("data")
            self.record("strings", "-A", "by_value", "-F", 'by_value@if:arg1 ~ "a rather*"')
            self.expect(len(calls("data", ("by_value",))) == 1, "a condition")
            shutil.rmtree("data")

    def test_views(self):
        names = ("view", "late", "cut")
        for compiler in ("g++", "clang++"):
            if shutil.which(compiler) is None:
                continue
            for flags in ("-O0", "-O2"):
                harness.build("values_views.cc", "views", "-g", flags, "-pg", "-std=c++17",
                              compiler=[compiler])
                self.record("views", "-a")
                self.expect(calls("data", names) == VIEWS_SEEN, f"{compiler} {flags}: {calls('data', names)}")
                if shutil.which("uftrace"):
                    self.expect_same(names, "views")
                shutil.rmtree("data")

    @unittest.skipUnless(shutil.which("rustc"), "rustc is not installed")
    def test_strings_of_rust(self):
        source = self.write("strings.rs", RUST)
        for level in ("0", "2"):
            self.build_rust(source, "strings", level)
            self.record("strings", "-a")
            self.assertEqual(calls("data", ("given", "cut")), RUST_SEEN)
            shutil.rmtree("data")

    @unittest.skipUnless(shutil.which("clang++"), "clang is not installed")
    def test_functions_that_clang_changed(self):
        source = self.write("own.cc", CLANG_OWN)
        for flag, (made, joined, filled, always) in CLANG_OWN_SEEN.items():
            harness.build(source, "own", "-g", "-std=c++17", flag, compiler=["clang++"])
            self.record("own", "-a", "--value-depth=1")
            seen = []
            for i in (1, 2):
                numbers = (i, i + 10, i, i + 10) if flag == "-O0" else (i, i, i + 10)
                seen += [made.format(*numbers), joined.format(i), filled.format(i, i, ", ".join(["7"] * i)), always.format(i, i + 10)]
            self.assertEqual(calls("data", ("made", "joined", "filled", "always")), seen)
            shutil.rmtree("data")

    @unittest.skipUnless(shutil.which("clang"), "clang is not installed")
    def test_numbers_that_clang_converts(self):
        """A boolean is told as its register converted to one bit, where the compiler has changed what is passed."""
        source = self.write("narrow.c", CLANG_NARROW)
        for flag in ("-O0", "-O1", "-O2", "-O3"):
            harness.build(source, "narrow", "-g", flag, compiler=["clang"])
            self.record("narrow", "-a")
            unused = "7" if flag == "-O0" else "optimized_out"
            self.assertEqual(calls("data", ("narrow",)), [f"narrow({unused}, true, 201, false, -4, 65000, false)",
                                                          f"narrow({unused}, false, 202, true, -5, 65001, true)"])
            shutil.rmtree("data")

    @unittest.skipUnless(shutil.which("rustc"), "rustc is not installed")
    def test_functions_that_the_compiler_of_rust_changed(self):
        source = self.write("own.rs", RUST_OWN)
        for level in ("0", "2", "3"):
            self.build_rust(source, "own", level)
            self.record("own", "-a")
            shown = calls("data", ("own::total", "own::unused", "own::joined"))
            self.assertEqual(len(shown), len(RUST_OWN_SEEN), shown)
            for call, seen in zip(shown, RUST_OWN_SEEN):
                self.assertRegex(call, f"^{seen}$")
            if level == "0":
                self.assertEqual(shown[2], 'own::unused("printed", 5) = 10')
            shutil.rmtree("data")


class Operators(Values):
    def test_operators(self):
        """uftrace takes both forms of a delete for one."""
        harness.build("values_deletes.cc", "deletes", "-g", "-O1", "-pg")
        self.record("deletes", "-a")
        shown = [re.sub("0x[0-9a-f]+", "ADDRESS", call) for call in calls("data", ("operator new", "operator delete"))]
        self.assertEqual(shown, 2 * ["operator new(4) = ADDRESS", "operator delete(ADDRESS)"])
        if shutil.which("uftrace"):
            self.expect_same(("operator new", "operator delete"), "deletes")


class Shapes(Values):
    """What values consist of and lead to."""
    names = ("take", "give", "huge")

    def shown(self):
        return [re.sub(r"0x[57]\w+", "ADDRESS", call) for call in calls("data", self.names)]

    def test_depth(self):
        for compiler in ("gcc", "clang"):
            if shutil.which(compiler) is None:
                continue
            for flags in ("-O0", "-O2"):
                harness.build("values_shapes.c", "shapes", "-g", flags, "-pg", "-mfentry", compiler=[compiler])
                for depth, following, word in ((1, "ADDRESS", '"word"'), (2, "&" + SECOND, '"word"')):
                    self.record("shapes", "-a", f"--value-depth={depth}")
                    wanted = [SHAPES_SEEN[0] % following, *SHAPES_SEEN[1:5], SHAPES_SEEN[5] % word]
                    self.expect(self.shown() == wanted, f"{compiler} {flags} {depth}: {self.shown()}")
                    if shutil.which("uftrace"):
                        self.expect(calls("data", self.names, tool="uftrace")[:5] == NAMED, f"{compiler} {flags}: uftrace")
                    shutil.rmtree("data")

    def test_none(self):
        harness.build("values_shapes.c", "shapes", "-g", "-O1", "-pg")
        self.record("shapes", "-a")
        self.assertEqual(self.shown()[1], "take(0, 2, 0, pair{...}) = 7")
        done = self.run_program(FTR, "record", "-d", "data", "-a", "--value-depth=5", "./shapes")
        self.assertEqual(done.returncode, 2)

    def test_cxx(self):
        harness.build("values_cxx_shapes.cc", "shapes", "-g", "-O1", "-pg", "-std=c++17")
        self.record("shapes", "-A", "use", "--value-depth=2")
        self.assertEqual(calls("data", ("use",)), [CXX_SHAPES_SEEN])

    def test_containers(self):
        names = ("vectors", "more", "sizes", "nodes", "others", "aligned", "wild", "optionals", "pointers", "variants", "tuples",
                 "sequences", "bits", "forward", "far", "adapted", "wild_sequences", "given")
        for compiler in ("g++", "clang++"):
            if shutil.which(compiler) is None:
                continue
            for flags in harness.few(("-O0", "-O2"), short=1):
                harness.build("values_containers.cc", "containers", "-g", flags, "-pg", "-std=c++17",
                              *(["-fstandalone-debug"] if compiler == "clang++" else []), compiler=[compiler])
                self.record("containers", *(word for name in names for word in ("-A", name)), "-R", "given", "--value-depth=2")
                shown = [re.sub(r"0x[57]\w+", "ADDRESS", call) for call in calls("data", names)]
                self.expect(shown == CONTAINERS_SEEN, f"{compiler} {flags}: {shown}")
                shutil.rmtree("data")

    def test_containers_of_libcxx(self):
        names = {call.split("(")[0] for call in LIBCXX_SEEN}
        for flags in ("-O0", "-O2"):
            self.build_libcxx("values_containers.cc", "containers", flags)
            self.record("containers", *(word for name in names for word in ("-A", name)), "-A", "wild", "-A", "wild_sequences",
                        "-R", "given", "--value-depth=2")
            shown = [re.sub(r"0x[57]\w+", "ADDRESS", call) for call in calls("data", names)]
            self.expect(shown == LIBCXX_SEEN, f"{flags}: {[pair for pair in zip(shown, LIBCXX_SEEN) if pair[0] != pair[1]]}")
            shutil.rmtree("data")

    @unittest.skipUnless(shutil.which("rustc"), "rustc is not installed")
    def test_containers_of_rust(self):
        source = self.write("containers.rs", RUST_CONTAINERS)
        for level in ("0", "1"):
            self.build_rust(source, "containers", level)
            self.record("containers", "-A", "vecs", "-R", "vecs", "-A", "options", "--value-depth=2")
            self.assertEqual(calls("data", ("vecs", "options")), RUST_CONTAINERS_SEEN)
            shutil.rmtree("data")


class Said(Values):
    """By a program itself."""

    @unittest.skipUnless(os.path.exists("/usr/include/boost/property_tree/json_parser.hpp"), "Boost is not installed")
    def test_what_a_program_with_boost_says(self):
        """All of its calls with values, some thousand of them, and exceptions among them."""
        names = ("joined", "number", "read", "mean")
        harness.build("values_boost.cc", "boost", "-g", "-O1", "-pg", "-std=c++17", "-DBOOST_BIND_GLOBAL_PLACEHOLDERS",
                      compiler=["g++"])
        said = self.run_program("./boost").stdout
        self.assertEqual(self.record("boost", "-a", "--value-depth=1"), said)
        shown = calls("data", names, *(word for name in names for word in ("-F", f"^{name}$")), "-D", "1")
        self.assertEqual(shown, said.splitlines())

    @unittest.skipUnless(shutil.which("rustc"), "rustc is not installed")
    def test_what_a_program_of_rust_says(self):
        source, names = self.write("says.rs", RUST_SAYS), ("numbers", "texts", "lists", "choices")
        for level in ("0", "2"):
            self.build_rust(source, "says", level)
            words = [word for name in names for word in ("-A", name, "-R", name)]
            said = self.record("says", *words[:-2], "--value-depth=2").splitlines()
            shown = calls("data", names)
            self.assertEqual(len(said), 20)
            self.expect(shown == said, f"-O{level}: {[pair for pair in zip(shown, said) if pair[0] != pair[1]]}")
            shutil.rmtree("data")


BOTH_SHOW = ("strdup", "strcmp", "strlen", "access", "strncmp", "strstr", "abs", "close", "strspn")


class Library(Values):
    def of_ltrace(self):
        done = self.run_program("ltrace", "-o", "ltrace.out", "./library")
        if done.returncode:
            self.skipTest("ltrace cannot trace here")
        with open("ltrace.out", encoding="ascii") as file:
            return [re.sub(r"\s+= ", " = ", line.strip()) for line in file if line.split("(")[0] in BOTH_SHOW]

    @unittest.skipUnless(shutil.which("ltrace"), "ltrace is not installed")
    def test_what_ltrace_shows(self):
        """Where both show the same of a value: ltrace shows texts that are returned by their addresses, ftr as texts."""
        harness.build("values_library.c", "library", "-pg", "-fno-builtin")
        self.record("library", "-a")
        shown = [re.sub(' = "hello"$', " = ADDRESS", call).replace("F_OK", "0") for call in calls("data", BOTH_SHOW)]
        wanted = [re.sub(" = 0x[0-9a-f]+$", " = ADDRESS", call) for call in self.of_ltrace()]
        self.assertGreater(len(wanted), 6)
        self.assertEqual([call for call in shown if call.split("(")[0] in {one.split("(")[0] for one in wanted}], wanted)


# As strace calls what libc calls otherwise, and which of its arguments are not the caller's.
SAME_CALLS = {"openat": ("open", slice(1, None)), "pipe2": ("pipe", slice(1))}


def split_arguments(text):
    """At the commas that are in no text, struct or list."""
    return [part.strip() for part in re.findall(r'(?:"(?:\\.|[^"\\])*"|\[[^]]*\]|\{[^}]*\}|[^,"[{])+', text)]


def comparable(text):
    """A number, a text or a set of flags; None of an address, and of what is behind one."""
    if re.fullmatch(r"0[0-7]+", text):
        return int(text, 8)
    if re.fullmatch(r"-?\d+|0x[0-9a-f]{1,8}", text):
        return int(text, 0)
    if text.startswith('"'):
        return text
    return frozenset(text.split("|")) if re.fullmatch(r"[A-Z_|]+", text) else None


class Beside(Values):
    """Calls of libc that are system calls, in one run, by both."""

    def of_strace(self):
        for path in pathlib.Path(".").glob("strace.*"):
            text = path.read_text(encoding="utf-8", errors="replace")
            if 'access("begin' in text:
                break
        for name, arguments, result in re.findall(r"(?m)^(\w+)\((.*)\) += (.*)", text[text.index('access("begin'):]):
            name, part = SAME_CALLS.get(name, (name, slice(None)))
            errno = re.match(r"-1 (E\w+)", result)
            yield name, split_arguments(arguments)[part], result.split()[0], errno[1] if errno else None

    def of_ftr(self):
        text = self.run_program(FTR, "replay", "-d", "data", "-f", "none", "--no-pager", "--no-sched").stdout
        text = text[text.index('  access("begin'):]
        call = re.compile(r"(?m)^  (\w+)\((.*)\)(?: = (.*);| \{\n((?:    .*\n)*)  \} = (.*); /\* \w+ \*/)$")
        for name, arguments, result, inside, late_result in call.findall(text):
            errno = re.search(r"errno=(E\w+)", inside)
            yield name, split_arguments(arguments), result or late_result, errno[1] if errno else None

    def same(self, what, theirs, ours):
        """How many values were compared."""
        theirs, ours = comparable(theirs), comparable(ours)
        if theirs is None or ours is None or not isinstance(ours, type(theirs)):
            return 0
        self.expect(theirs == ours, f"{what}: {theirs} by strace, {ours} by ftr")
        return 1

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_what_strace_shows(self):
        harness.build("values_syscalls.c", "syscalls", "-g", "-O1", "-pg", "-fno-builtin", "-w")
        done = self.run_program("strace", "-ff", "-o", "strace", FTR, "record", "-d", "data", "-a", "-T", ".@read=errno", "./syscalls")
        if "ptrace" in done.stderr:
            self.skipTest("strace cannot trace here")
        self.assertEqual(done.returncode, 0, done.stderr)
        ours = list(self.of_ftr())
        names = {call[0] for call in ours}
        theirs = [call for call in self.of_strace() if call[0] in names]
        self.assertEqual([call[0] for call in ours], [call[0] for call in theirs])
        compared = 0
        for (name, of_theirs, result, errno), (_, of_ours, our_result, our_errno) in zip(theirs, ours):
            self.expect(errno == our_errno, f"{name}: errno is {errno} by strace, {our_errno} by ftr")
            compared += self.same(name, result, our_result)
            for one, other in zip(of_theirs, of_ours):
                compared += self.same(name, one, other)
        self.assertGreater(len(ours), 45)
        self.assertGreater(compared, 120)
        self.assertGreater(sum(call[3] is not None for call in ours), 12)


class Damage(Values):
    """A NAME.dbg that does not tell the truth: what is sound is shown, what is not is said."""
    has_damaged_data = True
    names = ("vectors", "sizes", "optionals", "pointers")
    sound = next(call for call in CONTAINERS_SEEN if call.startswith("optionals("))
    # What is changed in it, what of a warning is expected, and whether the call of optionals is shown as it was.  Where
    # it is not, the bytes of its value, addresses among them, may look like a record that takes its place.
    edits = (
        (r"arg1/t\d+:vector\b", "arg1/t8:vector", "no record", True),
        (r"arg1/t\d+:vector\b", "arg1/t1000:vector", "", True),
        (r"\*24>8n8-0x4>24\+64i32", "*65535>65535n65535-0x65535>24+64i32", "", True),
        (r"n8-0x", "n8-0y", "", True),
        (r"# build-id: \w+", "# build-id: 00112233445566778899aabbccddeeff00112233", "unknown layout", False),
        (r"#T: .*\n", "", "", False),
        ("arg1", "argx", "no record", False),
        ("arg1/t", "arg1/s", "", False),
    )

    def test_other_words(self):
        harness.build("values_containers.cc", "containers", "-g", "-O1", "-pg", "-std=c++17")
        self.record("containers", *(word for name in self.names for word in ("-A", name)), "--value-depth=2")
        path = pathlib.Path("data/containers.dbg")
        text = path.read_text(encoding="ascii")
        for old, new, warning, is_sound in self.edits:
            changed = re.sub(old, new, text)
            self.assertNotEqual(changed, text)
            path.write_text(changed, encoding="ascii")
            # Strings are shown byte by byte, and what is read in their place may be no text.
            done = self.run_program(FTR, "replay", "-f", "none", "--no-pager", "-d", "data", errors="replace")
            self.expect(done.returncode == 0 and warning in done.stderr, f"{old}: {done.returncode} {done.stderr}")
            self.expect(not is_sound or self.sound in done.stdout, f"{old}: {done.stdout}")


class Converted(Values):
    """Values with shapes in other formats, of two modules whose types have the same names and are others."""
    formats = ("prog.fxt", "other.data")
    conditions = ("^take$@if:arg1->n == 2", "^take$@if:arg1->next->c == GREEN", '^lib_take$@if:arg1->name ~ "of*"',
                  "^lib_take$@if:arg1->c == GREEN", "^lib_color$@if:arg1 == GREEN")
    views = (("replay", "-f", "none"), ("dump", "--chrome"), ("report", "--by=arg1->c", "-f", "call", "-s", "name"),
             ("report", "-f", "call,arg1->n-max", "-s", "func"), *(("replay", "-f", "none", "-F", rule) for rule in conditions))

    def shown(self, data):
        return ["\n".join(line for line in self.run_program(FTR, *view, "--no-pager", "-d", data).stdout.splitlines()
                          if '"command_line"' not in line) for view in self.views]

    def made(self):
        """The trace, and what it is converted to, once and again."""
        harness.build("values_shapes_lib.c", "libshapes.so", "-g", "-O1", "-pg", "-shared", "-fPIC")
        harness.build("values_shapes_user.c", "user", "-g", "-O1", "-pg", "-fno-optimize-sibling-calls", "-Wl,--no-as-needed",
                      os.path.abspath("libshapes.so"))
        self.record("user", "-a", "--value-depth=2")
        for made in self.formats:
            for source, path in (("data", made), *((other, f"{other}-{made}") for other in self.formats)):
                if not os.path.exists(source):
                    continue
                done = self.run_program(FTR, "convert", source, path)
                self.expect(done.returncode == 0 and "layouts" not in done.stderr, f"{source} {path}: {done.stderr}")
                yield source, path

    def test_views(self):
        wanted = None
        for source, path in self.made():
            if wanted is None:
                wanted = self.shown("data")
                for text in ("take(&{.n = 1, .c = RED, .next = &{.n = 2, .c = GREEN, .next = 0, .act = &act}, .act = &act})",
                             'lib_take(&{.name = "of the library", .c = GREEN, .act = &lib_act})'):
                    self.expect(text in wanted[0], wanted[0])
                self.expect(all(wanted), wanted)
            shown = self.shown(path)
            self.expect(shown == wanted, f"{source} {path}: {[pair for pair in zip(shown, wanted) if pair[0] != pair[1]]}")

    @unittest.skipUnless(shutil.which("uftrace"), "uftrace is not installed")
    def test_other_readers(self):
        """uftrace sees the names, viewers of FXT the bytes."""
        for _, path in self.made():
            if path.endswith(".data"):
                shown = calls(path, ("take", "lib_take"), tool="uftrace")
                self.expect([re.sub("_2", "", call.split(" = ")[0]) for call in shown] ==
                            ["take(node{...})", "take(node{...})", "lib_take(node{...})"], f"{path}: {shown}")
        self.assertRegex(pathlib.Path("prog.fxt").read_bytes(), rb"arg1/t\d+:node\0")
        self.assertRegex(pathlib.Path("prog.fxt").read_bytes(), rb"[0-9a-f]{64}")


class Paths(Values):
    """Conditions on what values lead to: of which of the two nodes are they true?"""
    cases = (
        ("arg1->n == 2", "2"), ("arg1.n != 2", "1"), ("arg1[0].n < 2", "1"), ("arg1->in.x > 4", "12"),
        ('arg1->in.name ~ "fir*"', "1"), ('arg1->in.tag == "tb"', "2"), ("arg1->in.bits == 3", "1"),
        ("arg1->next->c == BLUE", "1"), ("arg1->next", "1"), ("arg1->next == 0", "2"), ("arg1.items.size > 2", "2"),
        ("arg1->n == 1 || arg1->next->n == 3", "1"), ("!(arg1->n == 2) && arg1->next->in.x == 5", "1"),
        ("arg1->nope", ""), ("!arg1->nope", ""), ("arg1->n.x", ""), ("arg1->next->next->n == 1", ""), ("arg1[1].n", ""),
    )

    def shown(self, rule=None):
        words = [] if rule is None else ["-F", rule]
        lines = self.run_program(FTR, "replay", "-d", "data", "-f", "none", "--no-pager", *words).stdout.splitlines()
        return [line.strip() for line in lines if not line.strip().startswith("std::")]

    def test_shown(self):
        for compiler in ("g++", "clang++"):
            if shutil.which(compiler) is None:
                continue
            harness.build("values_paths.cc", "paths", "-g", "-O1", "-pg", "-std=c++17",
                          *(["-fstandalone-debug"] if compiler == "clang++" else []), compiler=[compiler])
            self.record("paths", "-A", "visit|sum|next", "-R", "next", "--value-depth=3")
            for condition, nodes in self.cases:
                shown = [re.sub(r"^visit\(&\{\.n = (.).*", r"\1", line) for line in self.shown(f"^visit@if:{condition}")]
                self.expect("".join(shown) == nodes, f"{compiler} {condition}: {shown}")
            for condition in ("arg1.size == 3", "arg1[1] == 20", "arg1[2] > 29"):
                self.expect(self.shown(f"^sum@if:{condition}") == ["sum(&[3]{10, 20, 30});"], f"{compiler} {condition}")
            self.expect(len(self.shown("^next@if:retval->in.x == 5")) == 1, compiler)
            shutil.rmtree("data")

    def test_recorded(self):
        """A path has what it leads to recorded, and nothing else."""
        harness.build("values_paths.cc", "paths", "-g", "-O1", "-pg", "-std=c++17")
        self.record("paths", "--no-event", "-F", "^visit@if:arg1->next->n == 2")
        shown = self.shown()
        self.expect(len(shown) == 1 and shown[0].startswith("visit(&{.n = 1,"), shown)

    def test_unrecorded(self):
        harness.build("values_paths.cc", "paths", "-g", "-O1", "-pg", "-std=c++17")
        self.record("paths", "-A", "visit")
        done = self.run_program(FTR, "replay", "--no-pager", "-F", "visit@if:arg1->n == 2", "-d", "data")
        self.expect("no call has the values" in done.stderr and "--value-depth" in done.stderr, done.stderr)
        for words in (("replay", "-F", "visit@if:arg1->"), ("report", "--by=arg1->"), ("report", "--by=fparg1.x")):
            self.assertEqual(self.run_program(FTR, *words, "-d", "data").returncode, 2)

    def test_sums(self):
        harness.build("values_paths.cc", "paths", "-g", "-O1", "-pg", "-std=c++17")
        self.record("paths", "-A", "visit", "-R", "next", "--value-depth=2")
        for by, wanted in (("arg1->in.name", ['visit(arg1->in.name = "first")', 'visit(arg1->in.name = "second")']),
                           ("arg1.items.size", ["visit(arg1.items.size = 0)", "visit(arg1.items.size = 3)"]),
                           ("retval->c", ["next()->c = BLUE"])):
            lines = self.run_program(FTR, "report", "-d", "data", "--no-pager", f"--by={by}", "-f", "call", "-s", "name").stdout
            rows = sorted(line.split(maxsplit=1)[1] for line in lines.splitlines()[2:])
            self.expect(rows == wanted, f"{by}: {rows}")


class Sums(Values):
    """report --by=VALUE"""
    def rows(self, *words):
        text = self.run_program(FTR, "report", "-d", "data", "--no-pager", *words).stdout
        return [line.split(maxsplit=1) for line in text.splitlines()[2:]]

    def test_sums(self):
        harness.build("values_sums.c", "sums", "-g", "-O1", "-pg", "-fno-optimize-sibling-calls")
        self.record("sums", "-A", "take", "-R", "take", "--clock=counter")
        by_value = self.rows("--by=arg1", "-f", "call", "-s", "call,name")
        self.assertEqual(by_value, [["4", 'take(arg1 = "one")'], ["2", 'take(arg1 = "NULL")'], ["1", 'take(arg1 = "two")']])
        self.assertEqual(self.rows("--by=arg2", "-f", "call", "-s", "name"),
                         [["4", "take(arg2 = 1)"], ["2", "take(arg2 = 2)"], ["1", "take(arg2 = 3)"]])
        self.assertEqual(self.rows("--by=retval", "-f", "call"), [["7", "take() = 7"]])

    def test_recursive_calls_count_once(self):
        """All calls for the text "one" are inside of the first of them, or after it."""
        harness.build("values_sums.c", "sums", "-g", "-O1", "-pg", "-fno-optimize-sibling-calls")
        self.record("sums", "-A", "take", "-F", "take", "--clock=counter")
        rows = self.rows("--by=arg1", "-f", "total,total-max", "-s", "name")
        (total, _, longest, *_), = [" ".join(row).split() for row in rows if "one" in row[-1]]
        text = self.run_program(FTR, "dump", "-d", "data", "--no-pager").stdout
        self.assertEqual(text.count("take"), 14, text)
        self.assertLess(float(longest), float(total))
        self.assertLess(float(total), 2 * float(longest))

    def test_ranges(self):
        """report -f VALUE-min,VALUE-avg,VALUE-max: what is compared with are the calls as replay shows them."""
        harness.build("values_ranges.c", "ranges", "-g", "-O1", "-pg")
        self.record("ranges", "-a", "--value-depth=1")
        fields = "call,arg1-min,arg1-avg,arg1-max,fparg1-avg,retval-max,arg2->size-min,arg2->size-avg"
        rows = {row[-1].split()[-1]: " ".join(row).split()[:-1] for row in self.rows("-f", fields, "-s", "func")}
        self.assertEqual(rows, {"main": ["1", "-", "-", "-", "-", "0", "-", "-"],
                                "other": ["1", "-", "-", "-", "-", "65", "-", "-"],
                                "work": ["7", "-2", "1", "4", "0.250", "160", "-20", "10"]})
        by_value = [row[-1].split()[-1] for row in self.rows("-f", "arg1-max", "-s", "retval-max,func")]
        self.assertEqual(by_value, ["work", "other", "main"])
        shown = self.run_program(FTR, "report", "-d", "data", "--no-pager", "-f", "arg1-min", "-D", "1").stdout
        self.assertEqual(shown, "")
        for words, message in ((["-f", "self,arg1-min"], "beside those of values"), (["-f", "arg1-min", "--task"], "--task"),
                               (["-f", "arg1-mean"], "unknown field"), (["-f", "arg1->-min"], "unknown field")):
            done = self.run_program(FTR, "report", "-d", "data", "--no-pager", *words)
            self.expect(done.returncode in (1, 2) and message in done.stderr, f"{words}: {done.stderr}")

    def test_refused(self):
        harness.build("values_sums.c", "sums", "-g", "-O1", "-pg")
        self.record("sums", "-A", "take@arg1/s")
        done = self.run_program(FTR, "report", "-d", "data", "--by=arg2")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("-A FUNC", done.stderr)
        for word in ("arg0", "arg", "arg101", "fparg", "retvals", "arg1x"):
            done = self.run_program(FTR, "report", "-d", "data", "--by", word)
            self.expect(done.returncode == 2 and "retval" in done.stderr, f"{word}: {done.stderr}")


if __name__ == "__main__":
    harness.main()
