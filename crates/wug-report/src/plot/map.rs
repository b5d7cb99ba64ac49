use super::{Paper, Svg, TOP, colour, escaped};

/// Pixels of a side of the map.
const SIDE: f64 = 520.0;
const LEFT: f64 = 20.0;
/// Free pixels around the points.
const MARGIN: f64 = 14.0;

/// Points in a plane without axes, each written as the name of its group and in its colour.
#[derive(Debug, Clone, Default)]
pub struct MapPlot {
    /// What it shows.
    pub title: String,
    /// The groups, with their points.
    pub groups: Vec<(String, Vec<[f64; 2]>)>,
}

impl MapPlot {
    /// Draws it; nothing if there is no point.
    pub fn svg(&self, paper: Paper) -> Option<String> {
        let points = || self.groups.iter().flat_map(|(_, points)| points);
        let range = |axis: usize| {
            let all = || points().map(move |point| point[axis]);
            Some((all().reduce(f64::min)?, all().reduce(f64::max)?))
        };
        let ranges = [range(0)?, range(1)?];
        let place = |point: [f64; 2], axis: usize| {
            let (least, most) = ranges[axis];
            MARGIN + (SIDE - 2.0 * MARGIN) * (point[axis] - least) / (most - least).max(1e-9)
        };
        let mut svg = Svg::new();
        svg.reach(LEFT + SIDE, TOP + SIDE);
        svg.title(&self.title, None);
        svg.raw(format!(
            "<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"none\" stroke=\"currentColor\" \
             stroke-opacity=\"0.3\"/>"
        ));
        for (i, (name, points)) in self.groups.iter().enumerate() {
            svg.raw(format!("<g fill=\"{}\" text-anchor=\"middle\" font-weight=\"bold\">", colour(i)));
            for &point in points {
                let (x, y) = (LEFT + place(point, 0), TOP + SIDE - place(point, 1));
                svg.raw(format!("<text x=\"{x:.1}\" y=\"{:.1}\">{}</text>", y + 4.0, escaped(name)));
            }
            svg.raw("</g>");
        }
        Some(svg.finish(paper))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_inside_and_written_as_its_group() {
        let groups =
            vec![("<".to_owned(), vec![[-3.0, 0.0], [5.0, 1.0]]), ("8".to_owned(), vec![[0.0, 9.0]])];
        let svg = MapPlot { title: "Map".to_owned(), groups }.svg(Paper::White).unwrap();
        assert_eq!((svg.matches("&lt;</text>").count(), svg.matches(">8</text>").count()), (2, 1));
        assert!(svg.contains("x=\"34.0\"") && svg.contains("x=\"526.0\""), "{svg}");
        assert!(MapPlot::default().svg(Paper::White).is_none());
    }
}
