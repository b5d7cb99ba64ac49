/// Finds the nearest of many points: a k-d tree.
pub(super) struct KdTree {
    points: Vec<Vec<f64>>,
    /// Places of points; every range is split at its middle, along the axis in which it is widest.
    order: Vec<usize>,
    /// The axis of each split, by the place of its middle.
    axes: Vec<u8>,
}

/// Ranges this small are searched point by point.
const LEAF: usize = 16;

impl KdTree {
    pub(super) fn new(points: Vec<Vec<f64>>) -> Self {
        let n = points.len();
        let mut tree = Self { points, order: (0..n).collect(), axes: vec![0; n] };
        let mut open = vec![(0, n)];
        while let Some((start, end)) = open.pop() {
            if end - start <= LEAF {
                continue;
            }
            let (points, range) = (&tree.points, &mut tree.order[start..end]);
            let axis = widest(points, range);
            let middle = range.len() / 2;
            range.select_nth_unstable_by(middle, |&a, &b| {
                points[a][axis].total_cmp(&points[b][axis]).then(a.cmp(&b))
            });
            tree.axes[start + middle] = axis as u8;
            open.extend([(start, start + middle), (start + middle + 1, end)]);
        }
        tree
    }

    /// The `k` nearest points, or all if there are fewer; among equally near ones the first in order.
    pub(super) fn nearest(&self, to: &[f64], k: usize) -> Vec<usize> {
        let mut best: Vec<(f64, usize)> = Vec::with_capacity(k + 1);
        // Ranges wait with how near they can be at least.
        let mut open = vec![(0.0, 0, self.order.len())];
        while let Some((bound, start, end)) = open.pop() {
            if best.len() == k && bound > best[k - 1].0 {
                continue;
            }
            if end - start <= LEAF {
                self.order[start..end].iter().for_each(|&i| self.offer(&mut best, k, to, i));
                continue;
            }
            let middle = start + (end - start) / 2;
            let i = self.order[middle];
            self.offer(&mut best, k, to, i);
            let axis = self.axes[middle] as usize;
            let offset = to[axis] - self.points[i][axis];
            let (near, far) = ((start, middle), (middle + 1, end));
            let (near, far) = if offset <= 0.0 { (near, far) } else { (far, near) };
            // What waits last is searched first.
            open.push((offset * offset, far.0, far.1));
            open.push((bound, near.0, near.1));
        }
        best.into_iter().map(|(_, i)| i).collect()
    }

    fn offer(&self, best: &mut Vec<(f64, usize)>, k: usize, to: &[f64], i: usize) {
        let distance: f64 = self.points[i].iter().zip(to).map(|(a, b)| (a - b) * (a - b)).sum();
        let at = best.partition_point(|&(other, j)| (other, j) < (distance, i));
        if at < k {
            best.insert(at, (distance, i));
            best.truncate(k);
        }
    }
}

fn widest(points: &[Vec<f64>], range: &[usize]) -> usize {
    let width = |axis: usize| {
        let values = range.iter().map(|&i| points[i][axis]);
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
        high - low
    };
    let axes = points[range[0]].len();
    (0..axes).fold(0, |best, axis| if width(axis) > width(best) { axis } else { best })
}

#[cfg(test)]
mod tests {
    use wug_data::Streams;

    use super::KdTree;

    #[test]
    fn finds_what_a_full_search_finds() {
        let mut random = Streams::new("test", "neighbours", 0).item(0);
        // Few different values, so that many are equally near.
        let mut point = || (0..3).map(|_| random.below(6) as f64).collect::<Vec<f64>>();
        let points: Vec<Vec<f64>> = (0..500).map(|_| point()).collect();
        let tree = KdTree::new(points.clone());
        for _ in 0..200 {
            let to = point();
            let mut all: Vec<(f64, usize)> = points
                .iter()
                .enumerate()
                .map(|(i, p)| (p.iter().zip(&to).map(|(a, b)| (a - b) * (a - b)).sum(), i))
                .collect();
            all.sort_by(|a, b| a.partial_cmp(b).unwrap());
            let wanted: Vec<usize> = all.iter().take(3).map(|(_, i)| *i).collect();
            assert_eq!(tree.nearest(&to, 3), wanted);
        }
        assert!(KdTree::new(Vec::new()).nearest(&[0.0], 3).is_empty());
    }
}
