//! The order that numpy's unstable sort leaves equal elements in. The released concatenations join rows in it.

/// The indices that sort `keys`, ascending, with ties as numpy's `argsort(kind="quicksort")` left them before it used
/// vector instructions: median-of-three quicksort, insertion sort for ranges of up to 16.
pub(super) fn argsort(keys: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    let mut open: Vec<(usize, usize)> = Vec::new();
    let Some(last) = keys.len().checked_sub(1) else { return order };
    let (mut low, mut high) = (0, last);
    loop {
        while high > low && high - low > 15 {
            let middle = low + (high - low) / 2;
            if keys[order[middle]] < keys[order[low]] {
                order.swap(middle, low);
            }
            if keys[order[high]] < keys[order[middle]] {
                order.swap(high, middle);
            }
            if keys[order[middle]] < keys[order[low]] {
                order.swap(middle, low);
            }
            let pivot = keys[order[middle]];
            let (mut i, mut j) = (low, high - 1);
            order.swap(middle, j);
            loop {
                i += 1;
                while keys[order[i]] < pivot {
                    i += 1;
                }
                j -= 1;
                while pivot < keys[order[j]] {
                    j -= 1;
                }
                if i >= j {
                    break;
                }
                order.swap(i, j);
            }
            order.swap(i, high - 1);
            // The larger side waits.
            if i - low < high - i {
                open.push((i + 1, high));
                high = i - 1;
            } else {
                open.push((low, i - 1));
                low = i + 1;
            }
        }
        for i in low + 1..=high {
            let moving = order[i];
            let mut j = i;
            while j > low && keys[moving] < keys[order[j - 1]] {
                order[j] = order[j - 1];
                j -= 1;
            }
            order[j] = moving;
        }
        match open.pop() {
            Some(range) => (low, high) = range,
            None => return order,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::argsort;

    #[test]
    fn sorts() {
        for length in [0, 1, 2, 15, 16, 17, 100, 5000] {
            for modulus in [1, 2, 7, 10_007] {
                let keys: Vec<usize> = (0..length).map(|i| (i * 7919 + i * i) % modulus).collect();
                let order = argsort(&keys);
                assert!(order.is_sorted_by_key(|&i| keys[i]), "{length} {modulus}");
                let mut all = order.clone();
                all.sort_unstable();
                assert!(all.into_iter().eq(0..length));
            }
        }
    }
}
