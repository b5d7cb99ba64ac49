/// The 95% interval (Wilson) for a share of `correct` among `n`, both from 0 to 1. Without trials: all of it.
///
/// Unlike the textbook interval it stays within 0 and 1 and is not empty when all or none are right.
///
/// ```
/// let (low, high) = wug_run::wilson(9, 10);
/// assert!((low - 0.5958).abs() < 1e-4 && (high - 0.9821).abs() < 1e-4);
/// assert_eq!(wug_run::wilson(0, 0), (0.0, 1.0));
/// ```
pub fn wilson(correct: usize, n: usize) -> (f64, f64) {
    /// The 97.5% point of the normal distribution.
    const Z: f64 = 1.959_963_984_540_054;
    if n == 0 {
        return (0.0, 1.0);
    }
    let (n, correct) = (n as f64, correct as f64);
    let share = correct / n;
    let spread = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let centre = share + Z * Z / (2.0 * n);
    let scale = 1.0 + Z * Z / n;
    // At the ends the formula is exact in theory and off by a rounding error in practice.
    let low = if correct == 0.0 { 0.0 } else { (centre - spread) / scale };
    let high = if correct >= n { 1.0 } else { (centre + spread) / scale };
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::wilson;

    #[test]
    fn agrees_with_published_values() {
        // Newcombe (1998), Statistics in Medicine 17, Table I, method 3.
        for (correct, n, low, high) in
            [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)]
        {
            let (l, h) = wilson(correct, n);
            assert!((l - low).abs() < 1e-4 && (h - high).abs() < 1e-4, "{correct}/{n}: {l} {h}");
        }
        assert_eq!(wilson(29, 29).1, 1.0);
    }
}
