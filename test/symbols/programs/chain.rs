// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the known calls main, outer, middle (inlined), innermost, malloc in Rust, of a module and a generic type.
// Invariant: a line that calls the next function says in which function it is.
// Must not know: how names are found.
use std::ffi::c_void;

extern "C" {
    fn malloc(bytes: usize) -> *mut c_void;
    fn free(block: *mut c_void);
}

mod chain {
    use super::{c_void, malloc};
    use std::ptr::write_volatile;

    pub struct Pool<T>(std::marker::PhantomData<T>);

    impl<T> Pool<T> {
        #[inline(never)]
        pub unsafe fn innermost(count: usize) -> *mut c_void {
            let block = malloc(count * std::mem::size_of::<T>()); // in innermost
            write_volatile(block as *mut u8, 1);
            block
        }
    }

    #[inline(always)]
    unsafe fn middle(count: usize) -> *mut c_void {
        let block = Pool::<u64>::innermost(count + 3); // in middle
        write_volatile(block as *mut u8, 2);
        block
    }

    #[inline(never)]
    pub unsafe fn outer(count: usize) -> *mut c_void {
        let block = middle(count * 2); // in outer
        write_volatile(block as *mut u8, 3);
        block
    }
}

fn main() {
    for i in 0..64 {
        unsafe {
            let block = chain::outer(1000 + i); // in main
            free(block);
        }
    }
}
